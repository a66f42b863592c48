// SPDX-License-Identifier: Apache-2.0
// WiredTiger as an engine under test: a B-tree with leaf pages of 4 KiB, without page compression, as the
// KallaxDB paper sets it up. Memory is what the flags give the other engines: blocks and memtables (three at
// most) together are its one cache, and it may hold two memtables' worth of it dirty. Internal pages, its
// index, are in addition to it where the others' index is.
// A checkpoint every minute bounds the log. Without --sync a commit hands its log record to the kernel, as
// the others do.
//
// What Get gives is valid until the thread's next call. A session and a cursor per thread, which must end
// before the engine is closed.
#include <fmt/core.h>
#include <wiredtiger.h>

#include <algorithm>
#include <mutex>

#include "engine.h"

namespace kvbench {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr const char* kTable = "table:records";
constexpr uint64_t kMemtables = 3;
constexpr uint64_t kLeastCache = 1 << 20;
constexpr uint64_t kMostLogFileMb = 2048;
constexpr uint64_t kCacheStep = 1 << 20;  // smaller changes of the cache's size are not worth a call

Status AsStatus(const char* what, int error) {
  return error == 0 ? Status::OK() : Status::IOError(what, wiredtiger_strerror(error));
}

WT_ITEM AsItem(const Slice& s) {
  WT_ITEM item{};
  item.data = s.data();
  item.size = s.size();
  return item;
}

Slice AsSlice(const WT_ITEM& item) { return {static_cast<const char*>(item.data), item.size}; }

struct Handle {
  WT_SESSION* session = nullptr;
  WT_CURSOR* cursor = nullptr;
  ~Handle() { Close(); }
  void Close() {
    if (session != nullptr) session->close(session, nullptr);
    session = nullptr;
    cursor = nullptr;
  }
  int Open(WT_CONNECTION* connection) {
    if (cursor != nullptr) return 0;
    if (const int error = connection->open_session(connection, nullptr, nullptr, &session)) return error;
    return session->open_cursor(session, kTable, nullptr, nullptr, &cursor);
  }
};

thread_local Handle client;

class WiredTigerEngine final : public Engine {
 public:
  ~WiredTigerEngine() override {
    if (connection_ != nullptr) Close();
  }
  Status Open(const Flags& flags, bool create);

  Status Get(const Slice& key, PinnableSlice* value) override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Scan(const Slice& start, uint64_t limit, const Each& each) override;

  // Eviction leaves no pending work; `flush` writes a checkpoint.
  Status WaitUntilIdle(bool flush) override;
  void BalanceMemory() override;
  int64_t IndexMemoryBytes() override { return Statistic(WT_STAT_CONN_CACHE_BYTES_INTERNAL); }
  TableBytes TableBytesMoved() override {
    return {.read = Statistic(WT_STAT_CONN_BLOCK_BYTE_READ),
            .written = Statistic(WT_STAT_CONN_BLOCK_BYTE_WRITE)};
  }
  Status Close() override;

 private:
  int64_t Statistic(int key);

