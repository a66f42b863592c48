// SPDX-License-Identifier: Apache-2.0
//
// Options of a column family that few applications need to change. They are part of
// ColumnFamilyOptions.

#pragma once

#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/later_option.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/universal_compaction.h"

namespace ROCKSDB_NAMESPACE {

class Slice;
class SliceTransform;
class TablePropertiesCollectorFactory;
class TableFactory;
struct Options;

// How files are arranged and merged.
enum CompactionStyle : char {
  // Levels of growing size, each sorted.
  kCompactionStyleLevel = 0x0,
  // Sorted runs, merged by size: see CompactionOptionsUniversal.
  kCompactionStyleUniversal = 0x1,
  // The oldest files are dropped when there is too much data: a cache.
  kCompactionStyleFIFO = 0x2,
  // Only what DB::CompactFiles() and DB::CompactRange() ask for.
  kCompactionStyleNone = 0x3,
};

// Which file of a level is compacted first.
enum CompactionPri : char {
  // The largest, counting deletions as extra size.
  kByCompensatedSize = 0x0,
  // The one whose newest entry is oldest.
  kOldestLargestSeqFirst = 0x1,
  // The one whose oldest entry is oldest.
  kOldestSmallestSeqFirst = 0x2,
  // The one that overlaps least of the next level for its size.
  kMinOverlappingRatio = 0x3,
  // One after another in key order.
  kRoundRobin = 0x4,
};

// For kCompactionStyleFIFO.
struct CompactionOptionsFIFO {
  // Bytes of tables from which the oldest are dropped. Default: 1 GiB.
  uint64_t max_table_files_size;

  // Also merge small new files, so that there are not too many.
  bool allow_compaction = false;

  // RocksDB 11's; Open() refuses them. Of max_data_files_size only that it was set.
  compassdb::LaterOption<bool, false> use_kv_ratio_compaction;
  compassdb::LaterOption<bool, false> max_data_files_size_is_set;

  // Seconds after which a file is rewritten with Temperature::kWarm; 0 for never.
  uint64_t age_for_warm = 0;
  CompactionOptionsFIFO() : max_table_files_size(1 * 1024 * 1024 * 1024) {}
  CompactionOptionsFIFO(uint64_t _max_table_files_size, bool _allow_compaction)
      : max_table_files_size(_max_table_files_size),
        allow_compaction(_allow_compaction) {}
};

// Parameters of the compression algorithms.
struct CompressionOptions {
  // For `level`: the algorithm's own default.
  const static int kDefaultCompressionLevel = 32767;

  // zlib: log2 of the window; negative for a stream without header.
  int window_bits;
  // zlib, ZSTD, LZ4 (negative: acceleration), LZ4HC.
  int level;
  // zlib.
  int strategy;
  // Bytes of the dictionary that is made per file and shared by its blocks; 0 for none.
  uint32_t max_dict_bytes;
  // ZSTD: bytes of samples that the dictionary is trained from; 0 to use the samples as they are.
  uint32_t zstd_max_train_bytes;
  // Threads that compress the blocks of one file.
  uint32_t parallel_threads;
  // In bottommost_compression_opts: whether they are used.
  bool enabled;
  // Bytes of data that are held back while the dictionary is made; 0 for no limit.
  uint64_t max_dict_buffer_bytes;
  // ZSTD: true trains the dictionary, false only arranges the samples.
  bool use_zstd_dict_trainer;
  CompressionOptions()
      : window_bits(-14),
        level(kDefaultCompressionLevel),
        strategy(0),
        max_dict_bytes(0),
        zstd_max_train_bytes(0),
        parallel_threads(1),
        enabled(false),
        max_dict_buffer_bytes(0),
        use_zstd_dict_trainer(true) {}
  CompressionOptions(int wbits, int _lev, int _strategy,
                     uint32_t _max_dict_bytes, uint32_t _zstd_max_train_bytes,
                     uint32_t _parallel_threads, bool _enabled,
                     uint64_t _max_dict_buffer_bytes,
                     bool _use_zstd_dict_trainer)
      : window_bits(wbits),
        level(_lev),
        strategy(_strategy),
        max_dict_bytes(_max_dict_bytes),
        zstd_max_train_bytes(_zstd_max_train_bytes),
        parallel_threads(_parallel_threads),
        enabled(_enabled),
        max_dict_buffer_bytes(_max_dict_buffer_bytes),
        use_zstd_dict_trainer(_use_zstd_dict_trainer) {}
};

// How often a file is expected to be read; passed to the file system as a hint.
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCold = 0x0C,
  kLastTemperature,
};

