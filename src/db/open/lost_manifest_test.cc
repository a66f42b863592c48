// SPDX-License-Identifier: Apache-2.0
// RepairDB without manifest and mirror: the records in compaction files say what was in use.
#include "db/open/lost_manifest.h"

#include "compassdb/repair.h"
#include "db/testing/db_test_util.h"
#include "manifest/manifest.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "util/random.h"

namespace compassdb {
namespace {

class JoinWithDots : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = (existing != nullptr ? existing->ToString() + "." : "") + value.ToString();
    return true;
  }
  const char* Name() const override { return "JoinWithDots"; }
};

class LostManifestTest : public DbTest {
 protected:
  using Model = std::map<std::string, std::string>;

  LostManifestTest() {
    families_ = {"default", "one"};
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<JoinWithDots>();
    options_.write_buffer_size = 16 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_bytes_for_level_base = 64 << 10;
  }
  void LoseState(bool with_options = true) {
    for (const FileType type : {FileType::kManifest, FileType::kManifestMirror, FileType::kCurrent, FileType::kOptions}) {
      if (type == FileType::kOptions && !with_options) continue;
      for (const std::string& name : FilesOf(type)) ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
    }
  }
  // What LoseState deletes.
  Model SavedState() {
    Model files;
    for (const FileType type : {FileType::kManifest, FileType::kManifestMirror, FileType::kCurrent, FileType::kOptions}) {
      for (const std::string& name : FilesOf(type)) {
        EXPECT_TRUE(ReadFileToString(fs_.get(), JoinPath(name_, name), &files[name]).ok());
      }
    }
    return files;
  }
  // The refusal names a table that really is no longer in use. With its manifest the database is unchanged.
  void CheckRefusal(const std::string& refusal, const Model& files) {
    for (const auto& [name, contents] : files) ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, name), contents).ok());
    uint64_t number = 0, end = 0;
    ASSERT_TRUE(Manifest::ReadCurrent(fs_.get(), name_, &number).ok());
    RecoveredState state;
    ASSERT_TRUE(Manifest::Replay(fs_.get(), name_, number, [&](const EditRecord& edits) { return state.ApplyAll(edits); }, &end).ok());
    unsigned long long table = 0;
    unsigned family = 0;
    const size_t at = refusal.find("table ");
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(sscanf(refusal.c_str() + at, "table %llu of column family %u", &table, &family), 2) << refusal;
    EXPECT_EQ(state.families.at(family).tables.count(table), 0u) << refusal;
  }
  Status Repair() { return rocksdb::RepairDB(name_, options_, {}, options_); }
  static std::string Key(uint64_t i) { return "key" + std::to_string(1000 + i); }

  void Step(Random* rnd, bool sync) {
    rocksdb::WriteOptions write;
    write.sync = sync;
    const size_t f = rnd->Uniform(2);
    rocksdb::ColumnFamilyHandle* const family = handles_[f];
    Model& model = models_[f];
    const std::string key = Key(rnd->Uniform(300));
    const uint64_t what = rnd->Uniform(1000);
    if (what < 600) {
      const std::string value = std::to_string(rnd->Uniform(1000000)) + std::string(rnd->Uniform(200), 'v');
      ASSERT_TRUE(db_->Put(write, family, key, value).ok());
      model[key] = value;
    } else if (what < 850) {
      ASSERT_TRUE(db_->Delete(write, family, key).ok());
      model.erase(key);
    } else if (what < 940) {
      const std::string operand = std::to_string(rnd->Uniform(1000));
      ASSERT_TRUE(db_->Merge(write, family, key, operand).ok());
      std::string& value = model[key];
      value += (value.empty() ? "" : ".") + operand;
    } else if (what < 960) {
      const std::string end = Key(rnd->Uniform(300));
      if (key < end) {
        ASSERT_TRUE(db_->DeleteRange(write, family, key, end).ok());
        model.erase(model.lower_bound(key), model.lower_bound(end));
      }
    } else if (what < 990) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), family).ok());
    } else {
      rocksdb::CompactRangeOptions compact;
      if (what < 995) compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      ASSERT_TRUE(db_->CompactRange(compact, family, nullptr, nullptr).ok());
    }
  }
  void Check() {
    for (size_t f = 0; f < 2; ++f) {
      Model found;
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[f]));
      for (it->SeekToFirst(); it->Valid(); it->Next()) found[it->key().ToString()] = it->value().ToString();
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      ASSERT_EQ(found, models_[f]);
      for (uint64_t i = 0; i < 300; ++i) {
        const auto expected = models_[f].find(Key(i));
        ASSERT_EQ(GetIn(static_cast<int>(f), Key(i)), expected == models_[f].end() ? "NOT_FOUND" : expected->second) << Key(i);
      }
    }
    const Status s = db_->VerifyChecksum();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Run(uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random rnd(seed);
    models_[0].clear();
    models_[1].clear();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    for (int round = 0; round < 5; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      OpenDb();
      if (round > 0) Check();
      if (HasFatalFailure()) return;
      const bool cut = rnd.Uniform(2) == 0;
      const uint64_t steps = 100 + rnd.Uniform(3000);
      for (uint64_t i = 0; i < steps; ++i) {
        Step(&rnd, cut);
        if (HasFatalFailure()) return;
      }
      if (cut) {
        Crash(CutMode::kDropUnsynced, seed + static_cast<uint64_t>(round));
      } else {
        CloseDb();
      }
      const Model state = SavedState();
      LoseState();
      const Status s = Repair();
      ++repairs_;
      // Only if the last thing that happened to a table was that deletions emptied it.
      if (s.IsCorruption() && s.ToString().find("deletions have emptied the table") != std::string::npos) {
        ++refused_;
        CheckRefusal(s.ToString(), state);
        if (HasFatalFailure()) return;
        continue;
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    CloseDb();
  }
  Model models_[2];
  int repairs_ = 0;
  int refused_ = 0;
};

TEST_F(LostManifestTest, EveryKeyAndNoDeletedOne) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Run(seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(repairs_, 40);
  EXPECT_LE(refused_, 2);
}

TEST_F(LostManifestTest, LeveledWithFilters) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.compression = rocksdb::kNoCompression;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_subcompactions = 2;
  for (uint64_t seed = 101; seed <= 104; ++seed) {
    Run(seed);
    if (HasFatalFailure()) return;
  }
}

