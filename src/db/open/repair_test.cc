// SPDX-License-Identifier: Apache-2.0
// RepairDB: what can be saved exists afterwards, and the rest is in lost/.
#include <algorithm>

#include "api/comparator_u64ts.h"
#include "db/testing/db_test_util.h"
#include "db/testing/timed_test_util.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

class RepairTest : public DbTest {
 protected:
  void Fill() {
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), std::string(300, 'a')).ok());
    Flush();
    for (int i = 50; i < 150; ++i) ASSERT_TRUE(Put(Key(i), std::string(300, 'b')).ok());
    Compact();
    ASSERT_TRUE(Put("tail", "in the log").ok());
    all_ = Scan();
    CloseDb();
  }
  Status Repair() {
    CloseDb();
    return rocksdb::RepairDB(name_, options_);
  }
  // "a" and "b", each in a compaction file of its own, whose names are returned, the older first.
  void FillTwoFiles(std::vector<std::string>* files) {
    OpenDb();
    for (const auto& [key, value] : {std::pair("a", "1"), std::pair("b", "2")}) {
      ASSERT_TRUE(Put(key, value).ok());
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    CloseDb();
    *files = FilesOf(FileType::kPieceFile);
    ASSERT_EQ(files->size(), 2u);
  }
  // With their mirrors.
  void LoseManifests() {
    for (FileType type : {FileType::kManifest, FileType::kManifestMirror}) {
      for (const std::string& name : FilesOf(type)) ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
    }
  }
  void Overwrite(const std::string& path, size_t at, size_t n) {
    std::string data = ReadFile(path);
    ASSERT_LT(at, data.size());
    for (size_t i = at; i < std::min(data.size(), at + n); ++i) data[i] ^= 0x55;
    SetFile(path, data);
  }
  std::string all_;
};

TEST_F(RepairTest, AWholeDatabaseStaysAsItIs) {
  Fill();
  ASSERT_TRUE(Repair().ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), all_);
  EXPECT_TRUE(FilesOf(FileType::kPieceFile, "/db/lost").empty());
}

TEST_F(RepairTest, CurrentIsLostOrDamaged) {
  Fill();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), all_);
  CloseDb();
  Overwrite(CurrentFileName(name_), 3, 4);
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), all_);
}

// A manifest that was begun and given up has the higher number, but the older state.
TEST_F(RepairTest, TheNewestStateCountsWithoutCurrent) {
  options_.max_manifest_file_size = 1;  // each commit needs a new one
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  fs_->FailAll(FaultOp::kDelete, "M", Status::IOError("injected"));
  fs_->FailAll(FaultOp::kRename, "CURRENT", Status::IOError("injected"));
  ASSERT_TRUE(Put("b", "2").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  fs_->FailAll(FaultOp::kCreate, "MANIFEST", Status::IOError("injected"));
  ASSERT_TRUE(Put("c", "3").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  CloseDb();
  fs_->ClearFaults();
  ASSERT_GE(FilesOf(FileType::kManifest).size(), 2u);
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2,c=3");
}

// And so is its mirror: what they say before that, and the logs that are left.
TEST_F(RepairTest, TheManifestIsDamagedInTheMiddle) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  uint64_t bytes = 0;
  std::vector<std::string> live;
  ASSERT_TRUE(db_->GetLiveFiles(live, &bytes, false).ok());
  ASSERT_TRUE(Put("b", "2").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("c", "3").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("d", "4").ok());
  CloseDb();
  const std::vector<std::string> manifests = FilesOf(FileType::kManifest);
  ASSERT_EQ(manifests.size(), 1u);
  const std::vector<std::string> mirrors = FilesOf(FileType::kManifestMirror);
  ASSERT_EQ(mirrors.size(), 1u);
  Overwrite(JoinPath(name_, manifests[0]), bytes + 20, 8);
  Overwrite(JoinPath(name_, mirrors[0]), bytes + 20, 8);
  EXPECT_TRUE(TryOpen().IsCorruption());
  Status s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("d"), "4");  // the log
  EXPECT_EQ(Get("b"), "NOT_FOUND");
  EXPECT_EQ(FilesOf(FileType::kPieceFile, "/db/lost").size(), 2u);
  EXPECT_EQ(FilesOf(FileType::kManifest, "/db/lost"), manifests);
  ASSERT_TRUE(Put("e", "5").ok());
}

