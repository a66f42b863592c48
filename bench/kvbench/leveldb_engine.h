// SPDX-License-Identifier: Apache-2.0
// LevelDB as an engine under test, for what a load costs in syncs, bytes and time. It reads through the page
// cache only. Memtable, filters and block cache are those that the flags give the other engines; tables
// have its own default size (2 MB), and there is a descriptor for each.
//
// Thread safety: as in engine.h.
#pragma once

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>

#include "flags.h"

namespace kvbench {

class Engine {
 public:
  static rocksdb::Status Open(const Flags& flags, bool create, std::unique_ptr<Engine>* engine);
  rocksdb::Status Prepare(const Flags& /*flags*/) { return rocksdb::Status::OK(); }
  static EngineBuild Build();
  static const char* EngineName() { return "leveldb"; }

  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value);
  rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) {
    return AsStatus(db_->Put(write_options_, AsLevel(key), AsLevel(value)));
  }
  // One by one: there is no call for several.
  void MultiGet(size_t n, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses) {
    for (size_t i = 0; i < n; ++i) statuses[i] = Get(keys[i], &values[i]);
  }
  template <class Each>
  rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t limit, Each each) {
    std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(leveldb::ReadOptions()));
    uint64_t seen = 0;
    for (it->Seek(AsLevel(start)); it->Valid() && seen < limit; it->Next()) {
      each(AsRocks(it->key()), AsRocks(it->value()));
      if (++seen == limit) break;
    }
    return AsStatus(it->status());
  }

  // Nothing tells whether compactions run: until the process has been at rest for a while. The memtable
  // cannot be flushed by itself; what is in it stays unpaid.
  rocksdb::Status WaitUntilIdle(bool flush);
  void BalanceMemory() {}
  int64_t IndexMemoryBytes() { return -1; }
  TableBytes TableBytesMoved();
  rocksdb::Status Close();

 private:
  Engine() = default;
  static leveldb::Slice AsLevel(const rocksdb::Slice& s) { return {s.data(), s.size()}; }
  static rocksdb::Slice AsRocks(const leveldb::Slice& s) { return {s.data(), s.size()}; }
  static rocksdb::Status AsStatus(const leveldb::Status& s);

  // The database goes first.
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  leveldb::WriteOptions write_options_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace kvbench
