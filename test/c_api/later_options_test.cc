// SPDX-License-Identifier: Apache-2.0
// Options, caches, managers, statistics and loggers by functions that RocksDB 7.8 does not have. Plain options with a
// getter are in later_options.txt.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class LaterOptionsTest : public Database {
 protected:
  // The newest OPTIONS file.
  std::string Options() {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().filename().string().starts_with("OPTIONS-")) newest = std::max(newest, entry.path());
    }
    std::ifstream file(newest);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void ExpectOption(const std::string& text) {
    const std::string options = Options();
    EXPECT_NE(options.find(text), std::string::npos) << text << " in " << options;
  }
};

TEST_F(LaterOptionsTest, OfTables) {
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_align(table, 1);
  rocksdb_block_based_options_set_optimize_filters_for_memory(table, 1);
  rocksdb_block_based_options_set_top_level_index_pinning_tier(table, rocksdb_block_based_k_none_pinning_tier);
  rocksdb_block_based_options_set_partition_pinning_tier(table, rocksdb_block_based_k_all_pinning_tier);
  rocksdb_block_based_options_set_unpartitioned_pinning_tier(
      table, rocksdb_block_based_k_flush_and_similar_pinning_tier);
  rocksdb_block_based_options_set_index_block_search_type(table, 1);
  rocksdb_block_based_options_set_separate_key_value_in_data_block(table, 1);
  rocksdb_options_set_block_based_table_factory(options_, table);
  rocksdb_options_set_compression(options_, rocksdb_no_compression);  // aligned blocks need that
  rocksdb_options_set_bottommost_compression(options_, rocksdb_no_compression);
  Open();
  ExpectOption("block_align=true");
  ExpectOption("optimize_filters_for_memory=true");
  ExpectOption("top_level_index_pinning=kNone");
  ExpectOption("partition_pinning=kAll");
  ExpectOption("unpartitioned_pinning=kFlushedAndSimilar");
  Put("a", "1");
  Flush();
  EXPECT_EQ(Get("a"), "1");
  rocksdb_block_based_options_destroy(table);
}

TEST_F(LaterOptionsTest, CopiesHaveThemToo) {
  rocksdb_options_set_memtable_op_scan_flush_trigger(options_, 7);
  rocksdb_options_set_ttl(options_, 8);
  rocksdb_options_t* const copy = rocksdb_options_create_copy(options_);
  EXPECT_EQ(rocksdb_options_get_memtable_op_scan_flush_trigger(copy), 7u);
  EXPECT_EQ(rocksdb_options_get_ttl(copy), 8u);
  rocksdb_options_destroy(copy);
}

TEST_F(LaterOptionsTest, RefusedAtOpen) {
  const auto refusal = [this] {
    Error error;
    EXPECT_EQ(rocksdb_open(options_, path().c_str(), error), nullptr);
    return error.Take();
  };
  rocksdb_options_set_write_identity_file(options_, 0);
  EXPECT_NE(refusal().find("write_identity_file"), std::string::npos);
  rocksdb_options_set_write_identity_file(options_, 1);
  rocksdb_options_set_memtable_op_scan_flush_trigger(options_, 123456789);
  EXPECT_NE(refusal().find("memtable_op_scan_flush_trigger"), std::string::npos);
  rocksdb_options_set_memtable_op_scan_flush_trigger(options_, 0);
  rocksdb_options_set_memtable_avg_op_scan_flush_trigger(options_, 7);
  EXPECT_NE(refusal().find("memtable_avg_op_scan_flush_trigger"), std::string::npos);
  rocksdb_options_set_memtable_avg_op_scan_flush_trigger(options_, 0);
  rocksdb_options_set_compaction_style(options_, rocksdb_fifo_compaction);
  rocksdb_fifo_compaction_options_t* const fifo = rocksdb_fifo_compaction_options_create();
  rocksdb_fifo_compaction_options_set_max_data_files_size(fifo, 1 << 30);
  rocksdb_options_set_fifo_compaction_options(options_, fifo);
  EXPECT_NE(refusal().find("max_data_files_size"), std::string::npos);
  rocksdb_fifo_compaction_options_set_max_data_files_size(fifo, 0);
  rocksdb_fifo_compaction_options_set_use_kv_ratio_compaction(fifo, 1);
  rocksdb_options_set_fifo_compaction_options(options_, fifo);
  EXPECT_NE(refusal().find("use_kv_ratio_compaction"), std::string::npos);
  rocksdb_fifo_compaction_options_destroy(fifo);
  rocksdb_options_set_compaction_style(options_, rocksdb_level_compaction);
  rocksdb_options_set_open_files_async(options_, 1);
  Open();
  ExpectOption("open_files_async=true");
}

