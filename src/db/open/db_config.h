// SPDX-License-Identifier: Apache-2.0
// The configuration of an open database, and the projection of the public options to
// the small structs of the layers below.
#pragma once

#include <memory>
#include <string>

#include "env/clock.h"
#include "env/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/write_buffer_manager.h"
#include "store/store.h"
#include "table/file/file_cache.h"

namespace compassdb {

// A secondary is read-only, too, and follows a primary.
enum class Access { kReadWrite, kReadOnly, kSecondary };

struct DbConfig {
  rocksdb::DBOptions options;  // sanitised
  std::string name;            // as the application gave it
  Access access = Access::kReadWrite;
  std::string wal_dir;
  std::vector<TablePath> table_paths;  // of families without cf_paths
  bool tables_linked = false;  // all compaction files are links in the one table path
  std::string session_id;
  std::shared_ptr<FileSystem> owned_fs;
  std::shared_ptr<Clock> owned_clock;
  FileSystem* fs = nullptr;  // the two above
  Clock* clock = nullptr;
  std::shared_ptr<rocksdb::Logger> info_log;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;  // null: no limit
  std::shared_ptr<rocksdb::Cache> memory_pool;  // of memory_limit; null: there is none

  bool read_only() const { return access != Access::kReadWrite; }
  // NotSupported if the database is read-only. `method`: what the application called.
  Status CheckWritable(const char* method) const;
  // Where the family's new files go; never empty.
  std::vector<TablePath> PathsOf(const rocksdb::ColumnFamilyOptions& family) const;
  int max_flushes() const;
  int max_compactions() const;
};

// Errors name the option. The first is of the database as a whole.
Status ProjectDbOptions(const rocksdb::DBOptions& options, const std::string& name,
                        DbConfig* config);
Status ProjectFamilyOptions(uint32_t id, const std::string& name,
                            const rocksdb::ColumnFamilyOptions& options, StoreOptions* out);
// With a memory limit the family's blocks and index are in the pool, and its memtables fit.
void ApplyMemoryLimit(const DbConfig& config, rocksdb::ColumnFamilyOptions* options,
                      StoreOptions* store);

// Whether logs are in the database's own directory, by any name. InvalidArgument if wal_dir is the directory of
// another database, as an open would take its files for leftovers.
Status IsWalDirOwn(FileSystem* fs, const std::string& name, const std::string& wal_dir, bool* own);

FileOptions PieceWriteOptions(const rocksdb::DBOptions& options);
// The limits of the file cache, below the process's limit of open files.
FileCache::Limits FileLimits(const rocksdb::DBOptions& options);
FileOptions PieceReadOptions(const rocksdb::DBOptions& options);
FileOptions WalFileOptions(const rocksdb::DBOptions& options);

// 20 characters of base 36, new with every open.
std::string NewSessionId();
// A random UUID, the identity of a new database.
std::string NewDbId();
uint64_t NewHashSeed();

}  // namespace compassdb
