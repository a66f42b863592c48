// SPDX-License-Identifier: Apache-2.0
// Copies of a database whose family is table-less: what is changed in place is copied, never linked, so that
// everything may be rewritten behind a copy.
#include <atomic>
#include <map>
#include <thread>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "db/testing/export_test_util.h"
#include "rocksdb/metadata.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"

namespace compassdb {
namespace {

class TablelessCopiesTest : public DbTest {
 protected:
  TablelessCopiesTest() {
    PieceTableOptions piece;
    piece.store = StoreKind::kTableless;
    piece.tableless_sections = 4;
    options_.table_factory.reset(NewPieceTableFactory(piece));
  }
  static std::string Value(int i) { return std::to_string(i) + std::string(100, static_cast<char>('a' + i % 26)); }
  void Fill() {
    OpenDb();
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(Put(Key(i), Value(i)).ok());
      model_[Key(i)] = Value(i);
    }
  }
  void RewriteEverything() {
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 7)).ok());
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    for (int i = 0; i < 2000; i += 2) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  }
  void CheckModelAt(const std::string& dir) {
    rocksdb::DB* copy = nullptr;
    Status s = rocksdb::DB::Open(options_, dir, &copy);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> owned(copy);
    std::unique_ptr<rocksdb::Iterator> it(copy->NewIterator({}));
    auto expected = model_.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_NE(expected, model_.end());
      ASSERT_EQ(it->key().ToString(), expected->first);
      ASSERT_EQ(it->value().ToString(), expected->second);
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(expected, model_.end());
    s = copy->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  void MakeCheckpoint(const std::string& dir) {
    rocksdb::Checkpoint* made = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &made).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    const Status s = checkpoint->CreateCheckpoint(dir);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::map<std::string, std::string> model_;
};

TEST_F(TablelessCopiesTest, CheckpointsAreOnTheirOwn) {
  Fill();
  MakeCheckpoint("/copy");
  RewriteEverything();
  CheckModelAt("/copy");
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren("/copy", &names).ok());
  for (const std::string& name : names) {
    uint64_t links = 0;
    if (name.find(".pages") == std::string::npos) continue;
    ASSERT_TRUE(fs_->GetLinkCount("/copy/" + name, &links).ok());
    EXPECT_EQ(links, 1u) << name;
  }
}

TEST_F(TablelessCopiesTest, BackupsAreOnTheirOwn) {
  Fill();
  rocksdb::BackupEngine* made = nullptr;
  rocksdb::BackupEngineOptions where("/backup", env_.get());
  Status s = rocksdb::BackupEngine::Open(where, env_.get(), &made);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  ASSERT_TRUE(s.ok()) << s.ToString();
  RewriteEverything();
  s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  ASSERT_TRUE(s.ok()) << s.ToString();
  s = engine->VerifyBackup(1, /*verify_with_checksum=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  s = engine->RestoreDBFromBackup(1, "/restored", "/restored");
  ASSERT_TRUE(s.ok()) << s.ToString();
  CheckModelAt("/restored");
  model_.clear();
  for (int i = 1; i < 2000; i += 2) model_[Key(i)] = Value(i + 7);
  s = engine->RestoreDBFromBackup(2, "/again", "/again");
  ASSERT_TRUE(s.ok()) << s.ToString();
  CheckModelAt("/again");
}

// Copies have logs, too, and find in them what memtables have only addresses of.
TEST_F(TablelessCopiesTest, ValuesThatAreInTheLogAreCopied) {
  PieceTableOptions piece;
  piece.store = StoreKind::kTableless;
  piece.memtable_as_log_index = true;
  options_.table_factory.reset(NewPieceTableFactory(piece));
  options_.write_buffer_size = 1 << 20;
  options_.avoid_flush_during_recovery = true;
  Fill();
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  Status s = checkpoint->CreateCheckpoint("/copy", /*log_size_for_flush=*/1 << 30);
  ASSERT_TRUE(s.ok()) << s.ToString();
  rocksdb::BackupEngine* opened = nullptr;
  rocksdb::BackupEngineOptions where("/backup", env_.get());
  ASSERT_TRUE(rocksdb::BackupEngine::Open(where, env_.get(), &opened).ok());
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/false);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 2000u);
  RewriteEverything();
  CheckModelAt("/copy");
  ASSERT_TRUE(engine->RestoreDBFromBackup(1, "/restored", "/restored").ok());
  CheckModelAt("/restored");
}