// Records and tables of the bottom level have lost their sequences, and the replaced ones are in a file with others.
TEST_F(LostManifestTest, WhatWasReplacedStaysReplaced) {
  families_ = {"default"};
  options_.disable_auto_compactions = true;
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), "old" + std::string(500, 'v')).ok());
  Flush();
  Compact(/*force=*/true);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(static_cast<uint64_t>(i))).ok());
  ASSERT_TRUE(Put(Key(20), "new").ok());
  Flush();
  Compact(/*force=*/true);
  CloseDb();
  LoseState();
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Get(Key(3)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(20)), "new");
  EXPECT_EQ(Get(Key(200)).substr(0, 3), "old");
}

// Each file that a repair cannot do without, and what it cannot bring back, is named, and nothing is moved.
TEST_F(LostManifestTest, WhatItCannotDoItSays) {
  families_ = {"default"};
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), std::string(500, 'v')).ok());
  Flush();
  CloseDb();
  LoseState();
  const std::string file = JoinPath(name_, FilesOf(FileType::kPieceFile).at(0));
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(fs_.get(), file, &bytes).ok());
  for (const size_t left : {bytes.size() - 1, bytes.size() - 40, size_t{36}}) {
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), file, bytes.substr(0, left)).ok());
    Status s = Repair();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(file + ": no manifest or mirror can be read"), std::string::npos) << s.ToString();
    s = TryOpen();
    EXPECT_NE(s.ToString().find("RepairDB cannot bring the database back"), std::string::npos) << s.ToString();
    EXPECT_TRUE(fs_->FileExists(file).ok());
  }
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), file, bytes).ok());
  Status s = TryOpen();
  EXPECT_NE(s.ToString().find("RepairDB can put the state together"), std::string::npos) << s.ToString();
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  EXPECT_EQ(Get(Key(7)), std::string(500, 'v'));
}

