// SPDX-License-Identifier: Apache-2.0
// LMDB as an engine under test, for cached reads: a B+tree in a memory map. A
// Get or a Scan runs in a read transaction of its thread, renewed for each
// (it sees the newest commit, and costs no allocation); values are not copied.
// Writes are not its field here: each Put is a transaction, and without --sync
// none of them waits for the disk.
//
// Thread safety: as in engine.h. What Get gives is valid until the thread's
// next call.
#pragma once

#include <lmdb.h>
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
  static const char* EngineName() { return "lmdb"; }
  ~Engine();

  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value);
  rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value);
  // One by one: there is no call for several.
  void MultiGet(size_t n, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses) {
    for (size_t i = 0; i < n; ++i) statuses[i] = Get(keys[i], &values[i]);
  }
  template <class Each>
  rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t limit, Each each) {
    MDB_cursor* cursor = nullptr;
    rocksdb::Status s = RenewCursor(&cursor);
    if (!s.ok() || limit == 0) return s;
    MDB_val key{start.size(), const_cast<char*>(start.data())};
    MDB_val value;
    int error = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (error == 0) {
      each(AsSlice(key), AsSlice(value));
      if (--limit == 0) break;
      error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return error == MDB_NOTFOUND ? rocksdb::Status::OK() : AsStatus("scan", error);
  }

  // Nothing runs in the background; `flush` waits for the disk.
  rocksdb::Status WaitUntilIdle(bool flush);
  void BalanceMemory() {}
  int64_t IndexMemoryBytes() { return -1; }
  TableBytes TableBytesMoved() { return {}; }
  rocksdb::Status Close();

 private:
  Engine() = default;
  static rocksdb::Slice AsSlice(const MDB_val& v) {
    return {static_cast<const char*>(v.mv_data), v.mv_size};
  }
  static rocksdb::Status AsStatus(const char* what, int error) {
    if (error == 0) return rocksdb::Status::OK();
    return rocksdb::Status::IOError(what, mdb_strerror(error));
  }
  rocksdb::Status RenewCursor(MDB_cursor** cursor);

  MDB_env* env_ = nullptr;
  MDB_dbi records_ = 0;
};

}  // namespace kvbench
