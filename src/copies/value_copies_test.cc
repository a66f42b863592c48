// SPDX-License-Identifier: Apache-2.0
// Copies of databases with separated values, by every way that makes one.
#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"

namespace compassdb {
namespace {

class ValueCopiesTest : public DbTest {
 protected:
  ValueCopiesTest() {
    options_.enable_blob_files = true;
    options_.min_blob_size = 100;
    options_.enable_blob_garbage_collection = true;
    options_.merge_operator = std::make_shared<AppendOperator>();
  }
  static std::string Value(int i) { return std::to_string(i) + std::string(400, static_cast<char>('a' + i % 26)); }
  // Values that are live, overwritten, deleted, merged and small.
  void Fill() {
    OpenDb();
    const rocksdb::WriteOptions write;
    for (int i = 0; i < 1500; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
    for (int i = 0; i < 1500; i += 3) ASSERT_TRUE(Put(Key(i), Value(i + 1)).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    for (int i = 0; i < 1500; i += 7) ASSERT_TRUE(db_->Delete(write, Key(i)).ok());
    for (int i = 0; i < 1500; i += 11) ASSERT_TRUE(db_->Merge(write, Key(i), "m").ok());
    for (int i = 0; i < 1500; i += 13) ASSERT_TRUE(Put(Key(i), "small").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_GT(IntProperty("rocksdb.total-blob-file-size"), 100000u);
  }
  // The contents of a database there. All of it must verify.
  std::string Contents(rocksdb::DB* db) {
    const Status verified = db->VerifyChecksum();
    EXPECT_TRUE(verified.ok()) << verified.ToString();
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
    std::string out;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      out += it->key().ToString() + "=" + it->value().ToString() + "\n";
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return out;
  }
  std::string ContentsAt(const std::string& dir) {
    rocksdb::Options options = options_;
    options.create_if_missing = false;
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options, dir, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (!s.ok()) return "";
    std::unique_ptr<rocksdb::DB> owned(db);
    return Contents(db);
  }
  void Overwrite() {
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 1500; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round + 5)).ok());
    }
    ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  }
};

TEST_F(ValueCopiesTest, CheckpointsSurviveCollectionsInTheSource) {
  Fill();
  const std::string before = Contents(db_.get());
  rocksdb::Checkpoint* checkpoint = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &checkpoint).ok());
  std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
  ASSERT_TRUE(checkpoint->CreateCheckpoint("/copy").ok());
  Overwrite();
  EXPECT_EQ(ContentsAt("/copy"), before);
}

TEST_F(ValueCopiesTest, BackupsAreRestored) {
  Fill();
  const std::string before = Contents(db_.get());
  rocksdb::BackupEngine* engine = nullptr;
  ASSERT_TRUE(rocksdb::BackupEngine::Open(env_.get(), rocksdb::BackupEngineOptions("/backup"), &engine).ok());
  std::unique_ptr<rocksdb::BackupEngine> owned(engine);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  Overwrite();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  ASSERT_TRUE(engine->VerifyBackup(1, true).ok());
  ASSERT_TRUE(engine->RestoreDBFromBackup(1, "/restored", "/restored").ok());
  EXPECT_EQ(ContentsAt("/restored"), before);
}

TEST_F(ValueCopiesTest, ExportsCarryTheValues) {
  Fill();
  const std::string before = Contents(db_.get());
  rocksdb::Checkpoint* checkpoint = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &checkpoint).ok());
  std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
  rocksdb::ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_TRUE(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &metadata).ok());
  std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned_metadata(metadata);
  Overwrite();
  rocksdb::ColumnFamilyHandle* imported = nullptr;
  const Status s = db_->CreateColumnFamilyWithImport(
      options_, "imported", rocksdb::ImportColumnFamilyOptions(), *metadata, &imported);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), imported));
  std::string out;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    out += it->key().ToString() + "=" + it->value().ToString() + "\n";
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(out, before);
  it.reset();
  uint64_t bytes = 0;
  EXPECT_TRUE(db_->GetIntProperty(imported, "rocksdb.total-blob-file-size", &bytes));
  EXPECT_GT(bytes, 100000u);  // separated again
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(imported).ok());
}

TEST_F(ValueCopiesTest, SecondariesFollowCollections) {
  Fill();
  rocksdb::Options options = options_;
  options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::OpenAsSecondary(options, name_, "/secondary", &db);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<rocksdb::DB> secondary(db);
  EXPECT_EQ(Contents(secondary.get()), Contents(db_.get()));
  const std::string before = Contents(db_.get());
  Overwrite();
  EXPECT_EQ(Contents(secondary.get()), before);  // its state stays whole
  s = secondary->TryCatchUpWithPrimary();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Contents(secondary.get()), Contents(db_.get()));
}

TEST_F(ValueCopiesTest, IngestedFilesSupersedeValues) {
  Fill();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/outside.sst").ok());
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(writer.Put(Key(i), i % 2 == 0 ? "tiny" : Value(i + 9)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const Status s = db_->IngestExternalFile({"/outside.sst"}, rocksdb::IngestExternalFileOptions());
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_GT(IntProperty("rocksdb.live-blob-file-garbage-size"), 100000u);
  for (int i = 0; i < 1500; ++i) ASSERT_EQ(Get(Key(i)), i % 2 == 0 ? "tiny" : Value(i + 9));
}

// Nothing that a table has is hidden by such a file, but groups remember what was deleted before.
TEST_F(ValueCopiesTest, IngestedFilesBringBackWhatWasDeleted) {
  OpenDb();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i)).ok());
  Flush();
  Compact();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  ASSERT_TRUE(Put("z", Value(1)).ok());
  Flush();
  Compact(/*force=*/true);
  ASSERT_GT(IntProperty("rocksdb.live-blob-file-garbage-size"), 0u);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/sst").ok());
  for (int i = 0; i < 400; i += 2) ASSERT_TRUE(writer.Put(Key(i), Value(i + 7)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(db_->IngestExternalFile({"/sst"}, rocksdb::IngestExternalFileOptions()).ok());
  rocksdb::CompactRangeOptions collect;
  collect.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  collect.blob_garbage_collection_age_cutoff = 1.0;
  ASSERT_TRUE(db_->CompactRange(collect, nullptr, nullptr).ok());
  for (int i = 0; i < 400; ++i) ASSERT_EQ(Get(Key(i)), i % 2 == 0 ? Value(i + 7) : "NOT_FOUND") << i;
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(ValueCopiesTest, RepairKeepsThem) {
  Fill();
  const std::string before = Contents(db_.get());
  CloseDb();
  ASSERT_TRUE(env_->DeleteFile("/db/CURRENT").ok());
  const Status s = rocksdb::RepairDB(name_, options_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(ContentsAt(name_), before);
}

}  // namespace
}  // namespace compassdb
