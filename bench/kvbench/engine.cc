// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#ifndef KVBENCH_ROCKSDB
#include <compassdb/index.h>
#endif
#include <dlfcn.h>
#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

namespace kvbench {

using rocksdb::Status;

rocksdb::Status Engine::Open(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  auto engine = std::unique_ptr<Engine>(new Engine());
#ifndef KVBENCH_ROCKSDB
  if (flags.partition_index) return Status::InvalidArgument("--partition-index is RocksDB's");
#endif
  if (flags.memory_mb > 0 && (flags.defaults || flags.index_in_cache || flags.data_cache_kb > 0)) {
    return Status::InvalidArgument(
        "--memory-mb", "not together with --defaults, --index-in-cache or --data-cache-kb");
  }
  rocksdb::Options options = MakeOptions(flags, &engine->cache_);
  if (Status s = ApplyPreset(flags, &options); !s.ok()) return s;
  options.create_if_missing = create;
  options.error_if_exists = create;
  if (!flags.options_string.empty()) {
    const rocksdb::Options base = options;
    rocksdb::ConfigOptions config;
    Status s = rocksdb::GetOptionsFromString(config, base, flags.options_string, &options);
    if (!s.ok()) return Status::InvalidArgument("--options-string", s.ToString());
  }
  const bool shared =
      flags.data_cache_kb == 0 && !flags.index_in_cache && flags.memory_mb == 0;
  engine->memory_budget_ = shared ? flags.cache_mb << 20 : 0;
  engine->write_options_.sync = flags.sync;
  engine->write_options_.disableWAL = flags.disable_wal;
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::Open(options, flags.db, &db);
  if (!s.ok()) return s;
  engine->db_.reset(db);
  *result = std::move(engine);
  return s;
}

Status Engine::Prepare(const Flags& flags) {
#ifndef KVBENCH_ROCKSDB
  // RocksDB has read its indexes by now, and BalanceMemory takes them off the cache.
  if (!flags.index_in_cache && flags.memory_mb == 0) {
    Status s = compassdb::LoadIndex(db_.get(), db_->DefaultColumnFamily());
    if (!s.ok()) return s;
  }
#endif
  BalanceMemory();
  return Status::OK();
}

Engine::~Engine() = default;

Status Engine::Close() {
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status Engine::PendingWork(uint64_t* pending) {
  *pending = 0;
  for (const char* name : {"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending",
                           "rocksdb.num-running-compactions", "rocksdb.compaction-pending"}) {
    uint64_t value = 0;
    if (!db_->GetIntProperty(name, &value)) return Status::NotSupported("property", name);
    *pending += value;
  }
  uint64_t errors = 0;
  if (db_->GetIntProperty("rocksdb.background-errors", &errors) && errors > 0) {
    return Status::IOError("a flush or compaction failed; see the LOG file of", db_->GetName());
  }
  return Status::OK();
}

Status Engine::WaitUntilIdle(bool flush) {
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
    uint64_t pending = 0;
    Status s = PendingWork(&pending);
    if (!s.ok()) return s;
    idle = pending == 0 ? idle + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(idle > 0 ? 2 : 5));
  }
  return Status::OK();
}

int64_t Engine::IndexMemoryBytes() {
#ifdef KVBENCH_ROCKSDB
  const char* name = "rocksdb.estimate-table-readers-mem";
#else
  const char* name = "compassdb.index-memory";
#endif
  uint64_t value = 0;
  return db_->GetIntProperty(name, &value) ? static_cast<int64_t>(value) : -1;
}

TableBytes Engine::TableBytesMoved() {
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
    seconds += std::stod(t->second);
  }
  if (any) bytes = {.read = read, .written = written, .seconds = seconds};
  return bytes;
}

void Engine::BalanceMemory() {
  if (cache_ == nullptr || memory_budget_ == 0) return;
  const uint64_t index = static_cast<uint64_t>(std::max<int64_t>(0, IndexMemoryBytes()));
  const uint64_t floor =
      memory_budget_ / 16;  // even an index larger than the budget leaves a cache
  const uint64_t capacity = index + floor < memory_budget_ ? memory_budget_ - index : floor;
  if (capacity != cache_->GetCapacity()) cache_->SetCapacity(capacity);
}

const char* Engine::EngineName() {
#ifdef KVBENCH_ROCKSDB
  return "rocksdb";
#else
  return "compassdb";
#endif
}

EngineBuild Engine::Build() {
  EngineBuild build;
  build.engine = EngineName();
  build.version = fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  // An object made by the library carries the address of its virtual table,
  // which tells the file that holds the library's code.
  const void* const vtable = *reinterpret_cast<const void* const*>(rocksdb::BytewiseComparator());
  Dl_info info;
  if (dladdr(vtable, &info) != 0 && info.dli_fname != nullptr) build.library = info.dli_fname;
  std::ifstream in(build.library, std::ios::binary);
  const std::string code((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // Spelt backwards, or this program would find its own text.
  std::string failing_assert = "liaf_tressa__";
  std::reverse(failing_assert.begin(), failing_assert.end());
  build.assertions = code.find(failing_assert) != std::string::npos;
  return build;
}

}  // namespace kvbench
