// SPDX-License-Identifier: Apache-2.0
// Column families exported to files and made of them.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class ExportImportTest : public Database {
 protected:
  // Exports the default family to the directory.
  rocksdb_export_import_files_metadata_t* Export(const std::string& directory, char** error) {
    rocksdb_checkpoint_t* const checkpoint = rocksdb_checkpoint_object_create(db_, Error());
    rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db_);
    auto* const metadata =
        rocksdb_checkpoint_export_column_family(checkpoint, family, path(directory).c_str(), error);
    rocksdb_column_family_handle_destroy(family);
    rocksdb_checkpoint_object_destroy(checkpoint);
    return metadata;
  }

  rocksdb_column_family_handle_t* Import(const std::string& name, bool move,
                                         rocksdb_export_import_files_metadata_t* metadata, char** error) {
    rocksdb_import_column_family_options_t* const import = rocksdb_import_column_family_options_create();
    rocksdb_import_column_family_options_set_move_files(import, move ? 1 : 0);
    auto* const family =
        rocksdb_create_column_family_with_import(db_, options_, name.c_str(), import, metadata, error);
    rocksdb_import_column_family_options_destroy(import);
    return family;
  }

  std::string GetFromFamily(rocksdb_column_family_handle_t* family, const std::string& key) {
    return Take(rocksdb_get_pinned_cf(db_, read_, family, C_BYTES(key), Error()));
  }
};

TEST_F(ExportImportTest, RoundTrip) {
  Open();
  Put("a", "1");
  Put("b", "2");
  rocksdb_delete(db_, write_, "b", 1, Error());
  Put("c", "3");
  auto* const metadata = Export("export", Error());
  ASSERT_NE(metadata, nullptr);
  EXPECT_EQ(TakeText(rocksdb_export_import_files_metadata_get_db_comparator_name(metadata)),
            "leveldb.BytewiseComparator");
  rocksdb_livefiles_t* const files = rocksdb_export_import_files_metadata_get_files(metadata);
  ASSERT_EQ(rocksdb_livefiles_count(files), 1);
  EXPECT_EQ(rocksdb_livefiles_directory(files, 0), path("export"));
  size_t size = 0;
  const char* const smallest = rocksdb_livefiles_smallestkey(files, 0, &size);
  EXPECT_EQ(std::string(smallest, size), "a");
  const char* const largest = rocksdb_livefiles_largestkey(files, 0, &size);
  EXPECT_EQ(std::string(largest, size), "c");

  // The export keeps what the database changes.
  Put("a", "later");
  rocksdb_column_family_handle_t* const family = Import("copied", false, metadata, Error());
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(GetFromFamily(family, "a"), "1");
  EXPECT_EQ(GetFromFamily(family, "b"), "(null)");
  EXPECT_EQ(GetFromFamily(family, "c"), "3");
  rocksdb_column_family_handle_destroy(family);

  // The same from a list that the caller made.
  rocksdb_livefile_t* const file = rocksdb_livefile_create();
  rocksdb_livefile_set_column_family_name(file, rocksdb_livefiles_column_family_name(files, 0));
  rocksdb_livefile_set_name(file, rocksdb_livefiles_name(files, 0));
  rocksdb_livefile_set_directory(file, rocksdb_livefiles_directory(files, 0));
  rocksdb_livefile_set_level(file, rocksdb_livefiles_level(files, 0));
  rocksdb_livefile_set_size(file, rocksdb_livefiles_size(files, 0));
  rocksdb_livefile_set_smallest_key(file, "a", 1);
  rocksdb_livefile_set_largest_key(file, "c", 1);
  rocksdb_livefile_set_smallest_seqno(file, rocksdb_livefiles_smallest_seqno(files, 0));
  rocksdb_livefile_set_largest_seqno(file, rocksdb_livefiles_largest_seqno(files, 0));
  rocksdb_livefile_set_num_entries(file, rocksdb_livefiles_entries(files, 0));
  rocksdb_livefile_set_num_deletions(file, rocksdb_livefiles_deletions(files, 0));
  rocksdb_livefiles_t* const list = rocksdb_livefiles_create();
  rocksdb_livefiles_add(list, file);
  auto* const own = rocksdb_export_import_files_metadata_create();
  rocksdb_export_import_files_metadata_set_db_comparator_name(own, "leveldb.BytewiseComparator");
  rocksdb_export_import_files_metadata_set_files(own, list);
  rocksdb_column_family_handle_t* const moved = Import("moved", true, own, Error());
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(GetFromFamily(moved, "c"), "3");
  rocksdb_column_family_handle_destroy(moved);
  rocksdb_export_import_files_metadata_destroy(own);
  rocksdb_livefiles_destroy(files);
  rocksdb_export_import_files_metadata_destroy(metadata);
}