// No file has a record of the job that emptied it, so the dropped records could come back.
TEST_F(LostManifestTest, ATableThatDeletionsEmptied) {
  families_ = {"default"};
  options_.disable_auto_compactions = true;
  OpenDb();
  const auto compact = [this](const rocksdb::Slice& begin, const rocksdb::Slice& end) {
    Flush();
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(options, &begin, &end).ok());
  };
  ASSERT_TRUE(Put("z", "1").ok());
  compact("y", "z");
  ASSERT_TRUE(Put("a", "1").ok());
  compact("a", "b");
  ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "z").ok());
  compact("y", "z");
  CloseDb();
  const std::vector<std::string> files = FilesOf(FileType::kPieceFile);
  const Model state = SavedState();
  LoseState();
  const Status s = Repair();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("deletions have emptied the table"), std::string::npos) << s.ToString();
  EXPECT_EQ(FilesOf(FileType::kPieceFile), files);
  CheckRefusal(s.ToString(), state);
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(LostManifestTest, TablesInADirectoryThatIsNotGiven) {
  families_ = {"default"};
  options_.db_paths = {{"/more", 1 << 30}};
  OpenDb();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), std::string(500, static_cast<char>('a' + round))).ok());
    Flush();
  }
  Compact(/*force=*/true);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), "last").ok());
  Flush();
  CloseDb();
  const size_t there = FilesOf(FileType::kPieceFile, "/more").size();
  ASSERT_GT(there, 0u);
  LoseState();
  ASSERT_TRUE(fs_->DeleteFile(name_ + "/PLACES").ok());  // it names the directory
  rocksdb::Options without = options_;
  without.db_paths.clear();
  Status s = rocksdb::RepairDB(name_, without);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("db_paths"), std::string::npos) << s.ToString();
  EXPECT_EQ(FilesOf(FileType::kPieceFile, "/more").size(), there);
  s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Get(Key(3)), "last");
  EXPECT_EQ(Get(Key(30)), std::string(500, 'd'));
}

// Logs that were deleted after their flush are not reported as lost.
TEST_F(LostManifestTest, FlushedLogsAreNoLoss) {
  families_ = {"default"};
  OpenDb();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(Put(Key(static_cast<uint64_t>(round)), "flushed").ok());
    Flush();
  }
  ASSERT_TRUE(Put(Key(9), "in the log").ok());
  CloseDb();
  LoseState();
  RepairReport report;
  const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.damaged_logs, 0u);
  OpenDb();
  EXPECT_EQ(Get(Key(0)), "flushed");
  EXPECT_EQ(Get(Key(9)), "in the log");
}

// Nor are those that no file shows to be flushed: a family without records needs none, and what deletions empty leaves no
// file.
TEST_F(LostManifestTest, LogsOfOtherFamiliesAreNoLoss) {
  enum Case { kOtherIsEmpty, kEmptied, kNothingSince, kEnd };
  for (int which = 0; which < kEnd; ++which) {
    SCOPED_TRACE(which);
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    OpenDb();
    ASSERT_TRUE(Put("a", "1", /*sync=*/true).ok());
    Flush();
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "b", "2").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[1]).ok());
    if (which == kEmptied) {
      ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), handles_[1], "b").ok());
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[1]).ok());
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      ASSERT_TRUE(db_->CompactRange(compact, handles_[1], nullptr, nullptr).ok());
    }
    if (which != kNothingSince) {
      ASSERT_TRUE(Put("c", "3", /*sync=*/true).ok());
    }
    CloseDb();
    LoseState();
    RepairReport report;
    const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(report.damaged_logs, 0u) << report.log.back();
    OpenDb();
    EXPECT_EQ(Scan(), which == kNothingSince ? "a=1" : "a=1,c=3");
    EXPECT_EQ(GetIn(1, "b"), which == kEmptied ? "NOT_FOUND" : "2");
    CloseDb();
  }
}

// A missing log behind the first existing one is a loss.
TEST_F(LostManifestTest, ALogThatIsGone) {
  families_ = {"default"};
  OpenDb();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Put(std::to_string(i), "v", /*sync=*/true).ok());
    CloseDb();
    options_.avoid_flush_during_recovery = true;
    OpenDb();
  }
  ASSERT_TRUE(Put("last", "v", /*sync=*/true).ok());
  CloseDb();
  const std::vector<std::string> logs = FilesOf(FileType::kWal);
  ASSERT_EQ(logs.size(), 4u);
  ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, logs[1])).ok());
  LoseState();
  RepairReport report;
  const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.damaged_logs, 1u);
  OpenDb();
  EXPECT_EQ(Scan(), "0=v,2=v,last=v");
}

