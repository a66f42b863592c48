// SPDX-License-Identifier: Apache-2.0
// Prints the default of every option and the value of every enumerator, one per line. Built with
// our headers and with RocksDB's; compare_values.py compares what they print.
#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/io_status.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/sst_partitioner.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/table_reader_caller.h>
#include <rocksdb/trace_record.h>
#include <rocksdb/wal_filter.h>

#include <chrono>
#include <iostream>
#include <string>
#include <type_traits>

using namespace ROCKSDB_NAMESPACE;  // NOLINT: a user's program

namespace {

std::string Text(const std::string& value) { return "\"" + value + "\""; }
std::string Text(std::chrono::microseconds value) { return std::to_string(value.count()) + " us"; }

template <typename T>
std::string Text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else {
    return std::to_string(value);
  }
}

#define SHOW(what) std::cout << #what << " = " << Text(what) << "\n"

void PrintAdvancedColumnFamilyOptions() {
  std::cout << "AdvancedColumnFamilyOptions\n";
  const Options o;
  SHOW(o.max_write_buffer_number);
  SHOW(o.min_write_buffer_number_to_merge);
  SHOW(o.max_write_buffer_number_to_maintain);
  SHOW(o.max_write_buffer_size_to_maintain);
  SHOW(o.inplace_update_support);
  SHOW(o.inplace_update_num_locks);
  SHOW(o.experimental_mempurge_threshold);
  SHOW(o.memtable_prefix_bloom_size_ratio);
  SHOW(o.memtable_whole_key_filtering);
  SHOW(o.memtable_huge_page_size);
  SHOW(o.bloom_locality);
  SHOW(o.arena_block_size);
  SHOW(o.num_levels);
  SHOW(o.level0_slowdown_writes_trigger);
  SHOW(o.level0_stop_writes_trigger);
  SHOW(o.target_file_size_base);
  SHOW(o.target_file_size_multiplier);
  SHOW(o.level_compaction_dynamic_level_bytes);
  SHOW(o.level_compaction_dynamic_file_size);
  SHOW(o.max_bytes_for_level_multiplier);
  SHOW(o.max_compaction_bytes);
  SHOW(o.ignore_max_compaction_bytes_for_input);
  SHOW(o.soft_pending_compaction_bytes_limit);
  SHOW(o.hard_pending_compaction_bytes_limit);
  SHOW(o.compaction_style);
  SHOW(o.compaction_pri);
  SHOW(o.max_sequential_skip_in_iterations);
  SHOW(o.max_successive_merges);
  SHOW(o.optimize_filters_for_hits);
  SHOW(o.check_flush_compaction_key_order);
  SHOW(o.paranoid_file_checks);
  SHOW(o.force_consistency_checks);
  SHOW(o.report_bg_io_stats);
  SHOW(o.ttl);
  SHOW(o.periodic_compaction_seconds);
  SHOW(o.sample_for_compression);
  SHOW(o.bottommost_temperature);
  SHOW(o.last_level_temperature);
  SHOW(o.preclude_last_level_data_seconds);
  SHOW(o.preserve_internal_time_seconds);
  SHOW(o.enable_blob_files);
  SHOW(o.min_blob_size);
  SHOW(o.blob_file_size);
  SHOW(o.blob_compression_type);
  SHOW(o.enable_blob_garbage_collection);
  SHOW(o.blob_garbage_collection_age_cutoff);
  SHOW(o.blob_garbage_collection_force_threshold);
  SHOW(o.blob_compaction_readahead_size);
  SHOW(o.blob_file_starting_level);
  SHOW(o.prepopulate_blob_cache);
  SHOW(o.memtable_protection_bytes_per_key);
}

void PrintColumnFamilyOptions() {
  std::cout << "ColumnFamilyOptions\n";
  const Options o;
  SHOW(o.write_buffer_size);
  SHOW(o.compression);
  SHOW(o.bottommost_compression);
  SHOW(o.level0_file_num_compaction_trigger);
  SHOW(o.max_bytes_for_level_base);
  SHOW(o.snap_refresh_nanos);
  SHOW(o.disable_auto_compactions);
}

void PrintDBOptions() {
  std::cout << "DBOptions\n";
  const Options o;
  SHOW(o.create_if_missing);
  SHOW(o.create_missing_column_families);
  SHOW(o.error_if_exists);
  SHOW(o.paranoid_checks);
  SHOW(o.flush_verify_memtable_count);
  SHOW(o.track_and_verify_wals_in_manifest);
  SHOW(o.verify_sst_unique_id_in_manifest);
  SHOW(o.max_open_files);
  SHOW(o.max_file_opening_threads);
  SHOW(o.max_total_wal_size);
  SHOW(o.use_fsync);
  SHOW(o.db_log_dir);
  SHOW(o.wal_dir);
  SHOW(o.delete_obsolete_files_period_micros);
  SHOW(o.max_background_jobs);
  SHOW(o.max_background_compactions);
  SHOW(o.max_subcompactions);
  SHOW(o.max_background_flushes);
  SHOW(o.max_log_file_size);
  SHOW(o.log_file_time_to_roll);
  SHOW(o.keep_log_file_num);
  SHOW(o.recycle_log_file_num);
  SHOW(o.max_manifest_file_size);
  SHOW(o.table_cache_numshardbits);
  SHOW(o.WAL_ttl_seconds);
  SHOW(o.WAL_size_limit_MB);
  SHOW(o.manifest_preallocation_size);
  SHOW(o.allow_mmap_reads);
  SHOW(o.allow_mmap_writes);
  SHOW(o.use_direct_reads);
  SHOW(o.use_direct_io_for_flush_and_compaction);
  SHOW(o.allow_fallocate);
  SHOW(o.is_fd_close_on_exec);
  SHOW(o.stats_dump_period_sec);
  SHOW(o.stats_persist_period_sec);
  SHOW(o.persist_stats_to_disk);
  SHOW(o.stats_history_buffer_size);
  SHOW(o.advise_random_on_open);
  SHOW(o.db_write_buffer_size);
  SHOW(o.access_hint_on_compaction_start);
  SHOW(o.compaction_readahead_size);
  SHOW(o.random_access_max_buffer_size);
  SHOW(o.writable_file_max_buffer_size);
  SHOW(o.use_adaptive_mutex);
  SHOW(o.bytes_per_sync);
  SHOW(o.wal_bytes_per_sync);
  SHOW(o.strict_bytes_per_sync);
  SHOW(o.enable_thread_tracking);
  SHOW(o.delayed_write_rate);
  SHOW(o.enable_pipelined_write);
  SHOW(o.unordered_write);
  SHOW(o.allow_concurrent_memtable_write);
  SHOW(o.enable_write_thread_adaptive_yield);
  SHOW(o.max_write_batch_group_size_bytes);
  SHOW(o.write_thread_max_yield_usec);
  SHOW(o.write_thread_slow_yield_usec);
  SHOW(o.skip_stats_update_on_db_open);
  SHOW(o.skip_checking_sst_file_sizes_on_db_open);
  SHOW(o.wal_recovery_mode);
  SHOW(o.allow_2pc);
  SHOW(o.fail_if_options_file_error);
  SHOW(o.dump_malloc_stats);
  SHOW(o.avoid_flush_during_recovery);
  SHOW(o.avoid_flush_during_shutdown);
  SHOW(o.allow_ingest_behind);
  SHOW(o.two_write_queues);
  SHOW(o.manual_wal_flush);
  SHOW(o.wal_compression);
  SHOW(o.atomic_flush);
  SHOW(o.avoid_unnecessary_blocking_io);
  SHOW(o.log_readahead_size);
  SHOW(o.best_efforts_recovery);
  SHOW(o.max_bgerror_resume_count);
  SHOW(o.bgerror_resume_retry_interval);
  SHOW(o.allow_data_in_errors);
  SHOW(o.db_host_id);
  SHOW(o.lowest_used_cache_tier);
  SHOW(o.enforce_single_del_contracts);
}

