// SPDX-License-Identifier: Apache-2.0
// Opening, writing, reading, iterating, managing.
#include <cstring>

#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class DatabaseTest : public Database {};

TEST_F(DatabaseTest, ErrorsReplaceOlderOnes) {
  rocksdb_options_t* const strict = rocksdb_options_create();
  char* message = strdup("an older message");
  EXPECT_EQ(rocksdb_open(strict, path().c_str(), &message), nullptr);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(std::string(message).find("an older message"), std::string::npos) << message;
  const std::string first = message;
  EXPECT_EQ(rocksdb_open(strict, path().c_str(), &message), nullptr);
  EXPECT_EQ(message, first);
  // Success leaves it alone.
  rocksdb_t* const db = rocksdb_open(options_, path().c_str(), &message);
  ASSERT_NE(db, nullptr);
  EXPECT_EQ(message, first);
  rocksdb_free(message);
  rocksdb_close(db);
  rocksdb_options_destroy(strict);
}

TEST_F(DatabaseTest, PutGetDelete) {
  Open();
  Put("a", "1");
  Put("empty", "");
  Put(std::string("z\0z", 3), std::string("\0\1", 2));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("empty"), "");
  EXPECT_EQ(Get(std::string("z\0z", 3)), std::string("\0\1", 2));
  EXPECT_EQ(Get("z"), "(null)");
  rocksdb_delete(db_, write_, "a", 1, Error());
  EXPECT_EQ(Get("a"), "(null)");
  Put("once", "2");
  rocksdb_singledelete(db_, write_, "once", 4, Error());
  EXPECT_EQ(Get("once"), "(null)");
  size_t size = 7;
  EXPECT_EQ(rocksdb_get(db_, read_, "once", 4, &size, Error()), nullptr);
  EXPECT_EQ(size, 0u);
  Close();
  Open();
  EXPECT_EQ(Get("empty"), "");
}

TEST_F(DatabaseTest, PinnedValues) {
  Open();
  Put("a", "1");
  EXPECT_EQ(Take(rocksdb_get_pinned(db_, read_, "a", 1, Error())), "1");
  EXPECT_EQ(rocksdb_get_pinned(db_, read_, "b", 1, Error()), nullptr);
  size_t size = 7;
  EXPECT_EQ(rocksdb_pinnableslice_value(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
}

TEST_F(DatabaseTest, ManyKeys) {
  Open();
  Put("a", "1");
  Put("c", "");
  const Lists keys({"a", "b", "c"});
  char* values[3];
  size_t sizes[3];
  char* errors[3];
  rocksdb_multi_get(db_, read_, 3, keys.data.data(), keys.sizes.data(), values, sizes, errors);
  for (char* error : errors) EXPECT_EQ(error, nullptr);
  EXPECT_EQ(sizes[1], 0u);
  EXPECT_EQ(Take(values[0], sizes[0]), "1");
  EXPECT_EQ(Take(values[1], sizes[1]), "(null)");
  EXPECT_EQ(Take(values[2], sizes[2]), "");
}

TEST_F(DatabaseTest, KeyMayExist) {
  Open();
  Put("a", "1");
  char* value = nullptr;
  size_t size = 0;
  unsigned char found = 0;
  EXPECT_EQ(rocksdb_key_may_exist(db_, read_, "a", 1, &value, &size, nullptr, 0, &found), 1);
  ASSERT_EQ(found, 1);
  EXPECT_EQ(Take(value, size), "1");
  EXPECT_EQ(rocksdb_key_may_exist(db_, read_, "a", 1, nullptr, nullptr, nullptr, 0, nullptr), 1);
  // It is certain that there is no value. The empty value must be freed, as in RocksDB.
  value = nullptr;
  EXPECT_EQ(rocksdb_key_may_exist(db_, read_, "b", 1, &value, &size, nullptr, 0, &found), 0);
  EXPECT_EQ(found, 1);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(Take(value, size), "");
}

TEST_F(DatabaseTest, IteratorsWithBounds) {
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, std::string("v") + key);
  rocksdb_iterator_t* iter = rocksdb_create_iterator(db_, read_);
  EXPECT_EQ(rocksdb_iter_valid(iter), 0);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=va b=vb c=vc d=vd ");
  rocksdb_readoptions_set_iterate_upper_bound(read_, "d", 1);
  rocksdb_readoptions_set_iterate_lower_bound(read_, "b", 1);
  iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek_to_last(iter);
  rocksdb_iter_prev(iter);
  EXPECT_EQ(Rest(iter), "b=vb c=vc ");
  iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek_for_prev(iter, "bb", 2);
  EXPECT_EQ(Rest(iter), "b=vb c=vc ");
  // Null takes them away again.
  rocksdb_readoptions_set_iterate_upper_bound(read_, nullptr, 0);
  rocksdb_readoptions_set_iterate_lower_bound(read_, nullptr, 0);
  iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek(iter, "c", 1);
  EXPECT_EQ(Rest(iter), "c=vc d=vd ");
}

TEST_F(DatabaseTest, Snapshots) {
  Open();
  Put("a", "1");
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db_);
  Put("a", "2");
  rocksdb_readoptions_set_snapshot(read_, snapshot);
  EXPECT_EQ(Get("a"), "1");
  rocksdb_readoptions_set_snapshot(read_, nullptr);
  EXPECT_EQ(Get("a"), "2");
  rocksdb_release_snapshot(db_, snapshot);
}