// What a repair wrote has a record, too.
TEST_F(LostManifestTest, AfterARepairOfDamage) {
  families_ = {"default"};
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), std::string(500, 'v')).ok());
  Flush();
  Compact(/*force=*/true);
  CloseDb();
  const std::string file = JoinPath(name_, FilesOf(FileType::kPieceFile).at(0));
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(fs_.get(), file, &bytes).ok());
  bytes[5000] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), file, bytes).ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  const std::string left = Scan();
  EXPECT_GT(left.size(), 50000u);
  ASSERT_TRUE(Put("later", "1").ok());
  CloseDb();
  LoseState();
  const Status s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Scan(), left + ",later=1");
}

// A copy has no IDENTITY (checkpoints and backups leave it out), and gets an id of its own when it is opened.
TEST_F(LostManifestTest, CopiesThatWentOn) {
  families_ = {"default"};
  for (const bool flushed : {true, false}) {
    for (const bool has_identity : {true, false}) {
      SCOPED_TRACE(std::to_string(flushed) + std::to_string(has_identity));
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      OpenDb();
      ASSERT_TRUE(Put("0", "v").ok());
      Flush();
      std::string all = "0=v";
      for (int copy = 1; copy < 4; ++copy) {
        CloseDb();
        ASSERT_TRUE(fs_->DeleteFile(IdentityFileName(name_)).ok());
        OpenDb();
        ASSERT_TRUE(Put(std::to_string(copy), "v").ok());
        if (flushed) Flush();
        all += "," + std::to_string(copy) + "=v";
      }
      for (int repair = 0; repair < 2; ++repair) {
        CloseDb();
        LoseState();
        if (repair == 0 && !has_identity) {
          ASSERT_TRUE(fs_->DeleteFile(IdentityFileName(name_)).ok());
        }
        Status s = TryOpen();
        EXPECT_NE(s.ToString().find("RepairDB can put the state together"), std::string::npos) << s.ToString();
        s = Repair();
        ASSERT_TRUE(s.ok()) << s.ToString();
        OpenDb();
        EXPECT_EQ(Scan(), all);
      }
      CloseDb();
    }
  }
}

// Its log has the only id that is left.
TEST_F(LostManifestTest, WithoutTablesAndIdentity) {
  families_ = {"default"};
  OpenDb();
  ASSERT_TRUE(Put("one", "v").ok());
  CloseDb();
  LoseState();
  ASSERT_TRUE(fs_->DeleteFile(IdentityFileName(name_)).ok());
  ASSERT_TRUE(Repair().ok());
  OpenDb();
  ASSERT_TRUE(Put("two", "v").ok());
  Flush();
  CloseDb();
  LoseState();
  const Status s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Scan(), "one=v,two=v");
}

// The original, that is, which went on as well.
TEST_F(LostManifestTest, AFileOfTheDatabaseThatItIsACopyOf) {
  families_ = {"default"};
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Flush();
  CloseDb();
  std::map<std::string, std::string> copy;
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
  for (const std::string& name : names) {
    if (name == "IDENTITY") continue;
    ASSERT_TRUE(ReadFileToString(fs_.get(), JoinPath(name_, name), &copy[name]).ok());
  }
  OpenDb();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Put("original", std::to_string(i)).ok());
    Flush();
  }
  CloseDb();
  std::vector<std::string> files = FilesOf(FileType::kPieceFile);
  const std::string last = *std::max_element(files.begin(), files.end());
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(fs_.get(), JoinPath(name_, last), &bytes).ok());
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  ASSERT_TRUE(fs_->CreateDir(name_).ok());
  for (const auto& [name, contents] : copy) ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, name), contents).ok());
  OpenDb();
  ASSERT_TRUE(Put("copy", "1").ok());
  Flush();
  CloseDb();
  ASSERT_TRUE(fs_->FileExists(JoinPath(name_, last)).IsNotFound());
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, last), bytes).ok());
  LoseState();
  const Status s = Repair();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find(last + ": is a file of another database"), std::string::npos) << s.ToString();
}