TEST_F(RepairTest, TheMirrorOfTheManifestIsUsed) {
  families_ = {"default", "second"};
  options_.create_missing_column_families = true;
  for (const bool removed : {false, true}) {
    OpenDb();
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[i % 2], Key(i), std::string(300, 'v')).ok());
      if (i % 50 == 0) {
        ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_).ok());
      }
    }
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), handles_[1], nullptr, nullptr).ok());
    const std::string all = Scan();
    CloseDb();
    const std::string manifest = JoinPath(name_, FilesOf(FileType::kManifest).at(0));
    if (removed) {
      ASSERT_TRUE(fs_->DeleteFile(manifest).ok());
      ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
    } else {
      Overwrite(manifest, 30, 200);
      EXPECT_TRUE(TryOpen().IsCorruption());
    }
    Status s = rocksdb::RepairDB(name_, options_,
                                 {{"default", options_}, {"second", options_}});
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    EXPECT_EQ(Scan(), all);
    for (int i = 1; i < 200; i += 2) ASSERT_EQ(GetIn(1, Key(i)), std::string(300, 'v'));
  }
}

TEST_F(RepairTest, ACompactionFileIsLost) {
  std::vector<std::string> files;
  FillTwoFiles(&files);
  ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, files[0])).ok());
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), "b=2");
}

TEST_F(RepairTest, ATableWithoutItsIndexIsReadByItsBlocks) {
  std::vector<std::string> files;
  FillTwoFiles(&files);
  const std::string path = JoinPath(name_, files[0]);
  uint64_t size = 0;
  ASSERT_TRUE(fs_->GetFileSize(path, &size).ok());
  Overwrite(path, size / 2, size / 2);
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2");
  EXPECT_EQ(FilesOf(FileType::kPieceFile, "/db/lost"), std::vector<std::string>{files[0]});
}

TEST_F(RepairTest, DamagedAndMissingLogsArePassedOver) {
  OpenDb();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put("k" + std::to_string(i), std::string(100, 'x')).ok());
  CloseDb();
  const std::vector<std::string> logs = FilesOf(FileType::kWal);
  ASSERT_EQ(logs.size(), 1u);
  const std::string log = JoinPath(name_, logs[0]);
  Overwrite(log, ReadFile(log).size() / 2, 4);
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_NE(Get("k0"), "NOT_FOUND");
  EXPECT_NE(Get("k9"), "NOT_FOUND");  // behind the damage
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 10u);
}

TEST_F(RepairTest, WithoutAManifestTheLogsAloneAreUsed) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  LoseManifests();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  Status s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  CloseDb();
  // Compaction files say themselves what was in use (lost_manifest_test.cc).
  LoseManifests();
  const size_t files = FilesOf(FileType::kPieceFile).size();
  ASSERT_GT(files, 0u);
  s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(FilesOf(FileType::kPieceFile).size(), files);
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

// That a log cannot be read now does not mean that there is none.
TEST_F(RepairTest, LogsThatCannotBeReadNow) {
  for (const FaultOp op : {FaultOp::kOpen, FaultOp::kRead}) {
    int failed = 0;
    bool met = true;
    for (uint64_t n = 1; met; ++n) {
      SCOPED_TRACE(std::string(FaultOpName(op)) + " " + std::to_string(n));
      OpenDb();
      ASSERT_TRUE(Put("a", "1").ok());
      CloseDb();
      LoseManifests();
      ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
      const uint64_t before = fs_->faults_injected();
      fs_->FailNth(op, n, ".log", Status::IOError("injected"));
      const Status s = Repair();
      met = fs_->faults_injected() > before;
      fs_->ClearFaults();
      if (!s.ok()) {
        EXPECT_NE(s.ToString().find("injected"), std::string::npos) << s.ToString();
        ++failed;
        ASSERT_TRUE(Repair().ok());
      }
      OpenDb();
      EXPECT_EQ(Scan(), "a=1");
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    }
    EXPECT_GT(failed, 1);
  }
}

