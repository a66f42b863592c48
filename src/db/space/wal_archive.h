// SPDX-License-Identifier: Apache-2.0
// Logs that recovery no longer needs: deleted, or kept in archive/ for
// followers of the log, by WAL_ttl_seconds and
// WAL_size_limit_MB.
//
// Thread safety: Retire and Purge by one thread at a time; the functions below
// at any time, also against them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/file_system.h"
#include "rocksdb/env.h"
#include "rocksdb/types.h"
#include "wal/wal_reader.h"

namespace compassdb {

class WalArchive {
 public:
  WalArchive(FileSystem* fs, Clock* clock, std::string wal_dir, uint64_t ttl_seconds,
             uint64_t limit_bytes)
      : fs_(fs),
        clock_(clock),
        wal_dir_(std::move(wal_dir)),
        ttl_seconds_(ttl_seconds),
        limit_bytes_(limit_bytes) {}

  bool enabled() const { return ttl_seconds_ > 0 || limit_bytes_ > 0; }
  // Makes the directory, if logs are to be kept.
  Status Open();
  // Moves a log into the archive, or deletes it if none are kept. OK if it is gone already.
  Status Retire(uint64_t number);
  // Deletes archived logs that are too old, then the oldest until the rest is within the limit.
  // Does so every ten minutes, or every half of the time to live if only that is set.
  Status Purge();

 private:
  FileSystem* const fs_;
  Clock* const clock_;
  const std::string wal_dir_;
  const uint64_t ttl_seconds_;
  const uint64_t limit_bytes_;
  uint64_t last_purge_ = 0;  // seconds
};

struct WalFileInfo {
  uint64_t number = 0;
  bool archived = false;
};

// All logs, archived ones too, by number. One that is being archived is found once.
Status ListWalFiles(FileSystem* fs, const std::string& wal_dir, std::vector<WalFileInfo>* files);

// Opens a log, also if it was archived since; `file` is corrected.
Status OpenWalFile(FileSystem* fs, const std::string& wal_dir, uint64_t offset, WalFileInfo* file,
                   std::unique_ptr<WalReader>* reader);

// The sequence of the log's first batch; 0 if it has none that can be read.
Status FirstSequence(FileSystem* fs, const std::string& wal_dir, WalFileInfo* file,
                     rocksdb::SequenceNumber* sequence);

}  // namespace compassdb
