// SPDX-License-Identifier: Apache-2.0
// Reads and management by functions that RocksDB 7.8 does not have.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class LaterTest : public Database {
 protected:
  static std::string Text(rocksdb_slice_t slice) { return std::string(slice.data, slice.size); }

  // "key=value" of all records, by slices.
  static std::string All(rocksdb_iterator_t* iter) {
    std::string text;
    for (rocksdb_iter_seek_to_first(iter); rocksdb_iter_valid(iter) != 0; rocksdb_iter_next(iter)) {
      text += Text(rocksdb_iter_key_slice(iter)) + "=" + Text(rocksdb_iter_value_slice(iter)) + " ";
    }
    return text;
  }

  static std::string Take(rocksdb_pinnable_handle_t* handle) {
    size_t size = 0;
    const char* const bytes = rocksdb_pinnable_handle_get_value(handle, &size);
    const std::string text = bytes == nullptr ? "(null)" : std::string(bytes, size);
    if (handle != nullptr) rocksdb_pinnable_handle_destroy(handle);
    return text;
  }

  uint64_t Files(const std::string& level) {
    char* const count = rocksdb_property_value(db_, ("rocksdb.num-files-at-level" + level).c_str());
    return std::stoull(TakeText(count));
  }
};

TEST_F(LaterTest, PinnedHandles) {
  Open();
  Put("a", "1");
  Put("empty", "");
  EXPECT_EQ(Take(rocksdb_get_pinned_v2(db_, read_, "a", 1, Error())), "1");
  EXPECT_EQ(Take(rocksdb_get_pinned_v2(db_, read_, "empty", 5, Error())), "");
  EXPECT_EQ(rocksdb_get_pinned_v2(db_, read_, "b", 1, Error()), nullptr);
  size_t size = 7;
  EXPECT_EQ(rocksdb_pinnable_handle_get_value(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  // A value outlives the record that it was read from.
  rocksdb_pinnable_handle_t* const pinned = rocksdb_get_pinned_v2(db_, read_, "a", 1, Error());
  Put("a", "2");
  Flush();
  EXPECT_EQ(Take(pinned), "1");

  rocksdb_column_family_handle_t* const family = rocksdb_create_column_family(db_, options_, "one", Error());
  rocksdb_put_cf(db_, write_, family, "a", 1, "3", 1, Error());
  EXPECT_EQ(Take(rocksdb_get_pinned_cf_v2(db_, read_, family, "a", 1, Error())), "3");
  EXPECT_EQ(rocksdb_get_pinned_cf_v2(db_, read_, family, "empty", 5, Error()), nullptr);
  rocksdb_column_family_handle_destroy(family);
}

TEST_F(LaterTest, PinnedHandlesReportErrors) {
  Open();
  rocksdb_readoptions_set_timestamp(read_, "12345678", 8);
  Error error;
  EXPECT_EQ(rocksdb_get_pinned_v2(db_, read_, "a", 1, error), nullptr);
  EXPECT_NE(error.Take().find("timestamp"), std::string::npos);
}

// RocksDB crashes.
TEST_F(LaterTest, NullFamiliesAreRefused) {
  Open();
  const std::string refusal = "Invalid argument: Cannot call this method without a column family handle";
  Error error;
  rocksdb_put_cf(db_, write_, nullptr, "a", 1, "1", 1, error);
  EXPECT_EQ(error.Take(), refusal);
  rocksdb_delete_cf(db_, write_, nullptr, "a", 1, error);
  EXPECT_EQ(error.Take(), refusal);
  size_t size = 7;
  EXPECT_EQ(rocksdb_get_cf(db_, read_, nullptr, "a", 1, &size, error), nullptr);
  EXPECT_EQ(error.Take(), refusal);
  EXPECT_EQ(rocksdb_property_value_cf(db_, nullptr, "rocksdb.stats"), nullptr);
  rocksdb_drop_column_family(db_, nullptr, error);
  EXPECT_EQ(error.Take(), refusal);

  const rocksdb_column_family_handle_t* const families[] = {nullptr};
  const Lists keys({"a"});
  char* value = nullptr;
  char* message = nullptr;
  rocksdb_multi_get_cf(db_, read_, families, 1, keys.data.data(), keys.sizes.data(), &value, &size, &message);
  EXPECT_EQ(TakeText(message), refusal);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator_cf(db_, read_, nullptr);
  rocksdb_iter_get_error(iterator, error);
  EXPECT_EQ(error.Take(), refusal);
  rocksdb_iter_destroy(iterator);
}

TEST_F(LaterTest, ManyKeysAsSlices) {
  Open();
  Put("a", "1");
  Put(std::string("c\0c", 3), "3");
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db_);
  const rocksdb_slice_t keys[] = {{"c\0c", 3}, {"b", 1}, {"a", 1}};
  rocksdb_pinnableslice_t* values[3];
  char* errors[3];
  rocksdb_batched_multi_get_cf_slice(db_, read_, family, 3, keys, values, errors, false);
  for (char* error : errors) EXPECT_EQ(error, nullptr);
  EXPECT_EQ(c_api::Take(values[0]), "3");
  EXPECT_EQ(values[1], nullptr);
  EXPECT_EQ(c_api::Take(values[2]), "1");
  rocksdb_column_family_handle_destroy(family);
}

TEST_F(LaterTest, TheDefaultFamilyOutlivesItsHandles) {
  Open();
  rocksdb_column_family_handle_t* const one = rocksdb_get_default_column_family_handle(db_);
  rocksdb_column_family_handle_t* const other = rocksdb_get_default_column_family_handle(db_);
  EXPECT_EQ(rocksdb_column_family_handle_get_id(one), 0u);
  rocksdb_column_family_handle_destroy(one);
  rocksdb_put_cf(db_, write_, other, "a", 1, "1", 1, Error());
  rocksdb_column_family_handle_destroy(other);
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(LaterTest, ManyFamilies) {
  Open();
  const char* const names[] = {"one", "two"};
  size_t count = 0;
  rocksdb_column_family_handle_t** const families =
      rocksdb_create_column_families(db_, options_, 2, names, &count, Error());
  ASSERT_EQ(count, 2u);
  size_t size = 0;
  char* const name = rocksdb_column_family_handle_get_name(families[1], &size);
  EXPECT_EQ(c_api::Take(name, size), "two");

  rocksdb_put_cf(db_, write_, families[0], "a", 1, "1", 1, Error());
  rocksdb_put_cf(db_, write_, families[1], "a", 1, "2", 1, Error());
  Put("a", "3");
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush_cfs(db_, flush, families, 2, Error());
  rocksdb_flushoptions_destroy(flush);
  EXPECT_EQ(Files("0"), 0u);
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db_);
  EXPECT_EQ(rocksdb_livefiles_count(files), 2);
  rocksdb_livefiles_destroy(files);

  // The first exists already.
  const char* const some[] = {"three", "one"};
  Error error;
  rocksdb_column_family_handle_t** const rest =
      rocksdb_create_column_families(db_, options_, 2, some, &count, error);
  EXPECT_NE(error.Take(), "");
  ASSERT_EQ(count, 1u);
  rocksdb_column_family_handle_destroy(rest[0]);
  rocksdb_free(rest);
  EXPECT_EQ(rocksdb_create_column_families(db_, options_, 1, names, &count, error), nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_NE(error.Take(), "");

  for (size_t i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(families[i]);
  rocksdb_free(families);
}

TEST_F(LaterTest, Identity) {
  Open();
  size_t size = 0;
  char* const first = rocksdb_get_db_identity(db_, &size);
  const std::string identity = c_api::Take(first, size);
  EXPECT_GT(identity.size(), 8u);
  Close();
  Open();
  char* const second = rocksdb_get_db_identity(db_, &size);
  EXPECT_EQ(c_api::Take(second, size), identity);
}

TEST_F(LaterTest, IteratorsAsSlices) {
  Open();
  Put("a", "1");
  Put("b", "");
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  EXPECT_EQ(All(iter), "a=1 b= ");
  Put("c", "3");
  EXPECT_EQ(All(iter), "a=1 b= ");
  rocksdb_iter_refresh(iter, Error());
  EXPECT_EQ(All(iter), "a=1 b= c=3 ");
  rocksdb_iter_destroy(iter);
}

int Compare(const char* a, size_t a_size, const char* b, size_t b_size) {
  return std::string(a, a_size).compare(std::string(b, b_size));
}

TEST_F(LaterTest, TimestampsAsSlices) {
  rocksdb_comparator_t* const comparator = rocksdb_comparator_with_ts_create(
      nullptr, [](void*) {},
      [](void*, const char* a, size_t a_size, const char* b, size_t b_size) {
        const int keys = Compare(a, a_size - 8, b, b_size - 8);
        return keys != 0 ? keys : -Compare(a + a_size - 8, 8, b + b_size - 8, 8);
      },
      [](void*, const char* a, size_t a_size, const char* b, size_t b_size) {
        return Compare(a, a_size, b, b_size);
      },
      [](void*, const char* a, size_t a_size, unsigned char a_has, const char* b, size_t b_size,
         unsigned char b_has) { return Compare(a, a_size - (a_has != 0 ? 8 : 0), b, b_size - (b_has != 0 ? 8 : 0)); },
      [](void*) { return "later test"; }, 8);
  rocksdb_options_set_comparator(options_, comparator);
  Open();
  rocksdb_put_with_ts(db_, write_, "a", 1, "00000001", 8, "1", 1, Error());
  rocksdb_put_with_ts(db_, write_, "a", 1, "00000002", 8, "2", 1, Error());
  rocksdb_readoptions_set_timestamp(read_, "00000001", 8);
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek_to_first(iter);
  ASSERT_EQ(rocksdb_iter_valid(iter), 1);
  EXPECT_EQ(Text(rocksdb_iter_key_slice(iter)), "a");
  EXPECT_EQ(Text(rocksdb_iter_value_slice(iter)), "1");
  EXPECT_EQ(Text(rocksdb_iter_timestamp_slice(iter)), "00000001");
  rocksdb_iter_destroy(iter);
  Close();
  rocksdb_comparator_destroy(comparator);
}

TEST_F(LaterTest, SnapshotsHaveANumber) {
  Open();
  Put("a", "1");
  const rocksdb_snapshot_t* const first = rocksdb_create_snapshot(db_);
  EXPECT_EQ(rocksdb_snapshot_get_sequence_number(first), rocksdb_get_latest_sequence_number(db_));
  Put("a", "2");
  const rocksdb_snapshot_t* const second = rocksdb_create_snapshot(db_);
  EXPECT_EQ(rocksdb_snapshot_get_sequence_number(second), rocksdb_snapshot_get_sequence_number(first) + 1);
  rocksdb_release_snapshot(db_, first);
  rocksdb_release_snapshot(db_, second);
}

TEST_F(LaterTest, FilesHaveDirectoriesAndNumbers) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(db_);
  ASSERT_EQ(rocksdb_livefiles_count(files), 1);
  EXPECT_EQ(rocksdb_livefiles_directory(files, 0), path());
  EXPECT_EQ(rocksdb_livefiles_smallest_seqno(files, 0), 1u);
  EXPECT_EQ(rocksdb_livefiles_largest_seqno(files, 0), 2u);
  rocksdb_livefiles_destroy(files);

  rocksdb_column_family_metadata_t* const family = rocksdb_get_column_family_metadata(db_);
  for (size_t i = 0; i < rocksdb_column_family_metadata_get_level_count(family); ++i) {
    rocksdb_level_metadata_t* const level = rocksdb_column_family_metadata_get_level_metadata(family, i);
    if (rocksdb_level_metadata_get_file_count(level) != 0) {
      rocksdb_sst_file_metadata_t* const file = rocksdb_level_metadata_get_sst_file_metadata(level, 0);
      EXPECT_EQ(TakeText(rocksdb_sst_file_metadata_get_directory(file)), path());
      rocksdb_sst_file_metadata_destroy(file);
    }
    rocksdb_level_metadata_destroy(level);
  }
  rocksdb_column_family_metadata_destroy(family);
}

TEST_F(LaterTest, TheBaseOfATransactionDatabase) {
  rocksdb_transactiondb_options_t* const txn_options = rocksdb_transactiondb_options_create();
  rocksdb_transactiondb_t* const txn_db =
      rocksdb_transactiondb_open(options_, txn_options, path().c_str(), Error());
  ASSERT_NE(txn_db, nullptr);
  rocksdb_column_family_handle_t* families[] = {
      rocksdb_transactiondb_create_column_family(txn_db, options_, "one", Error()),
      rocksdb_transactiondb_create_column_family(txn_db, options_, "two", Error())};
  for (rocksdb_column_family_handle_t* family : families) {
    rocksdb_transactiondb_put_cf(txn_db, write_, family, "a", 1, "1", 1, Error());
  }
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_transactiondb_flush_cfs(txn_db, flush, families, 2, Error());
  rocksdb_flushoptions_destroy(flush);

  rocksdb_t* const base = rocksdb_transactiondb_get_base_db(txn_db);
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(base);
  EXPECT_EQ(rocksdb_livefiles_count(files), 2);
  rocksdb_livefiles_destroy(files);
  rocksdb_transactiondb_put(txn_db, write_, "a", 1, "2", 1, Error());
  EXPECT_EQ(GetFrom(base, "a"), "2");
  rocksdb_transactiondb_close_base_db(base);

  rocksdb_transactiondb_put(txn_db, write_, "a", 1, "3", 1, Error());
  for (rocksdb_column_family_handle_t* family : families) rocksdb_column_family_handle_destroy(family);
  rocksdb_transactiondb_close(txn_db);
  rocksdb_transactiondb_options_destroy(txn_options);
}

}  // namespace
}  // namespace c_api