TEST_F(RepairTest, Families) {
  families_ = {"default", "one", "two"};
  options_.create_missing_column_families = true;
  OpenDb();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[i], "k", families_[i]).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[i]).ok());
  }
  CloseDb();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_, {{"default", options_}, {"one", options_}}, options_).ok());
  OpenDb();
  EXPECT_EQ(GetIn(0, "k") + GetIn(1, "k") + GetIn(2, "k"), "defaultonetwo");
  CloseDb();
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_, {{"default", options_}, {"one", options_}}).ok());
  families_ = {"default", "one"};
  OpenDb();
  EXPECT_EQ(GetIn(0, "k") + GetIn(1, "k"), "defaultone");
  EXPECT_EQ(FilesOf(FileType::kPieceFile, "/db/lost").size(), 1u);
}

// If only logs are left, the caller must say which comparator they have.
TEST_F(RepairTest, WithoutAManifestTheOrderIsTheCallers) {
  const rocksdb::Comparator* const reverse = rocksdb::ReverseBytewiseComparator();
  options_.comparator = reverse;
  rocksdb::ColumnFamilyOptions none = options_, bytewise = options_;
  none.comparator = nullptr;
  bytewise.comparator = rocksdb::BytewiseComparator();
  for (int way = 0; way < 3; ++way) {
    SCOPED_TRACE(way);
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(Put("b", "2").ok());
    CloseDb();
    LoseManifests();
    ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
    const Status s = way == 0   ? rocksdb::RepairDB(name_, options_, {{"default", options_}})
                     : way == 1 ? rocksdb::RepairDB(name_, options_, {{"other", bytewise}}, options_)
                                : rocksdb::RepairDB(name_, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    EXPECT_EQ(Scan(), "b=2,a=1");
    CloseDb();
    // Of a database that says so itself it is not.
    for (const rocksdb::ColumnFamilyOptions& other : {none, bytewise}) {
      const Status refused = rocksdb::RepairDB(name_, options_, {{"default", other}});
      EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
      EXPECT_NE(refused.ToString().find("column family default: was written with the comparator " + std::string(reverse->Name())),
                std::string::npos) << refused.ToString();
    }
    OpenDb();
    EXPECT_EQ(Scan(), "b=2,a=1");
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(RepairTest, KeepsHowFarTimestampsWereGivenUp) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "a", Time(9), "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->IncreaseFullHistoryTsLow(db_->DefaultColumnFamily(), Time(5)).ok());
  CloseDb();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  std::string low;
  ASSERT_TRUE(db_->GetFullHistoryTsLow(db_->DefaultColumnFamily(), &low).ok());
  EXPECT_EQ(low, Time(5));
}

// Each call of repair to the file system fails once: the error is reported, and the next repair succeeds.
TEST_F(RepairTest, ErrorsOfTheFileSystemAreReported) {
  const std::vector<std::pair<FaultOp, const char*>> calls = {
      {FaultOp::kList, ""}, {FaultOp::kRename, ""}, {FaultOp::kDirSync, ""}, {FaultOp::kCreateDir, ""},
      {FaultOp::kSync, "MANIFEST"}, {FaultOp::kClose, "MANIFEST"}, {FaultOp::kWrite, "MANIFEST"}, {FaultOp::kCreate, "MANIFEST"},
      {FaultOp::kOpen, "MANIFEST"}, {FaultOp::kRead, "MANIFEST"}, {FaultOp::kOpen, ".log"}, {FaultOp::kStat, "MANIFEST"}};
  int failed = 0;
  for (const auto& [op, path] : calls) {
    for (uint64_t n = 1;; ++n) {
      SCOPED_TRACE(std::string(FaultOpName(op)) + " " + path + " " + std::to_string(n));
      Fill();
      Overwrite(JoinPath(name_, FilesOf(FileType::kManifest).back()), 60, 8);
      ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
      const uint64_t before = fs_->faults_injected();
      fs_->FailNth(op, n, path, Status::IOError("injected"));
      const Status s = Repair();
      const bool met = fs_->faults_injected() > before;
      fs_->ClearFaults();
      if (!s.ok()) {
        EXPECT_TRUE(met) << s.ToString();
        EXPECT_NE(s.ToString().find("injected"), std::string::npos) << s.ToString();
        ++failed;
        const Status again = Repair();
        ASSERT_TRUE(again.ok()) << again.ToString();
      }
      OpenDb();
      ASSERT_EQ(Scan(), all_);
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      if (!met) break;
    }
  }
  EXPECT_GT(failed, 20);
}

TEST_F(RepairTest, MissingPathsAndFilesThatDoNotCount) {
  Fill();
  SetFile("/db/000999.dbtmp", "half of something");
  options_.db_paths = {{name_, uint64_t{1} << 30}, {"/nowhere", uint64_t{1} << 30}};
  ASSERT_TRUE(Repair().ok());
  options_.db_paths.clear();
  OpenDb();
  EXPECT_EQ(Scan(), all_);
  CloseDb();
  // Logs are in one place only: without it they would all be given up.
  options_.wal_dir = "/neither";
  const Status s = Repair();
  EXPECT_FALSE(s.ok());
  options_.wal_dir.clear();
  OpenDb();
  EXPECT_EQ(Scan(), all_);
}

// Once all files were deleted that a list had not shown, which had failed, as if the repair had made them.
TEST_F(RepairTest, AfterTwoErrorsNothingIsGone) {
  for (uint64_t first = 1;; ++first) {
    Fill();
    ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
    uint64_t calls = 0;
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kList && op != FaultOp::kStat && op != FaultOp::kOpen) return;
      ++calls;
      if (calls == first || calls == first + 1) fs_->FailNth(op, 1, path, Status::IOError("injected"));
    });
    const Status s = Repair();
    fs_->SetHook(nullptr);
    fs_->ClearFaults();
    const Status again = Repair();
    ASSERT_TRUE(again.ok()) << first << ": " << again.ToString();
    OpenDb();
    ASSERT_EQ(Scan(), all_) << first << ": " << s.ToString();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    if (calls < first) break;
  }
}

