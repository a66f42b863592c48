// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/core.h>

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

}  // namespace

Status Engine::Open(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  if (flags.direct || flags.disable_wal || flags.index_in_cache || flags.data_cache_kb > 0 ||
      flags.memory_mb > 0 || flags.partition_index ||
      !flags.options_string.empty() || flags.compression != "none") {
    return Status::InvalidArgument(
        "LMDB knows none of --direct, --disable-wal, --index-in-cache, --data-cache-kb, --memory-mb, --partition-index, "
        "--options-string, --compression");
  }
  auto engine = std::unique_ptr<Engine>(new Engine());
  int error = mdb_env_create(&engine->env_);
  if (error != 0) return AsStatus("mdb_env_create", error);
  // Address space, not memory; a page is at worst half full.
  const uint64_t bytes =
      (flags.records + flags.Operations()) * (flags.key_size + flags.value_size + 64) * 4;
  mdb_env_set_mapsize(engine->env_, std::max<uint64_t>(bytes, uint64_t{16} << 30));
  mdb_env_set_maxreaders(engine->env_, 1200);
  const unsigned env_flags = flags.sync ? 0 : MDB_NOSYNC | MDB_WRITEMAP;
  error = mdb_env_open(engine->env_, flags.db.c_str(), env_flags, 0644);
  if (error != 0) return AsStatus("mdb_env_open", error);
  MDB_txn* txn = nullptr;
  error = mdb_txn_begin(engine->env_, nullptr, 0, &txn);
  if (error != 0) return AsStatus("mdb_txn_begin", error);
  error = mdb_dbi_open(txn, nullptr, create ? MDB_CREATE : 0, &engine->records_);
  if (error == 0) error = mdb_txn_commit(txn);
  if (error != 0) return AsStatus("mdb_dbi_open", error);
  *result = std::move(engine);
  return Status::OK();
}

Engine::~Engine() {
  if (env_ != nullptr) Close();
}

Status Engine::Close() {
  Status s = WaitUntilIdle(true);
  mdb_env_close(env_);
  env_ = nullptr;
  return s;
}

EngineBuild Engine::Build() {
  EngineBuild build;
  build.engine = EngineName();
  build.version =
      fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&mdb_env_create), &info) != 0) {
    build.library = info.dli_fname;
  }
  return build;
}

Status Engine::Get(const Slice& key, PinnableSlice* value) {
  if (const int error = RenewReader(env_); error != 0) return AsStatus("get", error);
  MDB_val k{key.size(), const_cast<char*>(key.data())};
  MDB_val v;
  const int error = mdb_get(reader.txn, records_, &k, &v);
  if (error == MDB_NOTFOUND) return Status::NotFound();
  if (error != 0) return AsStatus("get", error);
  value->PinSlice(AsSlice(v), nullptr, nullptr, nullptr);
  return Status::OK();
}

Status Engine::Put(const Slice& key, const Slice& value) {
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

Status Engine::RenewCursor(MDB_cursor** cursor) {
  int error = RenewReader(env_);
  if (error == 0) {
    error = reader.cursor == nullptr ? mdb_cursor_open(reader.txn, records_, &reader.cursor)
                                     : mdb_cursor_renew(reader.txn, reader.cursor);
  }
  *cursor = reader.cursor;
  return AsStatus("scan", error);
}

Status Engine::WaitUntilIdle(bool flush) {
  return flush ? AsStatus("sync", mdb_env_sync(env_, 1)) : Status::OK();
}

}  // namespace kvbench
