// SPDX-License-Identifier: Apache-2.0
#include "options/projection.h"

#include <algorithm>

#include "options/table_factories.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/rate_limiter.h"
#include "util/compression.h"

namespace compassdb {

namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::CompressionType;

// bottommost_compression is for the last level, then compression_per_level, then compression.
std::vector<CompressionType> CompressionByLevel(const ColumnFamilyOptions& options) {
  std::vector<CompressionType> types;
  for (int level = 0; level < options.num_levels; ++level) {
    CompressionType type = options.compression;
    if (!options.compression_per_level.empty()) {
      const size_t last = options.compression_per_level.size() - 1;
      type = options.compression_per_level[std::min(static_cast<size_t>(level), last)];
    }
    if (level > 0 && level + 1 == options.num_levels &&
        options.bottommost_compression != rocksdb::kDisableCompressionOption) {
      type = options.bottommost_compression;
    }
    types.push_back(type);
  }
  return types;
}

// Where directories and separators are.
void ProjectIndex(const rocksdb::BlockBasedTableOptions& block, StoreOptions* out) {
  out->index_high_priority = block.cache_index_and_filter_blocks_with_high_priority;
  if (!block.cache_index_and_filter_blocks || out->block_cache == nullptr) return;
  rocksdb::PinningTier tier = block.metadata_cache_options.unpartitioned_pinning;
  if (tier == rocksdb::PinningTier::kFallback) {
    tier = block.pin_l0_filter_and_index_blocks_in_cache
               ? rocksdb::PinningTier::kFlushedAndSimilar
               : rocksdb::PinningTier::kNone;
  }
  out->index_mode = out->level0_index_mode = IndexMode::kPaged;
  if (tier != rocksdb::PinningTier::kNone) out->level0_index_mode = IndexMode::kPinned;
  if (tier == rocksdb::PinningTier::kAll) out->index_mode = IndexMode::kPinned;
}

InputOrder ProjectInputOrder(rocksdb::CompactionPri pri) {
  switch (pri) {
    case rocksdb::kByCompensatedSize:
      return InputOrder::kLargest;
    case rocksdb::kOldestLargestSeqFirst:
      return InputOrder::kOldestNewest;
    case rocksdb::kOldestSmallestSeqFirst:
    case rocksdb::kRoundRobin:
      return InputOrder::kLongestAgo;
    case rocksdb::kMinOverlappingRatio:
      break;
  }
  return InputOrder::kLeastOverlap;
}

// For tables without a directory, if the family does not set a filter policy.
const std::shared_ptr<const rocksdb::FilterPolicy>& DefaultFilterPolicy() {
  static const auto* const policy =
      new std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10));
  return *policy;
}

FilterOptions ProjectFilter(const ColumnFamilyOptions& options,
                            rocksdb::BlockBasedTableOptions block, bool filter_index,
                            const std::string& name) {
  if (filter_index && block.filter_policy == nullptr) block.filter_policy = DefaultFilterPolicy();
  FilterOptions out;
  out.whole_keys = block.whole_key_filtering;
  out.prefix_extractor = options.prefix_extractor;
  out.not_at_bottom = options.optimize_filters_for_hits;
  if (block.filter_policy == nullptr) return out;
  out.new_bits = [block, name, style = options.compaction_style,
                  levels = options.num_levels](const FilterPlace& place) {
    rocksdb::FilterBuildingContext context(block);
    context.compaction_style = style;
    context.num_levels = levels;
    context.column_family_name = name;
    context.level_at_creation = place.level;
    context.is_bottommost = place.bottommost;
    context.reason = place.recovery ? rocksdb::TableFileCreationReason::kRecovery
                     : place.flush  ? rocksdb::TableFileCreationReason::kFlush
                                    : rocksdb::TableFileCreationReason::kCompaction;
    return std::unique_ptr<rocksdb::FilterBitsBuilder>(
        block.filter_policy->GetBuilderWithContext(context));
  };
  return out;
}

}  // namespace

uint64_t LeastSeparated(const ColumnFamilyOptions& options) {
  return options.min_blob_size == 0 ? kDefaultMinBlobSize : options.min_blob_size;
}

