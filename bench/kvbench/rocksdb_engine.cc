// SPDX-License-Identifier: Apache-2.0
// The engines with RocksDB's API. The headers and the library of the build decide which one it
// is.
#ifndef KVBENCH_ROCKSDB
#include <compassdb/index.h>
#endif
#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>
#if ROCKSDB_MAJOR >= 11
#include <rocksdb/advanced_cache.h>
#endif

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <unordered_map>

#include "engine.h"
#include "rocksdb_options.h"

namespace kvbench {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Work of the background that is running or wanted.
constexpr const char* kWork[] = {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                                 "rocksdb.num-running-compactions", "rocksdb.compaction-pending"};
#ifdef KVBENCH_ROCKSDB
constexpr const char* kIndexMemory[] = {"rocksdb.estimate-table-readers-mem"};
#else
// Of the table-less store alone.
constexpr const char* kStoreWork[] = {"compassdb.tableless-pending-pages", "compassdb.tableless-rehashing"};
// A store without tables has an index of its own.
constexpr const char* kIndexMemory[] = {"compassdb.index-memory", "compassdb.tableless-index-bytes"};
#endif

class RocksDbEngine final : public Engine {
 public:
  Status Open(const Flags& flags, bool create);

  Status Get(const Slice& key, PinnableSlice* value) override {
    return db_->Get(read_options_, db_->DefaultColumnFamily(), key, value);
  }
  void MultiGet(size_t n, const Slice* keys, PinnableSlice* values, Status* statuses) override {
    db_->MultiGet(read_options_, db_->DefaultColumnFamily(), n, keys, values, statuses);
  }
  Status Put(const Slice& key, const Slice& value) override {
    return db_->Put(write_options_, key, value);
  }
  Status Scan(const Slice& start, uint64_t limit, const Each& each) override;

  Status Prepare() override;
  Status Compact() override { return db_->CompactRange({}, nullptr, nullptr); }
  Status WaitUntilIdle(bool flush) override;
  void BalanceMemory() override;
  Status SetOptions(const std::string& options) override;
  int64_t IndexMemoryBytes() override;
  TableBytes TableBytesMoved() override;
  int64_t Property(const std::string& name) override {
    uint64_t value = 0;
    return db_->GetIntProperty(name, &value) ? static_cast<int64_t>(value) : -1;
  }
  Status Close() override;

 private:
  Status PendingWork(int64_t* pending);
#ifndef KVBENCH_ROCKSDB
  void AwaitHoles();
#endif

  std::unique_ptr<rocksdb::DB> db_;
  std::shared_ptr<rocksdb::Cache> cache_;
  uint64_t memory_budget_ = 0;  // of index, filters and cache together; 0: not shared
  bool load_index_ = false;
  rocksdb::WriteOptions write_options_;
  rocksdb::ReadOptions read_options_;
};

Status RocksDbEngine::Open(const Flags& flags, bool create) {
#ifdef KVBENCH_ROCKSDB
  if (flags.data_order != "key") return Status::InvalidArgument("--data-order is CompassDB's");
#else
  if (flags.partition_index) return Status::InvalidArgument("--partition-index is RocksDB's");
#endif
  if (flags.memory_mb > 0 && (flags.defaults || flags.index_in_cache || flags.data_cache_kb > 0)) {
    return Status::InvalidArgument(
        "--memory-mb", "not together with --defaults, --index-in-cache or --data-cache-kb");
  }
  rocksdb::Options options = MakeOptions(flags, &cache_);
  if (Status s = ApplyPreset(flags, &options); !s.ok()) return s;
  options.create_if_missing = create;
  options.error_if_exists = create;
  if (!flags.options_string.empty()) {
    const rocksdb::Options base = options;
    rocksdb::ConfigOptions config;
    Status s = rocksdb::GetOptionsFromString(config, base, flags.options_string, &options);
    if (!s.ok()) return Status::InvalidArgument("--options-string", s.ToString());
  }
  const bool shared = flags.data_cache_kb == 0 && !flags.index_in_cache && flags.memory_mb == 0;
  memory_budget_ = shared ? flags.cache_mb << 20 : 0;
  // RocksDB has read its indexes once it is open, and BalanceMemory takes them off the cache.
  load_index_ = !flags.index_in_cache && flags.memory_mb == 0;
  write_options_.sync = flags.sync;
  write_options_.disableWAL = flags.disable_wal;
#if ROCKSDB_MAJOR >= 11
  return rocksdb::DB::Open(options, flags.db, &db_);
#else
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::Open(options, flags.db, &db);
  db_.reset(db);
  return s;
#endif
}

Status RocksDbEngine::Prepare() {
#ifndef KVBENCH_ROCKSDB
  if (load_index_) {
    Status s = compassdb::LoadIndex(db_.get(), db_->DefaultColumnFamily());
    if (!s.ok()) return s;
  }
#endif
  BalanceMemory();
  return Status::OK();
}

#ifndef KVBENCH_ROCKSDB
// Holes are punched at a rate, and pending ones at a close wait for the next open. Files are measured after a close.
// Small holes stay, so this ends when their number no longer falls.
void RocksDbEngine::AwaitHoles() {
  constexpr int kMostLooks = 30;
  int64_t before = -1;
  for (int i = 0; i < kMostLooks; ++i) {
    const int64_t now = Property("compassdb.dead-bytes-punchable");
    if (now <= 0 || now == before) return;
    before = now;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}
#endif

Status RocksDbEngine::Close() {
#ifndef KVBENCH_ROCKSDB
  AwaitHoles();
#endif
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status RocksDbEngine::Scan(const Slice& start, uint64_t limit, const Each& each) {
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read_options_));
  uint64_t seen = 0;
  for (it->Seek(start); it->Valid() && seen < limit; it->Next()) {
    each(it->key(), it->value());
    if (++seen == limit) break;
  }
  return it->status();
}

Status RocksDbEngine::PendingWork(int64_t* pending) {
  *pending = 0;
  for (const char* name : kWork) {
    const int64_t value = Property(name);
    if (value < 0) return Status::NotSupported("property", name);
    *pending += value;
  }
#ifndef KVBENCH_ROCKSDB
  for (const char* name : kStoreWork) *pending += std::max<int64_t>(0, Property(name));
#endif
  if (Property("rocksdb.background-errors") > 0) {
    return Status::IOError("a flush or compaction failed; see the LOG file of", db_->GetName());
  }
  return Status::OK();
}

Status RocksDbEngine::WaitUntilIdle(bool flush) {
  if (flush) {
    rocksdb::FlushOptions flush_options;
    flush_options.wait = true;
    Status s = db_->Flush(flush_options);
    if (!s.ok()) return s;
  }
  // A job that ends may make the next one due a moment later: idle means idle
  // three times in a row.
  int idle = 0;
  while (idle < 3) {
    int64_t pending = 0;
    Status s = PendingWork(&pending);
    if (!s.ok()) return s;
    idle = pending == 0 ? idle + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(idle > 0 ? 2 : 5));
  }
  return Status::OK();
}