void PrintReadOptions() {
  std::cout << "ReadOptions\n";
  const ReadOptions o;
  SHOW(o.readahead_size);
  SHOW(o.max_skippable_internal_keys);
  SHOW(o.read_tier);
  SHOW(o.verify_checksums);
  SHOW(o.fill_cache);
  SHOW(o.tailing);
  SHOW(o.managed);
  SHOW(o.total_order_seek);
  SHOW(o.auto_prefix_mode);
  SHOW(o.prefix_same_as_start);
  SHOW(o.pin_data);
  SHOW(o.background_purge_on_iterator_cleanup);
  SHOW(o.ignore_range_deletions);
  SHOW(o.deadline);
  SHOW(o.io_timeout);
  SHOW(o.value_size_soft_limit);
  SHOW(o.adaptive_readahead);
  SHOW(o.rate_limiter_priority);
  SHOW(o.async_io);
  SHOW(o.optimize_multiget_for_io);
}

void PrintWriteOptions() {
  std::cout << "WriteOptions\n";
  const WriteOptions o;
  SHOW(o.sync);
  SHOW(o.disableWAL);
  SHOW(o.ignore_missing_column_families);
  SHOW(o.no_slowdown);
  SHOW(o.low_pri);
  SHOW(o.memtable_insert_hint_per_batch);
  SHOW(o.rate_limiter_priority);
  SHOW(o.protection_bytes_per_key);
}

void PrintFlushOptions() {
  std::cout << "FlushOptions\n";
  const FlushOptions o;
  SHOW(o.wait);
  SHOW(o.allow_write_stall);
}

void PrintCompactionOptions() {
  std::cout << "CompactionOptions\n";
  const CompactionOptions o;
  SHOW(o.compression);
  SHOW(o.output_file_size_limit);
  SHOW(o.max_subcompactions);
}

void PrintCompactRangeOptions() {
  std::cout << "CompactRangeOptions\n";
  const CompactRangeOptions o;
  SHOW(o.exclusive_manual_compaction);
  SHOW(o.change_level);
  SHOW(o.target_level);
  SHOW(o.target_path_id);
  SHOW(o.bottommost_level_compaction);
  SHOW(o.allow_write_stall);
  SHOW(o.max_subcompactions);
  SHOW(o.blob_garbage_collection_policy);
  SHOW(o.blob_garbage_collection_age_cutoff);
}

void PrintIngestExternalFileOptions() {
  std::cout << "IngestExternalFileOptions\n";
  const IngestExternalFileOptions o;
  SHOW(o.move_files);
  SHOW(o.failed_move_fall_back_to_copy);
  SHOW(o.snapshot_consistency);
  SHOW(o.allow_global_seqno);
  SHOW(o.allow_blocking_flush);
  SHOW(o.ingest_behind);
  SHOW(o.write_global_seqno);
  SHOW(o.verify_checksums_before_ingest);
  SHOW(o.verify_checksums_readahead_size);
  SHOW(o.verify_file_checksum);
  SHOW(o.fail_if_not_bottommost_level);
}

void PrintTraceOptions() {
  std::cout << "TraceOptions\n";
  const TraceOptions o;
  SHOW(o.max_trace_file_size);
  SHOW(o.sampling_frequency);
  SHOW(o.filter);
  SHOW(o.preserve_write_order);
}

void PrintSizeApproximationOptions() {
  std::cout << "SizeApproximationOptions\n";
  const SizeApproximationOptions o;
  SHOW(o.include_memtables);
  SHOW(o.include_files);
  SHOW(o.files_size_error_margin);
}

void PrintLiveFilesStorageInfoOptions() {
  std::cout << "LiveFilesStorageInfoOptions\n";
  const LiveFilesStorageInfoOptions o;
  SHOW(o.include_checksum_info);
  SHOW(o.wal_size_for_flush);
}

void PrintBlockBasedTableOptions() {
  std::cout << "BlockBasedTableOptions\n";
  const BlockBasedTableOptions o;
  SHOW(o.cache_index_and_filter_blocks);
  SHOW(o.cache_index_and_filter_blocks_with_high_priority);
  SHOW(o.pin_l0_filter_and_index_blocks_in_cache);
  SHOW(o.pin_top_level_index_and_filter);
  SHOW(o.index_type);
  SHOW(o.data_block_index_type);
  SHOW(o.data_block_hash_table_util_ratio);
  SHOW(o.checksum);
  SHOW(o.no_block_cache);
  SHOW(o.block_size);
  SHOW(o.block_size_deviation);
  SHOW(o.block_restart_interval);
  SHOW(o.index_block_restart_interval);
  SHOW(o.metadata_block_size);
  SHOW(o.partition_filters);
  SHOW(o.optimize_filters_for_memory);
  SHOW(o.use_delta_encoding);
  SHOW(o.whole_key_filtering);
  SHOW(o.detect_filter_construct_corruption);
  SHOW(o.verify_compression);
  SHOW(o.read_amp_bytes_per_bit);
  SHOW(o.format_version);
  SHOW(o.enable_index_compression);
  SHOW(o.block_align);
  SHOW(o.index_shortening);
  SHOW(o.max_auto_readahead_size);
  SHOW(o.prepopulate_block_cache);
  SHOW(o.initial_auto_readahead_size);
  SHOW(o.num_file_reads_for_auto_readahead);
}