// The handle exists, but holds none: reads through it see the newest value.
TEST_F(DatabaseTest, NoSnapshotsWithUpdatesInPlace) {
  rocksdb_options_set_inplace_update_support(options_, 1);
  rocksdb_options_set_allow_concurrent_memtable_write(options_, 0);
  Open();
  Put("a", "1");
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db_);
  ASSERT_NE(snapshot, nullptr);
  Put("a", "2");
  rocksdb_readoptions_set_snapshot(read_, snapshot);
  EXPECT_EQ(Get("a"), "2");
  rocksdb_readoptions_set_snapshot(read_, nullptr);
  rocksdb_release_snapshot(db_, snapshot);
}

TEST_F(DatabaseTest, ColumnFamilies) {
  Open();
  rocksdb_column_family_handle_t* const one = rocksdb_create_column_family(db_, options_, "one", Error());
  ASSERT_NE(one, nullptr);
  size_t size = 0;
  char* const name = rocksdb_column_family_handle_get_name(one, &size);
  EXPECT_EQ(Take(name, size), "one");
  EXPECT_EQ(rocksdb_column_family_handle_get_id(one), 1u);
  rocksdb_put_cf(db_, write_, one, "k", 1, "1", 1, Error());
  rocksdb_put_cf(db_, write_, one, "l", 1, "2", 1, Error());
  rocksdb_put_cf(db_, write_, one, "m", 1, "3", 1, Error());
  rocksdb_delete_range_cf(db_, write_, one, "l", 1, "m", 1, Error());
  rocksdb_column_family_handle_destroy(one);
  Close();

  size_t count = 0;
  char** const names = rocksdb_list_column_families(options_, path().c_str(), &count, Error());
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(names[0], "default");
  EXPECT_STREQ(names[1], "one");
  rocksdb_list_column_families_destroy(names, count);

  const char* const family_names[] = {"default", "one"};
  const rocksdb_options_t* const family_options[] = {options_, options_};
  rocksdb_column_family_handle_t* families[2];
  Error error;
  EXPECT_EQ(rocksdb_open_column_families(options_, path().c_str(), 1, family_names, family_options, families, error),
            nullptr);
  EXPECT_NE(error.Take(), "");
  db_ = rocksdb_open_column_families(options_, path().c_str(), 2, family_names, family_options, families, error);
  ASSERT_NE(db_, nullptr);

  const Lists keys({"k", "k", "l"});
  const rocksdb_column_family_handle_t* const key_families[] = {families[0], families[1], families[1]};
  char* values[3];
  size_t sizes[3];
  char* errors[3];
  rocksdb_multi_get_cf(db_, read_, key_families, 3, keys.data.data(), keys.sizes.data(), values, sizes, errors);
  EXPECT_EQ(Take(values[0], sizes[0]), "(null)");
  EXPECT_EQ(Take(values[1], sizes[1]), "1");
  EXPECT_EQ(Take(values[2], sizes[2]), "(null)");

  rocksdb_pinnableslice_t* pinned[3];
  const Lists sorted({"k", "l", "m"});
  rocksdb_batched_multi_get_cf(db_, read_, families[1], 3, sorted.data.data(), sorted.sizes.data(), pinned, errors,
                               true);
  EXPECT_EQ(Take(pinned[0]), "1");
  EXPECT_EQ(pinned[1], nullptr);
  EXPECT_EQ(Take(pinned[2]), "3");
  for (char* message : errors) EXPECT_EQ(message, nullptr);

  rocksdb_iterator_t* iterators[2];
  rocksdb_create_iterators(db_, read_, families, iterators, 2, Error());
  rocksdb_iter_seek_to_first(iterators[0]);
  rocksdb_iter_seek_to_first(iterators[1]);
  EXPECT_EQ(Rest(iterators[0]), "");
  EXPECT_EQ(Rest(iterators[1]), "k=1 m=3 ");

  rocksdb_drop_column_family(db_, families[1], Error());
  for (rocksdb_column_family_handle_t* family : families) rocksdb_column_family_handle_destroy(family);
}

