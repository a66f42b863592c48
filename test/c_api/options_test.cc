// SPDX-License-Identifier: Apache-2.0
// Options that are not plain numbers; environments, caches, performance counters. (The trial does the plain ones.)
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class OptionsTest : public Database {};

TEST_F(OptionsTest, FromStringsAndCopies) {
  rocksdb_options_t* const parsed = rocksdb_options_create();
  rocksdb_get_options_from_string(options_, "write_buffer_size=131072;num_levels=4", parsed, Error());
  EXPECT_EQ(rocksdb_options_get_write_buffer_size(parsed), 131072u);
  EXPECT_EQ(rocksdb_options_get_num_levels(parsed), 4);
  EXPECT_EQ(rocksdb_options_get_create_if_missing(parsed), 1);
  rocksdb_options_t* const copy = rocksdb_options_create_copy(parsed);
  rocksdb_options_set_num_levels(parsed, 5);
  EXPECT_EQ(rocksdb_options_get_num_levels(copy), 4);
  Error error;
  rocksdb_get_options_from_string(options_, "no_such_option=1", parsed, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_options_destroy(copy);
  rocksdb_options_destroy(parsed);
}

TEST_F(OptionsTest, LatestOfADatabase) {
  rocksdb_options_set_write_buffer_size(options_, 262144);
  Open();
  rocksdb_column_family_handle_destroy(rocksdb_create_column_family(db_, options_, "one", Error()));
  Close();
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_options_t* db_options = nullptr;
  size_t count = 0;
  char** names = nullptr;
  rocksdb_options_t** options = nullptr;
  rocksdb_load_latest_options(path().c_str(), env, false, cache, &db_options, &count, &names, &options, Error());
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(names[0], "default");
  EXPECT_STREQ(names[1], "one");
  EXPECT_EQ(rocksdb_options_get_create_if_missing(db_options), 1);
  EXPECT_EQ(rocksdb_options_get_write_buffer_size(options[1]), 262144u);
  rocksdb_load_latest_options_destroy(db_options, names, options, count);

  Error error;
  rocksdb_load_latest_options(path("none").c_str(), env, false, cache, &db_options, &count, &names, &options, error);
  EXPECT_NE(error.Take(), "");
  EXPECT_EQ(db_options, nullptr);
  EXPECT_EQ(names, nullptr);
  rocksdb_cache_destroy(cache);
  rocksdb_env_destroy(env);
}

TEST_F(OptionsTest, TablesAndMemtables) {
  rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_block_based_options_set_block_cache(table, cache);
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_ribbon_hybrid(10, 1));
  rocksdb_options_set_block_based_table_factory(options_, table);
  rocksdb_block_based_options_destroy(table);
  const int types[] = {rocksdb_no_compression, rocksdb_lz4_compression};
  rocksdb_options_set_compression_per_level(options_, types, 2);
  rocksdb_options_set_min_level_to_compress(options_, 1);
  rocksdb_options_set_compression_options(options_, -14, 3, 0, 0);
  int factors[] = {1, 2};
  rocksdb_options_set_max_bytes_for_level_multiplier_additional(options_, factors, 2);
  rocksdb_options_enable_statistics(options_);
  Open();
  for (int i = 0; i < 100; ++i) Put("key" + std::to_string(i), std::string(100, 'v'));
  Flush();
  EXPECT_EQ(Get("key7"), std::string(100, 'v'));
  EXPECT_GT(rocksdb_cache_get_usage(cache), 0u);
  EXPECT_NE(TakeText(rocksdb_options_statistics_get_string(options_)).find("rocksdb.number.keys.written COUNT : 100"),
            std::string::npos);
  Close();
  rocksdb_cache_set_capacity(cache, 1 << 21);
  EXPECT_EQ(rocksdb_cache_get_capacity(cache), size_t{1} << 21);
  rocksdb_cache_destroy(cache);
  rocksdb_options_t* const without = rocksdb_options_create();
  EXPECT_EQ(rocksdb_options_statistics_get_string(without), nullptr);
  rocksdb_options_destroy(without);
}

