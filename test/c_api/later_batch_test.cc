// SPDX-License-Identifier: Apache-2.0
// Batches by functions that RocksDB 7.8 does not have.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class LaterBatchTest : public Database {
 protected:
  // What rocksdb_writebatch_iterate_cf() reports of the batch.
  static std::string Walk(rocksdb_writebatch_t* batch) {
    std::string text;
    rocksdb_writebatch_iterate_cf(
        batch, &text,
        [](void* out, uint32_t family, const char* k, size_t klen, const char* v, size_t vlen) {
          Add(out, "put", family, k, klen) += "=" + std::string(v, vlen) + " ";
        },
        [](void* out, uint32_t family, const char* k, size_t klen) {
          Add(out, "delete", family, k, klen) += " ";
        },
        [](void* out, uint32_t family, const char* k, size_t klen, const char* v, size_t vlen) {
          Add(out, "merge", family, k, klen) += "+" + std::string(v, vlen) + " ";
        });
    return text;
  }

  static std::string& Add(void* out, const std::string& what, uint32_t family, const char* key, size_t size) {
    return *static_cast<std::string*>(out) += what + std::to_string(family) + ":" + std::string(key, size);
  }
};

TEST_F(LaterBatchTest, WalkOverAllFamilies) {
  Open();
  rocksdb_column_family_handle_t* const family = rocksdb_create_column_family(db_, options_, "one", Error());
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  EXPECT_EQ(Walk(batch), "");
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_put_cf(batch, family, "b", 1, "2", 1);
  rocksdb_writebatch_put_log_data(batch, "data", 4);
  rocksdb_writebatch_delete_cf(batch, family, "c", 1);
  rocksdb_writebatch_merge(batch, "d", 1, "3", 1);
  rocksdb_writebatch_merge_cf(batch, family, "e", 1, "4", 1);
  rocksdb_writebatch_singledelete(batch, "f", 1);
  rocksdb_writebatch_delete(batch, "g", 1);
  EXPECT_EQ(Walk(batch), "put0:a=1 put1:b=2 delete1:c merge0:d+3 merge1:e+4 delete0:g ");
  rocksdb_writebatch_singledelete_cf(batch, family, "h", 1);
  rocksdb_writebatch_put(batch, "i", 1, "5", 1);
  EXPECT_EQ(Walk(batch), "put0:a=1 put1:b=2 delete1:c merge0:d+3 merge1:e+4 delete0:g ");
  rocksdb_writebatch_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
}

TEST_F(LaterBatchTest, Parameters) {
  Open();
  // 8 bytes per key to protect it, and room for one record.
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(100, 24, 8, 0);
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_put(batch, "b", 1, "a value that is too long", 24);
  EXPECT_EQ(rocksdb_writebatch_count(batch), 1);
  rocksdb_write(db_, write_, batch, Error());
  rocksdb_writebatch_destroy(batch);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "(null)");

  rocksdb_writebatch_wi_t* const indexed = rocksdb_writebatch_wi_create_with_params(nullptr, 0, 1, 24, 8);
  rocksdb_writebatch_wi_put(indexed, "a", 1, "2", 1);
  rocksdb_writebatch_wi_put(indexed, "b", 1, "a value that is too long", 24);
  EXPECT_EQ(rocksdb_writebatch_wi_count(indexed), 1);
  rocksdb_write_writebatch_wi(db_, write_, indexed, Error());
  rocksdb_writebatch_wi_destroy(indexed);
  EXPECT_EQ(Get("a"), "2");
}

TEST_F(LaterBatchTest, TimestampsOfTheDefaultFamily) {
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(0, 0, 0, 8);
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  // Room for the timestamp is part of the key.
  EXPECT_EQ(Walk(batch), "put0:a" + std::string(8, 0) + "=1 ");
  rocksdb_writebatch_destroy(batch);
}

TEST_F(LaterBatchTest, ABackupComparatorOrdersTheKeys) {
  rocksdb_comparator_t* const comparator = rocksdb_comparator_create(
      nullptr, [](void*) {},
      [](void*, const char* a, size_t a_size, const char* b, size_t b_size) {
        return std::string(b, b_size).compare(std::string(a, a_size));
      },
      [](void*) { return "descending"; });
  rocksdb_options_set_comparator(options_, comparator);
  Open();
  Put("b", "2");
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create_with_params(comparator, 0, 1, 0, 0);
  rocksdb_writebatch_wi_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_wi_put(batch, "c", 1, "3", 1);
  rocksdb_iterator_t* const iter =
      rocksdb_writebatch_wi_create_iterator_with_base(batch, rocksdb_create_iterator(db_, read_));
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "c=3 b=2 a=1 ");
  rocksdb_writebatch_wi_destroy(batch);
  Close();
  rocksdb_comparator_destroy(comparator);
}

TEST_F(LaterBatchTest, PinnedReadsAndBoundsThroughABatch) {
  Open();
  rocksdb_column_family_handle_t* const family = rocksdb_create_column_family(db_, options_, "one", Error());
  Put("a", "1");
  Put("b", "2");
  rocksdb_put_cf(db_, write_, family, "a", 1, "3", 1, Error());
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(batch, "b", 1, "4", 1);
  rocksdb_writebatch_wi_delete(batch, "a", 1);
  rocksdb_writebatch_wi_put(batch, "c", 1, "5", 1);
  rocksdb_writebatch_wi_put_cf(batch, family, "b", 1, "6", 1);
  rocksdb_writebatch_wi_put_cf(batch, family, "c", 1, "7", 1);
  const auto get = [&](const std::string& key) {
    return Take(rocksdb_writebatch_wi_get_pinned_from_batch_and_db(batch, db_, read_, C_BYTES(key), Error()));
  };
  const auto get_of_family = [&](const std::string& key) {
    return Take(
        rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(batch, db_, read_, family, C_BYTES(key), Error()));
  };
  EXPECT_EQ(get("a"), "(null)");
  EXPECT_EQ(get("b"), "4");
  EXPECT_EQ(get("d"), "(null)");
  EXPECT_EQ(get_of_family("a"), "3");
  EXPECT_EQ(get_of_family("b"), "6");

  rocksdb_readoptions_t* const bounds = rocksdb_readoptions_create();
  rocksdb_readoptions_set_iterate_upper_bound(bounds, "c", 1);
  rocksdb_iterator_t* iter = rocksdb_writebatch_wi_create_iterator_with_base_readopts(
      batch, rocksdb_create_iterator(db_, bounds), bounds);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "b=4 ");
  iter = rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
      batch, rocksdb_create_iterator_cf(db_, bounds, family), family, bounds);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=3 b=6 ");
  rocksdb_readoptions_destroy(bounds);
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
}

}  // namespace
}  // namespace c_api