// Records of families that nothing but a lost manifest names are counted, and their log stays.
TEST_F(LostManifestTest, FamiliesThatOnlyTheLogsHave) {
  for (const bool dropped : {false, true}) {    // and made again, with the name
    for (const bool flushed : {false, true}) {  // before the family was made
      SCOPED_TRACE(std::to_string(dropped) + std::to_string(flushed));
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      for (const std::string& name : FilesOf(FileType::kWal, name_ + "/lost")) {
        ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_ + "/lost", name)).ok());
      }
      families_ = {"default"};
      if (dropped) families_.push_back("one");
      OpenDb();
      ASSERT_TRUE(Put("a", "1").ok());
      if (flushed) Flush();
      if (dropped) {
        ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
      }
      rocksdb::ColumnFamilyHandle* late = nullptr;
      ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &late).ok());
      for (const char* const key : {"x", "y", "z"}) ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), late, key, "2").ok());
      ASSERT_TRUE(Put("b", "1").ok());
      db_->DestroyColumnFamilyHandle(late);
      CloseDb();
      LoseState();
      RepairReport report;
      const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(report.lost_records, 3u);
      EXPECT_EQ(FilesOf(FileType::kWal, name_ + "/lost").size(), 1u);
      families_.resize(dropped && flushed ? 2 : 1);  // the file says that there was one
      OpenDb();
      EXPECT_EQ(Scan(), "a=1,b=1");
      CloseDb();
    }
  }
}

// The same of a manifest and a mirror that end before the family was made.
TEST_F(LostManifestTest, FamiliesBehindTheEndOfTheManifest) {
  families_ = {"default"};
  OpenDb();
  Model begun = SavedState();
  std::erase_if(begun, [](const auto& file) { return !file.first.starts_with("M"); });
  ASSERT_EQ(begun.size(), 2u);
  rocksdb::ColumnFamilyHandle* late = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &late).ok());
  for (const char* const key : {"x", "y", "z"}) ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), late, key, "2").ok());
  ASSERT_TRUE(Put("a", "1").ok());
  db_->DestroyColumnFamilyHandle(late);
  CloseDb();
  for (const auto& [name, contents] : begun) ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, name), contents).ok());
  RepairReport report;
  const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.lost_records, 3u);
  EXPECT_EQ(FilesOf(FileType::kWal, name_ + "/lost").size(), 1u);
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

// One that was dropped before the last file was written is no loss.
TEST_F(LostManifestTest, RecordsOfADroppedFamily) {
  families_ = {"default", "one", "keeps the log"};
  OpenDb();
  for (rocksdb::ColumnFamilyHandle* const family : handles_) {
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), family, "x", "2").ok());
  }
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  Flush();
  CloseDb();
  LoseState();
  RepairReport report;
  const Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.lost_records, 0u);
  EXPECT_TRUE(report.moved.empty());
}

