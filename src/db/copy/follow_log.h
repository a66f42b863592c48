// SPDX-License-Identifier: Apache-2.0
// The logs for users and copies: which exist, and what they hold from a sequence on.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "db/open/db_config.h"
#include "db/space/wal_archive.h"
#include "db/write/wal_set.h"
#include "rocksdb/transaction_log.h"

namespace compassdb {

class LogFollower {
 public:
  LogFollower(const DbConfig& config, const WalSet& wals, const std::atomic<SequenceNumber>& last_sequence)
      : config_(config), wals_(wals), last_sequence_(last_sequence) {}

  Status GetSortedWalFiles(rocksdb::VectorLogPtr* files) const;
  Status GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>* file) const;
  // This object must outlive the iterator.
  Status GetUpdatesSince(SequenceNumber sequence, std::unique_ptr<rocksdb::TransactionLogIterator>* iterator) const;

 private:
  Status ListLogs(std::vector<WalFileInfo>* logs) const;

  const DbConfig& config_;
  const WalSet& wals_;
  const std::atomic<SequenceNumber>& last_sequence_;
};

}  // namespace compassdb
