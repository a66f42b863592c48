// SPDX-License-Identifier: Apache-2.0
// The engine under test. Each program holds one: its source defines OpenEngine, EngineName and BuildOfEngine
// (rocksdb_engine.cc for the two that have RocksDB's API, lmdb_engine.cc, leveldb_engine.cc,
// wiredtiger_engine.cc).
//
// Thread safety: Get, MultiGet, Put and Scan may be called by all clients; Property by any one thread, together with
// them; the rest by one thread at a time.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "flags.h"

namespace kvbench {

struct EngineBuild {
  std::string engine;   // "compassdb", "rocksdb", "lmdb", "leveldb" or "wiredtiger"
  std::string version;  // of the API
  std::string library;  // the file that holds the engine's code
  bool assertions = false;
};

// Bytes of tables that flushes and compactions moved since the database was
// opened, as the engine counts them: the write-ahead log is not in them.
struct TableBytes {
  int64_t read = -1;  // -1: unknown
  int64_t written = -1;
  double seconds = 0;  // that flushes and compactions took, each by itself
};

class Engine {
 public:
  using Each = std::function<void(const rocksdb::Slice& key, const rocksdb::Slice& value)>;

  virtual ~Engine() = default;

  // The value is valid until the thread's next call.
  virtual rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value) = 0;
  // One by one, where there is no call for several.
  virtual void MultiGet(size_t n, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                        rocksdb::Status* statuses) {
    for (size_t i = 0; i < n; ++i) {
      rocksdb::PinnableSlice value;
      statuses[i] = Get(keys[i], &value);
      if (statuses[i].ok()) values[i].PinSelf(value);
    }
  }
  virtual rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) = 0;
  // Calls `each` for up to `limit` records from `start` on.
  virtual rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t limit, const Each& each) = 0;

  // Loads what must be in memory before a measurement; not part of opening.
  virtual rocksdb::Status Prepare() { return rocksdb::Status::OK(); }
  // All keys; background work that this starts may still run.
  virtual rocksdb::Status Compact() {
    return rocksdb::Status::NotSupported("--compact: this engine has no such call");
  }
  // Waits until no background work runs or is wanted. With `flush`, what is only in memory and log is written to
  // disk first, so that all writes are counted.
  virtual rocksdb::Status WaitUntilIdle(bool flush) = 0;
  // Gives the block cache the memory that the index leaves, or adds the index to it: by the flags.
  virtual void BalanceMemory() {}
  // "name=value;name=value", while the database is open.
  virtual rocksdb::Status SetOptions(const std::string& /*options*/) {
    return rocksdb::Status::NotSupported("--set-options: this engine has no such call");
  }

  // Memory of all index and filter data, -1 if unknown.
  virtual int64_t IndexMemoryBytes() { return -1; }
  virtual TableBytes TableBytesMoved() { return {}; }
  // -1 if the engine has no such property.
  virtual int64_t Property(const std::string& /*name*/) { return -1; }

  virtual rocksdb::Status Close() = 0;
};

rocksdb::Status OpenEngine(const Flags& flags, bool create, std::unique_ptr<Engine>* engine);
const char* EngineName();
EngineBuild BuildOfEngine();

// For those adapters:
// The file that holds the code at `address`.
std::string LibraryOf(const void* address);
// The flags given that only engines with RocksDB's API know; empty if there are none.
std::string FlagsOfRocksDb(const Flags& flags);

}  // namespace kvbench
