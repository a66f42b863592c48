// SPDX-License-Identifier: Apache-2.0
// What transactions need of the database in addition to its public interface.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/internal_key.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "util/mutex.h"

namespace compassdb {

class WalSet;
using rocksdb::Status;

// A prepared transaction. Its name and, once it is logged, its batch do not change.
struct PreparedSection {
  explicit PreparedSection(std::string xid) : name(std::move(xid)) {}
  const std::string name;
  rocksdb::WriteBatch batch;            // with its marks
  std::atomic<uint64_t> log_number{0};  // the log that holds it
};

// How a transaction's batch is written.
struct TransactionWrite {
  // Called at the front of the write queue, while no other write runs; an error
  // ends the write with that error. Null: no check.
  const std::function<Status()>* check = nullptr;
  // A prepared section: its batch is logged and not inserted. This opens it, and replaces an open section of the
  // same name. Null: none.
  std::shared_ptr<PreparedSection> prepare;
  // The batch commits, or rolls back, the open section of this name. Null: neither.
  const std::string* ends = nullptr;
};

// A prepared section that recovery found without its end.
struct RecoveredTransaction {
  rocksdb::WriteBatch batch;  // a Noop, then the records
  uint64_t log_number = 0;    // the log that holds it
  std::shared_ptr<PreparedSection> section;  // the same, once it is in the first log of this session
};
using RecoveredTransactions = std::map<std::string, RecoveredTransaction>;  // by xid

// The open sections: in a log, neither committed nor rolled back. By name, as in recovery, even if the
// transaction's object is deleted. They are in memory, too: a failed log may lose them, and then they are
// written into the next one (WriteTo).
//
// Thread safety: all of it. The mutex is a leaf. Logged and Ended come from the front of the write queue, where
// nothing may be thrown.
class OpenSections {
 public:
  // Makes room for a section of that name; Withdraw undoes that if nothing was logged.
  void Announce(const std::string& name) {
    MutexLock lock(&mu_);
    sections_.try_emplace(name);
  }
  void Withdraw(const std::string& name) {
    MutexLock lock(&mu_);
    const auto it = sections_.find(name);
    if (it != sections_.end() && it->second == nullptr) sections_.erase(it);
  }
  void Logged(const std::shared_ptr<PreparedSection>& section, uint64_t log_number) {
    MutexLock lock(&mu_);
    section->log_number = log_number;
    const auto it = sections_.find(section->name);
    if (it != sections_.end()) it->second = section;
  }
  void Ended(const std::string& name) {
    MutexLock lock(&mu_);
    sections_.erase(name);
  }
  // The log of the open section of that name; UINT64_MAX: there is none.
  uint64_t LogOf(const std::string& name) const {
    MutexLock lock(&mu_);
    const auto it = sections_.find(name);
    return it == sections_.end() || it->second == nullptr ? UINT64_MAX : it->second->log_number.load();
  }
  // UINT64_MAX if there are none.
  uint64_t OldestLog() const {
    MutexLock lock(&mu_);
    uint64_t oldest = UINT64_MAX;
    for (const auto& [name, section] : sections_) {
      if (section != nullptr) oldest = std::min(oldest, section->log_number.load());
    }
    return oldest;
  }
  std::vector<std::shared_ptr<PreparedSection>> All() const {
    MutexLock lock(&mu_);
    std::vector<std::shared_ptr<PreparedSection>> all;
    for (const auto& [name, section] : sections_) {
      if (section != nullptr) all.push_back(section);
    }
    return all;
  }
  // At the front, or before there is one. Writes all into the current log, not synced, under that sequence; once it is
  // synced, that log holds them.
  Status WriteTo(WalSet* logs, SequenceNumber sequence) const;
  void AreIn(uint64_t log_number, rocksdb::Logger* info_log);

  // The prepared sections that recovery found. They are taken once.
  void SetRecovered(RecoveredTransactions recovered) {
    MutexLock lock(&mu_);
    recovered_ = std::move(recovered);
  }
  RecoveredTransactions TakeRecovered() {
    MutexLock lock(&mu_);
    return std::exchange(recovered_, {});
  }

 private:
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<PreparedSection>> sections_ GUARDED_BY(mu_);  // null: announced
  RecoveredTransactions recovered_ GUARDED_BY(mu_);
};

}  // namespace compassdb
