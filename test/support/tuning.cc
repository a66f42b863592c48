// SPDX-License-Identifier: Apache-2.0
#include "support/tuning.h"

#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"

namespace compassdb_test {

namespace {

// In bytes: far below what the indexes need, about it, and above it; 0: no limit. The families
// of a database that has one bring no cache of their own.
uint64_t MemoryLimit(const Tuning& tuning) {
  static const uint64_t kLimits[] = {0, 0, 0, 192 << 10, 512 << 10, 8 << 20};
  return tuning.seed == 0 ? 0 : Random(tuning.seed ^ 0x6d656d).Pick(kLimits) * tuning.scale;
}

}  // namespace

rocksdb::DBOptions TunedDbOptions(const Tuning& tuning) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = false;
  options.max_background_jobs = 2;
  options.max_open_files = -1;
  if (tuning.seed == 0) return options;
  Random random(tuning.seed);
  static const int kOpenFiles[] = {-1, 50, 1000};
  options.max_open_files = random.Pick(kOpenFiles);
  options.max_background_jobs = static_cast<int>(random.Range(1, 4));
  options.max_subcompactions = static_cast<uint32_t>(random.Range(1, 3));
  options.avoid_flush_during_recovery = random.OneIn(2);
  options.avoid_flush_during_shutdown = tuning.may_skip_flush_at_close && random.OneIn(2);
  options.allow_concurrent_memtable_write = !random.OneIn(4);
  options.enable_pipelined_write = random.OneIn(4);
  options.paranoid_checks = !random.OneIn(5);
  options.skip_stats_update_on_db_open = random.OneIn(3);
  options.enable_write_thread_adaptive_yield = !random.OneIn(3);
  if (random.OneIn(4)) options.max_total_wal_size = tuning.scale * (64 << 10);
  if (random.OneIn(4)) options.max_manifest_file_size = tuning.scale * (2 << 10);
  if (random.OneIn(4)) options.bytes_per_sync = 32 << 10;
  const uint64_t limit = MemoryLimit(tuning);
  if (random.OneIn(4)) options.db_write_buffer_size = limit == 0 ? tuning.scale * (256 << 10) : limit / 3;
  if (limit != 0) SetMemoryLimit(limit, &options);
  if (random.OneIn(4)) {
    const uint64_t logs = random.Range(1, 4);
    options.recycle_log_file_num = Traits().recycles_logs ? logs : 0;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  return options;
}

rocksdb::ColumnFamilyOptions TunedFamilyOptions(const Tuning& tuning, const FamilySpec& spec,
                                                int slot) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = ComparatorOf(spec);
  options.merge_operator = MergeOperatorOf(spec.merge);
  if (spec.prefix_extractor) {
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
  }
  if (spec.filter) options.compaction_filter_factory = MakeFilterFactory();
  options.write_buffer_size = 64 << 10;
  options.arena_block_size = 4 << 10;
  options.target_file_size_base = 32 << 10;
  options.max_bytes_for_level_base = 128 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1 << 10;

  const uint64_t seed = tuning.family_seed != 0 ? tuning.family_seed : tuning.seed;
  if (seed != 0) {
    Random random(seed + static_cast<uint64_t>(slot) * 7919);
    options.write_buffer_size = size_t{16} << (10 + random.Uniform(4));
    options.max_write_buffer_number = static_cast<int>(random.Range(2, 4));
    options.target_file_size_base = uint64_t{8} << (10 + random.Uniform(4));
    options.max_bytes_for_level_base = uint64_t{32} << (10 + random.Uniform(4));
    options.max_bytes_for_level_multiplier = static_cast<double>(random.Range(2, 10));
    options.level0_file_num_compaction_trigger = static_cast<int>(random.Range(1, 5));
    options.level_compaction_dynamic_level_bytes = random.OneIn(3);
    options.memtable_whole_key_filtering = random.OneIn(3);
    options.max_successive_merges = random.OneIn(4) ? 3 : 0;
    options.inplace_update_support = false;
    options.report_bg_io_stats = random.OneIn(4);
    static const rocksdb::CompressionType kCompressions[] = {
        rocksdb::kNoCompression, rocksdb::kSnappyCompression, rocksdb::kLZ4Compression,
        rocksdb::kZSTD};
    options.compression = random.Pick(kCompressions);
    options.bottommost_compression = random.Pick(kCompressions);
    table.block_size = size_t{256} << random.Uniform(6);
    static const rocksdb::ChecksumType kChecksums[] = {rocksdb::kCRC32c, rocksdb::kxxHash64,
                                                       rocksdb::kXXH3};
    table.checksum = random.Pick(kChecksums);
    const bool own_cache = MemoryLimit(tuning) == 0;
    table.no_block_cache = own_cache && random.OneIn(5);
    table.cache_index_and_filter_blocks = !table.no_block_cache && random.OneIn(3);
    if (own_cache && !table.no_block_cache && random.OneIn(2)) {
      table.block_cache = rocksdb::NewLRUCache(size_t{16} << (10 + random.Uniform(5)));
    }
    if (random.OneIn(2)) {
      table.filter_policy.reset(random.OneIn(2) ? rocksdb::NewBloomFilterPolicy(10)
                                                : rocksdb::NewRibbonFilterPolicy(10, -1));
      table.whole_key_filtering = !random.OneIn(4);
      options.optimize_filters_for_hits = random.OneIn(4);
    }
    options.table_factory.reset(NewTunedTableFactory(&random, table));
    if (Traits().separates_values && random.OneIn(3)) {
      options.enable_blob_files = true;
      options.min_blob_size = 1 + random.Uniform(59);
      options.enable_blob_garbage_collection = !random.OneIn(8);
      options.blob_compression_type = random.Pick(kCompressions);
      if (random.OneIn(4)) options.blob_garbage_collection_force_threshold = 0.3;
      if (random.OneIn(4)) options.prepopulate_blob_cache = rocksdb::PrepopulateBlobCache::kFlushOnly;
    }
  } else {
    options.table_factory.reset(NewTunedTableFactory(nullptr, table));
  }
  return options;
}

}  // namespace compassdb_test
