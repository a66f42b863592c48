// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine.h"

namespace kvbench {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr int kOpenFiles = 20000;  // a descriptor per table, for as many tables as there may be
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr int kLooksAtRest = 5;
constexpr int64_t kRestCpuMicros = 5000;  // in one look: what the asking takes

int64_t CpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& t) { return int64_t{t.tv_sec} * 1'000'000 + t.tv_usec; };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

// Bytes that the process read and wrote, page cache or not.
int64_t BytesMoved() {
  std::ifstream io("/proc/self/io");
  std::string name;
  int64_t value = 0, sum = 0;
  while (io >> name >> value) {
    if (name == "rchar:" || name == "wchar:") sum += value;
  }
  return sum;
}

}  // namespace

Status Engine::AsStatus(const leveldb::Status& s) {
  if (s.ok()) return Status::OK();
  return s.IsNotFound() ? Status::NotFound() : Status::IOError(s.ToString());
}

Status Engine::Open(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  if (flags.direct || flags.disable_wal || flags.index_in_cache || flags.memory_mb > 0 ||
      flags.partition_index || !flags.preset.empty() || !flags.options_string.empty() ||
      (flags.compression != "none" && flags.compression != "snappy")) {
    return Status::InvalidArgument(
        "LevelDB knows none of --direct, --disable-wal, --index-in-cache, --memory-mb, "
        "--partition-index, --preset, --options-string; --compression is none or snappy");
  }
  auto engine = std::unique_ptr<Engine>(new Engine());
  leveldb::Options options;
  options.create_if_missing = create;
  if (!flags.defaults) {
    engine->cache_.reset(leveldb::NewLRUCache(flags.data_cache_kb > 0 ? flags.data_cache_kb << 10
                                                                      : flags.cache_mb << 20));
    options.block_cache = engine->cache_.get();
    options.write_buffer_size = flags.memtable_mb << 20;
    options.max_open_files = kOpenFiles;
    if (flags.bloom_bits > 0) {
      engine->filter_.reset(leveldb::NewBloomFilterPolicy(static_cast<int>(flags.bloom_bits)));
      options.filter_policy = engine->filter_.get();
    }
    options.compression =
        flags.compression == "none" ? leveldb::kNoCompression : leveldb::kSnappyCompression;
  }
  engine->write_options_.sync = flags.sync;
  leveldb::DB* db = nullptr;
  Status s = AsStatus(leveldb::DB::Open(options, flags.db, &db));
  engine->db_.reset(db);
  if (s.ok()) *result = std::move(engine);
  return s;
}

EngineBuild Engine::Build() {
  EngineBuild build;
  build.engine = EngineName();
  build.version = fmt::format("{}.{}", leveldb::kMajorVersion, leveldb::kMinorVersion);
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&leveldb::DB::Open), &info) != 0) {
    build.library = info.dli_fname;
  }
  return build;
}

Status Engine::Get(const Slice& key, PinnableSlice* value) {
  const Status s =
      AsStatus(db_->Get(leveldb::ReadOptions(), AsLevel(key), value->GetSelf()));
  if (s.ok()) value->PinSelf();
  return s;
}

Status Engine::WaitUntilIdle(bool /*flush*/) {
  for (int rest = 0; rest < kLooksAtRest;) {
    const int64_t cpu = CpuMicros(), bytes = BytesMoved();
    std::this_thread::sleep_for(kLook);
    constexpr int64_t kOfLooking = 4096;  // reading /proc counts, too
    const bool still = CpuMicros() - cpu < kRestCpuMicros && BytesMoved() - bytes < kOfLooking;
    rest = still ? rest + 1 : 0;
  }
  return Status::OK();
}

// Of a table whose lines are: level, files, megabytes, seconds, megabytes read, megabytes written.
TableBytes Engine::TableBytesMoved() {
  TableBytes moved;
  std::string text;
  if (!db_->GetProperty("leveldb.stats", &text)) return moved;
  moved.read = moved.written = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    int level = 0, files = 0;
    double size = 0, seconds = 0, read = 0, written = 0;
    if (std::sscanf(line.c_str(), "%d %d %lf %lf %lf %lf", &level, &files, &size, &seconds, &read,
                    &written) != 6) {
      continue;
    }
    moved.read += static_cast<int64_t>(read * (1 << 20));
    moved.written += static_cast<int64_t>(written * (1 << 20));
    moved.seconds += seconds;
  }
  return moved;
}

Status Engine::Close() {
  db_.reset();
  return Status::OK();
}

}  // namespace kvbench