// Nothing is changed, and the message names the cause.
TEST_F(RepairTest, OptionsThatAreRefused) {
  Fill();
  const auto files = [this] {
    std::map<std::string, std::string> all;
    for (FileType type : {FileType::kManifest, FileType::kWal, FileType::kPieceFile, FileType::kCurrent}) {
      for (const std::string& name : FilesOf(type)) all[name] = ReadFile(JoinPath(name_, name));
    }
    return all;
  };
  const auto before = files();
  rocksdb::Options other = options_;
  other.wal_dir = "/other";
  ASSERT_TRUE(fs_->CreateDir("/other").ok());
  SetFile("/other/CURRENT", "MANIFEST-000001\n");
  Status s = rocksdb::RepairDB(name_, other);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("wal_dir /other"), std::string::npos) << s.ToString();
  other = options_;
  other.compression = static_cast<rocksdb::CompressionType>(0x33);
  s = rocksdb::RepairDB(name_, other);
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find("compression"), std::string::npos) << s.ToString();
  EXPECT_EQ(files(), before);
  OpenDb();
  EXPECT_EQ(Scan(), all_);
}

TEST_F(RepairTest, TheDefaultFamilyNeedNotBeGiven) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  OpenDb();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[i], "k", families_[i]).ok());
  CloseDb();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_, {{"one", options_}}).ok());
  OpenDb();
  EXPECT_EQ(GetIn(0, "k") + GetIn(1, "k"), "defaultone");
  CloseDb();
  // Nor an order, where the usual one is meant.
  LoseManifests();
  ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
  rocksdb::ColumnFamilyOptions none = options_;
  none.comparator = nullptr;
  for (const std::string& name : FilesOf(FileType::kPieceFile)) ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
  const Status s = rocksdb::RepairDB(name_, options_, {{"default", none}}, none);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
}

TEST_F(RepairTest, WhatIsNoDatabase) {
  EXPECT_TRUE(Repair().IsCorruption());
  ASSERT_TRUE(fs_->CreateDir(name_).ok());
  EXPECT_TRUE(Repair().IsCorruption());
  OpenDb();
  EXPECT_TRUE(rocksdb::RepairDB(name_, options_).IsIOError());  // it is open
}

}  // namespace
}  // namespace compassdb
