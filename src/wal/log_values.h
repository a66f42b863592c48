// SPDX-License-Identifier: Apache-2.0
// Values that are in write-ahead logs, while memtables have only their addresses (KallaxDB 3.2).
//
// Thread safety: all methods.
// Invariant: a log is open while anyone holds its LogFile. It may be deleted or archived meanwhile,
// but not recycled.
// Lock order: mu_ is a leaf; no I/O is done with it held.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "env/file_system.h"
#include "iter/value_resolver.h"
#include "util/mutex.h"
#include "wal/log_ref.h"

namespace compassdb {

class LogFile {
 public:
  LogFile(uint64_t number, std::string path, std::unique_ptr<RandomAccessFile> file)
      : number_(number), path_(std::move(path)), file_(std::move(file)) {}
  uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  const RandomAccessFile& file() const { return *file_; }

 private:
  const uint64_t number_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
};

// Where a batch is in a log, as far as it is there.
struct LoggedBatch {
  std::shared_ptr<const LogFile> file;  // null: nowhere
  uint64_t end = 0;     // of the log, before the batch's record was added
  uint64_t at = 0;      // in the payload of that record: the first of these bytes
  Slice bytes;          // of the batch, in memory

  // Encodes the address of a value of the batch. False if it has to stay in memory: it is short, or
  // not in the log.
  bool Refer(const Slice& value, std::string* ref) const;
};

class LogValues final : public ValueResolver {
 public:
  struct Request {
    Slice ref;
    std::string* value = nullptr;
    Status status;
  };

  LogValues(FileSystem* fs, std::string wal_dir) : fs_(fs), wal_dir_(std::move(wal_dir)) {}

  // Some family's memtables have addresses.
  void Enable() { enabled_.store(true, std::memory_order_relaxed); }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Opens the log, unless it is open.
  Status Open(uint64_t number, std::shared_ptr<const LogFile>* file) EXCLUDES(mu_);

  // The caller holds the log of the reference. Corruption if the value's bytes are damaged.
  Status Resolve(const Slice& user_key, const Slice& ref,
                 rocksdb::PinnableSlice* value) const override;
  // Resolve for each, with concurrent reads.
  void ReadMany(std::span<Request> requests) const;

 private:
  std::shared_ptr<const LogFile> Find(uint64_t number) const EXCLUDES(mu_);
  Status Find(const Slice& ref, LogRef* to, std::shared_ptr<const LogFile>* log) const;

  FileSystem* const fs_;
  const std::string wal_dir_;
  std::atomic<bool> enabled_{false};
  mutable Mutex mu_;
  mutable std::map<uint64_t, std::weak_ptr<const LogFile>> files_ GUARDED_BY(mu_);
};

}  // namespace compassdb
