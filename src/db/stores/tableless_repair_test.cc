// SPDX-License-Identifier: Apache-2.0
// RepairDB of a family in pages: damaged records are left out; Gets and scans agree on the rest.
#include <algorithm>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "manifest/manifest.h"

namespace compassdb {
namespace {

class TablelessRepairTest : public DbTest {
 protected:
  static constexpr int kKeys = 600;

  TablelessRepairTest() {
    PieceTableOptions piece;
    piece.store = StoreKind::kTableless;
    piece.tableless_sections = 4;
    piece.tableless_pages = 40;
    options_.table_factory.reset(NewPieceTableFactory(piece));
  }
  static std::string Value(int i) { return std::to_string(i) + std::string(250, 'v'); }
  // In pages, some of it overflowing, and in a journal or pages what came last.
  void Fill() {
    OpenDb();
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
    Flush();
    for (int i = 0; i < kKeys; i += 10) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
    Flush();
    Compact();
    std::string overflowing;
    ASSERT_TRUE(db_->GetProperty("compassdb.tableless-overflow-records", &overflowing));
    EXPECT_GT(std::stoi(overflowing), 0);
    CloseDb();
  }
  void Repair() {
    const Status s = rocksdb::RepairDB(name_, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
  }
  // How many of the last keys are left; all existing ones were written.
  int Survivors() {
    int left = 0;
    std::string all;
    for (int i = 0; i < kKeys; ++i) {
      const std::string value = Get(Key(i));
      if (value == "NOT_FOUND") continue;
      EXPECT_EQ(value, Value(i));
      left += i % 10 != 0 ? 1 : 0;
      all += (all.empty() ? "" : ",") + Key(i) + "=" + value;
    }
    EXPECT_EQ(Scan(), all);
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
    return left;
  }
  static constexpr int kLive = kKeys - kKeys / 10;
};

TEST_F(TablelessRepairTest, WhatIsWholeStaysAsItIs) {
  Fill();
  const std::vector<std::string> before = FilesOf(FileType::kPageFile);
  Repair();
  EXPECT_EQ(Survivors(), kLive);
  EXPECT_EQ(FilesOf(FileType::kPageFile), before);
}

TEST_F(TablelessRepairTest, ADamagedPage) {
  Fill();
  const std::string path = name_ + "/" + FilesOf(FileType::kPageFile)[1];
  std::string data = ReadFile(path);
  data[2 * 4096 + 100] ^= 1;
  SetFile(path, data);
  Repair();
  const int left = Survivors();
  EXPECT_LT(left, kLive);
  EXPECT_GE(left, kLive - 15);
  EXPECT_EQ(ReadFile(name_ + "/lost/" + path.substr(name_.size() + 1)), data);
  // And it continues.
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  OpenDb();
  EXPECT_EQ(Survivors(), kLive);
}

TEST_F(TablelessRepairTest, ASectionThatIsGoneOrShort) {
  for (const bool gone : {true, false}) {
    Fill();
    const std::string path = name_ + "/" + FilesOf(FileType::kPageFile)[2];
    if (gone) {
      ASSERT_TRUE(fs_->DeleteFile(path).ok());
    } else {
      SetFile(path, ReadFile(path).substr(0, 3 * 4096));
    }
    Repair();
    const int left = Survivors();
    EXPECT_LT(left, kLive);
    EXPECT_GT(left, kLive / 2);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// What a hostile manifest may say: neither are that many pages looked for, nor written.
TEST_F(TablelessRepairTest, MorePagesThanThereIsRoomFor) {
  Fill();
  uint64_t number = 0;
  ASSERT_TRUE(Manifest::ReadCurrent(fs_.get(), name_, &number).ok());
  std::vector<VersionEdit> edits;
  const auto take = [&edits](const EditRecord& record) {
    for (VersionEdit& edit : record) {
      for (PageSectionMeta& section : edit.page_sections) section.pages = kMaxSectionPages;
      edits.push_back(std::move(edit));
    }
    return Status::OK();
  };
  ASSERT_TRUE(Manifest::Replay(fs_.get(), name_, number, take).ok());
  std::unique_ptr<Manifest> manifest;
  ASSERT_TRUE(Manifest::Create(fs_.get(), name_, number + 1000, edits, &manifest).ok());
  ASSERT_TRUE(manifest->Close().ok());
  rocksdb::DB* db = nullptr;
  const Status opened = rocksdb::DB::Open(options_, name_, &db);
  EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
  const Status s = rocksdb::RepairDB(name_, options_);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_NE(s.ToString().find(".pages"), std::string::npos) << s.ToString();
}

// Journals, overflow and key store are in them.
TEST_F(TablelessRepairTest, CompactionFilesThatAreGoneOrDamaged) {
  Fill();
  size_t files = FilesOf(FileType::kPieceFile).size();
  ASSERT_GT(files, 0u);
  for (size_t i = 0; i < files; ++i) {
    for (const double at : {-1.0, 0.0, 0.3, 0.6, 0.99}) {
      const std::vector<std::string> names = FilesOf(FileType::kPieceFile);
      if (i >= names.size()) continue;
      SCOPED_TRACE(names[i] + " at " + std::to_string(at));
      const std::string path = name_ + "/" + names[i];
      std::string data = ReadFile(path);
      if (at < 0) {
        ASSERT_TRUE(fs_->DeleteFile(path).ok());
      } else {
        data[static_cast<size_t>(at * static_cast<double>(data.size()))] ^= 4;
        SetFile(path, data);
      }
      Repair();
      EXPECT_GT(Survivors(), kLive / 2);
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      Fill();
      files = std::max(files, FilesOf(FileType::kPieceFile).size());
    }
  }
}

// What docs/compatibility.md says of one damaged page.
TEST_F(TablelessRepairTest, WritesToADamagedPageAreKeptForTheRepair) {
  Fill();
  const std::string section = JoinPath(name_, FilesOf(FileType::kPageFile).front());
  FlipBit(section, 4096 * 3 + 60);
  options_.write_buffer_size = 1 << 20;
  OpenDb();
  int damaged = 0;
  for (int i = 0; i < kKeys; ++i) damaged += Get(Key(i)).find("page 3 at offset") != std::string::npos ? 1 : 0;
  EXPECT_GT(damaged, 0);
  EXPECT_LT(damaged, 100);
  for (int i = 0; i < kKeys; ++i) {
    const Status s = Put(Key(i), Value(i) + "new", /*sync=*/true);
    ASSERT_TRUE(s.ok()) << i << " " << s.ToString();
  }
  const Status flushed = db_->Flush(rocksdb::FlushOptions());
  EXPECT_TRUE(flushed.IsCorruption()) << flushed.ToString();
  EXPECT_NE(flushed.ToString().find(section), std::string::npos) << flushed.ToString();
  EXPECT_TRUE(Put("more", "1").IsCorruption());
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i) + "new");
  EXPECT_TRUE(TryOpen().IsCorruption());
  CloseDb();
  {
    rocksdb::DB* reader = nullptr;
    ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok());
    const std::unique_ptr<rocksdb::DB> owned(reader);
    std::string value;
    ASSERT_TRUE(reader->Get({}, Key(1), &value).ok());
    EXPECT_EQ(value, Value(1) + "new");
  }
  Repair();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i) + "new");
  const Status whole = db_->VerifyChecksum();
  EXPECT_TRUE(whole.ok()) << whole.ToString();
}

}  // namespace
}  // namespace compassdb