TEST_F(ExportImportTest, FilesHaveWhatWasSet) {
  rocksdb_livefiles_t* const files = rocksdb_livefiles_create();
  EXPECT_EQ(rocksdb_livefiles_count(files), 0);
  rocksdb_livefile_destroy(rocksdb_livefile_create());
  rocksdb_livefile_t* const file = rocksdb_livefile_create();
  rocksdb_livefile_set_column_family_name(file, "one");
  rocksdb_livefile_set_name(file, "/000001.sst");
  rocksdb_livefile_set_directory(file, "/there");
  rocksdb_livefile_set_level(file, 3);
  rocksdb_livefile_set_size(file, 4);
  rocksdb_livefile_set_smallest_key(file, "a\0a", 3);
  rocksdb_livefile_set_largest_key(file, "b\0b", 3);
  rocksdb_livefile_set_smallest_seqno(file, 5);
  rocksdb_livefile_set_largest_seqno(file, 6);
  rocksdb_livefile_set_num_entries(file, 7);
  rocksdb_livefile_set_num_deletions(file, 8);
  rocksdb_livefiles_add(files, file);
  ASSERT_EQ(rocksdb_livefiles_count(files), 1);
  EXPECT_STREQ(rocksdb_livefiles_column_family_name(files, 0), "one");
  EXPECT_STREQ(rocksdb_livefiles_name(files, 0), "/000001.sst");
  EXPECT_STREQ(rocksdb_livefiles_directory(files, 0), "/there");
  EXPECT_EQ(rocksdb_livefiles_level(files, 0), 3);
  EXPECT_EQ(rocksdb_livefiles_size(files, 0), 4u);
  size_t size = 0;
  const char* const smallest = rocksdb_livefiles_smallestkey(files, 0, &size);
  EXPECT_EQ(std::string(smallest, size), std::string("a\0a", 3));
  const char* const largest = rocksdb_livefiles_largestkey(files, 0, &size);
  EXPECT_EQ(std::string(largest, size), std::string("b\0b", 3));
  EXPECT_EQ(rocksdb_livefiles_smallest_seqno(files, 0), 5u);
  EXPECT_EQ(rocksdb_livefiles_largest_seqno(files, 0), 6u);
  EXPECT_EQ(rocksdb_livefiles_entries(files, 0), 7u);
  EXPECT_EQ(rocksdb_livefiles_deletions(files, 0), 8u);
  rocksdb_livefiles_destroy(files);
}

TEST_F(ExportImportTest, Errors) {
  Open();
  Put("a", "1");
  auto* const metadata = Export("export", Error());
  ASSERT_NE(metadata, nullptr);
  Error error;
  EXPECT_EQ(Export("export", error), nullptr);
  EXPECT_NE(error.Take().find("export_dir exists"), std::string::npos);

  rocksdb_export_import_files_metadata_set_db_comparator_name(metadata, "another");
  EXPECT_EQ(Import("one", false, metadata, error), nullptr);
  EXPECT_NE(error.Take().find("Comparator name mismatch"), std::string::npos);
  rocksdb_export_import_files_metadata_set_db_comparator_name(metadata, "leveldb.BytewiseComparator");
  EXPECT_EQ(Import("default", false, metadata, error), nullptr);
  EXPECT_NE(error.Take(), "");
  rocksdb_column_family_handle_t* const family = Import("one", false, metadata, Error());
  EXPECT_EQ(GetFromFamily(family, "a"), "1");
  rocksdb_column_family_handle_destroy(family);
  rocksdb_export_import_files_metadata_destroy(metadata);
}

}  // namespace
}  // namespace c_api
