// SPDX-License-Identifier: Apache-2.0
// Damage to the last record of the manifest: where no log has what it commits, it is not to be taken for a torn commit.
#include "db/testing/db_test_util.h"
#include "rocksdb/sst_file_writer.h"

namespace compassdb {
namespace {

enum class Last { kIngestion, kFamily, kUnloggedFlush };

class ManifestDamageTest : public DbTest, public ::testing::WithParamInterface<Last> {
 protected:
  std::vector<std::string> FamilyNames() const {
    std::vector<std::string> names = {"default"};
    if (GetParam() == Last::kFamily) names.push_back("second");
    return names;
  }
  // A new database on a new disk, whose last commit is the one in question.
  void Make(bool closed) {
    CloseDb();
    fs_ = std::make_shared<FaultInjectionFileSystem>();
    env_ = NewEnvForFileSystem(fs_);
    options_.env = env_.get();
    families_ = {"default"};
    OpenDb();
    ASSERT_TRUE(Put("logged", "v", /*sync=*/true).ok());
    Flush();  // so that nothing but the commit in question calls for a last word to the manifest
    switch (GetParam()) {
      case Last::kIngestion: {
        rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
        ASSERT_TRUE(env_->CreateDirIfMissing("/made").ok());
        ASSERT_TRUE(writer.Open("/made/a.sst").ok());
        ASSERT_TRUE(writer.Put("k", "v").ok());
        ASSERT_TRUE(writer.Finish().ok());
        ASSERT_TRUE(db_->IngestExternalFile({"/made/a.sst"}, rocksdb::IngestExternalFileOptions()).ok());
        break;
      }
      case Last::kFamily: {
        rocksdb::ColumnFamilyHandle* family = nullptr;
        ASSERT_TRUE(db_->CreateColumnFamily(options_, "second", &family).ok());
        handles_.push_back(family);
        break;
      }
      case Last::kUnloggedFlush: {
        rocksdb::WriteOptions unlogged;
        unlogged.disableWAL = true;
        ASSERT_TRUE(db_->Put(unlogged, "k", "v").ok());
        Flush();
        break;
      }
    }
    if (!closed) {
      for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
        fs_->FailAll(static_cast<FaultOp>(op), "", Status::IOError("killed"));
      }
    }
    CloseDb();
    fs_->ClearFaults();
    families_ = FamilyNames();
  }
  std::string Manifest() { return JoinPath(name_, FilesOf(FileType::kManifest).at(0)); }
  std::string Mirror() { return JoinPath(name_, FilesOf(FileType::kManifestMirror).at(0)); }
  void ExpectEverything() {
    OpenDb();
    EXPECT_EQ(Get("logged"), "v");
    if (GetParam() != Last::kFamily) {
      EXPECT_EQ(Get("k"), "v");
    }
  }
  Status Repair() {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : families_) descriptors.emplace_back(family, options_);
    return rocksdb::RepairDB(name_, options_, descriptors);
  }
};

TEST_P(ManifestDamageTest, IsCorruptionAndRepaired) {
  for (const bool closed : {true, false}) {
    for (const bool cut : {true, false}) {
      Make(closed);
      std::string data = ReadFile(Manifest());
      if (cut) {
        data.resize(data.size() - 5);
      } else {
        data[data.size() - 5] ^= 1;
      }
      SetFile(Manifest(), data);
      const std::vector<std::string> tables = FilesOf(FileType::kPieceFile);
      const Status s = TryOpen();
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find(Manifest() + " at offset "), std::string::npos) << s.ToString();
      EXPECT_EQ(FilesOf(FileType::kPieceFile), tables);
      std::vector<std::string> names;
      EXPECT_TRUE(rocksdb::DB::ListColumnFamilies(options_, name_, &names).IsCorruption());
      const Status repaired = Repair();
      ASSERT_TRUE(repaired.ok()) << repaired.ToString();
      ExpectEverything();
    }
  }
}

// The last commit of a database that was closed says nothing but that.
TEST_P(ManifestDamageTest, CostsAClosedDatabaseNothing) {
  Make(/*closed=*/true);
  std::string data = ReadFile(Manifest());
  data[data.size() - 5] ^= 1;
  SetFile(Manifest(), data);
  ASSERT_TRUE(fs_->DeleteFile(Mirror()).ok());
  ExpectEverything();
}

// The power went before the mirror had it.
TEST_P(ManifestDamageTest, AMirrorThatLagsBehindIsNoDamage) {
  for (const CutMode mode : {CutMode::kDropUnsynced, CutMode::kKeepUnsynced, CutMode::kTornBytes}) {
    Make(/*closed=*/false);
    Crash(mode);
    ExpectEverything();
  }
}

INSTANTIATE_TEST_SUITE_P(Last, ManifestDamageTest,
                         ::testing::Values(Last::kIngestion, Last::kFamily, Last::kUnloggedFlush));

}  // namespace
}  // namespace compassdb