// Lowest tier of the block cache that is used: memory only, or the secondary cache too.
enum class CacheTier : uint8_t {
  kVolatileTier = 0,
  kNonVolatileBlockTier = 0x01,
};

// What inplace_callback did.
enum UpdateStatus {
  // The value stays as it is.
  UPDATE_FAILED = 0,
  // Written over the existing value.
  UPDATED_INPLACE = 1,
  // *merged_value is the new value.
  UPDATED = 2,
};

// When values are added to the cache, other than when they are read: never, or when flushed.
enum class PrepopulateBlobCache : uint8_t {
  kDisable = 0x0,
  kFlushOnly = 0x1,
};

// See ColumnFamilyOptions.
struct AdvancedColumnFamilyOptions {
  // Memtables, the active one included, at which writes stop until one is flushed. Can be changed
  // at run time.
  int max_write_buffer_number = 2;

  // Memtables that must be full before they are flushed together into one file.
  int min_write_buffer_number_to_merge = 1;

  // Superseded by the next option.
  int max_write_buffer_number_to_maintain = 0;

  // Bytes of flushed memtables that stay in memory for the conflict checks of transactions. 0 for
  // none, -1 for max_write_buffer_number * write_buffer_size.
  int64_t max_write_buffer_size_to_maintain = 0;

  // Overwrite a value in the memtable if the new one is not longer. Excludes snapshots and
  // concurrent memtable writes.
  bool inplace_update_support = false;

  // A memtable in which one step of an iterator passes this many hidden entries is flushed; 0: none.
  compassdb::LaterOption<uint32_t, 0> memtable_op_scan_flush_trigger;

  // Locks that protect such updates.
  size_t inplace_update_num_locks = 10000;

  // Share of live data up to which memtables are merged in memory rather than flushed; 0 for never.
  double experimental_mempurge_threshold = 0.0;

  // With inplace_update_support: computes the new value from the existing one and the one that is
  // put.
  UpdateStatus (*inplace_callback)(char* existing_value,
                                   uint32_t* existing_value_size,
                                   Slice delta_value,
                                   std::string* merged_value) = nullptr;

  // Size of a memtable's filter as a share of write_buffer_size, at most 0.25; 0 for no filter.
  // Holds prefixes if there is a prefix_extractor.
  double memtable_prefix_bloom_size_ratio = 0.0;

  // The filter holds whole keys, too.
  bool memtable_whole_key_filtering = false;

  // The same for the average of the steps between two seeks.
  compassdb::LaterOption<uint32_t, 0> memtable_avg_op_scan_flush_trigger;

  // Size of huge pages for memtables in bytes; 0 for ordinary memory.
  size_t memtable_huge_page_size = 0;
  std::shared_ptr<const SliceTransform>

      // Speeds up insertion where keys of one prefix come in order: the position of the last
      // insertion is kept per prefix.
      memtable_insert_with_hint_prefix_extractor = nullptr;

  // Nonzero: all probes of one key in a memtable's filter fall into one cache line.
  uint32_t bloom_locality = 0;

  // Bytes that a memtable takes from the allocator at once; 0 for a choice by write_buffer_size.
  size_t arena_block_size = 0;

  // Compression by level; the last entry holds for all further ones. Empty: `compression`.
  std::vector<CompressionType> compression_per_level;

  // Levels of the tree.
  int num_levels = 7;

  // Files in level 0 from which writes are slowed down; negative for never.
  int level0_slowdown_writes_trigger = 20;

  // Files in level 0 from which writes wait.
  int level0_stop_writes_trigger = 36;

  // Bytes of a table in level 1; in each further level the multiplier times more.
  uint64_t target_file_size_base = 64 * 1048576;
  int target_file_size_multiplier = 1;

  // Sizes of the levels follow from the size of the last, which keeps the space overhead near
  // 1/max_bytes_for_level_multiplier. Levels in between may stay empty.
  bool level_compaction_dynamic_level_bytes = false;

  // Cut files early where that lets later compactions overlap less.
  bool level_compaction_dynamic_file_size = true;

  // How many times larger each level is than the one before.
  double max_bytes_for_level_multiplier = 10;

  // Further factors by level, not with dynamic level sizes.
  std::vector<int> max_bytes_for_level_multiplier_additional =
      std::vector<int>(num_levels, 1);

