// SPDX-License-Identifier: Apache-2.0
// RepairDB: what can be saved exists afterwards, and the rest is in lost/.
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
  // With their mirrors.
  void LoseManifests() {
    for (FileType type : {FileType::kManifest, FileType::kManifestMirror}) {
      for (const std::string& name : FilesOf(type)) ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
    }
  }
  std::string all_;
};

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
      FlipBit(JoinPath(name_, FilesOf(FileType::kManifest).back()), 60);
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
TEST_F(RepairTest, ADirectoryThatIsNoDatabaseKeepsItsLog) {
  const std::string log = "2026/11/21-06:45:41.123456 7f3a of another program\n";
  ASSERT_TRUE(fs_->CreateDir(name_).ok());
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), InfoLogFileName(name_), log).ok());
  EXPECT_TRUE(rocksdb::RepairDB(name_, options_).IsCorruption());
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"LOG"});
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), OptionsFileName(name_, 7), "mine").ok());
  EXPECT_TRUE(rocksdb::RepairDB(name_, options_).IsCorruption());
  EXPECT_EQ(ReadFile(InfoLogFileName(name_)), log);
}

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

}  // namespace
}  // namespace compassdb