TEST_F(LaterOptionsTest, FamiliesInOtherPaths) {
  rocksdb_dbpath_t* const path_of_family = rocksdb_dbpath_create(path("family").c_str(), 1 << 30);
  const rocksdb_dbpath_t* paths[] = {path_of_family};
  rocksdb_options_set_cf_paths(options_, paths, 1);
  Open();
  Put("a", "1");
  Flush();
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db_);
  ASSERT_EQ(rocksdb_livefiles_count(files), 1);
  EXPECT_EQ(rocksdb_livefiles_directory(files, 0), path("family"));
  rocksdb_livefiles_destroy(files);
  rocksdb_dbpath_destroy(path_of_family);
}

TEST_F(LaterOptionsTest, ReadsWithHints) {
  Open();
  Put("a", "1");
  Flush();
  rocksdb_readoptions_set_async_io(read_, 1);
  rocksdb_readoptions_set_auto_readahead_size(read_, 0);
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=1 ");
}

TEST_F(LaterOptionsTest, AnIngestionMayDemandTheLastLevel) {
  rocksdb_envoptions_t* const env_options = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env_options, options_);
  rocksdb_sstfilewriter_open(writer, path("table").c_str(), Error());
  rocksdb_sstfilewriter_put(writer, "a", 1, "2", 1, Error());
  rocksdb_sstfilewriter_finish(writer, Error());
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env_options);
  Open();
  Put("a", "1");
  Flush();
  rocksdb_ingestexternalfileoptions_t* const ingest = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(ingest, 1);
  const std::string table = path("table");
  const char* const files[] = {table.c_str()};
  Error error;
  rocksdb_ingest_external_file(db_, files, 1, ingest, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(ingest, 0);
  rocksdb_ingest_external_file(db_, files, 1, ingest, Error());
  EXPECT_EQ(Get("a"), "2");
  rocksdb_ingestexternalfileoptions_destroy(ingest);
}