TEST_F(OptionsTest, Caches) {
  rocksdb_lru_cache_options_t* const lru = rocksdb_lru_cache_options_create();
  rocksdb_lru_cache_options_set_capacity(lru, 1000);
  rocksdb_lru_cache_options_set_num_shard_bits(lru, 1);
  rocksdb_cache_t* cache = rocksdb_cache_create_lru_opts(lru);
  EXPECT_EQ(rocksdb_cache_get_capacity(cache), 1000u);
  EXPECT_EQ(rocksdb_cache_get_usage(cache), 0u);
  EXPECT_EQ(rocksdb_cache_get_pinned_usage(cache), 0u);
  rocksdb_cache_destroy(cache);
  rocksdb_lru_cache_options_destroy(lru);
  cache = rocksdb_cache_create_lru_with_strict_capacity_limit(1000);
  rocksdb_cache_disown_data(cache);
  rocksdb_cache_destroy(cache);
}

TEST_F(OptionsTest, MemoryEnvironment) {
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_env(options_, env);
  rocksdb_create_dir_if_missing(env, dir_.path().c_str(), Error());
  Open();
  Put("a", "1");
  Flush();
  EXPECT_EQ(Get("a"), "1");
  Close();
  Open();
  EXPECT_EQ(Get("a"), "1");
  Close();
  rocksdb_env_destroy(env);
}

TEST_F(OptionsTest, ThreadsOfTheEnvironment) {
  rocksdb_env_t* const env = rocksdb_create_default_env();
  const int low = rocksdb_env_get_background_threads(env);
  rocksdb_env_set_low_priority_background_threads(env, low + 2);
  EXPECT_EQ(rocksdb_env_get_background_threads(env), low + 2);
  rocksdb_env_set_background_threads(env, low);
  EXPECT_EQ(rocksdb_env_get_low_priority_background_threads(env), low);
  const int high = rocksdb_env_get_high_priority_background_threads(env);
  rocksdb_env_set_high_priority_background_threads(env, high + 1);
  EXPECT_EQ(rocksdb_env_get_high_priority_background_threads(env), high + 1);
  rocksdb_env_set_high_priority_background_threads(env, high);
  const int bottom = rocksdb_env_get_bottom_priority_background_threads(env);
  rocksdb_env_set_bottom_priority_background_threads(env, bottom + 1);
  EXPECT_EQ(rocksdb_env_get_bottom_priority_background_threads(env), bottom + 1);
  rocksdb_env_set_bottom_priority_background_threads(env, bottom);
  rocksdb_env_destroy(env);
}

TEST_F(OptionsTest, PerformanceCounters) {
  Open();
  Put("a", "1");
  Flush();
  rocksdb_set_perf_level(rocksdb_enable_count);
  rocksdb_perfcontext_t* const context = rocksdb_perfcontext_create();
  rocksdb_perfcontext_reset(context);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_GT(rocksdb_perfcontext_metric(context, rocksdb_block_read_count), 0u);
  EXPECT_EQ(rocksdb_perfcontext_metric(context, rocksdb_blob_read_count), 0u);
  EXPECT_EQ(rocksdb_perfcontext_metric(context, rocksdb_total_metric_count), 0u);
  EXPECT_NE(TakeText(rocksdb_perfcontext_report(context, 1)).find("block_read_count = "), std::string::npos);
  rocksdb_perfcontext_reset(context);
  EXPECT_EQ(rocksdb_perfcontext_metric(context, rocksdb_block_read_count), 0u);
  rocksdb_perfcontext_destroy(context);
  rocksdb_set_perf_level(rocksdb_disable);
}

TEST_F(OptionsTest, Presets) {
  rocksdb_options_increase_parallelism(options_, 4);
  EXPECT_EQ(rocksdb_options_get_max_background_jobs(options_), 4);
  rocksdb_options_optimize_level_style_compaction(options_, 64 << 20);
  EXPECT_EQ(rocksdb_options_get_write_buffer_size(options_), size_t{16} << 20);
  rocksdb_options_optimize_universal_style_compaction(options_, 64 << 20);
  EXPECT_EQ(rocksdb_options_get_compaction_style(options_), rocksdb_universal_compaction);
  rocksdb_options_optimize_for_point_lookup(options_, 8);
  rocksdb_options_prepare_for_bulk_load(options_);
  EXPECT_EQ(rocksdb_options_get_disable_auto_compactions(options_), 1);
}

}  // namespace
}  // namespace c_api
