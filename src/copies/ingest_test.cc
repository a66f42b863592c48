// SPDX-License-Identifier: Apache-2.0
// Table files: writing, reading, ingestion, export and import.
#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "db/testing/db_test_util.h"
#include "db/testing/export_test_util.h"
#include "format/file_names.h"
#include "format/number_limits.h"
#include "manifest/table_file.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/checkpoint.h"

namespace compassdb {
namespace {

class IngestTest : public DbTest {
 protected:
  void SetUp() override {
    options_.merge_operator = std::make_shared<AppendOperator>();
    OpenDb();
  }
  // A file with the keys [first, first + count).
  void WriteFile(const std::string& path, int first, int count, const std::string& value) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(path).ok());
    for (int i = first; i < first + count; ++i) ASSERT_TRUE(writer.Put(Key(i), value).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  Status Ingest(const std::string& path, rocksdb::IngestExternalFileOptions options = {}) {
    return db_->IngestExternalFile({path}, options);
  }
  int TablesOn(int level) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &value));
    return atoi(value.c_str());
  }
};

TEST_F(IngestTest, WriterChecksItsInput) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  EXPECT_TRUE(writer.Put("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_TRUE(writer.Open("/f.sst").ok());
  EXPECT_EQ(writer.FileSize(), 0u);
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_TRUE(writer.Put("b", "1").ok());
  EXPECT_TRUE(writer.Put("b", "2").IsInvalidArgument());
  EXPECT_TRUE(writer.Put("a", "2").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("y", "x").IsInvalidArgument());
  ASSERT_TRUE(writer.DeleteRange("y", "y").ok());  // not counted
  ASSERT_TRUE(writer.DeleteRange("x", "z").ok());
  ASSERT_TRUE(writer.Delete("c").ok());
  ASSERT_TRUE(writer.Merge("d", "1").ok());
  EXPECT_GT(writer.FileSize(), 0u);
  rocksdb::ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.smallest_key, "b");
  EXPECT_EQ(info.largest_key, "d");
  EXPECT_EQ(info.smallest_range_del_key, "x");
  EXPECT_EQ(info.largest_range_del_key, "z");
  EXPECT_EQ(info.num_entries, 3u);
  EXPECT_EQ(info.num_range_del_entries, 1u);
  uint64_t size = 0;
  ASSERT_TRUE(fs_->GetFileSize("/f.sst", &size).ok());
  EXPECT_EQ(info.file_size, size);
  EXPECT_EQ(writer.FileSize(), size);
  EXPECT_TRUE(writer.Put("e", "1").IsInvalidArgument());
}

TEST_F(IngestTest, ReaderSeesTheFile) {
  WriteFile("/f.sst", 0, 1000, "v");
  rocksdb::SstFileReader reader(options_);
  EXPECT_TRUE(reader.Open("/missing.sst").IsIOError());
  ASSERT_TRUE(reader.Open("/f.sst").ok());
  EXPECT_TRUE(reader.VerifyChecksum().ok());
  EXPECT_EQ(reader.GetTableProperties()->num_entries, 1000u);
  std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  int n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) EXPECT_EQ(it->key().ToString(), Key(n));
  EXPECT_EQ(n, 1000);
  it->Seek(Key(500));
  EXPECT_EQ(it->key().ToString(), Key(500));
  it->Prev();
  EXPECT_EQ(it->key().ToString(), Key(499));
}

TEST_F(IngestTest, NewDataIsAddedToTheBottomWithoutSequence) {
  WriteFile("/f.sst", 0, 1000, "v");
  const uint64_t before = db_->GetLatestSequenceNumber();
  ASSERT_TRUE(Ingest("/f.sst").ok());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
  EXPECT_EQ(TablesOn(0), 0);
  EXPECT_GT(TablesOn(6), 0);
  EXPECT_EQ(Get(Key(999)), "v");
  EXPECT_TRUE(fs_->FileExists("/f.sst").ok());
  OpenDb();
  EXPECT_EQ(Get(Key(0)), "v");
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get(Key(0)), "v");
}

