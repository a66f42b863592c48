// SPDX-License-Identifier: Apache-2.0
// LevelDB as an engine under test, for what a load costs in syncs, bytes and time. It reads through the page
// cache only. Memtable, filters and block cache are those that the flags give the other engines; tables
// have its own default size (2 MB) or that of --table-mb, and there is a descriptor for each.
#include <fmt/core.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
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
constexpr int64_t kRestCpuMicros = 5000;  // in one check: the cost of the check itself

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

leveldb::Slice AsLevel(const Slice& s) { return {s.data(), s.size()}; }
Slice AsRocks(const leveldb::Slice& s) { return {s.data(), s.size()}; }

Status AsStatus(const leveldb::Status& s) {
  if (s.ok()) return Status::OK();
  return s.IsNotFound() ? Status::NotFound() : Status::IOError(s.ToString());
}

class LevelDbEngine final : public Engine {
 public:
  Status Open(const Flags& flags, bool create);

  Status Get(const Slice& key, PinnableSlice* value) override;
  Status Put(const Slice& key, const Slice& value) override {
    return AsStatus(db_->Put(write_options_, AsLevel(key), AsLevel(value)));
  }
  Status Scan(const Slice& start, uint64_t limit, const Each& each) override;

  Status Compact() override {
    db_->CompactRange(nullptr, nullptr);
    return Status::OK();
  }
  // LevelDB does not report whether compactions run: wait until the process has been at rest for a while. The memtable
  // cannot be flushed by itself; its writes are not counted.
  Status WaitUntilIdle(bool flush) override;
  TableBytes TableBytesMoved() override;
  Status Close() override {
    db_.reset();
    return Status::OK();
  }

 private:
  // The database is destroyed first.
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  leveldb::WriteOptions write_options_;
  std::unique_ptr<leveldb::DB> db_;
};

Status LevelDbEngine::Open(const Flags& flags, bool create) {
  std::string unknown = FlagsOfRocksDb(flags);
  if (unknown.empty() && flags.direct) unknown = "--direct";
  if (unknown.empty() && flags.compression != "none" && flags.compression != "snappy") {
    unknown = "--compression " + flags.compression;
  }
  if (!unknown.empty()) return Status::InvalidArgument("LevelDB does not know " + unknown);
  leveldb::Options options;
  options.create_if_missing = create;
  if (!flags.defaults) {
    cache_.reset(leveldb::NewLRUCache(flags.data_cache_kb > 0 ? flags.data_cache_kb << 10
                                                                      : flags.cache_mb << 20));
    options.block_cache = cache_.get();
    options.write_buffer_size = flags.memtable_mb << 20;
    if (flags.table_mb > 0) options.max_file_size = flags.table_mb << 20;
    options.max_open_files = kOpenFiles;
    if (flags.bloom_bits > 0) {
      filter_.reset(leveldb::NewBloomFilterPolicy(static_cast<int>(flags.bloom_bits)));
      options.filter_policy = filter_.get();
    }
    options.compression =
        flags.compression == "none" ? leveldb::kNoCompression : leveldb::kSnappyCompression;
  }
  write_options_.sync = flags.sync;
  leveldb::DB* db = nullptr;
  Status s = AsStatus(leveldb::DB::Open(options, flags.db, &db));
  db_.reset(db);
  return s;
}

Status LevelDbEngine::Get(const Slice& key, PinnableSlice* value) {
  const Status s =
      AsStatus(db_->Get(leveldb::ReadOptions(), AsLevel(key), value->GetSelf()));
  if (s.ok()) value->PinSelf();
  return s;
}

Status LevelDbEngine::Scan(const Slice& start, uint64_t limit, const Each& each) {
  std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(leveldb::ReadOptions()));
  uint64_t seen = 0;
  for (it->Seek(AsLevel(start)); it->Valid() && seen < limit; it->Next()) {
    each(AsRocks(it->key()), AsRocks(it->value()));
    if (++seen == limit) break;
  }
  return AsStatus(it->status());
}

Status LevelDbEngine::WaitUntilIdle(bool /*flush*/) {
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
TableBytes LevelDbEngine::TableBytesMoved() {
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

}  // namespace

Status OpenEngine(const Flags& flags, bool create, std::unique_ptr<Engine>* result) {
  auto engine = std::make_unique<LevelDbEngine>();
  Status s = engine->Open(flags, create);
  if (s.ok()) *result = std::move(engine);
  return s;
}

const char* EngineName() { return "leveldb"; }

EngineBuild BuildOfEngine() {
  EngineBuild build;
  build.engine = EngineName();
  build.version = fmt::format("{}.{}", leveldb::kMajorVersion, leveldb::kMinorVersion);
  build.library = LibraryOf(reinterpret_cast<const void*>(&leveldb::DB::Open));
  return build;
}

}  // namespace kvbench
