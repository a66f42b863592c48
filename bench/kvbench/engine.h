// SPDX-License-Identifier: Apache-2.0
// The engine under test behind the one API that both libraries offer. Which
// one it is, is decided by the headers and the library this is built with.
//
// Thread safety: db() and the write/read options may be used by all clients;
// WaitUntilIdle, BalanceMemory and the figures by one thread at a time each.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <string>

#include "flags.h"

namespace kvbench {

struct EngineBuild {
  std::string engine;   // "compassdb", "rocksdb", "lmdb" or "leveldb"
  std::string version;  // of the API
  std::string library;  // the file that holds the engine's code
  bool assertions = false;
};

// Bytes of tables that flushes and compactions moved since the database was
// opened, as the engine counts them: the write-ahead log is not in them.
struct TableBytes {
  int64_t read = -1;  // -1: the engine does not tell
  int64_t written = -1;
  double seconds = 0;  // that flushes and compactions took, each by itself
};

}  // namespace kvbench

#if defined(KVBENCH_LMDB)
#include "lmdb_engine.h"
#elif defined(KVBENCH_LEVELDB)
#include "leveldb_engine.h"
#else

namespace kvbench {

class Engine {
 public:
  static rocksdb::Status Open(const Flags& flags, bool create, std::unique_ptr<Engine>* engine);
  // What is to be in memory before anything is measured; not part of opening.
  rocksdb::Status Prepare(const Flags& flags);
  static EngineBuild Build();
  static const char* EngineName();
  ~Engine();

  rocksdb::DB* db() { return db_.get(); }
  const rocksdb::WriteOptions& write_options() const { return write_options_; }
  const rocksdb::ReadOptions& read_options() const { return read_options_; }

  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value) {
    return db_->Get(read_options_, db_->DefaultColumnFamily(), key, value);
  }
  void MultiGet(size_t n, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses) {
    db_->MultiGet(read_options_, db_->DefaultColumnFamily(), n, keys, values, statuses);
  }
  rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) {
    return db_->Put(write_options_, key, value);
  }
  // Calls each(key, value) for up to `limit` records from `start` on.
  template <class Each>
  rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t limit, Each each) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read_options_));
    uint64_t seen = 0;
    for (it->Seek(start); it->Valid() && seen < limit; it->Next()) {
      each(it->key(), it->value());
      if (++seen == limit) break;
    }
    return it->status();
  }

  // Waits until no flush and no compaction runs or is wanted. With `flush`,
  // the memtable goes to disk first, so that no write is left unpaid.
  rocksdb::Status WaitUntilIdle(bool flush);

  // Gives the block cache what index and filters leave of --cache-mb.
  void BalanceMemory();

  // Memory of all index and filter data, -1 if the engine does not tell.
  int64_t IndexMemoryBytes();
  TableBytes TableBytesMoved();

  rocksdb::Status Close();

 private:
  Engine() = default;
  rocksdb::Status PendingWork(uint64_t* pending);

  std::unique_ptr<rocksdb::DB> db_;
  std::shared_ptr<rocksdb::Cache> cache_;
  uint64_t memory_budget_ = 0;  // of index, filters and cache together; 0: not shared
  rocksdb::WriteOptions write_options_;
  rocksdb::ReadOptions read_options_;
};

// The options that the flags ask for, before --preset and --options-string.
rocksdb::Options MakeOptions(const Flags& flags, std::shared_ptr<rocksdb::Cache>* cache);
rocksdb::Status ApplyPreset(const Flags& flags, rocksdb::Options* options);

}  // namespace kvbench

#endif  // KVBENCH_LMDB, KVBENCH_LEVELDB