StoreOptions ProjectStoreOptions(const ColumnFamilyOptions& options, uint32_t id,
                                 const std::string& name) {
  const TableSettings table = TableSettingsOf(options.table_factory.get());
  StoreOptions out;
  out.column_family_id = id;
  out.column_family_name = name;
  out.comparator = options.comparator;
  out.merge_operator = options.merge_operator;
  out.compaction_filter = options.compaction_filter;
  out.compaction_filter_factory = options.compaction_filter_factory;
  out.block_cache = table.block.no_block_cache ? nullptr : table.block.block_cache;
  ProjectIndex(table.block, &out);
  out.block_size = table.block.block_size;
  // RocksDB takes values out of range for 0.
  const int deviation = table.block.block_size_deviation;
  out.block_size_deviation = deviation < 0 || deviation > 100 ? 0 : static_cast<uint32_t>(deviation);
  out.compression = CompressionByLevel(options);
  out.compression_level = options.compression_opts.level;
  out.num_levels = options.num_levels;
  out.level0_trigger = options.level0_file_num_compaction_trigger;
  out.level1_max_bytes = std::max<uint64_t>(1, options.max_bytes_for_level_base);
  out.level_multiplier = options.max_bytes_for_level_multiplier;
  out.level_multiplier_additional = options.max_bytes_for_level_multiplier_additional;
  out.target_table_bytes = table.piece.target_table_bytes != 0 ? table.piece.target_table_bytes
                                                               : options.target_file_size_base / 2;
  out.filter_index = table.piece.point_index == PointIndex::kFilter;
  out.leveled = IsLeveled(table.piece);
  if (out.leveled && table.piece.target_table_bytes == 0) {
    out.target_table_bytes = std::min<uint64_t>(out.target_table_bytes, 1 << 20);
  }
  out.target_table_bytes = std::clamp<uint64_t>(out.target_table_bytes, 1 << 10, kLargestSize);
  out.group_compaction_bytes = table.piece.group_compaction_bytes;
  out.input_order = ProjectInputOrder(options.compaction_pri);
  out.max_compaction_bytes = options.max_compaction_bytes != 0 ? options.max_compaction_bytes
                                                               : options.target_file_size_base * 25;
  out.max_pieces = table.piece.max_pieces;
  out.hash_range = table.piece.partition == Partition::kHashRange;
  out.one_level = table.piece.one_level;
  out.dynamic_levels =
      options.level_compaction_dynamic_level_bytes && out.leveled && !out.one_level;
  out.max_dead_percent = table.piece.max_dead_percent;
  out.max_dead_space_percent = table.piece.max_dead_space_percent;
  out.scan_bytes_per_read = table.piece.scan_bytes_per_read;
  out.data_order = table.piece.data_order;
  out.perfect_hash = table.piece.perfect_hash == PerfectHash::kCpHash
                         ? perfect_hash::Kind::kCpHash
                         : perfect_hash::Kind::kPilot;
  out.perfect_hash_threads = table.piece.perfect_hash_threads;
  out.filter = ProjectFilter(options, table.block, out.filter_index, name);
  out.collectors = options.table_properties_collector_factories;
  ValueOptions& values = out.values;
  values.enabled = options.enable_blob_files;
  values.min_size = LeastSeparated(options);
  values.starting_level = options.blob_file_starting_level;
  values.compression = options.blob_compression_type;
  values.collect = options.enable_blob_garbage_collection;
  values.reserve_percent = table.piece.value_reserve_percent;
  values.idle_reserve_percent = table.piece.value_idle_reserve_percent;
  values.force_threshold = options.blob_garbage_collection_force_threshold;
  values.policy = table.piece.value_gc_policy;
  values.policy_d = table.piece.value_gc_choices;
  values.flush_bytes = options.write_buffer_size;
  values.hot_cold = table.piece.value_hot_cold;
  values.group_bytes = std::min(table.piece.value_group_bytes, options.blob_file_size);
  values.read_span = options.blob_compaction_readahead_size;
  values.old_share = options.blob_garbage_collection_age_cutoff;
  values.cache = options.blob_cache;
  values.cache_new = options.prepopulate_blob_cache == rocksdb::PrepopulateBlobCache::kFlushOnly;
  PageOptions& pages = out.pages;
  pages.enabled = table.piece.store == StoreKind::kTableless;
  pages.sections = table.piece.tableless_sections;
  pages.page_bytes = table.piece.tableless_page_bytes;
  pages.pages = table.piece.tableless_pages;
  pages.fill_percent = table.piece.tableless_fill_percent;
  pages.max_overflow_percent = table.piece.tableless_max_overflow_percent;
  pages.min_fill_percent = table.piece.tableless_min_fill_percent;
  pages.key_store = table.piece.tableless_key_store;
  pages.atomic_page_writes = table.piece.tableless_atomic_page_writes;
  pages.memtable_as_log_index = table.piece.memtable_as_log_index;
  pages.rehash_threads = table.piece.tableless_rehash_threads;
  pages.rehash_batch = table.piece.tableless_rehash_batch;
  pages.write_threads = table.piece.tableless_write_threads;
  out.fifo = options.compaction_style == rocksdb::kCompactionStyleFIFO;
  out.fifo_bytes = options.compaction_options_fifo.max_table_files_size;
  out.ttl_seconds = options.ttl;
  out.periodic_seconds = options.periodic_compaction_seconds;
  return out;
}

std::function<void(uint64_t, bool)> ThrottleOf(std::shared_ptr<rocksdb::RateLimiter> limiter) {
  if (limiter == nullptr) return nullptr;
  return [limiter](uint64_t bytes, bool flush) {
    const auto priority = flush ? rocksdb::Env::IO_HIGH : rocksdb::Env::IO_LOW;
    while (bytes > 0) {
      const size_t taken = limiter->RequestToken(bytes, 0, priority, nullptr,
                                                 rocksdb::RateLimiter::OpType::kWrite);
      bytes -= std::min<uint64_t>(bytes, std::max<size_t>(taken, 1));
    }
  };
}

}  // namespace compassdb
