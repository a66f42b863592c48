// SPDX-License-Identifier: Apache-2.0
// LMDB as an engine under test, for cached reads: a B+tree in a memory map. A
// Get or a Scan runs in a read transaction of its thread, renewed for each
// (it sees the newest commit, and costs no allocation); values are not copied.
// Writes are not measured: each Put is a transaction, and without --sync none
// of them waits for the disk.
#include <fmt/core.h>
#include <lmdb.h>

#include <algorithm>

#include "engine.h"

namespace kvbench {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// The read transaction of one thread, with a cursor on the records.
struct Reader {
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  ~Reader() {
    if (cursor != nullptr) mdb_cursor_close(cursor);
    if (txn != nullptr) mdb_txn_abort(txn);
  }
};

thread_local Reader reader;

int RenewReader(MDB_env* env) {
  if (reader.txn == nullptr) return mdb_txn_begin(env, nullptr, MDB_RDONLY, &reader.txn);
  mdb_txn_reset(reader.txn);
  return mdb_txn_renew(reader.txn);
}

Slice AsSlice(const MDB_val& v) { return {static_cast<const char*>(v.mv_data), v.mv_size}; }

Status AsStatus(const char* what, int error) {
  return error == 0 ? Status::OK() : Status::IOError(what, mdb_strerror(error));
}

class LmdbEngine final : public Engine {
 public:
  ~LmdbEngine() override {
    if (env_ != nullptr) Close();
  }
  Status Open(const Flags& flags, bool create);

  Status Get(const Slice& key, PinnableSlice* value) override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Scan(const Slice& start, uint64_t limit, const Each& each) override;

  // Nothing runs in the background; `flush` waits for the disk.
  Status WaitUntilIdle(bool flush) override {
    return flush ? AsStatus("sync", mdb_env_sync(env_, 1)) : Status::OK();
  }
  Status Close() override;

 private:
  Status RenewCursor(MDB_cursor** cursor);

  MDB_env* env_ = nullptr;
  MDB_dbi records_ = 0;
};

Status LmdbEngine::Open(const Flags& flags, bool create) {
  std::string unknown = FlagsOfRocksDb(flags);
  if (unknown.empty() && flags.direct) unknown = "--direct";
  if (unknown.empty() && flags.table_mb > 0) unknown = "--table-mb";
  if (unknown.empty() && flags.data_cache_kb > 0) unknown = "--data-cache-kb";
  if (unknown.empty() && flags.compression != "none") unknown = "--compression";
  if (!unknown.empty()) return Status::InvalidArgument("LMDB does not know " + unknown);
  int error = mdb_env_create(&env_);
  if (error != 0) return AsStatus("mdb_env_create", error);
  // Address space, not memory; a page is at worst half full.
  const uint64_t bytes =
      (flags.records + flags.Operations()) * (flags.key_size + flags.value_sizes.largest() + 64) * 4;
  mdb_env_set_mapsize(env_, std::max<uint64_t>(bytes, uint64_t{16} << 30));
  mdb_env_set_maxreaders(env_, 1200);
  const unsigned env_flags = flags.sync ? 0 : MDB_NOSYNC | MDB_WRITEMAP;
  error = mdb_env_open(env_, flags.db.c_str(), env_flags, 0644);
  if (error != 0) return AsStatus("mdb_env_open", error);
  MDB_txn* txn = nullptr;
  error = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (error != 0) return AsStatus("mdb_txn_begin", error);
  error = mdb_dbi_open(txn, nullptr, create ? MDB_CREATE : 0, &records_);
  if (error == 0) error = mdb_txn_commit(txn);
  return AsStatus("mdb_dbi_open", error);
}

Status LmdbEngine::Close() {
  Status s = WaitUntilIdle(true);
  mdb_env_close(env_);
  env_ = nullptr;
  return s;
}

Status LmdbEngine::Get(const Slice& key, PinnableSlice* value) {
  if (const int error = RenewReader(env_); error != 0) return AsStatus("get", error);
  MDB_val k{key.size(), const_cast<char*>(key.data())};
  MDB_val v;
  const int error = mdb_get(reader.txn, records_, &k, &v);
  if (error == MDB_NOTFOUND) return Status::NotFound();
  if (error != 0) return AsStatus("get", error);
  value->PinSlice(AsSlice(v), nullptr, nullptr, nullptr);
  return Status::OK();
}

Status LmdbEngine::Put(const Slice& key, const Slice& value) {
  MDB_txn* txn = nullptr;
  int error = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (error != 0) return AsStatus("put", error);
  MDB_val k{key.size(), const_cast<char*>(key.data())};
  MDB_val v{value.size(), const_cast<char*>(value.data())};
  error = mdb_put(txn, records_, &k, &v, 0);
  if (error != 0) {
    mdb_txn_abort(txn);
    return AsStatus("put", error);
  }
  return AsStatus("put", mdb_txn_commit(txn));
}

Status LmdbEngine::RenewCursor(MDB_cursor** cursor) {
  int error = RenewReader(env_);
  if (error == 0) {
    error = reader.cursor == nullptr ? mdb_cursor_open(reader.txn, records_, &reader.cursor)
                                     : mdb_cursor_renew(reader.txn, reader.cursor);
  }
  *cursor = reader.cursor;
  return AsStatus("scan", error);
}

Status LmdbEngine::Scan(const Slice& start, uint64_t limit, const Each& each) {
  MDB_cursor* cursor = nullptr;
  Status s = RenewCursor(&cursor);
  if (!s.ok() || limit == 0) return s;
  MDB_val key{start.size(), const_cast<char*>(start.data())};
  MDB_val value;
  int error = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (error == 0) {
    each(AsSlice(key), AsSlice(value));
    if (--limit == 0) break;
    error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  return error == MDB_NOTFOUND ? Status::OK() : AsStatus("scan", error);
}

}  // namespace

Status OpenEngine(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  auto engine = std::make_unique<LmdbEngine>();
  Status s = engine->Open(flags, create);
  if (s.ok()) *result = std::move(engine);
  return s;
}

const char* EngineName() { return "lmdb"; }

EngineBuild BuildOfEngine() {
  EngineBuild build;
  build.engine = EngineName();
  build.version =
      fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  build.library = LibraryOf(reinterpret_cast<const void*>(&mdb_env_create));
  return build;
}

}  // namespace kvbench
