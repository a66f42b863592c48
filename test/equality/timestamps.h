// SPDX-License-Identifier: Apache-2.0
// Common parts of the scenarios about user-defined timestamps.
#pragma once

#include <cstdint>
#include <string>

#include "equality/transcript.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace compassdb_test {

std::string Ts(uint64_t t);
std::string ShowTs(const rocksdb::Slice& ts);
// With timestamps of eight bytes, and without compactions of their own.
rocksdb::Options TimedOptions();

// Read options at a time, which own it.
struct At {
  explicit At(uint64_t t, uint64_t start = UINT64_MAX) : bytes(Ts(t)), from(Ts(start)) {
    slice = bytes;
    options.timestamp = &slice;
    if (start != UINT64_MAX) {
      start_slice = from;
      options.iter_start_ts = &start_slice;
    }
  }
  At(const At&) = delete;
  const std::string bytes, from;
  rocksdb::Slice slice, start_slice;
  rocksdb::ReadOptions options;
};

// All that a reader with these options walks over.
void WalkAt(Transcript* t, rocksdb::DB* db, const rocksdb::ReadOptions& read, const std::string& what);
// Keys a to e and the walk. The time of a deletion is shown as long as neither library may have dropped it.
void ReadAt(Transcript* t, rocksdb::DB* db, uint64_t time, const rocksdb::Snapshot* snapshot = nullptr,
            bool deletions = true);
// At many times, and histories.
void ReadAll(Transcript* t, rocksdb::DB* db, const rocksdb::Snapshot* snapshot = nullptr);

// Notes the records of a batch; their keys end with timestamps.
class BatchRecorder : public rocksdb::WriteBatch::Handler {
 public:
  explicit BatchRecorder(Transcript* t) : t_(t) {}
  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Note("put", id, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t id, const rocksdb::Slice& key) override { return Note("delete", id, key, ""); }
  rocksdb::Status SingleDeleteCF(uint32_t id, const rocksdb::Slice& key) override {
    return Note("single delete", id, key, "");
  }
  rocksdb::Status DeleteRangeCF(uint32_t id, const rocksdb::Slice& begin, const rocksdb::Slice& end) override {
    return Note("delete range", id, begin, end);
  }
  rocksdb::Status MarkNoop(bool) override { return rocksdb::Status::OK(); }

 private:
  rocksdb::Status Note(const char* what, uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value);

  Transcript* const t_;
};

}  // namespace compassdb_test
