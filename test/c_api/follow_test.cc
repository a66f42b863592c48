// SPDX-License-Identifier: Apache-2.0
// Other openings, following the log; memory in use.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class FollowTest : public Database {};

TEST_F(FollowTest, TimeToLive) {
  db_ = rocksdb_open_with_ttl(options_, path().c_str(), 1000, Error());
  ASSERT_NE(db_, nullptr);
  Put("a", "1");
  EXPECT_EQ(Get("a"), "1");
  rocksdb_column_family_handle_t* const family =
      rocksdb_create_column_family_with_ttl(db_, options_, "one", 1000, Error());
  ASSERT_NE(family, nullptr);
  rocksdb_put_cf(db_, write_, family, "a", 1, "2", 1, Error());
  rocksdb_column_family_handle_destroy(family);
  Close();

  const char* const names[] = {"default", "one"};
  const rocksdb_options_t* const options[] = {options_, options_};
  const int ttls[] = {1000, 1000};
  rocksdb_column_family_handle_t* families[2];
  db_ = rocksdb_open_column_families_with_ttl(options_, path().c_str(), 2, names, options, families, ttls, Error());
  ASSERT_NE(db_, nullptr);
  EXPECT_EQ(Take(rocksdb_get_pinned_cf(db_, read_, families[1], "a", 1, Error())), "2");
  for (rocksdb_column_family_handle_t* family_of_two : families) rocksdb_column_family_handle_destroy(family_of_two);
}

TEST_F(FollowTest, Updates) {
  Open();
  Put("a", "1");
  Put("b", "2");
  rocksdb_wal_iterator_t* const iter = rocksdb_get_updates_since(db_, 2, nullptr, Error());
  ASSERT_NE(iter, nullptr);
  ASSERT_EQ(rocksdb_wal_iter_valid(iter), 1);
  uint64_t sequence = 0;
  rocksdb_writebatch_t* const batch = rocksdb_wal_iter_get_batch(iter, &sequence);
  EXPECT_EQ(sequence, 2u);
  EXPECT_EQ(rocksdb_writebatch_count(batch), 1);
  rocksdb_writebatch_destroy(batch);
  rocksdb_wal_iter_next(iter);
  EXPECT_EQ(rocksdb_wal_iter_valid(iter), 0);
  Error error;
  rocksdb_wal_iter_status(iter, error);
  error.Take();
  rocksdb_wal_iter_destroy(iter);
  EXPECT_EQ(rocksdb_get_latest_sequence_number(db_), 2u);
}

TEST_F(FollowTest, Secondary) {
  rocksdb_options_set_max_open_files(options_, -1);
  Open();
  Put("a", "1");
  rocksdb_t* const secondary =
      rocksdb_open_as_secondary(options_, path().c_str(), path("secondary").c_str(), Error());
  ASSERT_NE(secondary, nullptr);
  EXPECT_EQ(GetFrom(secondary, "a"), "1");
  Put("a", "2");
  Flush();
  Put("b", "3");
  rocksdb_try_catch_up_with_primary(secondary, Error());
  EXPECT_EQ(GetFrom(secondary, "a"), "2");
  EXPECT_EQ(GetFrom(secondary, "b"), "3");
  rocksdb_close(secondary);
}

TEST_F(FollowTest, Repair) {
  Open();
  Put("a", "1");
  Flush();
  Close();
  rocksdb_repair_db(options_, path().c_str(), Error());
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(FollowTest, MemoryInUse) {
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  Open();
  Put("a", std::string(10000, 'v'));
  rocksdb_memory_consumers_t* const consumers = rocksdb_memory_consumers_create();
  rocksdb_memory_consumers_add_db(consumers, db_);
  rocksdb_memory_consumers_add_cache(consumers, cache);
  rocksdb_memory_usage_t* const usage = rocksdb_approximate_memory_usage_create(consumers, Error());
  ASSERT_NE(usage, nullptr);
  EXPECT_GT(rocksdb_approximate_memory_usage_get_mem_table_total(usage), 10000u);
  EXPECT_GT(rocksdb_approximate_memory_usage_get_mem_table_unflushed(usage), 10000u);
  EXPECT_LT(rocksdb_approximate_memory_usage_get_mem_table_readers_total(usage), 1u << 20);
  EXPECT_EQ(rocksdb_approximate_memory_usage_get_cache_total(usage), rocksdb_cache_get_usage(cache));
  rocksdb_approximate_memory_usage_destroy(usage);
  rocksdb_memory_consumers_destroy(consumers);
  Close();
  rocksdb_cache_destroy(cache);
}

}  // namespace
}  // namespace c_api
