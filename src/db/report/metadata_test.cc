// SPDX-License-Identifier: Apache-2.0
#include "db/report/metadata.h"

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

class MetadataTest : public ::testing::Test {
 protected:
  FamilyHarness db_;
  const std::string id_ = "id";
  const Metadata metadata_{id_, db_.families, &db_.files, db_.ledger};
};

TEST_F(MetadataTest, ATableIsAFile) {
  EXPECT_EQ(metadata_.OldestCreationTime(), UINT64_MAX);
  db_.Put("a", "1");
  db_.Put("b", "2");
  EXPECT_TRUE(metadata_.LiveFiles().empty());
  db_.Flush(db_.family());
  ColumnFamily* const other = db_.Add("other");
  db_.Write(other, kTypeDeletion, "c");
  db_.Flush(other);

  const auto files = metadata_.LiveFiles();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].column_family_name, "default");
  EXPECT_EQ(files[0].smallestkey, "a");
  EXPECT_EQ(files[0].largestkey, "b");
  EXPECT_EQ(files[0].num_entries, 2u);
  EXPECT_EQ(files[1].column_family_name, "other");
  EXPECT_EQ(files[1].num_deletions, 1u);
  for (const auto& file : files) {
    EXPECT_TRUE(db_.fs.FileExists(file.directory + "/" + file.relative_filename).ok());
  }

  const auto families = metadata_.OfAllFamilies();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].file_count, 1u);
  EXPECT_EQ(families[0].size, files[0].size);
  ASSERT_EQ(families[0].levels[0].files.size(), 1u);
  EXPECT_EQ(families[0].levels[0].files[0].name, files[0].name);
}

TEST_F(MetadataTest, SizesAreOfWhatIsAskedFor) {
  db_.Put("a", std::string(1000, 'x'));
  db_.Flush(db_.family());
  db_.Put("b", std::string(1000, 'x'));
  const auto size = [&](bool memtables, bool files) {
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = memtables;
    options.include_files = files;
    const rocksdb::Range range("a", "c");
    uint64_t bytes = 0;
    const Status s = metadata_.ApproximateSizes(options, db_.family(), &range, 1, &bytes);
    EXPECT_EQ(s.ok(), memtables || files);
    return bytes;
  };
  EXPECT_EQ(size(false, false), 0u);
  EXPECT_GT(size(true, false), 0u);
  EXPECT_GT(size(false, true), 0u);
  EXPECT_EQ(size(true, true), size(true, false) + size(false, true));
}

TEST_F(MetadataTest, PropertiesAreOfTablesInTheRange) {
  db_.Put("a", "1");
  db_.Flush(db_.family());
  db_.Put("k", "2");
  db_.Flush(db_.family());
  rocksdb::TablePropertiesCollection all, some;
  ASSERT_TRUE(metadata_.PropertiesOfTables(db_.family(), nullptr, 0, &all).ok());
  EXPECT_EQ(all.size(), 2u);
  const rocksdb::Range range("b", "z");
  ASSERT_TRUE(metadata_.PropertiesOfTables(db_.family(), &range, 1, &some).ok());
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some.begin()->second->num_entries, 1u);
  EXPECT_EQ(some.begin()->second->db_id, id_);
}

}  // namespace
}  // namespace compassdb
