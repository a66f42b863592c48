// SPDX-License-Identifier: Apache-2.0
// Batches, with and without an index.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class BatchTest : public Database {};

void NotePut(void* state, const char* k, size_t klen, const char* v, size_t vlen) {
  *static_cast<std::string*>(state) += "+" + std::string(k, klen) + "=" + std::string(v, vlen) + " ";
}
void NoteDelete(void* state, const char* k, size_t klen) {
  *static_cast<std::string*>(state) += "-" + std::string(k, klen) + " ";
}

TEST_F(BatchTest, WriteAndWalk) {
  Open();
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_put(batch, "b", 1, "2", 1);
  rocksdb_writebatch_delete(batch, "a", 1);
  rocksdb_writebatch_singledelete(batch, "s", 1);
  rocksdb_writebatch_put_log_data(batch, "blob", 4);
  EXPECT_EQ(rocksdb_writebatch_count(batch), 4);
  std::string walk;
  rocksdb_writebatch_iterate(batch, &walk, NotePut, NoteDelete);
  EXPECT_EQ(walk, "+a=1 +b=2 -a ");

  size_t size = 0;
  const char* const data = rocksdb_writebatch_data(batch, &size);
  rocksdb_writebatch_t* const copy = rocksdb_writebatch_create_from(data, size);
  rocksdb_write(db_, write_, copy, Error());
  EXPECT_EQ(Get("a"), "(null)");
  EXPECT_EQ(Get("b"), "2");
  rocksdb_writebatch_destroy(copy);
  rocksdb_writebatch_clear(batch);
  EXPECT_EQ(rocksdb_writebatch_count(batch), 0);
  rocksdb_writebatch_destroy(batch);
}

TEST_F(BatchTest, PartsRangesAndSavePoints) {
  Open();
  Put("d1", "x");
  Put("d2", "x");
  const Lists key({"p", "art"});
  const Lists value({"1", "", "2"});
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_putv(batch, 2, key.data.data(), key.sizes.data(), 3, value.data.data(), value.sizes.data());
  rocksdb_writebatch_delete_range(batch, "d", 1, "d2", 2);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "q", 1, "1", 1);
  rocksdb_writebatch_rollback_to_save_point(batch, Error());
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_pop_save_point(batch, Error());
  Error error;
  rocksdb_writebatch_pop_save_point(batch, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_write(db_, write_, batch, Error());
  rocksdb_writebatch_destroy(batch);
  EXPECT_EQ(Get("part"), "12");
  EXPECT_EQ(Get("q"), "(null)");
  EXPECT_EQ(Get("d1"), "(null)");
  EXPECT_EQ(Get("d2"), "x");

  rocksdb_writebatch_t* const deletions = rocksdb_writebatch_create();
  rocksdb_writebatch_deletev(deletions, 2, key.data.data(), key.sizes.data());
  const Lists start({"d", "2"});
  const Lists end({"d", "3"});
  rocksdb_writebatch_delete_rangev(deletions, 2, start.data.data(), start.sizes.data(), end.data.data(),
                                   end.sizes.data());
  rocksdb_write(db_, write_, deletions, Error());
  rocksdb_writebatch_destroy(deletions);
  EXPECT_EQ(Get("part"), "(null)");
  EXPECT_EQ(Get("d2"), "(null)");
}

TEST_F(BatchTest, ColumnFamilies) {
  Open();
  rocksdb_column_family_handle_t* const family = rocksdb_create_column_family(db_, options_, "one", Error());
  rocksdb_put_cf(db_, write_, family, "b", 1, "x", 1, Error());
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_cf(batch, family, "a", 1, "1", 1);
  rocksdb_writebatch_delete_cf(batch, family, "b", 1);
  const Lists parts({"p", "q"});
  rocksdb_writebatch_putv_cf(batch, family, 2, parts.data.data(), parts.sizes.data(), 2, parts.data.data(),
                             parts.sizes.data());
  rocksdb_writebatch_delete_range_cf(batch, family, "c", 1, "d", 1);
  rocksdb_write(db_, write_, batch, Error());
  rocksdb_writebatch_destroy(batch);
  rocksdb_iterator_t* const iter = rocksdb_create_iterator_cf(db_, read_, family);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=1 pq=pq ");
  rocksdb_column_family_handle_destroy(family);
}

TEST_F(BatchTest, Indexed) {
  Open();
  Put("a", "db");
  Put("b", "db");
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(batch, "a", 1, "batch", 5);
  rocksdb_writebatch_wi_put(batch, "c", 1, "batch", 5);
  rocksdb_writebatch_wi_delete(batch, "b", 1);
  EXPECT_EQ(rocksdb_writebatch_wi_count(batch), 3);
  std::string walk;
  rocksdb_writebatch_wi_iterate(batch, &walk, NotePut, NoteDelete);
  EXPECT_EQ(walk, "+a=batch +c=batch -b ");

  size_t size = 0;
  char* value = rocksdb_writebatch_wi_get_from_batch(batch, options_, "a", 1, &size, Error());
  EXPECT_EQ(Take(value, size), "batch");
  value = rocksdb_writebatch_wi_get_from_batch(batch, options_, "b", 1, &size, Error());
  EXPECT_EQ(Take(value, size), "(null)");
  value = rocksdb_writebatch_wi_get_from_batch_and_db(batch, db_, read_, "b", 1, &size, Error());
  EXPECT_EQ(Take(value, size), "(null)");
  Put("d", "db");
  value = rocksdb_writebatch_wi_get_from_batch_and_db(batch, db_, read_, "d", 1, &size, Error());
  EXPECT_EQ(Take(value, size), "db");

  rocksdb_iterator_t* const iter =
      rocksdb_writebatch_wi_create_iterator_with_base(batch, rocksdb_create_iterator(db_, read_));
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=batch c=batch d=db ");

  rocksdb_writebatch_wi_set_save_point(batch);
  rocksdb_writebatch_wi_put(batch, "e", 1, "", 0);
  rocksdb_writebatch_wi_rollback_to_save_point(batch, Error());
  rocksdb_write_writebatch_wi(db_, write_, batch, Error());
  EXPECT_EQ(Get("a"), "batch");
  EXPECT_EQ(Get("e"), "(null)");
  const char* const data = rocksdb_writebatch_wi_data(batch, &size);
  rocksdb_writebatch_t* const copy = rocksdb_writebatch_create_from(data, size);
  EXPECT_EQ(rocksdb_writebatch_count(copy), 3);
  rocksdb_writebatch_destroy(copy);
  rocksdb_writebatch_wi_clear(batch);
  EXPECT_EQ(rocksdb_writebatch_wi_count(batch), 0);
  rocksdb_writebatch_wi_destroy(batch);
}

}  // namespace
}  // namespace c_api
