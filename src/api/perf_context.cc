// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/perf_context.h"

#include <utility>

#include "rocksdb/iostats_context.h"
#include "util/perf_span.h"

namespace compassdb {

constinit thread_local rocksdb::PerfLevel perf_level_of_thread = rocksdb::kEnableCount;
constinit thread_local rocksdb::PerfContext* perf_context_of_thread = nullptr;

void PerfParts::Switch(Counter counter) {
  const auto now = std::chrono::steady_clock::now();
  if (counter_ != nullptr) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - start_);
    CurrentPerfContext()->*counter_ += static_cast<uint64_t>(elapsed.count());
  }
  counter_ = counter;
  start_ = now;
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

namespace {

// A counter by name, so that resetting and printing are loops.
template <typename T>
struct Counter {
  const char* name;
  uint64_t T::*field;
};

constexpr Counter<PerfContext> kCounters[] = {
    {"user_key_comparison_count", &PerfContext::user_key_comparison_count},
    {"block_cache_hit_count", &PerfContext::block_cache_hit_count},
    {"block_read_count", &PerfContext::block_read_count},
    {"block_read_byte", &PerfContext::block_read_byte},
    {"block_read_time", &PerfContext::block_read_time},
    {"block_cache_index_hit_count", &PerfContext::block_cache_index_hit_count},
    {"block_cache_standalone_handle_count", &PerfContext::block_cache_standalone_handle_count},
    {"block_cache_real_handle_count", &PerfContext::block_cache_real_handle_count},
    {"index_block_read_count", &PerfContext::index_block_read_count},
    {"block_cache_filter_hit_count", &PerfContext::block_cache_filter_hit_count},
    {"filter_block_read_count", &PerfContext::filter_block_read_count},
    {"compression_dict_block_read_count", &PerfContext::compression_dict_block_read_count},
    {"secondary_cache_hit_count", &PerfContext::secondary_cache_hit_count},
    {"compressed_sec_cache_insert_real_count",
     &PerfContext::compressed_sec_cache_insert_real_count},
    {"compressed_sec_cache_insert_dummy_count",
     &PerfContext::compressed_sec_cache_insert_dummy_count},
    {"compressed_sec_cache_uncompressed_bytes",
     &PerfContext::compressed_sec_cache_uncompressed_bytes},
    {"compressed_sec_cache_compressed_bytes", &PerfContext::compressed_sec_cache_compressed_bytes},
    {"block_checksum_time", &PerfContext::block_checksum_time},
    {"block_decompress_time", &PerfContext::block_decompress_time},
    {"get_read_bytes", &PerfContext::get_read_bytes},
    {"multiget_read_bytes", &PerfContext::multiget_read_bytes},
    {"iter_read_bytes", &PerfContext::iter_read_bytes},
    {"blob_cache_hit_count", &PerfContext::blob_cache_hit_count},
    {"blob_read_count", &PerfContext::blob_read_count},
    {"blob_read_byte", &PerfContext::blob_read_byte},
    {"blob_read_time", &PerfContext::blob_read_time},
    {"blob_checksum_time", &PerfContext::blob_checksum_time},
    {"blob_decompress_time", &PerfContext::blob_decompress_time},
    {"internal_key_skipped_count", &PerfContext::internal_key_skipped_count},
    {"internal_delete_skipped_count", &PerfContext::internal_delete_skipped_count},
    {"internal_recent_skipped_count", &PerfContext::internal_recent_skipped_count},
    {"internal_merge_count", &PerfContext::internal_merge_count},
    {"internal_range_del_reseek_count", &PerfContext::internal_range_del_reseek_count},
    {"get_snapshot_time", &PerfContext::get_snapshot_time},
    {"get_from_memtable_time", &PerfContext::get_from_memtable_time},
    {"get_from_memtable_count", &PerfContext::get_from_memtable_count},
    {"get_post_process_time", &PerfContext::get_post_process_time},
    {"get_from_output_files_time", &PerfContext::get_from_output_files_time},
    {"seek_on_memtable_time", &PerfContext::seek_on_memtable_time},
    {"seek_on_memtable_count", &PerfContext::seek_on_memtable_count},
    {"next_on_memtable_count", &PerfContext::next_on_memtable_count},
    {"prev_on_memtable_count", &PerfContext::prev_on_memtable_count},
    {"seek_child_seek_time", &PerfContext::seek_child_seek_time},
    {"seek_child_seek_count", &PerfContext::seek_child_seek_count},
    {"seek_min_heap_time", &PerfContext::seek_min_heap_time},
    {"seek_max_heap_time", &PerfContext::seek_max_heap_time},
    {"seek_internal_seek_time", &PerfContext::seek_internal_seek_time},
    {"find_next_user_entry_time", &PerfContext::find_next_user_entry_time},
    {"write_wal_time", &PerfContext::write_wal_time},
    {"write_memtable_time", &PerfContext::write_memtable_time},
    {"write_delay_time", &PerfContext::write_delay_time},
    {"write_scheduling_flushes_compactions_time",
     &PerfContext::write_scheduling_flushes_compactions_time},
    {"write_pre_and_post_process_time", &PerfContext::write_pre_and_post_process_time},
    {"write_thread_wait_nanos", &PerfContext::write_thread_wait_nanos},
    {"db_mutex_lock_nanos", &PerfContext::db_mutex_lock_nanos},
    {"db_condition_wait_nanos", &PerfContext::db_condition_wait_nanos},
    {"merge_operator_time_nanos", &PerfContext::merge_operator_time_nanos},
    {"read_index_block_nanos", &PerfContext::read_index_block_nanos},
    {"read_filter_block_nanos", &PerfContext::read_filter_block_nanos},
    {"new_table_block_iter_nanos", &PerfContext::new_table_block_iter_nanos},
    {"new_table_iterator_nanos", &PerfContext::new_table_iterator_nanos},
    {"block_seek_nanos", &PerfContext::block_seek_nanos},
    {"find_table_nanos", &PerfContext::find_table_nanos},
    {"bloom_memtable_hit_count", &PerfContext::bloom_memtable_hit_count},
    {"bloom_memtable_miss_count", &PerfContext::bloom_memtable_miss_count},
    {"bloom_sst_hit_count", &PerfContext::bloom_sst_hit_count},
    {"bloom_sst_miss_count", &PerfContext::bloom_sst_miss_count},
    {"key_lock_wait_time", &PerfContext::key_lock_wait_time},
    {"key_lock_wait_count", &PerfContext::key_lock_wait_count},
    {"env_new_sequential_file_nanos", &PerfContext::env_new_sequential_file_nanos},
    {"env_new_random_access_file_nanos", &PerfContext::env_new_random_access_file_nanos},
    {"env_new_writable_file_nanos", &PerfContext::env_new_writable_file_nanos},
    {"env_reuse_writable_file_nanos", &PerfContext::env_reuse_writable_file_nanos},
    {"env_new_random_rw_file_nanos", &PerfContext::env_new_random_rw_file_nanos},
    {"env_new_directory_nanos", &PerfContext::env_new_directory_nanos},
    {"env_file_exists_nanos", &PerfContext::env_file_exists_nanos},
    {"env_get_children_nanos", &PerfContext::env_get_children_nanos},
    {"env_get_children_file_attributes_nanos",
     &PerfContext::env_get_children_file_attributes_nanos},
    {"env_delete_file_nanos", &PerfContext::env_delete_file_nanos},
    {"env_create_dir_nanos", &PerfContext::env_create_dir_nanos},
    {"env_create_dir_if_missing_nanos", &PerfContext::env_create_dir_if_missing_nanos},
    {"env_delete_dir_nanos", &PerfContext::env_delete_dir_nanos},
    {"env_get_file_size_nanos", &PerfContext::env_get_file_size_nanos},
    {"env_get_file_modification_time_nanos", &PerfContext::env_get_file_modification_time_nanos},
    {"env_rename_file_nanos", &PerfContext::env_rename_file_nanos},
    {"env_link_file_nanos", &PerfContext::env_link_file_nanos},
    {"env_lock_file_nanos", &PerfContext::env_lock_file_nanos},
    {"env_unlock_file_nanos", &PerfContext::env_unlock_file_nanos},
    {"env_new_logger_nanos", &PerfContext::env_new_logger_nanos},
    {"get_cpu_nanos", &PerfContext::get_cpu_nanos},
    {"iter_next_cpu_nanos", &PerfContext::iter_next_cpu_nanos},
    {"iter_prev_cpu_nanos", &PerfContext::iter_prev_cpu_nanos},
    {"iter_seek_cpu_nanos", &PerfContext::iter_seek_cpu_nanos},
    {"encrypt_data_nanos", &PerfContext::encrypt_data_nanos},
    {"decrypt_data_nanos", &PerfContext::decrypt_data_nanos},
    {"number_async_seek", &PerfContext::number_async_seek},
};

constexpr Counter<PerfContextByLevel> kLevelCounters[] = {
    {"bloom_filter_useful", &PerfContextByLevel::bloom_filter_useful},
    {"bloom_filter_full_positive", &PerfContextByLevel::bloom_filter_full_positive},
    {"bloom_filter_full_true_positive", &PerfContextByLevel::bloom_filter_full_true_positive},
    {"user_key_return_count", &PerfContextByLevel::user_key_return_count},
    {"get_from_table_nanos", &PerfContextByLevel::get_from_table_nanos},
    {"block_cache_hit_count", &PerfContextByLevel::block_cache_hit_count},
    {"block_cache_miss_count", &PerfContextByLevel::block_cache_miss_count},
};

constexpr Counter<IOStatsContext> kIoCounters[] = {
    {"thread_pool_id", &IOStatsContext::thread_pool_id},
    {"bytes_written", &IOStatsContext::bytes_written},
    {"bytes_read", &IOStatsContext::bytes_read},
    {"open_nanos", &IOStatsContext::open_nanos},
    {"allocate_nanos", &IOStatsContext::allocate_nanos},
    {"write_nanos", &IOStatsContext::write_nanos},
    {"read_nanos", &IOStatsContext::read_nanos},
    {"range_sync_nanos", &IOStatsContext::range_sync_nanos},
    {"fsync_nanos", &IOStatsContext::fsync_nanos},
    {"prepare_write_nanos", &IOStatsContext::prepare_write_nanos},
    {"logger_nanos", &IOStatsContext::logger_nanos},
    {"cpu_write_nanos", &IOStatsContext::cpu_write_nanos},
    {"cpu_read_nanos", &IOStatsContext::cpu_read_nanos},
};

void Append(const char* name, uint64_t value, const std::string& after, std::string* text) {
  *text += std::string(name) + " = " + std::to_string(value) + after;
}

// Drops the ", " behind the last counter.
std::string WithoutLastSeparator(std::string text) {
  if (text.size() >= 2) text.resize(text.size() - 2);
  return text;
}

thread_local PerfContext perf_context;
thread_local IOStatsContext iostats_context;

}  // namespace