Status RocksDbEngine::SetOptions(const std::string& options) {
  std::unordered_map<std::string, std::string> changes;
  Status s = rocksdb::StringToMap(options, &changes);
  return s.ok() ? db_->SetOptions(changes) : s;
}

int64_t RocksDbEngine::IndexMemoryBytes() {
  int64_t most = -1;
  for (const char* name : kIndexMemory) most = std::max(most, Property(name));
  return most;
}

TableBytes RocksDbEngine::TableBytesMoved() {
  std::map<std::string, std::string> stats;
  TableBytes bytes;
  if (!db_->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats)) return bytes;
  // Levels that never saw a byte may be left out, in the middle too.
  bool any = false;
  int64_t read = 0, written = 0;
  double seconds = 0;
  for (int level = 0; level < 64; ++level) {
    const std::string prefix = fmt::format("compaction.L{}.", level);
    const auto r = stats.find(prefix + "ReadGB");
    const auto w = stats.find(prefix + "WriteGB");
    const auto t = stats.find(prefix + "CompSec");
    if (r == stats.end() || w == stats.end() || t == stats.end()) continue;
    any = true;
    read += static_cast<int64_t>(std::stod(r->second) * (1 << 30));
    written += static_cast<int64_t>(std::stod(w->second) * (1 << 30));
    // Separated values, which are not among the above.
    const auto values = stats.find(prefix + "WblobGB");
    if (values != stats.end()) written += static_cast<int64_t>(std::stod(values->second) * (1 << 30));
    seconds += std::stod(t->second);
  }
  if (any) bytes = {.read = read, .written = written, .seconds = seconds};
  return bytes;
}

void RocksDbEngine::BalanceMemory() {
  if (cache_ == nullptr || memory_budget_ == 0) return;
  const uint64_t index = static_cast<uint64_t>(std::max<int64_t>(0, IndexMemoryBytes()));
  const uint64_t floor =
      memory_budget_ / 16;  // even an index larger than the budget leaves a cache
  const uint64_t capacity = index + floor < memory_budget_ ? memory_budget_ - index : floor;
  if (capacity != cache_->GetCapacity()) cache_->SetCapacity(capacity);
}

}  // namespace

Status OpenEngine(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  auto engine = std::make_unique<RocksDbEngine>();
  Status s = engine->Open(flags, create);
  if (s.ok()) *result = std::move(engine);
  return s;
}

const char* EngineName() {
#ifdef KVBENCH_ROCKSDB
  return "rocksdb";
#else
  return "compassdb";
#endif
}

EngineBuild BuildOfEngine() {
  EngineBuild build;
  build.engine = EngineName();
  build.version = fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  // An object made by the library carries the address of its virtual table,
  // which gives the file that holds the library's code.
  build.library = LibraryOf(*reinterpret_cast<const void* const*>(rocksdb::BytewiseComparator()));
  std::ifstream in(build.library, std::ios::binary);
  const std::string code((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // Spelt backwards, or this program would find its own text.
  std::string failing_assert = "liaf_tressa__";
  std::reverse(failing_assert.begin(), failing_assert.end());
  build.assertions = code.find(failing_assert) != std::string::npos;
  return build;
}

}  // namespace kvbench