void PrintPlainTableOptions() {
  std::cout << "PlainTableOptions\n";
  const PlainTableOptions o;
  SHOW(o.user_key_len);
  SHOW(o.bloom_bits_per_key);
  SHOW(o.hash_table_ratio);
  SHOW(o.index_sparseness);
  SHOW(o.huge_page_tlb_size);
  SHOW(o.encoding_type);
  SHOW(o.full_scan_mode);
  SHOW(o.store_index_in_file);
}

void PrintCuckooTableOptions() {
  std::cout << "CuckooTableOptions\n";
  const CuckooTableOptions o;
  SHOW(o.hash_table_ratio);
  SHOW(o.max_search_depth);
  SHOW(o.cuckoo_block_size);
  SHOW(o.identity_as_first_hash);
  SHOW(o.use_module_hash);
}

void PrintCompressionOptions() {
  std::cout << "CompressionOptions\n";
  const CompressionOptions o;
  SHOW(o.window_bits);
  SHOW(o.level);
  SHOW(o.strategy);
  SHOW(o.max_dict_bytes);
  SHOW(o.zstd_max_train_bytes);
  SHOW(o.parallel_threads);
  SHOW(o.enabled);
  SHOW(o.max_dict_buffer_bytes);
  SHOW(o.use_zstd_dict_trainer);
}

void PrintCompactionOptionsFIFO() {
  std::cout << "CompactionOptionsFIFO\n";
  const CompactionOptionsFIFO o;
  SHOW(o.max_table_files_size);
  SHOW(o.allow_compaction);
  SHOW(o.age_for_warm);
}

void PrintCompactionOptionsUniversal() {
  std::cout << "CompactionOptionsUniversal\n";
  const CompactionOptionsUniversal o;
  SHOW(o.size_ratio);
  SHOW(o.min_merge_width);
  SHOW(o.max_merge_width);
  SHOW(o.max_size_amplification_percent);
  SHOW(o.compression_size_percent);
  SHOW(o.stop_style);
  SHOW(o.allow_trivial_move);
  SHOW(o.incremental);
}

void PrintEnvOptions() {
  std::cout << "EnvOptions\n";
  const EnvOptions o;
  SHOW(o.use_mmap_reads);
  SHOW(o.use_mmap_writes);
  SHOW(o.use_direct_reads);
  SHOW(o.use_direct_writes);
  SHOW(o.allow_fallocate);
  SHOW(o.set_fd_cloexec);
  SHOW(o.bytes_per_sync);
  SHOW(o.strict_bytes_per_sync);
  SHOW(o.fallocate_with_keep_size);
  SHOW(o.compaction_readahead_size);
  SHOW(o.random_access_max_buffer_size);
  SHOW(o.writable_file_max_buffer_size);
}

void PrintShardedCacheOptions() {
  std::cout << "ShardedCacheOptions\n";
  const LRUCacheOptions o;
  SHOW(o.capacity);
  SHOW(o.num_shard_bits);
  SHOW(o.strict_capacity_limit);
  SHOW(o.metadata_charge_policy);
}

void PrintLRUCacheOptions() {
  std::cout << "LRUCacheOptions\n";
  const LRUCacheOptions o;
  SHOW(o.high_pri_pool_ratio);
  SHOW(o.low_pri_pool_ratio);
  SHOW(o.use_adaptive_mutex);
}

void PrintCompressedSecondaryCacheOptions() {
  std::cout << "CompressedSecondaryCacheOptions\n";
  const CompressedSecondaryCacheOptions o;
  SHOW(o.compression_type);
  SHOW(o.compress_format_version);
  SHOW(o.enable_custom_split_merge);
}

void PrintEnums1() {
  SHOW(TableFileCreationReason::kFlush);
  SHOW(TableFileCreationReason::kCompaction);
  SHOW(TableFileCreationReason::kRecovery);
  SHOW(TableFileCreationReason::kMisc);
  SHOW(BlobFileCreationReason::kFlush);
  SHOW(BlobFileCreationReason::kCompaction);
  SHOW(BlobFileCreationReason::kRecovery);
  SHOW(kWalFile);
  SHOW(kDBLockFile);
  SHOW(kTableFile);
  SHOW(kDescriptorFile);
  SHOW(kCurrentFile);
  SHOW(kTempFile);
  SHOW(kInfoLogFile);
  SHOW(kMetaDatabase);
  SHOW(kIdentityFile);
  SHOW(kOptionsFile);
  SHOW(kBlobFile);
  SHOW(kEntryPut);
  SHOW(kEntryDelete);
  SHOW(kEntrySingleDelete);
  SHOW(kEntryMerge);
  SHOW(kEntryRangeDeletion);
  SHOW(kEntryBlobIndex);
  SHOW(kEntryDeleteWithTimestamp);
  SHOW(kEntryWideColumnEntity);
  SHOW(kEntryOther);
  SHOW(kCompactionStyleLevel);
  SHOW(kCompactionStyleUniversal);
  SHOW(kCompactionStyleFIFO);
  SHOW(kCompactionStyleNone);
  SHOW(kByCompensatedSize);
  SHOW(kOldestLargestSeqFirst);
  SHOW(kOldestSmallestSeqFirst);
  SHOW(kMinOverlappingRatio);
  SHOW(kRoundRobin);
  SHOW(Temperature::kUnknown);
  SHOW(Temperature::kHot);
  SHOW(Temperature::kWarm);
  SHOW(Temperature::kCold);
  SHOW(Temperature::kLastTemperature);
  SHOW(CacheTier::kVolatileTier);
  SHOW(CacheTier::kNonVolatileBlockTier);
  SHOW(UPDATE_FAILED);
  SHOW(UPDATED_INPLACE);
  SHOW(UPDATED);
  SHOW(PrepopulateBlobCache::kDisable);
  SHOW(PrepopulateBlobCache::kFlushOnly);
  SHOW(WALRecoveryMode::kTolerateCorruptedTailRecords);
  SHOW(WALRecoveryMode::kAbsoluteConsistency);
  SHOW(WALRecoveryMode::kPointInTimeRecovery);
  SHOW(WALRecoveryMode::kSkipAnyCorruptedRecords);
  SHOW(CompactionServiceJobStatus::kSuccess);
  SHOW(CompactionServiceJobStatus::kFailure);
  SHOW(CompactionServiceJobStatus::kUseLocal);
  SHOW(DBOptions::NONE);
  SHOW(DBOptions::NORMAL);
  SHOW(DBOptions::SEQUENTIAL);
  SHOW(DBOptions::WILLNEED);
  SHOW(kReadAllTier);
  SHOW(kBlockCacheTier);
  SHOW(kPersistedTier);
  SHOW(kMemtableTier);
  SHOW(BottommostLevelCompaction::kSkip);
  SHOW(BottommostLevelCompaction::kIfHaveCompactionFilter);
  SHOW(BottommostLevelCompaction::kForce);
  SHOW(BottommostLevelCompaction::kForceOptimized);
  SHOW(BlobGarbageCollectionPolicy::kForce);
  SHOW(BlobGarbageCollectionPolicy::kDisable);
  SHOW(BlobGarbageCollectionPolicy::kUseDefault);
  SHOW(kTraceFilterNone);
  SHOW(kTraceFilterGet);
  SHOW(kTraceFilterWrite);
  SHOW(kTraceFilterIteratorSeek);
  SHOW(kTraceFilterIteratorSeekForPrev);
  SHOW(kTraceFilterMultiGet);
  SHOW(kNoChecksum);
  SHOW(kCRC32c);
  SHOW(kxxHash);
  SHOW(kxxHash64);
  SHOW(kXXH3);
  SHOW(PinningTier::kFallback);
  SHOW(PinningTier::kNone);
  SHOW(PinningTier::kFlushedAndSimilar);
  SHOW(PinningTier::kAll);
  SHOW(CacheEntryRoleOptions::Decision::kEnabled);
  SHOW(CacheEntryRoleOptions::Decision::kDisabled);
  SHOW(CacheEntryRoleOptions::Decision::kFallback);
  SHOW(BlockBasedTableOptions::kBinarySearch);
  SHOW(BlockBasedTableOptions::kHashSearch);
}

