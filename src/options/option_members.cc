// SPDX-License-Identifier: Apache-2.0
// The functions of the option structs themselves. The values that the Optimize*
// functions set are those that RocksDB 7.8.3 documents, so that a program which
// prints its options sees the same.
#include <limits>

#include "options/option_tables.h"
#include "options/table_factories.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "util/compression.h"

namespace ROCKSDB_NAMESPACE {

namespace {

template <class S>
void DumpTable(Logger* log, const compassdb::OptionTable<S>& table, const S& options) {
  if (log == nullptr) return;
  for (const auto& [name, value] : compassdb::ListForLog(table, options)) {
    ROCKSDB_NAMESPACE::Header(log, "  Options.%s: %s", name.c_str(), value.c_str());
  }
}

CompressionType FastCompression() {
  for (const CompressionType type : {kLZ4Compression, kSnappyCompression}) {
    if (compassdb::CompressionTypeSupported(type)) return type;
  }
  return kNoCompression;
}

// The first two levels are small and hot; they stay uncompressed.
void CompressFromLevelTwo(ColumnFamilyOptions* options) {
  const CompressionType type = FastCompression();
  options->compression_per_level.resize(static_cast<size_t>(options->num_levels));
  for (size_t level = 0; level < options->compression_per_level.size(); ++level) {
    options->compression_per_level[level] = level < 2 ? kNoCompression : type;
  }
}

}  // namespace

AdvancedColumnFamilyOptions::AdvancedColumnFamilyOptions() = default;

AdvancedColumnFamilyOptions::AdvancedColumnFamilyOptions(const Options& options)
    : AdvancedColumnFamilyOptions(static_cast<const AdvancedColumnFamilyOptions&>(options)) {}

ColumnFamilyOptions::ColumnFamilyOptions()
    : compression(compassdb::CompressionTypeSupported(kSnappyCompression) ? kSnappyCompression
                                                                          : kNoCompression),
      table_factory(NewBlockBasedTableFactory()) {}

ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

DBOptions::DBOptions() = default;
DBOptions::DBOptions(const Options& options)
    : DBOptions(static_cast<const DBOptions&>(options)) {}

ReadOptions::ReadOptions() : ReadOptions(true, true) {}

ReadOptions::ReadOptions(bool cksum, bool cache)
    : snapshot(nullptr),
      iterate_lower_bound(nullptr),
      iterate_upper_bound(nullptr),
      readahead_size(0),
      max_skippable_internal_keys(0),
      read_tier(kReadAllTier),
      verify_checksums(cksum),
      fill_cache(cache),
      tailing(false),
      managed(false),
      total_order_seek(false),
      auto_prefix_mode(false),
      prefix_same_as_start(false),
      pin_data(false),
      background_purge_on_iterator_cleanup(false),
      ignore_range_deletions(false),
      timestamp(nullptr),
      iter_start_ts(nullptr),
      deadline(0),
      io_timeout(0),
      value_size_soft_limit(std::numeric_limits<uint64_t>::max()),
      adaptive_readahead(false),
      async_io(false),
      optimize_multiget_for_io(true) {}

const char* kHostnameForDbHostId = "__hostname__";

ColumnFamilyOptions* ColumnFamilyOptions::OldDefaults(int major, int minor) {
  const auto before = [major, minor](int wanted_major, int wanted_minor) {
    return major < wanted_major || (major == wanted_major && minor < wanted_minor);
  };
  if (before(5, 19)) compaction_pri = kByCompensatedSize;
  if (before(4, 7)) {
    write_buffer_size = 4 << 20;
    target_file_size_base = 2 * 1048576;
    max_bytes_for_level_base = 10 * 1048576;
    soft_pending_compaction_bytes_limit = 0;
    hard_pending_compaction_bytes_limit = 0;
  }
  if (before(5, 0)) {
    level0_stop_writes_trigger = 24;
  } else if (before(5, 2)) {
    level0_stop_writes_trigger = 30;
  }
  return this;
}

DBOptions* DBOptions::OldDefaults(int major, int minor) {
  if (major < 4 || (major == 4 && minor < 7)) {
    max_file_opening_threads = 1;
    table_cache_numshardbits = 4;
  }
  if (major < 5 || (major == 5 && minor < 2)) {
    delayed_write_rate = 2 * 1024 * 1024;
  } else if (major < 5 || (major == 5 && minor < 6)) {
    delayed_write_rate = 16 * 1024 * 1024;
  }
  max_open_files = 5000;
  wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  return this;
}

Options* Options::OldDefaults(int major, int minor) {
  ColumnFamilyOptions::OldDefaults(major, minor);
  DBOptions::OldDefaults(major, minor);
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 << 20;
  target_file_size_base = 2 * 1048576;
  max_bytes_for_level_base = 10 * 1048576;
  soft_pending_compaction_bytes_limit = 256 * 1048576;
  hard_pending_compaction_bytes_limit = 1073741824ul;
  BlockBasedTableOptions table;
  table.block_cache = cache != nullptr && *cache != nullptr ? *cache : nullptr;
  table.cache_index_and_filter_blocks = true;
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  max_file_opening_threads = 1;
  max_open_files = 5000;
  if (cache != nullptr && *cache != nullptr) {
    write_buffer_manager = std::make_shared<WriteBufferManager>(0, *cache);
  }
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache = NewLRUCache(16 << 20);
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

Options* Options::DisableExtraChecks() {
  force_consistency_checks = false;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.data_block_hash_table_util_ratio = 0.75;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size_mb) << 20);
  table_factory.reset(NewBlockBasedTableFactory(table));
  memtable_prefix_bloom_size_ratio = 0.02;
  memtable_whole_key_filtering = true;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(uint64_t budget) {
  write_buffer_size = static_cast<size_t>(budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  level0_file_num_compaction_trigger = 2;
  target_file_size_base = budget / 8;
  max_bytes_for_level_base = budget;
  compaction_style = kCompactionStyleLevel;
  CompressFromLevelTwo(this);
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(uint64_t budget) {
  write_buffer_size = static_cast<size_t>(budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  compaction_style = kCompactionStyleUniversal;
  compaction_options_universal.compression_size_percent = 80;
  return this;
}

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  max_background_jobs = total_threads;
  env->SetBackgroundThreads(total_threads, Env::LOW);
  env->SetBackgroundThreads(1, Env::HIGH);
  return this;
}

// No compaction while loading, few and large flushes.
Options* Options::PrepareForBulkLoad() {
  level0_file_num_compaction_trigger = 1 << 30;
  level0_slowdown_writes_trigger = 1 << 30;
  level0_stop_writes_trigger = 1 << 30;
  soft_pending_compaction_bytes_limit = 0;
  hard_pending_compaction_bytes_limit = 0;
  disable_auto_compactions = true;
  max_compaction_bytes = static_cast<uint64_t>(1) << 60;
  num_levels = 2;
  max_write_buffer_number = 6;
  min_write_buffer_number_to_merge = 1;
  max_background_flushes = 4;
  max_background_compactions = 2;
  target_file_size_base = 256 << 20;
  return this;
}

void DBOptions::Dump(Logger* log) const { DumpTable(log, compassdb::DbOptionTable(), *this); }

void ColumnFamilyOptions::Dump(Logger* log) const {
  DumpTable(log, compassdb::FamilyOptionTable(), *this);
  if (log == nullptr || table_factory == nullptr) return;
  ROCKSDB_NAMESPACE::Header(log, "  table_factory options: %s",
                            table_factory->GetPrintableOptions().c_str());
}

void Options::Dump(Logger* log) const {
  DBOptions::Dump(log);
  ColumnFamilyOptions::Dump(log);
}

void Options::DumpCFOptions(Logger* log) const { ColumnFamilyOptions::Dump(log); }

}  // namespace ROCKSDB_NAMESPACE