TEST_F(IngestTest, NewerThanAllWrittenBefore) {
  // In a memtable, in level 0, deeper: all are hidden, in this order of writes.
  ASSERT_TRUE(Put(Key(1), "deep").ok());
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(Put(Key(2), "flushed").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put(Key(3), "in memory").ok());
  const uint64_t before = db_->GetLatestSequenceNumber();
  WriteFile("/f.sst", 0, 10, "new");
  rocksdb::IngestExternalFileOptions options;
  options.allow_blocking_flush = false;
  EXPECT_TRUE(Ingest("/f.sst", options).IsInvalidArgument());
  options.allow_blocking_flush = true;
  options.allow_global_seqno = false;
  EXPECT_TRUE(Ingest("/f.sst", options).IsInvalidArgument());
  options.allow_global_seqno = true;
  options.fail_if_not_bottommost_level = true;
  EXPECT_TRUE(Ingest("/f.sst", options).IsTryAgain());
  options.fail_if_not_bottommost_level = false;
  ASSERT_TRUE(Ingest("/f.sst", options).ok());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), "new");
  ASSERT_TRUE(Put(Key(3), "later").ok());
  EXPECT_EQ(Get(Key(3)), "later");
  OpenDb();
  EXPECT_EQ(Get(Key(3)), "later");
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get(Key(2)), "new");
  EXPECT_EQ(Get(Key(3)), "later");
}

TEST_F(IngestTest, ChecksumsOfWholeFiles) {
  const auto ingest = [&](const std::string& checksum, const std::string& function,
                          bool verify = true) {
    rocksdb::IngestExternalFileArg arg;
    arg.column_family = db_->DefaultColumnFamily();
    arg.external_files = {"/f.sst"};
    arg.options.verify_file_checksum = verify;
    arg.files_checksums = {checksum};
    arg.files_checksum_func_names = {function};
    return db_->IngestExternalFiles({arg});
  };
  WriteFile("/f.sst", 0, 10, "a");
  ASSERT_TRUE(ingest("nonsense", "none").ok());  // without a factory nothing is compared
  options_.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  OpenDb();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/f.sst").ok());
  ASSERT_TRUE(writer.Put("k", "v").ok());
  rocksdb::ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.file_checksum_func_name, rocksdb::kStandardDbFileChecksumFuncName);
  const auto computed = [&](const std::string& path) {
    const std::string data = ReadFile(path);
    const auto generator = options_.file_checksum_gen_factory->CreateFileChecksumGenerator({"", ""});
    generator->Update(data.data(), data.size());
    generator->Finalize();
    return generator->GetChecksum();
  };
  EXPECT_EQ(info.file_checksum, computed("/f.sst"));
  EXPECT_TRUE(ingest("nonsense", info.file_checksum_func_name).IsCorruption());
  EXPECT_TRUE(ingest(info.file_checksum, "Other").IsInvalidArgument());
  EXPECT_TRUE(ingest(info.file_checksum, "Other", /*verify=*/false).IsInvalidArgument());
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_TRUE(ingest(info.file_checksum, info.file_checksum_func_name).ok());
  EXPECT_TRUE(ingest("nonsense", info.file_checksum_func_name, /*verify=*/false).ok());
  EXPECT_EQ(Get("k"), "v");
  // The new tables belong to the database.
  EXPECT_TRUE(db_->VerifyFileChecksums(rocksdb::ReadOptions()).ok());
  const auto metadata = ExportDefaultFamily(db_.get(), "/ex");
  ASSERT_NE(metadata, nullptr);
  ASSERT_EQ(metadata->files.size(), 1u);
  const rocksdb::LiveFileMetaData& file = metadata->files[0];
  EXPECT_EQ(file.file_checksum, computed(file.db_path + file.name));
}

