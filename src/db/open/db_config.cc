// SPDX-License-Identifier: Apache-2.0
#include "db/open/db_config.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include "db/report/file_listeners.h"
#include "env/descriptor_limit.h"
#include "env/process_file_system.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "options/projection.h"
#include "rocksdb/cache.h"
#include "rocksdb/rate_limiter.h"

namespace compassdb {
namespace {

uint64_t RandomBits() {
  static thread_local std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

// Shards must be large enough for directories' heads and the entries that memtables are
// charged by.
constexpr uint64_t kLeastShardBytes = 8 << 20;
constexpr int kMaxShardBits = 6;

void MakeMemoryPool(const rocksdb::DBOptions& options, DbConfig* config) {
  int shard_bits = 0;
  while (shard_bits < kMaxShardBits &&
         options.memory_limit >> (shard_bits + 1) >= kLeastShardBytes) {
    ++shard_bits;
  }
  config->memory_pool = rocksdb::NewLRUCache(options.memory_limit, shard_bits);
  const uint64_t memtables =
      options.db_write_buffer_size > 0 ? options.db_write_buffer_size : options.memory_limit / 4;
  // It does not stall: memtables that an iterator pins could stop the iterator's own thread forever.
  config->write_buffers =
      std::make_shared<rocksdb::WriteBufferManager>(memtables, config->memory_pool);
}

std::string WithoutSlash(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

std::vector<TablePath> TablePathsOf(const std::vector<rocksdb::DbPath>& given) {
  std::vector<TablePath> paths;
  for (const rocksdb::DbPath& path : given) {
    paths.push_back({WithoutSlash(path.path), path.target_size});
  }
  return paths;
}

// The stored options do not name the database's own directory. Otherwise a copy or a moved database that is opened
// with them would use the directory of its source.
Status ChooseWalDir(DbConfig* config) {
  std::string& given = config->options.wal_dir;
  bool own = true;
  Status s = given.empty() ? Status::OK() : IsWalDirOwn(config->fs, config->name, given, &own);
  if (!s.ok()) return s;
  if (own) given.clear();
  config->wal_dir = own ? config->name : WithoutSlash(given);
  return s;
}

}  // namespace

Status IsWalDirOwn(FileSystem* fs, const std::string& name, const std::string& wal_dir, bool* own) {
  std::string paths[2];
  const std::string* const given[2] = {&name, &wal_dir};
  for (int i = 0; i < 2; ++i) {
    std::string absolute;
    Status s = fs->GetAbsolutePath(*given[i], &absolute);
    if (!s.ok()) return s;
    paths[i] = WithoutSlash(std::filesystem::path(absolute).lexically_normal().string());
  }
  *own = paths[0] == paths[1];
  if (*own || !fs->FileExists(CurrentFileName(wal_dir)).ok()) return Status::OK();
  return Status::InvalidArgument(
      "wal_dir " + wal_dir + " is the directory of a database of its own, not that of " + name,
      "where it should be the same, leave the option empty");
}

Status DbConfig::CheckWritable(const char* method) const {
  switch (access) {
    case Access::kReadWrite:
      return Status::OK();
    case Access::kReadOnly:
      return Status::NotSupported("Not supported operation in read only mode.", method);
    case Access::kSecondary:
      return Status::NotSupported("Not supported operation in secondary mode.", method);
  }
  return Status::OK();
}

std::vector<TablePath> DbConfig::PathsOf(const rocksdb::ColumnFamilyOptions& family) const {
  return tables_linked || family.cf_paths.empty() ? table_paths : TablePathsOf(family.cf_paths);
}

void ApplyMemoryLimit(const DbConfig& config, rocksdb::ColumnFamilyOptions* options,
                      StoreOptions* store) {
  if (config.memory_pool == nullptr) return;
  store->block_cache = config.memory_pool;
  store->index_mode = store->level0_index_mode = IndexMode::kPaged;
  // All pending memtables fit, and then writes wait. An arena grows by an eighth of one.
  const auto memtables = static_cast<size_t>(std::max(2, options->max_write_buffer_number));
  options->write_buffer_size = std::min<size_t>(
      options->write_buffer_size, config.write_buffers->buffer_size() / memtables);
  options->arena_block_size = 0;
}

int DbConfig::max_flushes() const {
  if (options.max_background_flushes < 0 && options.max_background_compactions < 0) {
    return std::max(1, options.max_background_jobs / 4);
  }
  return std::max(1, options.max_background_flushes);
}

int DbConfig::max_compactions() const {
  if (options.max_background_flushes < 0 && options.max_background_compactions < 0) {
    return std::max(1, options.max_background_jobs - max_flushes());
  }
  return std::max(1, options.max_background_compactions);
}

Status ProjectDbOptions(const rocksdb::DBOptions& options, const std::string& name,
                        DbConfig* config) {
  if (name.empty()) return Status::InvalidArgument("the database's name is empty");
  if (options.env == nullptr) return Status::InvalidArgument("DBOptions::env is null");
  config->options = options;
  config->name = WithoutSlash(name);
  config->table_paths = TablePathsOf(options.db_paths);
  if (config->table_paths.empty()) config->table_paths.push_back({config->name, UINT64_MAX});
  config->session_id = NewSessionId();
  config->owned_fs = NewProcessFileSystem(AddListeners(FileSystemOfEnv(options.env), options.listeners));
  config->owned_clock = ClockOfEnv(options.env);
  config->fs = config->owned_fs.get();
  config->clock = config->owned_clock.get();
  if (Status s = ChooseWalDir(config); !s.ok()) return s;
  config->info_log = options.info_log;
  config->write_buffers = options.write_buffer_manager;
  if (options.memory_limit > 0) {
    MakeMemoryPool(options, config);
  } else if (config->write_buffers == nullptr && options.db_write_buffer_size > 0) {
    config->write_buffers =
        std::make_shared<rocksdb::WriteBufferManager>(options.db_write_buffer_size);
    config->options.write_buffer_manager = config->write_buffers;
  }
  if (options.delayed_write_rate == 0) {
    const int64_t limit =
        options.rate_limiter != nullptr ? options.rate_limiter->GetBytesPerSecond() : 0;
    config->options.delayed_write_rate = limit > 0 ? static_cast<uint64_t>(limit) : 16 << 20;
  }
  return Status::OK();
}

Status ProjectFamilyOptions(uint32_t id, const std::string& name,
                            const rocksdb::ColumnFamilyOptions& options, StoreOptions* out) {
  if (options.comparator == nullptr) {
    return Status::InvalidArgument("column family " + name + ": comparator is null");
  }
  *out = ProjectStoreOptions(options, id, name);
  return Status::OK();
}

FileOptions PieceWriteOptions(const rocksdb::DBOptions& options) {
  FileOptions file;
  file.direct = options.use_direct_io_for_flush_and_compaction;
  file.bytes_per_sync = options.bytes_per_sync;
  return file;
}

FileCache::Limits FileLimits(const rocksdb::DBOptions& options) {
  // Logs, the manifest, the lock, and files that are being written.
  constexpr int kOtherFiles = 10;
  // Of the process's limit: those, twice if three jobs run at a time, their rings, and the program's own.
  constexpr int kOtherDescriptors = 24;
  constexpr int kFewest = 4;
  if (options.max_open_files < 0) {
    // Three quarters of the process's limit. A quarter of these can be closed again.
    const int limit = DescriptorLimit();
    const auto most = static_cast<size_t>(std::max(kFewest, limit - std::max(kOtherDescriptors, limit / 4)));
    return {most, most - most / 4};
  }
  const int wanted = std::max(kOtherFiles, options.max_open_files - kOtherFiles);
  return FileCache::Limits(static_cast<size_t>(std::min(wanted, std::max(kFewest, DescriptorLimit() - kOtherDescriptors))));
}

FileOptions PieceReadOptions(const rocksdb::DBOptions& options) {
  FileOptions file;
  file.direct = options.use_direct_reads;
  return file;
}

FileOptions WalFileOptions(const rocksdb::DBOptions& options) {
  FileOptions file;
  file.bytes_per_sync = options.wal_bytes_per_sync;
  return file;
}

std::string NewSessionId() {
  static const char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    uint64_t bits = RandomBits();
    for (int i = 0; i < 10; ++i, bits /= 36) id.push_back(kDigits[bits % 36]);
  }
  return id;
}

std::string NewDbId() {
  const uint64_t a = RandomBits(), b = RandomBits();
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%08x-%04x-4%03x-%04x-%012llx",
                static_cast<unsigned>(a >> 32), static_cast<unsigned>(a >> 16 & 0xffff),
                static_cast<unsigned>(a & 0xfff),
                static_cast<unsigned>((b >> 48 & 0x3fff) | 0x8000),
                static_cast<unsigned long long>(b & 0xffffffffffff));
  return buffer;
}

uint64_t NewHashSeed() { return RandomBits(); }

}  // namespace compassdb
