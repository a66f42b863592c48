// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/leveldb_options.h"

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {

LevelDBOptions::LevelDBOptions()
    : comparator(BytewiseComparator()),
      create_if_missing(false),
      error_if_exists(false),
      paranoid_checks(false),
      env(Env::Default()),
      info_log(nullptr),
      write_buffer_size(4 << 20),
      max_open_files(1000),
      block_cache(nullptr),
      block_size(4096),
      block_restart_interval(16),
      compression(kSnappyCompression),
      filter_policy(nullptr) {}

Options ConvertOptions(const LevelDBOptions& from) {
  Options to;
  to.comparator = from.comparator;
  to.create_if_missing = from.create_if_missing;
  to.error_if_exists = from.error_if_exists;
  to.paranoid_checks = from.paranoid_checks;
  to.env = from.env;
  to.info_log.reset(from.info_log);
  to.write_buffer_size = from.write_buffer_size;
  to.max_open_files = from.max_open_files;
  to.compression = from.compression;
  BlockBasedTableOptions table;
  table.block_cache.reset(from.block_cache);
  table.block_size = from.block_size;
  table.block_restart_interval = from.block_restart_interval;
  table.filter_policy.reset(from.filter_policy);
  to.table_factory.reset(NewBlockBasedTableFactory(table));
  return to;
}

}  // namespace ROCKSDB_NAMESPACE