TEST_F(IngestTest, SnapshotsDoNotSeeIt) {
  ASSERT_TRUE(Put("other", "x").ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  WriteFile("/f.sst", 0, 10, "new");
  ASSERT_TRUE(Ingest("/f.sst").ok());
  EXPECT_EQ(Get(Key(1), snapshot), "NOT_FOUND");
  EXPECT_EQ(Get(Key(1)), "new");
  db_->ReleaseSnapshot(snapshot);
}

// The same for a snapshot that is taken while the records are copied, or their commit is written.
TEST_F(IngestTest, SnapshotsTakenDuringItDoNotChange) {
  const auto is_copied = [](FaultOp op, const std::string& path) {
    FileType type;
    uint64_t number = 0;
    return op == FaultOp::kSync && ParseFileName(path.substr(path.rfind('/') + 1), &number, &type) &&
           type == FileType::kPieceFile;
  };
  WriteFile("/f.sst", 0, 10, "new");
  const rocksdb::Snapshot* snapshot = nullptr;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (snapshot == nullptr && is_copied(op, path)) snapshot = db_->GetSnapshot();
  });
  rocksdb::IngestExternalFileOptions options;
  options.allow_global_seqno = false;
  EXPECT_TRUE(Ingest("/f.sst", options).IsInvalidArgument());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(Get(Key(1)), "NOT_FOUND");
  EXPECT_TRUE(FilesOf(FileType::kPieceFile).empty());
  db_->ReleaseSnapshot(snapshot);
  snapshot = nullptr;

  const uint64_t before = db_->GetLatestSequenceNumber();
  ASSERT_TRUE(Ingest("/f.sst").ok());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(Get(Key(1), snapshot), "NOT_FOUND");
  EXPECT_EQ(Get(Key(1)), "new");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  EXPECT_EQ(FilesOf(FileType::kPieceFile).size(), 1u);
  db_->ReleaseSnapshot(snapshot);
  snapshot = nullptr;

  // Without the option nothing is written twice.
  WriteFile("/g.sst", 20, 10, "new");
  options = {};
  options.snapshot_consistency = false;
  ASSERT_TRUE(Ingest("/g.sst", options).ok());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(Get(Key(21), snapshot), "new");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  db_->ReleaseSnapshot(snapshot);

  WriteFile("/h.sst", 40, 10, "new");
  std::future<const rocksdb::Snapshot*> taken;
  std::string seen;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (taken.valid() || op != FaultOp::kWrite || path.find("MANIFEST") == std::string::npos) return;
    taken = std::async(std::launch::async, [&] {
      const rocksdb::Snapshot* const during = db_->GetSnapshot();
      seen = Get(Key(41), during);
      return during;
    });
    taken.wait_for(std::chrono::milliseconds(50));  // it waits for the commit
  });
  ASSERT_TRUE(Ingest("/h.sst").ok());
  snapshot = taken.get();
  EXPECT_EQ(Get(Key(41), snapshot), seen);
  EXPECT_EQ(Get(Key(41)), "new");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  db_->ReleaseSnapshot(snapshot);
  fs_->SetHook(nullptr);
}

TEST_F(IngestTest, RangeTombstonesAndMerges) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "old").ok());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/f.sst").ok());
  ASSERT_TRUE(writer.DeleteRange(Key(10), Key(20)).ok());
  ASSERT_TRUE(writer.Put(Key(15), "kept").ok());
  ASSERT_TRUE(writer.Merge(Key(30), "more").ok());
  ASSERT_TRUE(writer.Delete(Key(40)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  options.verify_checksums_before_ingest = true;
  ASSERT_TRUE(Ingest("/f.sst", options).ok());
  EXPECT_TRUE(fs_->FileExists("/f.sst").IsNotFound());
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(Get(Key(9)), "old");
    EXPECT_EQ(Get(Key(10)), "NOT_FOUND");
    EXPECT_EQ(Get(Key(15)), "kept");
    EXPECT_EQ(Get(Key(30)), "old,more");
    EXPECT_EQ(Get(Key(40)), "NOT_FOUND");
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  }
}