  WT_CONNECTION* connection_ = nullptr;
  uint64_t cache_bytes_ = 0;   // of leaf pages, clean and dirty
  bool separate_index_ = false;  // internal pages are in addition to them
  std::mutex mutex_;           // guards what follows
  uint64_t capacity_ = 0;      // as WiredTiger has it now
  WT_SESSION* session_ = nullptr;
};

Status WiredTigerEngine::Open(const Flags& flags, bool create) {
  std::string unknown = FlagsOfRocksDb(flags);
  if (unknown.empty() && flags.compression != "none") unknown = "--compression";
  if (unknown.empty() && flags.table_mb > 0) unknown = "--table-mb";
  if (!unknown.empty()) return Status::InvalidArgument("WiredTiger does not know " + unknown);
  std::string config = "statistics=(fast),checkpoint=(wait=60,log_size=2GB)";
  config += create ? ",create,exclusive" : "";
  config += flags.direct ? ",direct_io=[data]" : "";
  config += fmt::format(",transaction_sync=(enabled=true,method={})", flags.sync ? "fsync" : "none");
  config += fmt::format(",session_max={}", flags.threads + 64);
  if (flags.defaults) {
    config += ",log=(enabled=true)";
  } else {
    config += fmt::format(",log=(enabled=true,file_max={}MB)", std::min(flags.memtable_mb, kMostLogFileMb));
    separate_index_ = flags.data_cache_kb > 0;
    cache_bytes_ = (separate_index_ ? flags.data_cache_kb << 10 : flags.cache_mb << 20) +
                   kMemtables * (flags.memtable_mb << 20);
    capacity_ = std::max(kLeastCache, cache_bytes_);
    config += fmt::format(",cache_size={}", capacity_);
    config += fmt::format(",eviction=(threads_max={})", std::clamp(flags.background_threads, 1, 20));
    const uint64_t memtable = flags.memtable_mb << 20;
    config += fmt::format(",eviction_dirty_target={},eviction_dirty_trigger={}", memtable, 2 * memtable);
  }
  int error = wiredtiger_open(flags.db.c_str(), nullptr, config.c_str(), &connection_);
  if (error != 0) return AsStatus("wiredtiger_open", error);
  error = connection_->open_session(connection_, nullptr, nullptr, &session_);
  if (error != 0) return AsStatus("open_session", error);
  return AsStatus("create", session_->create(session_, kTable, "key_format=u,value_format=u,leaf_page_max=4KB"));
}

Status WiredTigerEngine::Close() {
  client.Close();
  const int error = connection_->close(connection_, nullptr);
  connection_ = nullptr;
  return AsStatus("close", error);
}

Status WiredTigerEngine::Get(const Slice& key, PinnableSlice* value) {
  if (const int error = client.Open(connection_)) return AsStatus("get", error);
  WT_ITEM item = AsItem(key);
  client.cursor->set_key(client.cursor, &item);
  int error = client.cursor->search(client.cursor);
  if (error == WT_NOTFOUND) return Status::NotFound();
  if (error == 0) error = client.cursor->get_value(client.cursor, &item);
  if (error != 0) return AsStatus("get", error);
  value->PinSlice(AsSlice(item), nullptr, nullptr, nullptr);
  return Status::OK();
}

Status WiredTigerEngine::Put(const Slice& key, const Slice& value) {
  if (const int error = client.Open(connection_)) return AsStatus("put", error);
  WT_ITEM k = AsItem(key), v = AsItem(value);
  client.cursor->set_key(client.cursor, &k);
  client.cursor->set_value(client.cursor, &v);
  return AsStatus("put", client.cursor->insert(client.cursor));
}

Status WiredTigerEngine::Scan(const Slice& start, uint64_t limit, const Each& each) {
  if (const int error = client.Open(connection_)) return AsStatus("scan", error);
  WT_ITEM key = AsItem(start), value{};
  client.cursor->set_key(client.cursor, &key);
  int where = 0;
  int error = client.cursor->search_near(client.cursor, &where);
  if (error == 0 && where < 0) error = client.cursor->next(client.cursor);
  while (error == 0 && limit > 0) {
    error = client.cursor->get_key(client.cursor, &key);
    if (error == 0) error = client.cursor->get_value(client.cursor, &value);
    if (error != 0) break;
    each(AsSlice(key), AsSlice(value));
    if (--limit > 0) error = client.cursor->next(client.cursor);
  }
  const int released = client.cursor->reset(client.cursor);
  if (error == WT_NOTFOUND) error = 0;
  return AsStatus("scan", error != 0 ? error : released);
}

Status WiredTigerEngine::WaitUntilIdle(bool flush) {
  if (!flush) return Status::OK();
  std::lock_guard lock(mutex_);
  return AsStatus("checkpoint", session_->checkpoint(session_, nullptr));
}

int64_t WiredTigerEngine::Statistic(int key) {
  std::lock_guard lock(mutex_);
  WT_CURSOR* cursor = nullptr;
  if (session_->open_cursor(session_, "statistics:", nullptr, nullptr, &cursor) != 0) return -1;
  const char *description = nullptr, *printable = nullptr;
  int64_t value = -1;
  cursor->set_key(cursor, key);
  if (cursor->search(cursor) != 0 || cursor->get_value(cursor, &description, &printable, &value) != 0) value = -1;
  cursor->close(cursor);
  return value;
}

void WiredTigerEngine::BalanceMemory() {
  if (!separate_index_) return;
  const auto index = static_cast<uint64_t>(std::max<int64_t>(0, IndexMemoryBytes()));
  const uint64_t wanted = std::max(kLeastCache, cache_bytes_ + index);
  std::lock_guard lock(mutex_);
  if (wanted < capacity_ + kCacheStep && capacity_ < wanted + kCacheStep) return;
  if (connection_->reconfigure(connection_, fmt::format("cache_size={}", wanted).c_str()) == 0) capacity_ = wanted;
}

}  // namespace

Status OpenEngine(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  auto engine = std::make_unique<WiredTigerEngine>();
  Status s = engine->Open(flags, create);
  if (s.ok()) *result = std::move(engine);
  return s;
}

const char* EngineName() { return "wiredtiger"; }

EngineBuild BuildOfEngine() {
  EngineBuild build;
  build.engine = EngineName();
  build.version = fmt::format("{}.{}.{}", WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH);
  build.library = LibraryOf(reinterpret_cast<const void*>(&wiredtiger_open));
  return build;
}

}  // namespace kvbench
