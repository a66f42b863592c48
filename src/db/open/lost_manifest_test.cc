// SPDX-License-Identifier: Apache-2.0
// RepairDB without manifest and mirror: the records in compaction files say what was in use.
#include "db/open/lost_manifest.h"

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
  void LoseState() {
    for (const FileType type : {FileType::kManifest, FileType::kManifestMirror, FileType::kCurrent, FileType::kOptions}) {
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

}  // namespace
}  // namespace compassdb