TEST_F(IngestTest, FilesOfOneCallInTheirOrder) {
  WriteFile("/a.sst", 0, 10, "a");
  WriteFile("/b.sst", 5, 10, "b");
  ASSERT_TRUE(db_->IngestExternalFile({"/a.sst", "/b.sst"}, rocksdb::IngestExternalFileOptions()).ok());
  EXPECT_EQ(Get(Key(4)), "a");
  EXPECT_EQ(Get(Key(5)), "b");
  EXPECT_EQ(Get(Key(14)), "b");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 2u);
}

TEST_F(IngestTest, LargeFileIsCutAndTombstonesWithIt) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/f.sst").ok());
  ASSERT_TRUE(writer.DeleteRange(Key(0), Key(5000)).ok());
  for (int i = 0; i < 5000; i += 2) {
    ASSERT_TRUE(writer.Put(Key(i), std::string(100, 'v')).ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(Ingest("/f.sst").ok());
  EXPECT_GT(TablesOn(6), 2);
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  int n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), n += 2) ASSERT_EQ(it->key().ToString(), Key(n));
  EXPECT_EQ(n, 5000);
}

TEST_F(IngestTest, WrongFiles) {
  EXPECT_TRUE(Ingest("/missing.sst").IsIOError());
  EXPECT_TRUE(db_->IngestExternalFile({}, rocksdb::IngestExternalFileOptions()).IsInvalidArgument());
  EXPECT_TRUE(db_->IngestExternalFiles({}).IsInvalidArgument());
  WriteFile("/f.sst", 0, 1000, "v");
  rocksdb::IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  EXPECT_TRUE(Ingest("/f.sst", behind).IsInvalidArgument());
  SetFile("/damaged.sst", ReadFile("/f.sst"));
  FlipBit("/damaged.sst", 1000);
  EXPECT_TRUE(Ingest("/damaged.sst").IsCorruption());
  SetFile("/damaged.sst", "short");
  EXPECT_TRUE(Ingest("/damaged.sst").IsCorruption());
  EXPECT_EQ(Get(Key(1)), "NOT_FOUND");
  ASSERT_TRUE(Put("still", "writable").ok());
}