TEST_F(DatabaseTest, ReadOnly) {
  Open();
  Put("a", "1");
  Close();
  Error error;
  db_ = rocksdb_open_for_read_only(options_, path().c_str(), 0, error);
  ASSERT_NE(db_, nullptr);
  EXPECT_EQ(Get("a"), "1");
  rocksdb_put(db_, write_, "a", 1, "2", 1, error);
  EXPECT_NE(error.Take(), "");
}

TEST_F(DatabaseTest, PropertiesAndSizes) {
  Open();
  for (int i = 0; i < 1000; ++i) Put("key" + std::to_string(i), std::string(100, 'v'));
  uint64_t keys = 0;
  EXPECT_EQ(rocksdb_property_int(db_, "rocksdb.estimate-num-keys", &keys), 0);
  EXPECT_EQ(keys, 1000u);
  EXPECT_EQ(rocksdb_property_int(db_, "rocksdb.nothing", &keys), -1);
  EXPECT_EQ(rocksdb_property_value(db_, "rocksdb.nothing"), nullptr);
  EXPECT_EQ(TakeText(rocksdb_property_value(db_, "rocksdb.estimate-num-keys")), "1000");
  EXPECT_EQ(rocksdb_get_latest_sequence_number(db_), 1000u);
  Flush();
  const Lists starts({"a", "l"});
  const Lists limits({"l", "z"});
  uint64_t sizes[2] = {0, 7};
  rocksdb_approximate_sizes(db_, 2, starts.data.data(), starts.sizes.data(), limits.data.data(), limits.sizes.data(),
                            sizes, Error());
  EXPECT_GT(sizes[0], 0u);
  EXPECT_EQ(sizes[1], 0u);
}

