// SPDX-License-Identifier: Apache-2.0
// Edits that contradict earlier ones: such a manifest is damaged, even with right checksums.
#include "db/open/recovered_state.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

class RecoveredStateTest : public ::testing::Test {
 protected:
  RecoveredStateTest() {
    VersionEdit edit;
    edit.column_family = 3;
    edit.add_column_family = "family";
    edit.comparator = "cmp";
    EXPECT_TRUE(state_.Apply(edit).ok());
  }
  static VersionEdit Edit() {
    VersionEdit edit;
    edit.column_family = 3;
    return edit;
  }
  static VersionEdit WithTable(uint64_t id) {
    VersionEdit edit = Edit();
    TphMeta table;
    table.tph_id = id;
    edit.added.push_back({2, table});
    return edit;
  }
  static VersionEdit WithValues(uint64_t id) {
    VersionEdit edit = Edit();
    ValueRunMeta run;
    run.run_id = id;
    run.extent.file_number = 70 + id;
    edit.added_values.push_back(run);
    return edit;
  }
  static VersionEdit WithPageRun(uint64_t id) {
    VersionEdit edit = Edit();
    PageRunMeta run;
    run.run_id = id;
    run.extent.file_number = 80 + id;
    edit.added_page_runs.push_back(run);
    return edit;
  }
  void ExpectRefused(const VersionEdit& edit, const std::string& why) {
    RecoveredState state = state_;
    const Status s = state.Apply(edit);
    EXPECT_TRUE(s.IsCorruption()) << why;
    EXPECT_NE(s.ToString().find(why), std::string::npos) << s.ToString();
  }
  RecoveredState state_;
};

TEST_F(RecoveredStateTest, TheLastSequenceIsNotBehindPages) {
  VersionEdit edit = Edit();
  edit.last_sequence = 7;
  edit.folded_sequence = 8;
  ASSERT_TRUE(state_.Apply(edit).ok());
  EXPECT_EQ(state_.last_sequence, 8u);
  edit.in_place_sequence = 9;
  ASSERT_TRUE(state_.Apply(edit).ok());
  EXPECT_EQ(state_.last_sequence, 9u);
}

TEST_F(RecoveredStateTest, Families) {
  VersionEdit edit = Edit();
  edit.add_column_family = "again";
  ExpectRefused(edit, "column family 3 is added twice");
  edit = Edit();
  edit.column_family = 4;
  EXPECT_TRUE(state_.Apply(edit).ok());  // says nothing of it
  edit.drop_column_family = true;
  ExpectRefused(edit, "unknown column family 4");
  edit = Edit();
  edit.column_family = 4;
  edit.log_number = 9;
  ExpectRefused(edit, "unknown column family 4");
  edit = Edit();
  edit.column_family = 4;
  edit.history_low = "low";
  ExpectRefused(edit, "unknown column family 4");
  for (VersionEdit touching : {WithTable(1), WithValues(1), WithPageRun(1)}) {
    touching.column_family = 4;
    ExpectRefused(touching, "unknown column family 4");
  }
  edit = Edit();
  edit.drop_column_family = true;
  ASSERT_TRUE(state_.Apply(edit).ok());
  ExpectRefused(edit, "unknown column family 3");
  EXPECT_TRUE(state_.families.empty());
}

TEST_F(RecoveredStateTest, Tables) {
  ASSERT_TRUE(state_.Apply(WithTable(7)).ok());
  ExpectRefused(WithTable(7), "adds a table twice: 7");
  VersionEdit edit = Edit();
  edit.deleted.push_back({2, 8});
  ExpectRefused(edit, "deletes a table that does not exist: 8");
  edit.deleted = {{1, 7}};  // it is in another level
  ExpectRefused(edit, "deletes a table that does not exist: 7");
  edit.deleted = {{2, 7}};
  ASSERT_TRUE(state_.Apply(edit).ok());
  EXPECT_TRUE(state_.families[3].tables.empty());
}

TEST_F(RecoveredStateTest, Values) {
  ASSERT_TRUE(state_.Apply(WithValues(7)).ok());
  ExpectRefused(WithValues(7), "adds a run of values twice: 7");
  VersionEdit edit = Edit();
  edit.deleted_values.push_back(8);
  ExpectRefused(edit, "deletes a run of values that does not exist: 8");
  edit.deleted_values = {7};
  ASSERT_TRUE(state_.Apply(edit).ok());
  EXPECT_TRUE(state_.families[3].values.empty());
}

TEST_F(RecoveredStateTest, Pages) {
  PageSectionMeta section;
  section.section = 16;
  VersionEdit edit = Edit();
  edit.page_sections.push_back(section);
  ExpectRefused(edit, "a page section that is not one: 16");  // nothing said how many there are
  edit.page_geometry = PageGeometry{16, 4096};
  ExpectRefused(edit, "a page section that is not one: 16");
  edit.page_sections[0].section = 15;
  ASSERT_TRUE(state_.Apply(edit).ok());
  for (const PageGeometry& other : {PageGeometry{1, 4096}, PageGeometry{16, 8192}}) {
    VersionEdit changed = Edit();
    changed.page_geometry = other;
    ExpectRefused(changed, "changes number or size of existing pages");
  }
  ASSERT_TRUE(state_.Apply(WithPageRun(7)).ok());
  ExpectRefused(WithPageRun(7), "adds a page run twice: 7");
  edit = Edit();
  edit.deleted_page_runs.push_back(8);
  ExpectRefused(edit, "deletes a page run that does not exist: 8");
  edit.deleted_page_runs = {7};
  ASSERT_TRUE(state_.Apply(edit).ok());
  EXPECT_TRUE(state_.families[3].page_runs.empty());
}

// Checksums of files are kept as long as the files have live data.
TEST_F(RecoveredStateTest, ChecksumsOfFilesThatLive) {
  EXPECT_TRUE(state_.LiveChecksums().empty());
  VersionEdit edit = WithValues(1);
  edit.file_checksums = {{71, "a", "F"}, {72, "b", "F"}, {81, "c", "F"}};
  ASSERT_TRUE(state_.Apply(edit).ok());
  ASSERT_TRUE(state_.Apply(WithPageRun(1)).ok());
  const std::vector<FileChecksum> live = state_.LiveChecksums();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].checksum, "a");
  EXPECT_EQ(live[1].checksum, "c");
}

}  // namespace
}  // namespace compassdb
