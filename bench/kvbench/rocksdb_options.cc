// SPDX-License-Identifier: Apache-2.0
// How each engine is tuned. Sizes, memory, threads and WAL are equal; the one
// difference is noted in the code.
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#ifndef KVBENCH_ROCKSDB
#include <compassdb/preset.h>
#include <compassdb/table.h>
#endif

#include "rocksdb_options.h"

namespace kvbench {

namespace {

std::shared_ptr<rocksdb::Cache> NewBlockCache(size_t bytes) {
#if defined(KVBENCH_ROCKSDB) && ROCKSDB_MAJOR >= 11
  return rocksdb::HyperClockCacheOptions(bytes).MakeSharedCache();
#else
  return rocksdb::NewLRUCache(bytes);
#endif
}

// Memtables, blocks, index and filters under one cap.
void LimitMemory(uint64_t bytes, rocksdb::Options* options, rocksdb::BlockBasedTableOptions* table,
                 std::shared_ptr<rocksdb::Cache>* cache) {
#ifdef KVBENCH_ROCKSDB
  *cache = NewBlockCache(bytes);
  table->block_cache = *cache;
  table->cache_index_and_filter_blocks = true;
  options->write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(bytes / 4, *cache);
  options->write_buffer_size = std::min<size_t>(options->write_buffer_size, bytes / 12);
#else
  (void)table;
  (void)cache;
  options->memory_limit = bytes;
#endif
}

}  // namespace

rocksdb::Options MakeOptions(const Flags& flags, std::shared_ptr<rocksdb::Cache>* cache) {
  rocksdb::Options options;
  if (flags.defaults) {
    if (!flags.direct) return options;
    // The rival of direct reads: by default, but measured on the same device,
    // with the same bytes on it and the same cache.
    options.use_direct_reads = true;
    options.use_direct_io_for_flush_and_compaction = true;
    options.compression = rocksdb::kNoCompression;
    rocksdb::BlockBasedTableOptions table;
    if (flags.data_cache_kb > 0) {
      *cache = NewBlockCache(flags.data_cache_kb << 10);
      table.block_cache = *cache;
    }
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  options.write_buffer_size = flags.memtable_mb << 20;
  options.max_write_buffer_number = 3;
  options.target_file_size_base = (flags.table_mb > 0 ? flags.table_mb : flags.memtable_mb) << 20;
  options.max_bytes_for_level_base = 4 * (flags.memtable_mb << 20);
  options.max_background_jobs = flags.background_threads;
  options.use_direct_reads = flags.direct;
  options.use_direct_io_for_flush_and_compaction = flags.direct;
  options.compression = flags.compression == "snappy" ? rocksdb::kSnappyCompression
                        : flags.compression == "lz4"  ? rocksdb::kLZ4Compression
                        : flags.compression == "zstd" ? rocksdb::kZSTD
                                                      : rocksdb::kNoCompression;
#ifdef KVBENCH_ROCKSDB
  // What RocksDB's tuning guide recommends for leveled compaction: the last
  // level stays about nine tenths of the data, which lowers its space
  // amplification. Of CompassDB's presets bolt-sorted sets it.
  options.level_compaction_dynamic_level_bytes = true;
#endif

  rocksdb::BlockBasedTableOptions table;
  if (flags.memory_mb > 0) {
    LimitMemory(flags.memory_mb << 20, &options, &table, cache);
  } else {
    *cache = NewBlockCache(flags.data_cache_kb > 0 ? flags.data_cache_kb << 10
                                                   : flags.cache_mb << 20);
    table.block_cache = *cache;
  }
  // Otherwise index and filters stay in memory for as long as their table is
  // open; with --cache-mb the cache gives up as many bytes (BalanceMemory).
  if (flags.index_in_cache) table.cache_index_and_filter_blocks = true;
#ifdef KVBENCH_ROCKSDB
  // The other engine filters by its directories' fingerprints, without a policy.
  if (flags.bloom_bits > 0) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(flags.bloom_bits, false));
    table.optimize_filters_for_memory = true;
  }
  // A tenth less CPU per Get, measured; for a byte or so per record on disk.
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  if (flags.partition_index) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
  }
#endif
#ifdef KVBENCH_ROCKSDB
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
#else
  compassdb::PieceTableOptions pieces;
  pieces.data_order = flags.data_order == "slot"   ? compassdb::DataOrder::kSlot
                      : flags.data_order == "hash" ? compassdb::DataOrder::kHash
                                                   : compassdb::DataOrder::kKey;
  options.table_factory.reset(compassdb::NewPieceTableFactory(pieces, table));
#endif
  return options;
}

rocksdb::Status ApplyPreset(const Flags& flags, rocksdb::Options* options) {
  if (flags.preset.empty()) return rocksdb::Status::OK();
#ifdef KVBENCH_ROCKSDB
  (void)options;
  return rocksdb::Status::InvalidArgument("--preset", "RocksDB has none");
#else
  compassdb::Preset preset;
  rocksdb::Status s = compassdb::PresetFromName(flags.preset, &preset);
  return s.ok() ? compassdb::ApplyPreset(preset, options) : s;
#endif
}

}  // namespace kvbench