TEST_F(LaterOptionsTest, WaitForCompactions) {
  rocksdb_options_set_level0_file_num_compaction_trigger(options_, 2);
  Open();
  for (int i = 0; i < 3; ++i) {
    Put("a", std::to_string(i));
    Flush();
  }
  Put("b", "1");
  rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact_options_set_flush(wait, 1);
  rocksdb_wait_for_compact_options_set_timeout(wait, 60'000'000);
  rocksdb_wait_for_compact(db_, wait, Error());
  uint64_t number = 7;
  EXPECT_EQ(rocksdb_property_int(db_, "rocksdb.num-entries-active-mem-table", &number), 0);
  EXPECT_EQ(number, 0u);
  EXPECT_EQ(rocksdb_property_int(db_, "rocksdb.compaction-pending", &number), 0);
  EXPECT_EQ(number, 0u);

  rocksdb_wait_for_compact_options_set_abort_on_pause(wait, 1);
  rocksdb_wait_for_compact_options_set_close_db(wait, 1);
  rocksdb_wait_for_compact(db_, wait, Error());
  Error error;
  rocksdb_wait_for_compact(db_, wait, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_wait_for_compact_options_destroy(wait);
}

TEST_F(LaterOptionsTest, DeletionsAskForACompaction) {
  for (const bool small : {false, true}) {
    rocksdb_options_t* const options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    // Half of a table deleted; with a size that no file here has it does not count.
    if (small) {
      rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(options, 0, 0, 0.5, 1 << 30);
    } else {
      rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(options, 0, 0, 0.5);
    }
    db_ = rocksdb_open(options, path(small ? "small" : "any").c_str(), Error());
    ASSERT_NE(db_, nullptr);
    for (int i = 0; i < 1000; ++i) Put("key" + std::to_string(i), "value");
    Flush();
    rocksdb_compact_range(db_, nullptr, 0, nullptr, 0);
    for (int i = 0; i < 800; ++i) {
      const std::string key = "key" + std::to_string(i);
      rocksdb_delete(db_, write_, C_BYTES(key), Error());
    }
    Flush();
    rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
    rocksdb_wait_for_compact(db_, wait, Error());
    rocksdb_wait_for_compact_options_destroy(wait);
    char* const count = rocksdb_property_value(db_, "rocksdb.num-files-at-level0");
    EXPECT_EQ(TakeText(count), small ? "1" : "0");
    Close();
    rocksdb_options_destroy(options);
  }
}

TEST_F(LaterOptionsTest, HyperClockCaches) {
  rocksdb_cache_t* const plain = rocksdb_cache_create_hyper_clock(1 << 20, 0);
  EXPECT_EQ(rocksdb_cache_get_capacity(plain), size_t{1} << 20);
  rocksdb_cache_destroy(plain);

  rocksdb_hyper_clock_cache_options_t* const options = rocksdb_hyper_clock_cache_options_create(1 << 20, 4096);
  rocksdb_hyper_clock_cache_options_set_capacity(options, 2 << 20);
  rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(options, 8192);
  rocksdb_hyper_clock_cache_options_set_num_shard_bits(options, 2);
  char* error = nullptr;
  rocksdb_memory_allocator_t* const allocator = rocksdb_jemalloc_nodump_allocator_create(&error);
  if (allocator != nullptr) rocksdb_hyper_clock_cache_options_set_memory_allocator(options, allocator);
  rocksdb_free(error);
  rocksdb_cache_t* const cache = rocksdb_cache_create_hyper_clock_opts(options);
  rocksdb_hyper_clock_cache_options_destroy(options);
  if (allocator != nullptr) rocksdb_memory_allocator_destroy(allocator);
  EXPECT_EQ(rocksdb_cache_get_capacity(cache), size_t{2} << 20);
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_options_set_block_based_table_factory(options_, table);
  Open();
  Put("a", "1");
  Flush();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_GT(rocksdb_cache_get_usage(cache), 0u);
  Close();
  rocksdb_block_based_options_destroy(table);
  rocksdb_cache_destroy(cache);
}

TEST_F(LaterOptionsTest, RateLimiters) {
  rocksdb_ratelimiter_t* const limiters[] = {rocksdb_ratelimiter_create_auto_tuned(100 << 20, 1000, 10),
                                             rocksdb_ratelimiter_create_with_mode(100 << 20, 1000, 10, 2, false)};
  for (rocksdb_ratelimiter_t* limiter : limiters) {
    ASSERT_NE(limiter, nullptr);
    rocksdb_options_set_ratelimiter(options_, limiter);
    rocksdb_ratelimiter_destroy(limiter);
    Open();
    Put("a", "1");
    Flush();
    EXPECT_EQ(Get("a"), "1");
    Close();
  }
}

TEST_F(LaterOptionsTest, WriteBufferManagers) {
  rocksdb_write_buffer_manager_t* const limit = rocksdb_write_buffer_manager_create(64 << 20, false);
  EXPECT_TRUE(rocksdb_write_buffer_manager_enabled(limit));
  EXPECT_FALSE(rocksdb_write_buffer_manager_cost_to_cache(limit));
  rocksdb_options_set_write_buffer_manager(options_, limit);
  Open();
  Put("a", std::string(100000, 'a'));
  EXPECT_GT(rocksdb_write_buffer_manager_memory_usage(limit), 100000u);
  EXPECT_GT(rocksdb_write_buffer_manager_mutable_memtable_memory_usage(limit), 100000u);
  EXPECT_EQ(rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(limit), 0u);
  rocksdb_write_buffer_manager_set_buffer_size(limit, 32 << 20);
  EXPECT_EQ(rocksdb_write_buffer_manager_buffer_size(limit), size_t{32} << 20);
  rocksdb_write_buffer_manager_set_allow_stall(limit, true);
  rocksdb_write_buffer_manager_set_allow_stall(limit, false);
  Close();
  rocksdb_write_buffer_manager_destroy(limit);

  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(16 << 20);
  rocksdb_write_buffer_manager_t* const charged =
      rocksdb_write_buffer_manager_create_with_cache(0, cache, false);
  EXPECT_FALSE(rocksdb_write_buffer_manager_enabled(charged));
  EXPECT_TRUE(rocksdb_write_buffer_manager_cost_to_cache(charged));
  rocksdb_options_set_write_buffer_manager(options_, charged);
  Open();
  Put("a", std::string(100000, 'a'));
  EXPECT_GT(rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(charged), 0u);
  EXPECT_GT(rocksdb_cache_get_usage(cache), 0u);
  Close();
  rocksdb_write_buffer_manager_destroy(charged);
  rocksdb_cache_destroy(cache);
}

TEST_F(LaterOptionsTest, SstFileManagers) {
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_sst_file_manager_t* const manager = rocksdb_sst_file_manager_create(env);
  rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(manager, 1 << 20);
  EXPECT_EQ(rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(manager), 1 << 20);
  rocksdb_sst_file_manager_set_max_trash_db_ratio(manager, 0.75);
  EXPECT_EQ(rocksdb_sst_file_manager_get_max_trash_db_ratio(manager), 0.75);
  EXPECT_EQ(rocksdb_sst_file_manager_get_total_trash_size(manager), 0u);
  rocksdb_options_set_sst_file_manager(options_, manager);
  Open();
  Put("a", std::string(100000, 'a'));
  Flush();
  EXPECT_GT(rocksdb_sst_file_manager_get_total_size(manager), 0u);
  EXPECT_FALSE(rocksdb_sst_file_manager_is_max_allowed_space_reached(manager));
  rocksdb_sst_file_manager_set_compaction_buffer_size(manager, 1000);
  EXPECT_FALSE(rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(manager));
  rocksdb_sst_file_manager_set_max_allowed_space_usage(manager, 1);
  EXPECT_TRUE(rocksdb_sst_file_manager_is_max_allowed_space_reached(manager));
  EXPECT_TRUE(rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(manager));
  Close();
  rocksdb_sst_file_manager_destroy(manager);
  rocksdb_env_destroy(env);
}

TEST_F(LaterOptionsTest, Statistics) {
  constexpr uint32_t kKeysWritten = 58;  // of RocksDB 11.8, as the others
  constexpr uint32_t kBytesWritten = 61;
  constexpr uint32_t kDbWrite = 1;
  rocksdb_statistics_histogram_data_t* const data = rocksdb_statistics_histogram_data_create();
  rocksdb_options_set_statistics_level(options_, rocksdb_statistics_level_all);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_disable_all);
  EXPECT_EQ(rocksdb_options_statistics_get_ticker_count(options_, kBytesWritten), 0u);
  rocksdb_options_statistics_get_histogram_data(options_, kDbWrite, data);
  EXPECT_EQ(rocksdb_statistics_histogram_data_get_count(data), 0u);

  rocksdb_options_enable_statistics(options_);
  rocksdb_options_set_statistics_level(options_, rocksdb_statistics_level_except_timers);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_except_timers);
  rocksdb_options_set_statistics_level(options_, 100);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_all);
  rocksdb_options_set_statistics_level(options_, -1);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_disable_all);
  rocksdb_options_set_statistics_level(options_, rocksdb_statistics_level_all);
  Open();
  for (int i = 0; i < 100; ++i) Put("a", "1");
  EXPECT_EQ(rocksdb_options_statistics_get_ticker_count(options_, kKeysWritten), 100u);
  EXPECT_GT(rocksdb_options_statistics_get_ticker_count(options_, kBytesWritten), 100u);
  EXPECT_EQ(rocksdb_options_statistics_get_ticker_count(options_, 262), 0u);  // not counted here
  rocksdb_options_statistics_get_histogram_data(options_, kDbWrite, data);
  EXPECT_EQ(rocksdb_statistics_histogram_data_get_count(data), 100u);
  const double min = rocksdb_statistics_histogram_data_get_min(data);
  const double max = rocksdb_statistics_histogram_data_get_max(data);
  const double average = rocksdb_statistics_histogram_data_get_average(data);
  EXPECT_LE(min, average);
  EXPECT_LE(average, max);
  EXPECT_LE(rocksdb_statistics_histogram_data_get_median(data), rocksdb_statistics_histogram_data_get_p95(data));
  EXPECT_LE(rocksdb_statistics_histogram_data_get_p95(data), rocksdb_statistics_histogram_data_get_p99(data));
  EXPECT_GE(rocksdb_statistics_histogram_data_get_std_dev(data), 0);
  EXPECT_NEAR(static_cast<double>(rocksdb_statistics_histogram_data_get_sum(data)), average * 100, 0.5);
  // Numbers that this version does not have.
  EXPECT_EQ(rocksdb_options_statistics_get_ticker_count(options_, 1 << 20), 0u);
  rocksdb_options_statistics_get_histogram_data(options_, 1 << 20, data);
  EXPECT_EQ(rocksdb_statistics_histogram_data_get_count(data), 0u);
  EXPECT_EQ(rocksdb_statistics_histogram_data_get_max(data), 0);
  rocksdb_statistics_histogram_data_destroy(data);
}