void PrintEnums2() {
  SHOW(BlockBasedTableOptions::kTwoLevelIndexSearch);
  SHOW(BlockBasedTableOptions::kBinarySearchWithFirstKey);
  SHOW(BlockBasedTableOptions::kDataBlockBinarySearch);
  SHOW(BlockBasedTableOptions::kDataBlockBinaryAndHash);
  SHOW(BlockBasedTableOptions::IndexShorteningMode::kNoShortening);
  SHOW(BlockBasedTableOptions::IndexShorteningMode::kShortenSeparators);
  SHOW(BlockBasedTableOptions::IndexShorteningMode::kShortenSeparatorsAndSuccessor);
  SHOW(BlockBasedTableOptions::PrepopulateBlockCache::kDisable);
  SHOW(BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly);
  SHOW(kPlain);
  SHOW(kPrefix);
  SHOW(CompactionReason::kUnknown);
  SHOW(CompactionReason::kLevelL0FilesNum);
  SHOW(CompactionReason::kLevelMaxLevelSize);
  SHOW(CompactionReason::kUniversalSizeAmplification);
  SHOW(CompactionReason::kUniversalSizeRatio);
  SHOW(CompactionReason::kUniversalSortedRunNum);
  SHOW(CompactionReason::kFIFOMaxSize);
  SHOW(CompactionReason::kFIFOReduceNumFiles);
  SHOW(CompactionReason::kFIFOTtl);
  SHOW(CompactionReason::kManualCompaction);
  SHOW(CompactionReason::kFilesMarkedForCompaction);
  SHOW(CompactionReason::kBottommostFiles);
  SHOW(CompactionReason::kTtl);
  SHOW(CompactionReason::kFlush);
  SHOW(CompactionReason::kExternalSstIngestion);
  SHOW(CompactionReason::kPeriodicCompaction);
  SHOW(CompactionReason::kChangeTemperature);
  SHOW(CompactionReason::kForcedBlobGC);
  SHOW(CompactionReason::kRoundRobinTtl);
  SHOW(CompactionReason::kNumOfReasons);
  SHOW(FlushReason::kOthers);
  SHOW(FlushReason::kGetLiveFiles);
  SHOW(FlushReason::kShutDown);
  SHOW(FlushReason::kExternalFileIngestion);
  SHOW(FlushReason::kManualCompaction);
  SHOW(FlushReason::kWriteBufferManager);
  SHOW(FlushReason::kWriteBufferFull);
  SHOW(FlushReason::kTest);
  SHOW(FlushReason::kDeleteFiles);
  SHOW(FlushReason::kAutoCompaction);
  SHOW(FlushReason::kManualFlush);
  SHOW(FlushReason::kErrorRecovery);
  SHOW(FlushReason::kErrorRecoveryRetryFlush);
  SHOW(FlushReason::kWalFull);
  SHOW(BackgroundErrorReason::kFlush);
  SHOW(BackgroundErrorReason::kCompaction);
  SHOW(BackgroundErrorReason::kWriteCallback);
  SHOW(BackgroundErrorReason::kMemTable);
  SHOW(BackgroundErrorReason::kManifestWrite);
  SHOW(BackgroundErrorReason::kFlushNoWAL);
  SHOW(BackgroundErrorReason::kManifestWriteNoWAL);
  SHOW(WriteStallCondition::kNormal);
  SHOW(WriteStallCondition::kDelayed);
  SHOW(WriteStallCondition::kStopped);
  SHOW(FileOperationType::kRead);
  SHOW(FileOperationType::kWrite);
  SHOW(FileOperationType::kTruncate);
  SHOW(FileOperationType::kClose);
  SHOW(FileOperationType::kFlush);
  SHOW(FileOperationType::kSync);
  SHOW(FileOperationType::kFsync);
  SHOW(FileOperationType::kRangeSync);
  SHOW(FileOperationType::kAppend);
  SHOW(FileOperationType::kPositionedAppend);
  SHOW(FileOperationType::kOpen);
  SHOW(kDontChargeCacheMetadata);
  SHOW(kFullChargeCacheMetadata);
  SHOW(Cache::Priority::HIGH);
  SHOW(Cache::Priority::LOW);
  SHOW(Cache::Priority::BOTTOM);
  SHOW(CacheEntryRole::kDataBlock);
  SHOW(CacheEntryRole::kFilterBlock);
  SHOW(CacheEntryRole::kFilterMetaBlock);
  SHOW(CacheEntryRole::kDeprecatedFilterBlock);
  SHOW(CacheEntryRole::kIndexBlock);
  SHOW(CacheEntryRole::kOtherBlock);
  SHOW(CacheEntryRole::kWriteBuffer);
  SHOW(CacheEntryRole::kCompressionDictionaryBuildingBuffer);
  SHOW(CacheEntryRole::kFilterConstruction);
  SHOW(CacheEntryRole::kBlockBasedTableReader);
  SHOW(CacheEntryRole::kFileMetadata);
  SHOW(CacheEntryRole::kBlobValue);
  SHOW(CacheEntryRole::kBlobCache);
  SHOW(CacheEntryRole::kMisc);
  SHOW(CpuPriority::kIdle);
  SHOW(CpuPriority::kLow);
  SHOW(CpuPriority::kNormal);
  SHOW(CpuPriority::kHigh);
  SHOW(Env::WLTH_NOT_SET);
}

