// SPDX-License-Identifier: Apache-2.0
//
// What the calling thread's operations on databases cost: "why was this Get slow?". How much is
// counted is set by SetPerfLevel().
//
// Thread safety: get_perf_context() gives each thread an object of its own. Nothing is ever reset
// but by Reset().

#pragma once

#include <stdint.h>
#include <map>
#include <string>

#include "rocksdb/perf_level.h"

namespace ROCKSDB_NAMESPACE {

// The counters that are kept for each level of the tree, too.
struct PerfContextByLevel {
  // Filters (and directories): keys ruled out, keys let through, and those of them that were there.
  uint64_t bloom_filter_useful = 0;
  uint64_t bloom_filter_full_positive = 0;
  uint64_t bloom_filter_full_true_positive = 0;

  // Entries found in this level.
  uint64_t user_key_return_count = 0;
  uint64_t get_from_table_nanos = 0;

  uint64_t block_cache_hit_count = 0;
  uint64_t block_cache_miss_count = 0;

  void Reset();
};

// Names that end in _time or _nanos are times in nanoseconds, in _count numbers, in _byte or _bytes
// bytes.
struct PerfContext {
  PerfContext() {}
  ~PerfContext();

  // Copies have counters by level of their own.
  PerfContext(const PerfContext&);
  PerfContext& operator=(const PerfContext&);
  PerfContext(PerfContext&&) noexcept;

  // Sets everything to 0, but leaves counting by level switched as it is.
  void Reset();

  // "name = value, ...", on request without those that are 0.
  std::string ToString(bool exclude_zero_counters = false) const;

  // Counting by level costs a map look-up per count, and is off at first. Disable keeps what was
  // counted, Clear forgets it and switches off.
  void EnablePerLevelPerfContext();
  void DisablePerLevelPerfContext();
  void ClearPerLevelPerfContext();

  // Comparisons of keys.
  uint64_t user_key_comparison_count = 0;

  // Blocks found in the cache, and blocks read from files. "Index" stands for directories and
  // separators.
  uint64_t block_cache_hit_count = 0;
  uint64_t block_read_count = 0;
  uint64_t block_read_byte = 0;
  uint64_t block_read_time = 0;
  uint64_t block_cache_index_hit_count = 0;
  uint64_t block_cache_standalone_handle_count = 0;
  uint64_t block_cache_real_handle_count = 0;
  uint64_t index_block_read_count = 0;
  uint64_t block_cache_filter_hit_count = 0;
  uint64_t filter_block_read_count = 0;
  uint64_t compression_dict_block_read_count = 0;

  // The tier below the block cache.
  uint64_t secondary_cache_hit_count = 0;
  uint64_t compressed_sec_cache_insert_real_count = 0;
  uint64_t compressed_sec_cache_insert_dummy_count = 0;
  uint64_t compressed_sec_cache_uncompressed_bytes = 0;
  uint64_t compressed_sec_cache_compressed_bytes = 0;

  // Checking and decompressing blocks.
  uint64_t block_checksum_time = 0;
  uint64_t block_decompress_time = 0;

  // Bytes of values that were returned.
  uint64_t get_read_bytes = 0;
  uint64_t multiget_read_bytes = 0;
  uint64_t iter_read_bytes = 0;

  // Separated values.
  uint64_t blob_cache_hit_count = 0;
  uint64_t blob_read_count = 0;
  uint64_t blob_read_byte = 0;
  uint64_t blob_read_time = 0;
  uint64_t blob_checksum_time = 0;
  uint64_t blob_decompress_time = 0;

  // Entries that an iterator or a Get stepped over: older versions or others; deletions; entries
  // newer than the snapshot. Merge operands that were folded, and jumps over range deletions.
  uint64_t internal_key_skipped_count = 0;
  uint64_t internal_delete_skipped_count = 0;
  uint64_t internal_recent_skipped_count = 0;
  uint64_t internal_merge_count = 0;
  uint64_t internal_range_del_reseek_count = 0;

  // Parts of a Get.
  uint64_t get_snapshot_time = 0;
  uint64_t get_from_memtable_time = 0;
  uint64_t get_from_memtable_count = 0;
  uint64_t get_post_process_time = 0;
  uint64_t get_from_output_files_time = 0;

