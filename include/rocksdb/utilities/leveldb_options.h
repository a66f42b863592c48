// SPDX-License-Identifier: Apache-2.0
//
// Options of LevelDB, for programs that come from there.

#pragma once

#include <stddef.h>

#include "rocksdb/compression_type.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class Cache;
class Comparator;
class Env;
class FilterPolicy;
class Logger;
struct Options;
class Snapshot;

struct LevelDBOptions {
  const Comparator* comparator;  // default: by bytes; not owned
  bool create_if_missing;        // default: false
  bool error_if_exists;          // default: false
  bool paranoid_checks;          // default: false
  Env* env;                      // default: Env::Default(); not owned
  Logger* info_log;              // null: LOG in the database's directory; else owned by the result
  size_t write_buffer_size;      // default: 4 MB
  int max_open_files;            // default: 1000
  Cache* block_cache;            // null: 8 MB of its own; else owned by the result
  size_t block_size;             // default: 4096
  int block_restart_interval;    // default: 16
  CompressionType compression;   // default: Snappy
  const FilterPolicy* filter_policy;  // null: none; else owned by the result

  LevelDBOptions();
};

// The pointers that are "owned by the result" are deleted with the last copy of it.
Options ConvertOptions(const LevelDBOptions& leveldb_options);

}  // namespace ROCKSDB_NAMESPACE