void PrintEnums3() {
  SHOW(Env::WLTH_NONE);
  SHOW(Env::WLTH_SHORT);
  SHOW(Env::WLTH_MEDIUM);
  SHOW(Env::WLTH_LONG);
  SHOW(Env::WLTH_EXTREME);
  SHOW(Env::BOTTOM);
  SHOW(Env::LOW);
  SHOW(Env::HIGH);
  SHOW(Env::USER);
  SHOW(Env::TOTAL);
  SHOW(Env::IO_LOW);
  SHOW(Env::IO_MID);
  SHOW(Env::IO_HIGH);
  SHOW(Env::IO_USER);
  SHOW(Env::IO_TOTAL);
  SHOW(RandomAccessFile::NORMAL);
  SHOW(RandomAccessFile::RANDOM);
  SHOW(RandomAccessFile::SEQUENTIAL);
  SHOW(RandomAccessFile::WILLNEED);
  SHOW(RandomAccessFile::DONTNEED);
  SHOW(CompactionFilter::kValue);
  SHOW(CompactionFilter::kMergeOperand);
  SHOW(CompactionFilter::kBlobIndex);
  SHOW(CompactionFilter::Decision::kKeep);
  SHOW(CompactionFilter::Decision::kRemove);
  SHOW(CompactionFilter::Decision::kChangeValue);
  SHOW(CompactionFilter::Decision::kRemoveAndSkipUntil);
  SHOW(CompactionFilter::Decision::kChangeBlobIndex);
  SHOW(CompactionFilter::Decision::kIOError);
  SHOW(CompactionFilter::Decision::kPurge);
  SHOW(CompactionFilter::Decision::kUndetermined);
  SHOW(CompactionFilter::BlobDecision::kKeep);
  SHOW(CompactionFilter::BlobDecision::kChangeValue);
  SHOW(CompactionFilter::BlobDecision::kCorruption);
  SHOW(CompactionFilter::BlobDecision::kIOError);
  SHOW(kTraceNone);
  SHOW(kTraceBegin);
  SHOW(kTraceEnd);
  SHOW(kTraceWrite);
  SHOW(kTraceGet);
  SHOW(kTraceIteratorSeek);
  SHOW(kTraceIteratorSeekForPrev);
  SHOW(kBlockTraceIndexBlock);
  SHOW(kBlockTraceFilterBlock);
  SHOW(kBlockTraceDataBlock);
  SHOW(kBlockTraceUncompressionDictBlock);
  SHOW(kBlockTraceRangeDeletionBlock);
  SHOW(kIOTracer);
  SHOW(kTraceMultiGet);
  SHOW(kTraceMax);
  SHOW(IteratorSeekQueryTraceRecord::kSeek);
  SHOW(IteratorSeekQueryTraceRecord::kSeekForPrev);
  SHOW(ThreadStatus::HIGH_PRIORITY);
  SHOW(ThreadStatus::LOW_PRIORITY);
  SHOW(ThreadStatus::USER);
  SHOW(ThreadStatus::BOTTOM_PRIORITY);
  SHOW(ThreadStatus::NUM_THREAD_TYPES);
  SHOW(ThreadStatus::OP_UNKNOWN);
  SHOW(ThreadStatus::OP_COMPACTION);
  SHOW(ThreadStatus::OP_FLUSH);
  SHOW(ThreadStatus::NUM_OP_TYPES);
  SHOW(ThreadStatus::STAGE_UNKNOWN);
  SHOW(ThreadStatus::STAGE_FLUSH_RUN);
  SHOW(ThreadStatus::STAGE_FLUSH_WRITE_L0);
  SHOW(ThreadStatus::STAGE_COMPACTION_PREPARE);
  SHOW(ThreadStatus::STAGE_COMPACTION_RUN);
  SHOW(ThreadStatus::STAGE_COMPACTION_PROCESS_KV);
  SHOW(ThreadStatus::STAGE_COMPACTION_INSTALL);
  SHOW(ThreadStatus::STAGE_COMPACTION_SYNC_FILE);
  SHOW(ThreadStatus::STAGE_PICK_MEMTABLES_TO_FLUSH);
  SHOW(ThreadStatus::STAGE_MEMTABLE_ROLLBACK);
  SHOW(ThreadStatus::STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS);
  SHOW(ThreadStatus::NUM_OP_STAGES);
  SHOW(ThreadStatus::COMPACTION_JOB_ID);
  SHOW(ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL);
  SHOW(ThreadStatus::COMPACTION_PROP_FLAGS);
  SHOW(ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES);
  SHOW(ThreadStatus::COMPACTION_BYTES_READ);
  SHOW(ThreadStatus::COMPACTION_BYTES_WRITTEN);
  SHOW(ThreadStatus::NUM_COMPACTION_PROPERTIES);
  SHOW(ThreadStatus::FLUSH_JOB_ID);
  SHOW(ThreadStatus::FLUSH_BYTES_MEMTABLES);
  SHOW(ThreadStatus::FLUSH_BYTES_WRITTEN);
  SHOW(ThreadStatus::NUM_FLUSH_PROPERTIES);
  SHOW(ThreadStatus::STATE_UNKNOWN);
  SHOW(ThreadStatus::STATE_MUTEX_WAIT);
  SHOW(ThreadStatus::NUM_STATE_TYPES);
  SHOW(BLOCK_CACHE_MISS);
  SHOW(BLOCK_CACHE_HIT);
  SHOW(BLOCK_CACHE_ADD);
}