// Copies have everything in their own directory, which counts before files in the paths. Those are of the source, which
// continues, or of the old state of a restored database.
class TablelessPathsCopiesTest : public TablelessCopiesTest, public ::testing::WithParamInterface<bool> {
 protected:
  TablelessPathsCopiesTest() { (GetParam() ? options_.cf_paths : options_.db_paths) = {{"/pages", 1ull << 40}}; }
};
INSTANTIATE_TEST_SUITE_P(Paths, TablelessPathsCopiesTest, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "OfTheFamily" : "OfTheDatabase"; });

TEST_P(TablelessPathsCopiesTest, CheckpointsReadTheirOwnPages) {
  Fill();
  Flush();
  Compact();
  ASSERT_GE(FilesOf(FileType::kPageFile, "/pages").size(), 4u);
  MakeCheckpoint("/copy");
  RewriteEverything();
  rocksdb::DB* copy = nullptr;
  Status s = rocksdb::DB::OpenForReadOnly(options_, "/copy", &copy);
  ASSERT_TRUE(s.IsInvalidArgument()) << s.ToString() << ": the original's paths are not the copy's";
  rocksdb::Options own = options_;
  own.db_paths.clear();
  own.cf_paths.clear();
  s = rocksdb::DB::OpenForReadOnly(own, "/copy", &copy);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::DB> owned(copy);
  for (const auto& [key, value] : model_) {
    std::string found;
    s = copy->Get({}, key, &found);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(found, value);
  }
  s = copy->VerifyChecksum();
  EXPECT_TRUE(s.ok()) << s.ToString();
}

TEST_P(TablelessPathsCopiesTest, RestoredPagesCountBeforeThoseThatWereThere) {
  Fill();
  rocksdb::BackupEngine* made = nullptr;
  Status s = rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions("/backup", env_.get()), env_.get(), &made);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  ASSERT_TRUE(s.ok()) << s.ToString();
  RewriteEverything();
  CloseDb();
  const std::vector<std::string> stale = FilesOf(FileType::kPageFile, "/pages");
  EXPECT_GE(stale.size(), 4u);
  s = engine->RestoreDBFromLatestBackup(name_, name_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (int opened = 0; opened < 2; ++opened) {
    CheckModelAt(name_);
    for (const std::string& name : stale) EXPECT_TRUE(fs_->FileExists("/pages/" + name).IsNotFound()) << name;
  }
}

// Copies like applications of RocksDB: files with given contents are written, uncut ones are linked, and the
// rest is copied.
TEST_F(TablelessCopiesTest, FilesThatMayBeLinkedDoNotChange) {
  Fill();
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  std::vector<rocksdb::LiveFileStorageInfo> files;
  Status s = db_->GetLiveFilesStorageInfo({}, &files);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(fs_->CreateDir("/copy").ok());
  int in_place = 0;
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    const std::string from = file.directory + "/" + file.relative_filename;
    const std::string to = "/copy/" + file.relative_filename;
    in_place += file.file_type == rocksdb::kBlobFile ? 1 : 0;
    if (file.replacement_contents.empty() && !file.trim_to_size) {
      ASSERT_TRUE(fs_->LinkFile(from, to).ok()) << from;
      continue;
    }
    std::string contents = file.replacement_contents;
    if (contents.empty()) {
      ASSERT_TRUE(ReadFileToString(fs_.get(), from, &contents).ok()) << from;
      ASSERT_GE(contents.size(), file.size) << from;
      contents.resize(file.size);
    }
    std::unique_ptr<WritableFile> out;
    ASSERT_TRUE(fs_->NewWritableFile(to, FileOptions(), &out).ok()) << to;
    ASSERT_TRUE(out->Append(contents).ok());
    ASSERT_TRUE(out->Close().ok());
  }
  EXPECT_EQ(in_place, 4);
  ASSERT_TRUE(db_->EnableFileDeletions(/*force=*/false).ok());
  RewriteEverything();
  CheckModelAt("/copy");
}