void SetPerfLevel(PerfLevel level) {
  if (level > kUninitialized && level < kOutOfBounds) compassdb::perf_level_of_thread = level;
}

PerfLevel GetPerfLevel() { return compassdb::CurrentPerfLevel(); }

PerfContext* get_perf_context() { return compassdb::perf_context_of_thread = &perf_context; }

IOStatsContext* get_iostats_context() { return &iostats_context; }

void PerfContextByLevel::Reset() { *this = PerfContextByLevel(); }

PerfContext::~PerfContext() { ClearPerLevelPerfContext(); }

PerfContext::PerfContext(const PerfContext& other) { *this = other; }

PerfContext& PerfContext::operator=(const PerfContext& other) {
  if (this == &other) return *this;
  for (const auto& counter : kCounters) this->*counter.field = other.*counter.field;
  ClearPerLevelPerfContext();
  if (other.level_to_perf_context != nullptr) {
    level_to_perf_context =
        new std::map<uint32_t, PerfContextByLevel>(*other.level_to_perf_context);
  }
  per_level_perf_context_enabled = other.per_level_perf_context_enabled;
  return *this;
}

PerfContext::PerfContext(PerfContext&& other) noexcept {
  for (const auto& counter : kCounters) this->*counter.field = other.*counter.field;
  level_to_perf_context = std::exchange(other.level_to_perf_context, nullptr);
  per_level_perf_context_enabled = std::exchange(other.per_level_perf_context_enabled, false);
}