void PrintEnums4() {
  SHOW(BLOCK_CACHE_ADD_FAILURES);
  SHOW(BLOCK_CACHE_INDEX_MISS);
  SHOW(BLOCK_CACHE_INDEX_HIT);
  SHOW(BLOCK_CACHE_INDEX_ADD);
  SHOW(BLOCK_CACHE_INDEX_BYTES_INSERT);
  SHOW(BLOCK_CACHE_INDEX_BYTES_EVICT);
  SHOW(BLOCK_CACHE_FILTER_MISS);
  SHOW(BLOCK_CACHE_FILTER_HIT);
  SHOW(BLOCK_CACHE_FILTER_ADD);
  SHOW(BLOCK_CACHE_FILTER_BYTES_INSERT);
  SHOW(BLOCK_CACHE_FILTER_BYTES_EVICT);
  SHOW(BLOCK_CACHE_DATA_MISS);
  SHOW(BLOCK_CACHE_DATA_HIT);
  SHOW(BLOCK_CACHE_DATA_ADD);
  SHOW(BLOCK_CACHE_DATA_BYTES_INSERT);
  SHOW(BLOCK_CACHE_BYTES_READ);
  SHOW(BLOCK_CACHE_BYTES_WRITE);
  SHOW(BLOOM_FILTER_USEFUL);
  SHOW(BLOOM_FILTER_FULL_POSITIVE);
  SHOW(BLOOM_FILTER_FULL_TRUE_POSITIVE);
  SHOW(BLOOM_FILTER_MICROS);
  SHOW(PERSISTENT_CACHE_HIT);
  SHOW(PERSISTENT_CACHE_MISS);
  SHOW(SIM_BLOCK_CACHE_HIT);
  SHOW(SIM_BLOCK_CACHE_MISS);
  SHOW(MEMTABLE_HIT);
  SHOW(MEMTABLE_MISS);
  SHOW(GET_HIT_L0);
  SHOW(GET_HIT_L1);
  SHOW(GET_HIT_L2_AND_UP);
  SHOW(COMPACTION_KEY_DROP_NEWER_ENTRY);
  SHOW(COMPACTION_KEY_DROP_OBSOLETE);
  SHOW(COMPACTION_KEY_DROP_RANGE_DEL);
  SHOW(COMPACTION_KEY_DROP_USER);
  SHOW(COMPACTION_RANGE_DEL_DROP_OBSOLETE);
  SHOW(COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE);
  SHOW(COMPACTION_CANCELLED);
  SHOW(NUMBER_KEYS_WRITTEN);
  SHOW(NUMBER_KEYS_READ);
  SHOW(NUMBER_KEYS_UPDATED);
  SHOW(BYTES_WRITTEN);
  SHOW(BYTES_READ);
  SHOW(NUMBER_DB_SEEK);
  SHOW(NUMBER_DB_NEXT);
  SHOW(NUMBER_DB_PREV);
  SHOW(NUMBER_DB_SEEK_FOUND);
  SHOW(NUMBER_DB_NEXT_FOUND);
  SHOW(NUMBER_DB_PREV_FOUND);
  SHOW(ITER_BYTES_READ);
  SHOW(NO_FILE_CLOSES);
  SHOW(NO_FILE_OPENS);
  SHOW(NO_FILE_ERRORS);
  SHOW(STALL_L0_SLOWDOWN_MICROS);
  SHOW(STALL_MEMTABLE_COMPACTION_MICROS);
  SHOW(STALL_L0_NUM_FILES_MICROS);
  SHOW(STALL_MICROS);
  SHOW(DB_MUTEX_WAIT_MICROS);
  SHOW(RATE_LIMIT_DELAY_MILLIS);
  SHOW(NO_ITERATORS);
  SHOW(NUMBER_MULTIGET_CALLS);
  SHOW(NUMBER_MULTIGET_KEYS_READ);
  SHOW(NUMBER_MULTIGET_BYTES_READ);
  SHOW(NUMBER_FILTERED_DELETES);
  SHOW(NUMBER_MERGE_FAILURES);
  SHOW(BLOOM_FILTER_PREFIX_CHECKED);
  SHOW(BLOOM_FILTER_PREFIX_USEFUL);
  SHOW(NUMBER_OF_RESEEKS_IN_ITERATION);
  SHOW(GET_UPDATES_SINCE_CALLS);
  SHOW(BLOCK_CACHE_COMPRESSED_MISS);
  SHOW(BLOCK_CACHE_COMPRESSED_HIT);
  SHOW(BLOCK_CACHE_COMPRESSED_ADD);
  SHOW(BLOCK_CACHE_COMPRESSED_ADD_FAILURES);
  SHOW(WAL_FILE_SYNCED);
  SHOW(WAL_FILE_BYTES);
  SHOW(WRITE_DONE_BY_SELF);
  SHOW(WRITE_DONE_BY_OTHER);
  SHOW(WRITE_TIMEDOUT);
  SHOW(WRITE_WITH_WAL);
  SHOW(COMPACT_READ_BYTES);
  SHOW(COMPACT_WRITE_BYTES);
  SHOW(FLUSH_WRITE_BYTES);
  SHOW(COMPACT_READ_BYTES_MARKED);
  SHOW(COMPACT_READ_BYTES_PERIODIC);
  SHOW(COMPACT_READ_BYTES_TTL);
  SHOW(COMPACT_WRITE_BYTES_MARKED);
  SHOW(COMPACT_WRITE_BYTES_PERIODIC);
  SHOW(COMPACT_WRITE_BYTES_TTL);
  SHOW(NUMBER_DIRECT_LOAD_TABLE_PROPERTIES);
  SHOW(NUMBER_SUPERVERSION_ACQUIRES);
  SHOW(NUMBER_SUPERVERSION_RELEASES);
}