TEST_F(DatabaseTest, CompactionAndFiles) {
  rocksdb_options_set_disable_auto_compactions(options_, 1);
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  Put("c", "3");
  Flush();
  const rocksdb_livefiles_t* files = rocksdb_livefiles(db_);
  ASSERT_EQ(rocksdb_livefiles_count(files), 2);
  EXPECT_STREQ(rocksdb_livefiles_column_family_name(files, 0), "default");
  EXPECT_EQ(rocksdb_livefiles_level(files, 0), 0);
  EXPECT_GT(rocksdb_livefiles_size(files, 0), 0u);
  uint64_t entries = 0;
  for (int i = 0; i < 2; ++i) entries += rocksdb_livefiles_entries(files, i);
  EXPECT_EQ(entries, 3u);
  rocksdb_livefiles_destroy(files);

  rocksdb_compactoptions_t* const compact = rocksdb_compactoptions_create();
  rocksdb_compactoptions_set_bottommost_level_compaction(compact, 2);
  rocksdb_compact_range_opt(db_, compact, nullptr, 0, nullptr, 0);
  rocksdb_compactoptions_destroy(compact);
  rocksdb_compact_range(db_, "a", 1, "z", 1);
  rocksdb_column_family_metadata_t* const family = rocksdb_get_column_family_metadata(db_);
  EXPECT_EQ(TakeText(rocksdb_column_family_metadata_get_name(family)), "default");
  EXPECT_EQ(rocksdb_column_family_metadata_get_file_count(family), 1u);
  EXPECT_GT(rocksdb_column_family_metadata_get_size(family), 0u);
  const size_t levels = rocksdb_column_family_metadata_get_level_count(family);
  EXPECT_EQ(rocksdb_column_family_metadata_get_level_metadata(family, levels), nullptr);
  int found = 0;
  for (size_t i = 0; i < levels; ++i) {
    rocksdb_level_metadata_t* const level = rocksdb_column_family_metadata_get_level_metadata(family, i);
    const size_t count = rocksdb_level_metadata_get_file_count(level);
    EXPECT_EQ(rocksdb_level_metadata_get_sst_file_metadata(level, count), nullptr);
    for (size_t j = 0; j < count; ++j, ++found) {
      EXPECT_GT(rocksdb_level_metadata_get_level(level), 0);
      rocksdb_sst_file_metadata_t* const file = rocksdb_level_metadata_get_sst_file_metadata(level, j);
      EXPECT_NE(TakeText(rocksdb_sst_file_metadata_get_relative_filename(file)), "");
      size_t size = 0;
      char* key = rocksdb_sst_file_metadata_get_smallestkey(file, &size);
      EXPECT_EQ(Take(key, size), "a");
      key = rocksdb_sst_file_metadata_get_largestkey(file, &size);
      EXPECT_EQ(Take(key, size), "c");
      rocksdb_sst_file_metadata_destroy(file);
    }
    rocksdb_level_metadata_destroy(level);
  }
  EXPECT_EQ(found, 1);
  rocksdb_column_family_metadata_destroy(family);
  rocksdb_disable_manual_compaction(db_);
  rocksdb_enable_manual_compaction(db_);
  rocksdb_disable_file_deletions(db_, Error());
  rocksdb_enable_file_deletions(db_, 1, Error());
  rocksdb_flush_wal(db_, 1, Error());
  rocksdb_cancel_all_background_work(db_, 1);
}

TEST_F(DatabaseTest, SetOptions) {
  Open();
  const char* const keys[] = {"write_buffer_size", "disable_auto_compactions"};
  const char* const values[] = {"131072", "true"};
  rocksdb_set_options(db_, 2, keys, values, Error());
  const char* const wrong[] = {"no_such_option"};
  Error error;
  rocksdb_set_options(db_, 1, wrong, values, error);
  EXPECT_NE(error.Take(), "");
}

TEST_F(DatabaseTest, Destroy) {
  Open();
  Close();
  rocksdb_destroy_db(options_, path().c_str(), Error());
  rocksdb_options_set_create_if_missing(options_, 0);
  Error error;
  EXPECT_EQ(rocksdb_open(options_, path().c_str(), error), nullptr);
  EXPECT_NE(error.Take(), "");
}

TEST_F(DatabaseTest, TimestampsNeedAComparatorForThem) {
  Open();
  Error error;
  rocksdb_put_with_ts(db_, write_, "a", 1, "00000000", 8, "1", 1, error);
  EXPECT_NE(error.Take(), "");
}

}  // namespace
}  // namespace c_api