void PerfContext::Reset() {
  for (const auto& counter : kCounters) this->*counter.field = 0;
  if (level_to_perf_context != nullptr) {
    for (auto& level : *level_to_perf_context) level.second.Reset();
  }
}

std::string PerfContext::ToString(bool exclude_zero_counters) const {
  std::string text;
  for (const auto& counter : kCounters) {
    const uint64_t value = this->*counter.field;
    if (value != 0 || !exclude_zero_counters) Append(counter.name, value, ", ", &text);
  }
  if (per_level_perf_context_enabled && level_to_perf_context != nullptr) {
    for (const auto& counter : kLevelCounters) {
      std::string values;
      for (const auto& [level, context] : *level_to_perf_context) {
        const uint64_t value = context.*counter.field;
        if (value == 0 && exclude_zero_counters) continue;
        values += std::to_string(value) + "@level" + std::to_string(level) + ", ";
      }
      if (!values.empty()) text += std::string(counter.name) + " = " + values;
    }
  }
  return WithoutLastSeparator(std::move(text));
}

void PerfContext::EnablePerLevelPerfContext() {
  if (level_to_perf_context == nullptr) {
    level_to_perf_context = new std::map<uint32_t, PerfContextByLevel>();
  }
  per_level_perf_context_enabled = true;
}

void PerfContext::DisablePerLevelPerfContext() { per_level_perf_context_enabled = false; }

void PerfContext::ClearPerLevelPerfContext() {
  delete std::exchange(level_to_perf_context, nullptr);
  per_level_perf_context_enabled = false;
}

void IOStatsContext::Reset() {
  const bool disabled = disable_iostats;
  *this = IOStatsContext();
  disable_iostats = disabled;
}

std::string IOStatsContext::ToString(bool exclude_zero_counters) const {
  std::string text;
  auto append = [&](const char* name, uint64_t value) {
    if (value != 0 || !exclude_zero_counters) Append(name, value, ", ", &text);
  };
  for (const auto& counter : kIoCounters) append(counter.name, this->*counter.field);
  const FileIOByTemperature& by = file_io_stats_by_temperature;
  append("hot_file_bytes_read", by.hot_file_bytes_read);
  append("warm_file_bytes_read", by.warm_file_bytes_read);
  append("cold_file_bytes_read", by.cold_file_bytes_read);
  append("hot_file_read_count", by.hot_file_read_count);
  append("warm_file_read_count", by.warm_file_read_count);
  append("cold_file_read_count", by.cold_file_read_count);
  return WithoutLastSeparator(std::move(text));
}

}  // namespace ROCKSDB_NAMESPACE
