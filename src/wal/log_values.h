// SPDX-License-Identifier: Apache-2.0
// Values that are in write-ahead logs, while memtables have only their addresses (KallaxDB 3.2).
//
// After a failed sync a file may lack what was written since the last one, and what was acknowledged
// must still be found. So the bytes since the last sync of a log are in memory, too: its tail. The
// leader of the write queue syncs the logs before their tails are too large.
//
// Thread safety: all methods.
// Invariant: a log is open while anyone holds its LogFile. It may be deleted or archived then, but is
// not recycled.
// Lock order: WalSet's mutex, LogValues::mu_; LogFile::mu_ is a leaf but for its CacheCharge. No I/O
// is done with either held.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "cache/cache_charge.h"
#include "env/file_system.h"
#include "iter/value_resolver.h"
#include "log/log_ref.h"
#include "util/mutex.h"

namespace compassdb {

class LogFile {
 public:
  // `tails`: the memory of the tails of all logs.
  LogFile(uint64_t number, std::string path, std::unique_ptr<RandomAccessFile> file,
          std::shared_ptr<CacheCharge> tails)
      : number_(number), path_(std::move(path)), file_(std::move(file)), tails_(std::move(tails)) {}
  ~LogFile() { DropTail(); }
  uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  const RandomAccessFile& file() const { return *file_; }

  // Adds a part of a record's payload, whose first byte is at the offset in the file, to the tail.
  void Keep(uint64_t offset, Slice payload) EXCLUDES(mu_);
  void DropTail() EXCLUDES(mu_);
  // Bytes of the file, with any bytes for the headers among them. False if they are not in the tail.
  bool ReadTail(uint64_t offset, size_t n, char* bytes) const EXCLUDES(mu_);

 private:
  const uint64_t number_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
  const std::shared_ptr<CacheCharge> tails_;
  mutable Mutex mu_;
  uint64_t tail_begin_ GUARDED_BY(mu_) = 0;  // offset
  // Blocks of the file, from that of tail_begin_ on. Null: nothing of it was added.
  std::deque<std::unique_ptr<char[]>> tail_ GUARDED_BY(mu_);
};

// Where a batch is in a log, as far as it is there.
struct LoggedBatch {
  std::shared_ptr<LogFile> file;  // null: nowhere
  uint64_t end = 0;     // of the log, before the batch's record was added
  uint64_t at = 0;      // in the payload of that record: the first of these bytes
  Slice bytes;          // of the batch, in memory

  // The address of a value of the batch. False if it has to stay in memory: it is short, or not in the
  // log.
  bool Refer(const Slice& value, LogRef* to) const;
};

class LogValues final : public ValueResolver {
 public:
  struct Request {
    Slice ref;
    std::string* value = nullptr;
    Status status;
  };

  static constexpr uint64_t kMostUnsynced = 16 << 20;

  // The cache is charged for memory; null: none is.
  LogValues(FileSystem* fs, std::string wal_dir, std::shared_ptr<rocksdb::Cache> cache = nullptr,
            uint64_t most_unsynced = kMostUnsynced)
      : fs_(fs),
        wal_dir_(std::move(wal_dir)),
        most_unsynced_(most_unsynced),
        tails_(std::make_shared<CacheCharge>(std::move(cache))) {}

  // Some family's memtables have addresses.
  void Enable() { enabled_.store(true, std::memory_order_relaxed); }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // A record of this size needs a sync of the logs.
  bool NeedsSync(uint64_t bytes) const { return unsynced() + bytes > most_unsynced_; }
  // The log is durable, or no memtable that names it has to be flushed.
  void DropTail(uint64_t number) EXCLUDES(mu_);

  uint64_t unsynced() const { return tails_->bytes(); }
  // Since open: values that were read, and of these the ones from memory.
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }
  uint64_t reads_in_memory() const { return reads_in_memory_.load(std::memory_order_relaxed); }

  bool IsOpen(uint64_t number) const { return Find(number) != nullptr; }
  // Opens the log, unless it is open.
  Status Open(uint64_t number, std::shared_ptr<LogFile>* file) EXCLUDES(mu_);

  // The caller holds the log of the reference. Corruption if the value's bytes are damaged.
  Status Resolve(const Slice& user_key, const Slice& ref,
                 rocksdb::PinnableSlice* value) const override;
  // Resolve for each, with concurrent reads.
  void ReadMany(std::span<Request> requests) const;

 private:
  std::shared_ptr<LogFile> Find(uint64_t number) const EXCLUDES(mu_);
  Status Find(const Slice& ref, LogRef* to, std::shared_ptr<LogFile>* log) const;
  // False if it is not in memory.
  bool ReadTail(const LogFile& log, const LogRef& ref, std::string* bytes) const;

  FileSystem* const fs_;
  const std::string wal_dir_;
  const uint64_t most_unsynced_;
  const std::shared_ptr<CacheCharge> tails_;
  std::atomic<bool> enabled_{false};
  mutable std::atomic<uint64_t> reads_{0}, reads_in_memory_{0};
  mutable Mutex mu_;
  std::map<uint64_t, std::weak_ptr<LogFile>> files_ GUARDED_BY(mu_);
};

}  // namespace compassdb