TEST_F(IngestTest, BehindAllThatIsThere) {
  options_.allow_ingest_behind = true;
  options_.num_levels = 4;
  OpenDb();
  rocksdb::IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  for (int i = 0; i < 300; i += 3) ASSERT_TRUE(Put(Key(i), "newer").ok());
  for (int i = 1; i < 300; i += 3) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  const std::string begin = Key(200), end = Key(250);
  ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), begin, end).ok());
  const auto expect = [&](const char* when, bool ingested) {
    for (int i = 0; i < 300; ++i) {
      const bool in_range = i >= 200 && i < 250;
      const char* old = ingested && !in_range && i % 3 == 2 ? "behind" : "NOT_FOUND";
      EXPECT_EQ(Get(Key(i)), i % 3 == 0 && !in_range ? "newer" : old) << when << " " << i;
    }
  };
  // With nothing below, deletions would be dropped if the last level were not kept.
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  expect("before", false);
  WriteFile("/f.sst", 0, 300, "behind");
  ASSERT_TRUE(Ingest("/f.sst", behind).ok());
  const int tables = TablesOn(3);
  EXPECT_GT(tables, 0);
  expect("ingested", true);
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(force, nullptr, nullptr).ok());
  expect("compacted", true);
  EXPECT_EQ(TablesOn(3), tables);

  WriteFile("/g.sst", 299, 2, "again");
  EXPECT_TRUE(Ingest("/g.sst", behind).IsInvalidArgument());  // something of the range is behind already
  WriteFile("/h.sst", 300, 10, "h");
  WriteFile("/i.sst", 305, 20, "i");
  EXPECT_TRUE(db_->IngestExternalFile({"/h.sst", "/i.sst"}, behind).IsNotSupported());
  ASSERT_TRUE(Ingest("/h.sst", behind).ok());
  // One in front: it counts, and is above the last level.
  WriteFile("/front.sst", 0, 10, "front");
  ASSERT_TRUE(Ingest("/front.sst").ok());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), "front");
  EXPECT_EQ(Get(Key(305)), "h");
  OpenDb();
  EXPECT_EQ(Get(Key(5)), "front");
  EXPECT_EQ(Get(Key(305)), "h");
  EXPECT_EQ(Get(Key(299)), "behind");
  EXPECT_EQ(Get(Key(202)), "NOT_FOUND");
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(IngestTest, NothingIsIngestedBelowSequenceZero) {
  OpenDb();
  WriteFile("/f.sst", 0, 100, "first");
  ASSERT_TRUE(Ingest("/f.sst").ok());  // sequence 0, on the last level
  CloseDb();
  options_.allow_ingest_behind = true;
  OpenDb();
  rocksdb::IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  WriteFile("/g.sst", 50, 100, "behind");
  EXPECT_TRUE(Ingest("/g.sst", behind).IsInvalidArgument());
  WriteFile("/h.sst", 100, 50, "behind");
  ASSERT_TRUE(Ingest("/h.sst", behind).ok());
  EXPECT_EQ(Get(Key(99)), "first");
  EXPECT_EQ(Get(Key(100)), "behind");
  options_.num_levels = 2;
  EXPECT_NE(TryOpen().ToString().find("allow_ingest_behind"), std::string::npos);
}

TEST_F(IngestTest, CrashAnywhereLeavesAllOrNothing) {
  ASSERT_TRUE(Put(Key(5), "old", true).ok());
  WriteFile("/f.sst", 0, 2000, std::string(100, 'n'));
  ASSERT_TRUE(fs_->SyncDir("/").ok());
  for (uint64_t n = 1; n < 200; ++n) {
    std::atomic<uint64_t> left{n};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kRead && op != FaultOp::kStat && path.rfind("/db", 0) == 0 && --left == 0) {
        fs_->PowerCut(n, CutMode::kRandom);
      }
    });
    const bool ok = Ingest("/f.sst").ok();
    fs_->SetHook(nullptr);
    if (!fs_->IsDown()) {
      EXPECT_TRUE(ok);
      break;
    }
    CloseDb();
    fs_->Restart();
    OpenDb();
    const bool there = Get(Key(1999)) != "NOT_FOUND";
    EXPECT_TRUE(there || !ok);
    EXPECT_EQ(Get(Key(5)), there ? std::string(100, 'n') : "old");
    EXPECT_EQ(Get(Key(0)) != "NOT_FOUND", there);
    if (there) break;
  }
}

// It is not known whether the record of the ingestion, or a new manifest, is on disk.
TEST_F(IngestTest, ACommitInDoubtRefusesWritesAndKeepsItsSequence) {
  class LetWritesGoOn : public rocksdb::EventListener {
   public:
    void OnBackgroundError(rocksdb::BackgroundErrorReason, Status* error) override { *error = Status::OK(); }
  };
  options_.max_bgerror_resume_count = 0;
  for (const bool refused : {true, false}) {
    if (!refused) options_.listeners.push_back(std::make_shared<LetWritesGoOn>());
    OpenDb();
    ASSERT_TRUE(Put(Key(0), "old", true).ok());
    Flush();
    WriteFile("/f.sst", 0, 2, "ingested");
    const uint64_t before = db_->GetLatestSequenceNumber();
    fs_->FailAll(FaultOp::kSync, "MANIFEST", Status::IOError("injected"));
    EXPECT_TRUE(Ingest("/f.sst").IsIOError());
    fs_->ClearFaults();
    EXPECT_GT(db_->GetLatestSequenceNumber(), before);
    rocksdb::WriteOptions sync;
    sync.sync = true;
    EXPECT_EQ(db_->Delete(sync, Key(0)).ok(), !refused);
    Crash(CutMode::kKeepUnsynced);
    OpenDb();
    EXPECT_EQ(Get(Key(1)), "ingested");
    EXPECT_EQ(Get(Key(0)), refused ? "ingested" : "NOT_FOUND");
    EXPECT_EQ(Scan(), (refused ? Key(0) + "=ingested," : "") + Key(1) + "=ingested");
  }
}