  // Bytes of a compaction's input, approximately; 0 for 25 times target_file_size_base.
  uint64_t max_compaction_bytes = 0;

  // The limit counts only what overlaps, not the input of the upper level itself.
  bool ignore_max_compaction_bytes_for_input = true;

  // Bytes that compactions have yet to rewrite, from which writes are slowed down, and stopped.
  uint64_t soft_pending_compaction_bytes_limit = 64 * 1073741824ull;
  uint64_t hard_pending_compaction_bytes_limit = 256 * 1073741824ull;

  // See the enums above.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  CompactionPri compaction_pri = kMinOverlappingRatio;

  // Only one of them is used: that of the compaction style.
  CompactionOptionsUniversal compaction_options_universal;
  CompactionOptionsFIFO compaction_options_fifo;

  // Hidden entries that an iterator steps over one by one before it seeks.
  uint64_t max_sequential_skip_in_iterations = 8;

  // Data structure of memtables.
  std::shared_ptr<MemTableRepFactory> memtable_factory =
      std::shared_ptr<SkipListFactory>(new SkipListFactory);
  using TablePropertiesCollectorFactories =
      std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;

  // Gather statistics of the application's own in each table.
  TablePropertiesCollectorFactories table_properties_collector_factories;

  // Merge operands of a key in the memtable from which a write reads and folds them; 0 for never.
  size_t max_successive_merges = 0;

  // Build no filters for the last level, for applications that mostly ask for keys that exist.
  bool optimize_filters_for_hits = false;

  // Check the order of keys when writing tables.
  bool check_flush_compaction_key_order = true;

  // Read every table back after writing it.
  bool paranoid_file_checks = false;

  // Check the arrangement of files at every change of it; an error stops writes.
  bool force_consistency_checks = true;

  // Measure the I/O of flushes and compactions.
  bool report_bg_io_stats = false;

  // Seconds after which a file is compacted, or dropped by FIFO; 0 for never. The default leaves
  // the choice to the engine: 30 days for level compaction.
  uint64_t ttl = 0xfffffffffffffffe;

  // Seconds after which every file is rewritten, so that compaction filters see all entries; 0 for
  // never. The default leaves the choice to the engine: 30 days with a compaction filter, otherwise
  // never.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;

  // Compress one block in this many in two further ways, for statistics; 0 for none.
  uint64_t sample_for_compression = 0;

  // Temperature of files of the last level; the first name is superseded by the second.
  Temperature bottommost_temperature = Temperature::kUnknown;
  Temperature last_level_temperature = Temperature::kUnknown;

  // Data younger than this stays out of the last level; 0 for no such rule.
  uint64_t preclude_last_level_data_seconds = 0;

  // Remember the time of writes for this long; 0 for not at all.
  uint64_t preserve_internal_time_seconds = 0;

  // Keep large values in files of their own (value separation). Compactions then move keys only.
  bool enable_blob_files = false;

  // Bytes from which a value is large. 0: 192, HashKV's threshold (RocksDB: all values); 1: all but empty ones.
  uint64_t min_blob_size = 0;

  // Bytes that a segment group holds, about, if that is less than value_group_bytes of compassdb/table.h.
  uint64_t blob_file_size = 1ULL << 28;

  // Compression of separated values, each on its own.
  CompressionType blob_compression_type = kNoCompression;

  // Reclaim the space of values that are dead.
  bool enable_blob_garbage_collection = false;

  // Share of the bytes, written longest ago, that forced collections (CompactRange, the threshold below) are for.
  double blob_garbage_collection_age_cutoff = 0.25;

  // Share of dead bytes in a group from which its reclaiming is forced, although there is room. 0 to 1; 1: never.
  double blob_garbage_collection_force_threshold = 1.0;

  // Bytes that are read at a time when values are moved, at most 32 MiB; 0: 1 MiB.
  uint64_t blob_compaction_readahead_size = 0;

  // Level from which on values are separated.
  int blob_file_starting_level = 0;

  // Cache of separated values; may be the block cache. Null for none.
  std::shared_ptr<Cache> blob_cache = nullptr;
  PrepopulateBlobCache prepopulate_blob_cache = PrepopulateBlobCache::kDisable;

  // Bytes of checksum per entry in memtables: 0, 1, 2, 4 or 8.
  uint32_t memtable_protection_bytes_per_key = 0;

  // The defaults.
  AdvancedColumnFamilyOptions();
  explicit AdvancedColumnFamilyOptions(const Options& options);
};

}  // namespace ROCKSDB_NAMESPACE