// With and without file systems that share blocks.
TEST_F(TablelessCopiesTest, BackupsCloneWhatIsWrittenInPlace) {
  Fill();
  rocksdb::BackupEngine* made = nullptr;
  Status s = rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions("/backup", env_.get()), env_.get(), &made);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  fs_->ResetCounts();
  s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(fs_->Count(FaultOp::kClone), 4u);
  fs_->FailAll(FaultOp::kClone, "/backup/", Status::NotSupported("blocks are not shared here"));
  s = engine->CreateNewBackup(db_.get());
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(fs_->Count(FaultOp::kClone), 8u);
  fs_->ClearFaults();
  // Another error counts, and leaves nothing.
  fs_->FailAll(FaultOp::kClone, "/backup/", Status::IOError("injected"));
  s = engine->CreateNewBackup(db_.get());
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  fs_->ClearFaults();
  RewriteEverything();
  // Durable, too.
  Crash();
  for (const auto& [id, dir] : {std::pair(1, "/first"), std::pair(2, "/second")}) {
    s = engine->VerifyBackup(id, /*verify_with_checksum=*/true);
    EXPECT_TRUE(s.ok()) << id << ": " << s.ToString();
    s = engine->RestoreDBFromBackup(id, dir, dir);
    ASSERT_TRUE(s.ok()) << s.ToString();
    CheckModelAt(dir);
  }
}

// The export is a table file: it can be imported into families of tables.
TEST_F(TablelessCopiesTest, ExportsAreTableFiles) {
  Fill();
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  Status s = checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &exported);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned(exported);
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  s = db_->CreateColumnFamilyWithImport(options_, "pages", {}, *exported, &handle);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  s = db_->CreateColumnFamilyWithImport(rocksdb::ColumnFamilyOptions(), "tables", {}, *exported, &handle);
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (const auto& [key, value] : model_) {
    std::string found;
    s = db_->Get({}, handle, key, &found);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(found, value);
  }
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

