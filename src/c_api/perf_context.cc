// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/perf_context.h"

#include <cstddef>
#include <iterator>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"
#include "rocksdb/perf_level.h"

using rocksdb::PerfContext;

// The calling thread's, which lives as long as the thread.
struct rocksdb_perfcontext_t { PerfContext* rep; };

namespace {

// In the order of the metrics in rocksdb/c.h.
constexpr uint64_t PerfContext::*kMetrics[] = {
    &PerfContext::user_key_comparison_count,
    &PerfContext::block_cache_hit_count,
    &PerfContext::block_read_count,
    &PerfContext::block_read_byte,
    &PerfContext::block_read_time,
    &PerfContext::block_checksum_time,
    &PerfContext::block_decompress_time,
    &PerfContext::get_read_bytes,
    &PerfContext::multiget_read_bytes,
    &PerfContext::iter_read_bytes,
    &PerfContext::internal_key_skipped_count,
    &PerfContext::internal_delete_skipped_count,
    &PerfContext::internal_recent_skipped_count,
    &PerfContext::internal_merge_count,
    &PerfContext::get_snapshot_time,
    &PerfContext::get_from_memtable_time,
    &PerfContext::get_from_memtable_count,
    &PerfContext::get_post_process_time,
    &PerfContext::get_from_output_files_time,
    &PerfContext::seek_on_memtable_time,
    &PerfContext::seek_on_memtable_count,
    &PerfContext::next_on_memtable_count,
    &PerfContext::prev_on_memtable_count,
    &PerfContext::seek_child_seek_time,
    &PerfContext::seek_child_seek_count,
    &PerfContext::seek_min_heap_time,
    &PerfContext::seek_max_heap_time,
    &PerfContext::seek_internal_seek_time,
    &PerfContext::find_next_user_entry_time,
    &PerfContext::write_wal_time,
    &PerfContext::write_memtable_time,
    &PerfContext::write_delay_time,
    &PerfContext::write_pre_and_post_process_time,
    &PerfContext::db_mutex_lock_nanos,
    &PerfContext::db_condition_wait_nanos,
    &PerfContext::merge_operator_time_nanos,
    &PerfContext::read_index_block_nanos,
    &PerfContext::read_filter_block_nanos,
    &PerfContext::new_table_block_iter_nanos,
    &PerfContext::new_table_iterator_nanos,
    &PerfContext::block_seek_nanos,
    &PerfContext::find_table_nanos,
    &PerfContext::bloom_memtable_hit_count,
    &PerfContext::bloom_memtable_miss_count,
    &PerfContext::bloom_sst_hit_count,
    &PerfContext::bloom_sst_miss_count,
    &PerfContext::key_lock_wait_time,
    &PerfContext::key_lock_wait_count,
    &PerfContext::env_new_sequential_file_nanos,
    &PerfContext::env_new_random_access_file_nanos,
    &PerfContext::env_new_writable_file_nanos,
    &PerfContext::env_reuse_writable_file_nanos,
    &PerfContext::env_new_random_rw_file_nanos,
    &PerfContext::env_new_directory_nanos,
    &PerfContext::env_file_exists_nanos,
    &PerfContext::env_get_children_nanos,
    &PerfContext::env_get_children_file_attributes_nanos,
    &PerfContext::env_delete_file_nanos,
    &PerfContext::env_create_dir_nanos,
    &PerfContext::env_create_dir_if_missing_nanos,
    &PerfContext::env_delete_dir_nanos,
    &PerfContext::env_get_file_size_nanos,
    &PerfContext::env_get_file_modification_time_nanos,
    &PerfContext::env_rename_file_nanos,
    &PerfContext::env_link_file_nanos,
    &PerfContext::env_lock_file_nanos,
    &PerfContext::env_unlock_file_nanos,
    &PerfContext::env_new_logger_nanos,
    &PerfContext::number_async_seek,
    &PerfContext::blob_cache_hit_count,
    &PerfContext::blob_read_count,
    &PerfContext::blob_read_byte,
    &PerfContext::blob_read_time,
    &PerfContext::blob_checksum_time,
    &PerfContext::blob_decompress_time,
    &PerfContext::internal_range_del_reseek_count,
};
static_assert(std::size(kMetrics) == rocksdb_internal_range_del_reseek_count + 1);

}  // namespace

extern "C" {

void rocksdb_set_perf_level(int level) { rocksdb::SetPerfLevel(static_cast<rocksdb::PerfLevel>(level)); }

rocksdb_perfcontext_t* rocksdb_perfcontext_create(void) {
  return compassdb::Create<rocksdb_perfcontext_t>(rocksdb::get_perf_context());
}

void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) { context->rep->Reset(); }

char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context, unsigned char exclude_zero_counters) {
  return compassdb::OrNull(
      [&] { return compassdb::CopyText(context->rep->ToString(exclude_zero_counters != 0)); });
}

uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric) {
  const size_t index = static_cast<size_t>(metric);
  return index < std::size(kMetrics) ? context->rep->*kMetrics[index] : 0;
}

void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context) { delete context; }

}  // extern "C"