// Logs do not have the order of keys. OPTIONS has it, and without that the log stays.
TEST_F(LostManifestTest, LogsOfAnotherComparator) {
  families_ = {"default"};
  const rocksdb::Comparator* const bytewise = options_.comparator;
  for (const bool has_options : {true, false}) {
    options_.comparator = rocksdb::ReverseBytewiseComparator();
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(Put("b", "2").ok());
    CloseDb();
    LoseState(/*with_options=*/!has_options);
    options_.comparator = bytewise;
    RepairReport report;
    Status s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
    if (has_options) {
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(s.ToString().find("rocksdb.ReverseBytewiseComparator"), std::string::npos) << s.ToString();
      EXPECT_TRUE(FilesOf(FileType::kCurrent).empty());
      options_.comparator = rocksdb::ReverseBytewiseComparator();
      s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_TRUE(report.moved.empty());
      OpenDb();
      EXPECT_EQ(Scan(), "b=2,a=1");
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      continue;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::vector<std::string> kept = FilesOf(FileType::kWal, name_ + "/lost");
    ASSERT_EQ(kept.size(), 1u);
    // What it is kept for.
    const std::string log = kept.front();
    ASSERT_TRUE(fs_->RenameFile(JoinPath(name_ + "/lost", log), "/" + log).ok());
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    ASSERT_TRUE(fs_->CreateDir(name_).ok());
    ASSERT_TRUE(fs_->RenameFile("/" + log, JoinPath(name_, log)).ok());
    options_.comparator = rocksdb::ReverseBytewiseComparator();
    s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    EXPECT_EQ(Scan(), "b=2,a=1");
  }
}

// In each way to open it, and with logs or a table left, here or in another directory.
TEST_F(LostManifestTest, EveryCallSaysThatTheStateIsGone) {
  families_ = {"default"};
  for (const bool elsewhere : {false, true}) {
    for (const bool flushed : {false, true}) {
      SCOPED_TRACE(std::to_string(elsewhere) + std::to_string(flushed));
      options_.create_if_missing = true;
      options_.wal_dir = elsewhere ? "/logs" : "";
      options_.db_paths.clear();
      if (elsewhere) options_.db_paths = {{"/more", 1 << 30}};
      OpenDb();
      ASSERT_TRUE(Put("a", "1").ok());
      if (flushed) Flush();
      CloseDb();
      LoseState();
      options_.create_if_missing = false;
      std::map<std::string, Status> said{{"Open", TryOpen()}};
      rocksdb::DB* db = nullptr;
      said["OpenForReadOnly"] = rocksdb::DB::OpenForReadOnly(options_, name_, &db);
      std::vector<std::string> names;
      said["ListColumnFamilies"] = rocksdb::DB::ListColumnFamilies(options_, name_, &names);
      rocksdb::Options plain;
      plain.env = options_.env;
      said["ListColumnFamilies without paths"] = rocksdb::DB::ListColumnFamilies(plain, name_, &names);
      for (const auto& [call, s] : said) {
        EXPECT_TRUE(s.IsCorruption()) << call << ": " << s.ToString();
        EXPECT_NE(s.ToString().find("RepairDB can"), std::string::npos) << call << ": " << s.ToString();
        EXPECT_EQ(s.ToString().find("RepairDB cannot"), std::string::npos) << call << ": " << s.ToString();
      }
      const Status s = Repair();
      ASSERT_TRUE(s.ok()) << s.ToString();
      OpenDb();
      EXPECT_EQ(Scan(), "a=1");
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    }
  }
}

// No table is left, and what was written later is in the logs.
TEST_F(LostManifestTest, AllWasDeletedAndCompacted) {
  families_ = {"default"};
  for (const bool with_options : {true, false}) {
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(static_cast<uint64_t>(i)), "v").ok());
    Flush();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(static_cast<uint64_t>(i))).ok());
    Flush();
    Compact(/*force=*/true);
    ASSERT_TRUE(Put("after", "1").ok());
    CloseDb();
    ASSERT_TRUE(FilesOf(FileType::kPieceFile).empty());
    LoseState(with_options);
    RepairReport report;
    Status s = TryOpen();
    EXPECT_EQ(s.ToString().find("RepairDB can bring") == std::string::npos, with_options) << s.ToString();
    s = compassdb::RepairDB(name_, options_, {}, &options_, &report);
    if (with_options) {  // are lost: so may PLACES be
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find("db_paths"), std::string::npos) << s.ToString();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      continue;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(report.damaged_logs, 0u);
    EXPECT_TRUE(std::any_of(report.log.begin(), report.log.end(), [](const std::string& line) {
      return line.starts_with("uncertain: the data up to sequence 200");
    }));
    OpenDb();
    EXPECT_EQ(Scan(), "after=1");
  }
}

// With none, the family and the way out are named, and the operands stay.
TEST_F(LostManifestTest, OperandsOfAMergeOperatorThatIsNotGiven) {
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    families_ = {"default"};
    OpenDb();
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "a", "1").ok());
    if (flushed) Flush();
    ASSERT_TRUE(Put("b", "2").ok());
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "b", "3").ok());
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "a", "4").ok());
    CloseDb();
    LoseState(/*with_options=*/false);
    rocksdb::Options without = options_;
    without.merge_operator = nullptr;
    Status s = rocksdb::RepairDB(name_, without);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("column family [default] has merge operands"), std::string::npos) << s.ToString();
    EXPECT_TRUE(FilesOf(FileType::kCurrent).empty());
    s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    EXPECT_EQ(Scan(), "a=1.4,b=2.3");
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(LostManifestTest, AFileOfAnotherDatabase) {
  families_ = {"default"};
  std::string other;
  for (const bool second : {false, true}) {
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    Flush();
    ASSERT_TRUE(Put("b", "1").ok());
    Flush();
    CloseDb();
    LoseState();
    if (!second) {
      const std::string name = FilesOf(FileType::kPieceFile).at(0);
      ASSERT_TRUE(ReadFileToString(fs_.get(), JoinPath(name_, name), &other).ok());
      ASSERT_TRUE(Repair().ok());
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      continue;
    }
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, FilesOf(FileType::kPieceFile).at(0)), other).ok());
    const Status s = Repair();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(".ph: is a file of another database"), std::string::npos) << s.ToString();
    EXPECT_TRUE(FilesOf(FileType::kCurrent).empty());
  }
}

}  // namespace
}  // namespace compassdb