TEST_F(LaterOptionsTest, CallbackLoggers) {
  struct Messages {
    std::mutex mutex;
    std::string text;
    unsigned lowest = 100;
  } messages;
  const auto add = [](void* state, unsigned level, char* message, size_t size) {
    auto* const to = static_cast<Messages*>(state);
    const std::lock_guard<std::mutex> lock(to->mutex);
    to->text.append(message, size);
    to->lowest = std::min(to->lowest, level);
  };
  rocksdb_logger_t* const logger = rocksdb_logger_create_callback_logger(1, add, &messages);
  rocksdb_options_set_info_log(options_, logger);
  rocksdb_logger_destroy(logger);
  Open();
  Close();
  EXPECT_NE(messages.text, "");
  EXPECT_GE(messages.lowest, 1u);

  // The options still have it, and share it.
  rocksdb_logger_t* const again = rocksdb_options_get_info_log(options_);
  rocksdb_options_t* const others = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(others, 1);
  rocksdb_options_set_info_log(others, again);
  rocksdb_logger_destroy(again);
  messages.text.clear();
  db_ = rocksdb_open(others, path("other").c_str(), Error());
  Close();
  EXPECT_NE(messages.text, "");
  rocksdb_options_destroy(others);
}

TEST_F(LaterOptionsTest, StderrLoggers) {
  rocksdb_logger_t* const none = rocksdb_options_get_info_log(options_);
  rocksdb_logger_destroy(none);
  rocksdb_logger_t* const logger = rocksdb_logger_create_stderr_logger(1, "prefix ");
  rocksdb_options_set_info_log(options_, logger);
  rocksdb_logger_destroy(logger);
  ::testing::internal::CaptureStderr();
  Open();
  Close();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(" prefix "), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
  rocksdb_logger_destroy(rocksdb_logger_create_stderr_logger(4, nullptr));
}

}  // namespace
}  // namespace c_api