void PrintEnums5() {
  SHOW(NUMBER_SUPERVERSION_CLEANUPS);
  SHOW(NUMBER_BLOCK_COMPRESSED);
  SHOW(NUMBER_BLOCK_DECOMPRESSED);
  SHOW(NUMBER_BLOCK_NOT_COMPRESSED);
  SHOW(MERGE_OPERATION_TOTAL_TIME);
  SHOW(FILTER_OPERATION_TOTAL_TIME);
  SHOW(ROW_CACHE_HIT);
  SHOW(ROW_CACHE_MISS);
  SHOW(READ_AMP_ESTIMATE_USEFUL_BYTES);
  SHOW(READ_AMP_TOTAL_READ_BYTES);
  SHOW(NUMBER_RATE_LIMITER_DRAINS);
  SHOW(NUMBER_ITER_SKIP);
  SHOW(BLOB_DB_NUM_PUT);
  SHOW(BLOB_DB_NUM_WRITE);
  SHOW(BLOB_DB_NUM_GET);
  SHOW(BLOB_DB_NUM_MULTIGET);
  SHOW(BLOB_DB_NUM_SEEK);
  SHOW(BLOB_DB_NUM_NEXT);
  SHOW(BLOB_DB_NUM_PREV);
  SHOW(BLOB_DB_NUM_KEYS_WRITTEN);
  SHOW(BLOB_DB_NUM_KEYS_READ);
  SHOW(BLOB_DB_BYTES_WRITTEN);
  SHOW(BLOB_DB_BYTES_READ);
  SHOW(BLOB_DB_WRITE_INLINED);
  SHOW(BLOB_DB_WRITE_INLINED_TTL);
  SHOW(BLOB_DB_WRITE_BLOB);
  SHOW(BLOB_DB_WRITE_BLOB_TTL);
  SHOW(BLOB_DB_BLOB_FILE_BYTES_WRITTEN);
  SHOW(BLOB_DB_BLOB_FILE_BYTES_READ);
  SHOW(BLOB_DB_BLOB_FILE_SYNCED);
  SHOW(BLOB_DB_BLOB_INDEX_EXPIRED_COUNT);
  SHOW(BLOB_DB_BLOB_INDEX_EXPIRED_SIZE);
  SHOW(BLOB_DB_BLOB_INDEX_EVICTED_COUNT);
  SHOW(BLOB_DB_BLOB_INDEX_EVICTED_SIZE);
  SHOW(BLOB_DB_GC_NUM_FILES);
  SHOW(BLOB_DB_GC_NUM_NEW_FILES);
  SHOW(BLOB_DB_GC_FAILURES);
  SHOW(BLOB_DB_GC_NUM_KEYS_OVERWRITTEN);
  SHOW(BLOB_DB_GC_NUM_KEYS_EXPIRED);
  SHOW(BLOB_DB_GC_NUM_KEYS_RELOCATED);
  SHOW(BLOB_DB_GC_BYTES_OVERWRITTEN);
  SHOW(BLOB_DB_GC_BYTES_EXPIRED);
  SHOW(BLOB_DB_GC_BYTES_RELOCATED);
  SHOW(BLOB_DB_FIFO_NUM_FILES_EVICTED);
  SHOW(BLOB_DB_FIFO_NUM_KEYS_EVICTED);
  SHOW(BLOB_DB_FIFO_BYTES_EVICTED);
  SHOW(TXN_PREPARE_MUTEX_OVERHEAD);
  SHOW(TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD);
  SHOW(TXN_DUPLICATE_KEY_OVERHEAD);
  SHOW(TXN_SNAPSHOT_MUTEX_OVERHEAD);
  SHOW(TXN_GET_TRY_AGAIN);
  SHOW(NUMBER_MULTIGET_KEYS_FOUND);
  SHOW(NO_ITERATOR_CREATED);
  SHOW(NO_ITERATOR_DELETED);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_MISS);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_HIT);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_ADD);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_BYTES_EVICT);
  SHOW(BLOCK_CACHE_ADD_REDUNDANT);
  SHOW(BLOCK_CACHE_INDEX_ADD_REDUNDANT);
  SHOW(BLOCK_CACHE_FILTER_ADD_REDUNDANT);
  SHOW(BLOCK_CACHE_DATA_ADD_REDUNDANT);
  SHOW(BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT);
  SHOW(FILES_MARKED_TRASH);
  SHOW(FILES_DELETED_IMMEDIATELY);
  SHOW(ERROR_HANDLER_BG_ERROR_COUNT);
  SHOW(ERROR_HANDLER_BG_IO_ERROR_COUNT);
  SHOW(ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT);
  SHOW(ERROR_HANDLER_AUTORESUME_COUNT);
  SHOW(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
  SHOW(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  SHOW(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH);
  SHOW(MEMTABLE_GARBAGE_BYTES_AT_FLUSH);
  SHOW(SECONDARY_CACHE_HITS);
  SHOW(VERIFY_CHECKSUM_READ_BYTES);
  SHOW(BACKUP_READ_BYTES);
  SHOW(BACKUP_WRITE_BYTES);
  SHOW(REMOTE_COMPACT_READ_BYTES);
  SHOW(REMOTE_COMPACT_WRITE_BYTES);
  SHOW(HOT_FILE_READ_BYTES);
  SHOW(WARM_FILE_READ_BYTES);
  SHOW(COLD_FILE_READ_BYTES);
  SHOW(HOT_FILE_READ_COUNT);
  SHOW(WARM_FILE_READ_COUNT);
  SHOW(COLD_FILE_READ_COUNT);
  SHOW(LAST_LEVEL_READ_BYTES);
  SHOW(LAST_LEVEL_READ_COUNT);
  SHOW(NON_LAST_LEVEL_READ_BYTES);
  SHOW(NON_LAST_LEVEL_READ_COUNT);
}

void PrintEnums6() {
  SHOW(BLOCK_CHECKSUM_COMPUTE_COUNT);
  SHOW(MULTIGET_COROUTINE_COUNT);
  SHOW(BLOB_DB_CACHE_MISS);
  SHOW(BLOB_DB_CACHE_HIT);
  SHOW(BLOB_DB_CACHE_ADD);
  SHOW(BLOB_DB_CACHE_ADD_FAILURES);
  SHOW(BLOB_DB_CACHE_BYTES_READ);
  SHOW(BLOB_DB_CACHE_BYTES_WRITE);
  SHOW(READ_ASYNC_MICROS);
  SHOW(ASYNC_READ_ERROR_COUNT);
  SHOW(TICKER_ENUM_MAX);
  SHOW(DB_GET);
  SHOW(DB_WRITE);
  SHOW(COMPACTION_TIME);
  SHOW(COMPACTION_CPU_TIME);
  SHOW(SUBCOMPACTION_SETUP_TIME);
  SHOW(TABLE_SYNC_MICROS);
  SHOW(COMPACTION_OUTFILE_SYNC_MICROS);
  SHOW(WAL_FILE_SYNC_MICROS);
  SHOW(MANIFEST_FILE_SYNC_MICROS);
  SHOW(TABLE_OPEN_IO_MICROS);
  SHOW(DB_MULTIGET);
  SHOW(READ_BLOCK_COMPACTION_MICROS);
  SHOW(READ_BLOCK_GET_MICROS);
  SHOW(WRITE_RAW_BLOCK_MICROS);
  SHOW(STALL_L0_SLOWDOWN_COUNT);
  SHOW(STALL_MEMTABLE_COMPACTION_COUNT);
  SHOW(STALL_L0_NUM_FILES_COUNT);
  SHOW(HARD_RATE_LIMIT_DELAY_COUNT);
  SHOW(SOFT_RATE_LIMIT_DELAY_COUNT);
  SHOW(NUM_FILES_IN_SINGLE_COMPACTION);
  SHOW(DB_SEEK);
  SHOW(WRITE_STALL);
  SHOW(SST_READ_MICROS);
  SHOW(NUM_SUBCOMPACTIONS_SCHEDULED);
  SHOW(BYTES_PER_READ);
  SHOW(BYTES_PER_WRITE);
  SHOW(BYTES_PER_MULTIGET);
  SHOW(BYTES_COMPRESSED);
  SHOW(BYTES_DECOMPRESSED);
  SHOW(COMPRESSION_TIMES_NANOS);
  SHOW(DECOMPRESSION_TIMES_NANOS);
  SHOW(READ_NUM_MERGE_OPERANDS);
  SHOW(BLOB_DB_KEY_SIZE);
  SHOW(BLOB_DB_VALUE_SIZE);
  SHOW(BLOB_DB_WRITE_MICROS);
  SHOW(BLOB_DB_GET_MICROS);
  SHOW(BLOB_DB_MULTIGET_MICROS);
  SHOW(BLOB_DB_SEEK_MICROS);
  SHOW(BLOB_DB_NEXT_MICROS);
  SHOW(BLOB_DB_PREV_MICROS);
  SHOW(BLOB_DB_BLOB_FILE_WRITE_MICROS);
  SHOW(BLOB_DB_BLOB_FILE_READ_MICROS);
  SHOW(BLOB_DB_BLOB_FILE_SYNC_MICROS);
  SHOW(BLOB_DB_GC_MICROS);
  SHOW(BLOB_DB_COMPRESSION_MICROS);
  SHOW(BLOB_DB_DECOMPRESSION_MICROS);
  SHOW(FLUSH_TIME);
  SHOW(SST_BATCH_SIZE);
  SHOW(NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL);
  SHOW(NUM_DATA_BLOCKS_READ_PER_LEVEL);
  SHOW(NUM_SST_READ_PER_LEVEL);
  SHOW(ERROR_HANDLER_AUTORESUME_RETRY_COUNT);
  SHOW(ASYNC_READ_BYTES);
  SHOW(POLL_WAIT_MICROS);
  SHOW(PREFETCHED_BYTES_DISCARDED);
  SHOW(MULTIGET_IO_BATCH_SIZE);
  SHOW(NUM_LEVEL_READ_PER_MULTIGET);
  SHOW(ASYNC_PREFETCH_ABORT_MICROS);
  SHOW(HISTOGRAM_ENUM_MAX);
  SHOW(kDisableAll);
  SHOW(kExceptTickers);
  SHOW(kExceptHistogramOrTimers);
  SHOW(kExceptTimers);
  SHOW(kExceptDetailedTimers);
  SHOW(kExceptTimeForMutex);
  SHOW(kAll);
  SHOW(kArchivedLogFile);
  SHOW(kAliveLogFile);
  SHOW(WalFilter::WalProcessingOption::kContinueProcessing);
  SHOW(WalFilter::WalProcessingOption::kIgnoreCurrentRecord);
  SHOW(WalFilter::WalProcessingOption::kStopReplay);
  SHOW(WalFilter::WalProcessingOption::kCorruptedRecord);
  SHOW(WalFilter::WalProcessingOption::kWalProcessingOptionMax);
  SHOW(kNotRequired);
  SHOW(kRequired);
  SHOW(RateLimiter::OpType::kRead);
  SHOW(RateLimiter::OpType::kWrite);
  SHOW(RateLimiter::Mode::kReadsOnly);
  SHOW(RateLimiter::Mode::kWritesOnly);
}

void PrintEnums7() {
  SHOW(RateLimiter::Mode::kAllIo);
  SHOW(kCompactionStopStyleSimilarSize);
  SHOW(kCompactionStopStyleTotalSize);
  SHOW(DB::SizeApproximationFlags::NONE);
  SHOW(DB::SizeApproximationFlags::INCLUDE_MEMTABLES);
  SHOW(DB::SizeApproximationFlags::INCLUDE_FILES);
  SHOW(kUserGet);
  SHOW(kUserMultiGet);
  SHOW(kUserIterator);
  SHOW(kUserApproximateSize);
  SHOW(kUserVerifyChecksum);
  SHOW(kSSTDumpTool);
  SHOW(kExternalSSTIngestion);
  SHOW(kRepair);
  SHOW(kPrefetch);
  SHOW(kCompaction);
  SHOW(kCompactionRefill);
  SHOW(kFlush);
  SHOW(kSSTFileReader);
  SHOW(kUncategorized);
  SHOW(kMaxBlockCacheLookupCaller);
}

}  // namespace

int main() {
  PrintAdvancedColumnFamilyOptions();
  PrintColumnFamilyOptions();
  PrintDBOptions();
  PrintReadOptions();
  PrintWriteOptions();
  PrintFlushOptions();
  PrintCompactionOptions();
  PrintCompactRangeOptions();
  PrintIngestExternalFileOptions();
  PrintTraceOptions();
  PrintSizeApproximationOptions();
  PrintLiveFilesStorageInfoOptions();
  PrintBlockBasedTableOptions();
  PrintPlainTableOptions();
  PrintCuckooTableOptions();
  PrintCompressionOptions();
  PrintCompactionOptionsFIFO();
  PrintCompactionOptionsUniversal();
  PrintEnvOptions();
  PrintShardedCacheOptions();
  PrintLRUCacheOptions();
  PrintCompressedSecondaryCacheOptions();
  PrintEnums1();
  PrintEnums2();
  PrintEnums3();
  PrintEnums4();
  PrintEnums5();
  PrintEnums6();
  PrintEnums7();
  return 0;
}