// Pages hold the current version of a key. Older versions in the key store, for snapshots, are merged already.
TEST_F(TablelessCopiesTest, ExportsAreWhatIteratorsShow) {
  options_.merge_operator = std::make_shared<AppendOperator>();
  OpenDb();
  rocksdb::ColumnFamilyHandle* const from = db_->DefaultColumnFamily();
  ASSERT_TRUE(db_->PutEntity({}, from, "entity", {{"", "default"}, {"column", "1"}}).ok());
  std::vector<const rocksdb::Snapshot*> snapshots;
  for (const char* value : {"a", "b", "c"}) {
    ASSERT_TRUE(db_->Merge({}, "merged", value).ok());
    ASSERT_TRUE(Put("gone", value).ok());
    snapshots.push_back(db_->GetSnapshot());
    ASSERT_TRUE(db_->Flush({}).ok());
    ASSERT_TRUE(db_->Delete({}, "gone").ok());
  }
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> exported = ExportDefaultFamily(db_.get(), "/export");
  ASSERT_NE(exported, nullptr);
  rocksdb::ColumnFamilyOptions tables;
  tables.merge_operator = options_.merge_operator;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  Status s = db_->CreateColumnFamilyWithImport(tables, "tables", {}, *exported, &handle);
  ASSERT_TRUE(s.ok()) << s.ToString();
  rocksdb::PinnableWideColumns columns;
  ASSERT_TRUE(db_->GetEntity({}, handle, "entity", &columns).ok());
  EXPECT_EQ(columns.columns(), (rocksdb::WideColumns{{"", "default"}, {"column", "1"}}));
  std::string expected, found;
  ASSERT_TRUE(db_->Get({}, from, "merged", &expected).ok());
  ASSERT_TRUE(db_->Get({}, handle, "merged", &found).ok());
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(db_->Get({}, handle, "gone", &found).IsNotFound());
  for (const rocksdb::Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

// Copies while pages are written in place, with a journal and without, and sections are rehashed into new files: whole
// states, whether the logs are copied or flushed.
class ConcurrentTablelessCopiesTest : public TablelessCopiesTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    PieceTableOptions piece;
    piece.store = StoreKind::kTableless;
    piece.tableless_sections = 4;
    piece.tableless_pages = 64;
    piece.tableless_rehash_batch = 1;
    piece.tableless_atomic_page_writes = GetParam();
    options_.table_factory.reset(NewPieceTableFactory(piece));
    options_.write_buffer_size = 16 << 10;
    OpenDb();
  }
  void StartWriting() {
    writer_ = std::thread([this] {
      for (int round = 0; round < 400; ++round) {
        for (int i = 0; i < 60; ++i) {
          // Both in one batch: they are equal in every state.
          rocksdb::WriteBatch batch;
          const std::string key = Key((round * 7 + i * 13) % 300);
          for (const char* half : {"a", "b"}) {
            const Status s = round % 5 == 4 ? batch.Delete(half + key) : batch.Put(half + key, Value(round));
            EXPECT_TRUE(s.ok());
          }
          EXPECT_TRUE(db_->Write({}, &batch).ok());
        }
        const char* const pages = round % 20 < 10 ? "128" : "64";
        if (round % 10 == 0) {
          EXPECT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", pages}}).ok());
        }
      }
      done_.store(true);
    });
  }
  // Checks that a copy in `dir` is a state of the database.
  void CheckCopy(const std::string& dir) {
    rocksdb::DB* copy = nullptr;
    Status s = rocksdb::DB::Open(options_, dir, &copy);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> owned(copy);
    std::map<std::string, std::string> a, b;
    const std::unique_ptr<rocksdb::Iterator> it(copy->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      (it->key()[0] == 'a' ? a : b)[it->key().ToString().substr(1)] = it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(a, b);
    for (const auto& [key, value] : a) {
      std::string found;
      EXPECT_TRUE(copy->Get({}, "a" + key, &found).ok() && found == value) << key;
    }
    s = copy->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  void Join() {
    writer_.join();
    EXPECT_EQ(IntProperty("compassdb.tableless-unjournaled-pages") > 100, GetParam());
    EXPECT_GT(IntProperty("compassdb.tableless-rehashes"), 3u);
  }
  std::thread writer_;
  std::atomic<bool> done_{false};
};

TEST_P(ConcurrentTablelessCopiesTest, Checkpoints) {
  StartWriting();
  for (int i = 0; !done_.load() && !HasFailure(); ++i) {
    rocksdb::Checkpoint* made = nullptr;
    EXPECT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &made).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    const std::string dir = "/copy" + std::to_string(i);
    const Status s = checkpoint->CreateCheckpoint(dir, i % 2 == 0 ? 0 : UINT64_MAX);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (s.ok()) CheckCopy(dir);
  }
  Join();
}

TEST_P(ConcurrentTablelessCopiesTest, Backups) {
  StartWriting();
  rocksdb::BackupEngine* made = nullptr;
  Status s = rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions("/backups", env_.get()), env_.get(), &made);
  EXPECT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  for (uint32_t i = 1; !done_.load() && !HasFailure(); ++i) {
    rocksdb::CreateBackupOptions how;
    how.flush_before_backup = i % 2 == 0;
    s = engine->CreateNewBackup(how, db_.get());
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (s.ok()) s = engine->VerifyBackup(i, /*verify_with_checksum=*/true);
    EXPECT_TRUE(s.ok()) << s.ToString();
    const std::string dir = "/restored" + std::to_string(i);
    if (s.ok()) s = engine->RestoreDBFromBackup(rocksdb::RestoreOptions(), i, dir, dir);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (s.ok()) CheckCopy(dir);
    if (s.ok()) {
      EXPECT_TRUE(engine->PurgeOldBackups(2).ok());
    }
  }
  Join();
}

INSTANTIATE_TEST_SUITE_P(PageWrites, ConcurrentTablelessCopiesTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Atomic" : "Journaled"; });

}  // namespace
}  // namespace compassdb