  // Parts of iterating.
  uint64_t seek_on_memtable_time = 0;
  uint64_t seek_on_memtable_count = 0;
  uint64_t next_on_memtable_count = 0;
  uint64_t prev_on_memtable_count = 0;
  uint64_t seek_child_seek_time = 0;
  uint64_t seek_child_seek_count = 0;
  uint64_t seek_min_heap_time = 0;
  uint64_t seek_max_heap_time = 0;
  uint64_t seek_internal_seek_time = 0;
  uint64_t find_next_user_entry_time = 0;

  // Parts of a write.
  uint64_t write_wal_time = 0;
  uint64_t write_memtable_time = 0;
  uint64_t write_delay_time = 0;
  uint64_t write_scheduling_flushes_compactions_time = 0;
  uint64_t write_pre_and_post_process_time = 0;
  uint64_t write_thread_wait_nanos = 0;

  // Waiting for the database mutex.
  uint64_t db_mutex_lock_nanos = 0;
  uint64_t db_condition_wait_nanos = 0;

  // Calls of the merge operator.
  uint64_t merge_operator_time_nanos = 0;

  // Parts of looking into a table.
  uint64_t read_index_block_nanos = 0;
  uint64_t read_filter_block_nanos = 0;
  uint64_t new_table_block_iter_nanos = 0;
  uint64_t new_table_iterator_nanos = 0;
  uint64_t block_seek_nanos = 0;
  uint64_t find_table_nanos = 0;

  // Filters: a hit says that the key may be there.
  uint64_t bloom_memtable_hit_count = 0;
  uint64_t bloom_memtable_miss_count = 0;
  uint64_t bloom_sst_hit_count = 0;
  uint64_t bloom_sst_miss_count = 0;

  // Waiting for locks of transactions.
  uint64_t key_lock_wait_time = 0;
  uint64_t key_lock_wait_count = 0;

  // Calls of an Env that is wrapped by NewTimedEnv().
  uint64_t env_new_sequential_file_nanos = 0;
  uint64_t env_new_random_access_file_nanos = 0;
  uint64_t env_new_writable_file_nanos = 0;
  uint64_t env_reuse_writable_file_nanos = 0;
  uint64_t env_new_random_rw_file_nanos = 0;
  uint64_t env_new_directory_nanos = 0;
  uint64_t env_file_exists_nanos = 0;
  uint64_t env_get_children_nanos = 0;
  uint64_t env_get_children_file_attributes_nanos = 0;
  uint64_t env_delete_file_nanos = 0;
  uint64_t env_create_dir_nanos = 0;
  uint64_t env_create_dir_if_missing_nanos = 0;
  uint64_t env_delete_dir_nanos = 0;
  uint64_t env_get_file_size_nanos = 0;
  uint64_t env_get_file_modification_time_nanos = 0;
  uint64_t env_rename_file_nanos = 0;
  uint64_t env_link_file_nanos = 0;
  uint64_t env_lock_file_nanos = 0;
  uint64_t env_unlock_file_nanos = 0;
  uint64_t env_new_logger_nanos = 0;

  // CPU time; from PerfLevel::kEnableTimeAndCPUTimeExceptForMutex on.
  uint64_t get_cpu_nanos = 0;
  uint64_t iter_next_cpu_nanos = 0;
  uint64_t iter_prev_cpu_nanos = 0;
  uint64_t iter_seek_cpu_nanos = 0;

  // Encryption of files.
  uint64_t encrypt_data_nanos = 0;
  uint64_t decrypt_data_nanos = 0;

  // Seeks that read ahead asynchronously.
  uint64_t number_async_seek = 0;

  // By level, as long as counting by level is, or was, on; otherwise null. Owned by this object.
  std::map<uint32_t, PerfContextByLevel>* level_to_perf_context = nullptr;
  bool per_level_perf_context_enabled = false;
};

// Never null. Belongs to the calling thread.
PerfContext* get_perf_context();

}  // namespace ROCKSDB_NAMESPACE