TEST_F(IngestTest, ConcurrentWithWritersAndCompactions) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_TRUE(Put(Key(i % 4000), "w" + std::to_string(i) + std::string(100, 'x')).ok());
    }
  });
  for (int n = 0; n < 20; ++n) {
    const std::string path = "/f" + std::to_string(n) + ".sst";
    WriteFile(path, n * 150, 300, "ingested" + std::to_string(n));
    ASSERT_TRUE(Ingest(path).ok());
  }
  stop = true;
  writer.join();
  WriteFile("/last.sst", 0, 4000, "last");
  ASSERT_TRUE(Ingest("/last.sst").ok());
  ASSERT_TRUE(db_->VerifyChecksum().ok());
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), "last");
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(Get(Key(i)), "last");
}

TEST_F(IngestTest, ExportAndImport) {
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'a')).ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_TRUE(Put(Key(7), "newer").ok());
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(7), "more").ok());
  ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), Key(100), Key(200)).ok());
  ASSERT_TRUE(Put(Key(150), "after").ok());
  db_->ReleaseSnapshot(snapshot);
  rocksdb::Checkpoint* opened = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &opened).ok());
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(opened);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  ASSERT_TRUE(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/ex", &exported).ok());
  std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(exported);
  rocksdb::ExportImportFilesMetaData* again = nullptr;
  EXPECT_TRUE(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/ex", &again).IsInvalidArgument());
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::ImportColumnFamilyOptions import;
  EXPECT_TRUE(db_->CreateColumnFamilyWithImport(options_, "default", import, *metadata, &handle).IsInvalidArgument());
  rocksdb::ExportImportFilesMetaData bad = *metadata;
  bad.db_comparator_name = "other";
  EXPECT_TRUE(db_->CreateColumnFamilyWithImport(options_, "x", import, bad, &handle).IsInvalidArgument());
  bad = *metadata;
  bad.files[0].name = "/none.sst";
  EXPECT_TRUE(db_->CreateColumnFamilyWithImport(options_, "x", import, bad, &handle).IsIOError());
  bad.files.clear();
  EXPECT_TRUE(db_->CreateColumnFamilyWithImport(options_, "x", import, bad, &handle).IsInvalidArgument());
  ASSERT_TRUE(db_->CreateColumnFamilyWithImport(options_, "copy", import, *metadata, &handle).ok());
  std::unique_ptr<rocksdb::Iterator> one(db_->NewIterator(rocksdb::ReadOptions()));
  std::unique_ptr<rocksdb::Iterator> two(db_->NewIterator(rocksdb::ReadOptions(), handle));
  int n = 0;
  one->SeekToFirst();
  for (two->SeekToFirst(); two->Valid() && one->Valid(); one->Next(), two->Next(), ++n) {
    ASSERT_EQ(one->key().ToString(), two->key().ToString());
    ASSERT_EQ(one->value().ToString(), two->value().ToString());
  }
  EXPECT_FALSE(one->Valid() || two->Valid());
  EXPECT_EQ(n, 2901);
  one.reset();
  two.reset();
  delete handle;
  // Into another database, whose sequences are behind.
  CloseDb();
  rocksdb::DB* other = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options_, "/other", &other).ok());
  db_.reset(other);
  ASSERT_TRUE(db_->CreateColumnFamilyWithImport(options_, "copy", import, *metadata, &handle).ok());
  std::string value;
  ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), handle, Key(7), &value).ok());
  EXPECT_EQ(value, "newer,more");
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, Key(7), "mine").ok());
  ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), handle, Key(7), &value).ok());
  EXPECT_EQ(value, "mine");
  delete handle;
}

// Data that is in no table yet belongs to the family, too.
TEST_F(IngestTest, ExportOfAReaderHasWhatIsLogged) {
  CloseDb();
  options_.avoid_flush_during_shutdown = true;
  OpenDb();
  ASSERT_TRUE(Put("a", "in a table").ok());
  ASSERT_TRUE(Put("b", "in a table").ok());
  ASSERT_TRUE(Put("c", "in a table").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("a", "logged").ok());
  ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "b", "c").ok());
  const std::string then = Scan();
  CloseDb();
  options_.max_open_files = -1;
  std::unique_ptr<rocksdb::ExportImportFilesMetaData> exports[2];
  for (const bool secondary : {false, true}) {
    rocksdb::DB* opened = nullptr;
    const Status s = secondary ? rocksdb::DB::OpenAsSecondary(options_, name_, "/secondary", &opened)
                               : rocksdb::DB::OpenForReadOnly(options_, name_, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> reader(opened);
    exports[secondary] = ExportDefaultFamily(reader.get(), secondary ? "/ex2" : "/ex1");
    ASSERT_NE(exports[secondary], nullptr);
  }
  OpenDb();
  for (const bool secondary : {false, true}) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const Status s =
        db_->CreateColumnFamilyWithImport(options_, secondary ? "two" : "one", {}, *exports[secondary], &handle);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handle));
    std::string all;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      all += (all.empty() ? "" : ",") + it->key().ToString() + "=" + it->value().ToString();
    }
    EXPECT_EQ(all, "a=logged,c=in a table") << then;
    it.reset();
    delete handle;
  }
}

// No flush takes it any more.
TEST_F(IngestTest, NoExportOfADroppedFamily) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "dropped", &handle).ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, "a", "in memory").ok());
  ASSERT_TRUE(db_->DropColumnFamily(handle).ok());
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  const Status s = checkpoint->ExportColumnFamily(handle, "/ex", &exported);
  EXPECT_TRUE(s.IsColumnFamilyDropped()) << s.ToString();
  EXPECT_EQ(exported, nullptr);
  EXPECT_TRUE(fs_->FileExists("/ex").IsNotFound());
  delete exported;
  delete handle;
}

TEST_F(IngestTest, ImportedSequencesLeaveRoomForWrites) {
  for (const SequenceNumber sequence : {kMaxKnownSequence, kMaxStraySequence + 1, kMaxStraySequence}) {
    PieceBuildOptions build;
    build.comparator = rocksdb::BytewiseComparator();
    std::unique_ptr<TableFileWriter> writer;
    ASSERT_TRUE(TableFileWriter::Create(fs_.get(), "/in.sst", build, &writer).ok());
    std::string key;
    AppendInternalKey(&key, "x", sequence, kTypeValue);
    ASSERT_TRUE(writer->Add(key, "v").ok());
    TableFileInfo info;
    info.comparator = build.comparator->Name();
    ASSERT_TRUE(writer->Finish(1, &info).ok());
    rocksdb::ExportImportFilesMetaData metadata;
    metadata.db_comparator_name = info.comparator;
    metadata.files.emplace_back().name = "in.sst";
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const Status s = db_->CreateColumnFamilyWithImport(options_, "imported", {}, metadata, &handle);
    EXPECT_EQ(s.ok(), sequence == kMaxStraySequence) << s.ToString();
    EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    ASSERT_TRUE(Put("a", "1").ok());
    if (handle != nullptr) {
      ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    }
  }
  families_ = {"default", "imported"};
  OpenDb();
  EXPECT_EQ(GetIn(0, "a"), "1");
  EXPECT_EQ(GetIn(1, "x"), "v");
}

}  // namespace
}  // namespace compassdb
