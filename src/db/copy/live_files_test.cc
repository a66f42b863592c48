// SPDX-License-Identifier: Apache-2.0
// The files that a copy of the database needs, and that they stay while
// deletions are disabled.
#include "db/copy/live_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/testing/db_test_util.h"
#include "db/testing/family_test_util.h"
#include "format/file_names.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/metadata.h"
#include "rocksdb/transaction_log.h"

namespace compassdb {
namespace {

// Without a database.
class LiveFilesPartTest : public ::testing::Test, private CopyJobs, private LogLock {
 protected:
  LiveFilesPartTest() {
    config_.fs = &db_.fs;
    config_.name = config_.wal_dir = "/db";
    commits_.SetManifest(7, 100);
    db_.Put("key", "value");
    db_.Flush(db_.family());
  }
  std::string Names() {
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    Status s = live_files_.GetLiveFiles(&files, &manifest_bytes, /*flush_memtable=*/true);
    if (!s.ok()) return s.ToString();
    EXPECT_EQ(manifest_bytes, 100u);
    std::string names;
    for (const std::string& file : files) names += file + " ";
    return names;
  }

  FamilyHarness db_;
  DbConfig config_;
  uint64_t log_ = 100;
  const EmptyManifest manifest_;
  CommitQueue commits_{&db_.fs, "/db", 1 << 20, &db_.mu, manifest_};
  WalSet wals_{&db_.fs, "/db", WalSet::Options(), [this] { return ++log_; }, nullptr};
  std::atomic<uint64_t> options_number_{0};
  LiveFiles live_files_{config_, /*read_only=*/false, db_.families,
                        DatabaseFiles{db_.files, db_.ledger, commits_, wals_},
                        options_number_, &db_.mu, *this, *this};
  std::string calls_;

 private:
  Status FlushAll() override {
    calls_ += "flush ";
    return Status::OK();
  }
  Status LockLog() override {
    calls_ += "lock ";
    return Status::OK();
  }
  Status UnlockLog() override {
    calls_ += "unlock ";
    return Status::OK();
  }
  void AwaitDeletions() override { calls_ += db_.ledger.deletions_enabled() ? "await too early " : "await "; }
  void ResumeDeletions() override { calls_ += db_.ledger.deletions_enabled() ? "resume " : "resume too early "; }
};

TEST_F(LiveFilesPartTest, ACopyHasTheFilesOfOneManifest) {
  const std::string table = PieceFileName("", db_.ledger.LiveFiles().at(0));
  EXPECT_EQ(Names(), "/" + table + " /CURRENT /MANIFEST-000007 ");
  EXPECT_EQ(calls_, "flush ");
  options_number_ = 8;
  EXPECT_EQ(Names(), "/" + table + " /CURRENT /MANIFEST-000007 /OPTIONS-000008 ");
}

TEST_F(LiveFilesPartTest, TheFirstReasonToRefuseIsGiven) {
  live_files_.Refuse(Status::NotSupported("first"));
  live_files_.Refuse(Status::NotSupported("second"));
  EXPECT_EQ(Names(), Status::NotSupported("first").ToString());
}

TEST_F(LiveFilesPartTest, DeletionsAreDisabledBeforeTheyAreAwaited) {
  live_files_.DisableDeletions();
  EXPECT_EQ(calls_, "await ");
  live_files_.EnableDeletions(/*force=*/false);
  EXPECT_EQ(calls_, "await resume ");
}

class LiveFilesTest : public DbTest {
 protected:
  void Fill(int first, int count, const std::string& value) {
    for (int i = first; i < first + count; ++i) ASSERT_TRUE(Put(Key(i), value).ok());
  }
  // Copies what GetLiveFilesStorageInfo names to `dir`, byte by byte.
  void Copy(const std::vector<rocksdb::LiveFileStorageInfo>& files, const std::string& dir) {
    ASSERT_TRUE(fs_->CreateDir(dir).ok());
    for (const auto& file : files) {
      std::string data = file.replacement_contents;
      if (data.empty()) {
        const std::string from = JoinPath(file.directory, file.relative_filename);
        ASSERT_TRUE(ReadFileToString(fs_.get(), from, &data).ok()) << from;
      }
      ASSERT_GE(data.size(), file.size);
      if (file.trim_to_size) data.resize(file.size);
      std::unique_ptr<WritableFile> out;
      ASSERT_TRUE(
          fs_->NewWritableFile(JoinPath(dir, file.relative_filename), FileOptions(), &out).ok());
      ASSERT_TRUE(out->Append(data).ok());
      ASSERT_TRUE(out->Close().ok());
    }
  }
  std::string ScanOf(const std::string& dir) {
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::Open(options_, dir, &db);
    if (!s.ok()) return s.ToString();
    std::unique_ptr<rocksdb::DB> owned(db);
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
    std::string out;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      out += (out.empty() ? "" : ",") + it->key().ToString() + "=" + it->value().ToString();
    }
    return it->status().ok() ? out : it->status().ToString();
  }
  std::vector<rocksdb::LiveFileStorageInfo> Live(uint64_t wal_size_for_flush) {
    rocksdb::LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = wal_size_for_flush;
    std::vector<rocksdb::LiveFileStorageInfo> files;
    Status s = db_->GetLiveFilesStorageInfo(options, &files);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return files;
  }
};

TEST_F(LiveFilesTest, CopyOfTheFilesIsTheDatabaseThen) {
  OpenDb();
  Fill(0, 500, std::string(200, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Fill(200, 100, "b");  // in the log only
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  const std::string then = Scan();
  const auto files = Live(UINT64_MAX);
  // Everything that was listed is rewritten before it is copied.
  for (int round = 0; round < 5; ++round) {
    Fill(0, 500, std::string(200, static_cast<char>('c' + round)));
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_TRUE(db_->SetOptions({{"write_buffer_size", "70000"}}).ok());
  }
  Copy(files, "/copy");
  EXPECT_EQ(ScanOf("/copy"), then);
  ASSERT_TRUE(db_->EnableFileDeletions(false).ok());
}

TEST_F(LiveFilesTest, NothingIsDeletedOrPunchedWhileDisabled) {
  OpenDb();
  Fill(0, 500, std::string(200, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  fs_->ResetCounts();
  const auto rewrite = [&] {
    for (int i = 0; i < 4; ++i) {
      Fill(0, 500, std::string(200, 'b'));
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
  };
  rewrite();
  EXPECT_EQ(fs_->Count(FaultOp::kDelete), 0u);
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 0u);
  ASSERT_TRUE(db_->EnableFileDeletions(false).ok());  // one of two
  rewrite();
  EXPECT_EQ(fs_->Count(FaultOp::kDelete), 0u);
  ASSERT_TRUE(db_->EnableFileDeletions(false).ok());
  EXPECT_GT(fs_->Count(FaultOp::kDelete), 0u);
}

TEST_F(LiveFilesTest, ManifestThatWasReplacedStaysWhileDisabled) {
  options_.max_manifest_file_size = 1;  // every commit begins a new one
  OpenDb();
  Fill(0, 10, "a");
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  const auto files = Live(0);
  const std::string then = Scan();
  Fill(0, 10, "b");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Copy(files, "/copy");
  EXPECT_EQ(ScanOf("/copy"), then);
  ASSERT_TRUE(db_->EnableFileDeletions(true).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
  int manifests = 0;
  for (const std::string& name : names) manifests += name.rfind("MANIFEST", 0) == 0;
  EXPECT_EQ(manifests, 1);
}

TEST_F(LiveFilesTest, SizeOfLogsDecidesWhetherToFlush) {
  OpenDb();
  const auto is_logged = [this](uint64_t limit) {
    uint64_t bytes = 0;
    for (const auto& file : Live(limit)) {
      if (file.file_type == rocksdb::kWalFile) bytes += file.size;
    }
    return bytes > 0;
  };
  Fill(0, 10, "a");
  EXPECT_TRUE(is_logged(UINT64_MAX));
  EXPECT_TRUE(is_logged(1 << 20));
  EXPECT_FALSE(is_logged(100));
  Fill(0, 10, "a");
  EXPECT_FALSE(is_logged(0));
}

TEST_F(LiveFilesTest, LiveFilesAreThoseOfTheManifest) {
  OpenDb();
  Fill(0, 100, "a");
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db_->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/true).ok());
  EXPECT_GT(manifest_bytes, 0u);
  std::set<FileType> types;
  for (const std::string& file : files) {
    uint64_t number = 0;
    FileType type;
    ASSERT_EQ(file[0], '/');
    ASSERT_TRUE(ParseFileName(file.substr(1), &number, &type)) << file;
    types.insert(type);
    EXPECT_TRUE(fs_->FileExists(name_ + file).ok()) << file;
  }
  EXPECT_EQ(types, (std::set<FileType>{FileType::kPieceFile, FileType::kCurrent,
                                       FileType::kManifest, FileType::kOptions}));
  std::unique_ptr<rocksdb::FileChecksumList> list(rocksdb::NewFileChecksumList());
  ASSERT_TRUE(db_->GetLiveFilesChecksumInfo(list.get()).ok());
  EXPECT_EQ(list->size(), files.size() - 3);
  EXPECT_TRUE(db_->GetLiveFilesChecksumInfo(nullptr).IsInvalidArgument());
}

TEST_F(LiveFilesTest, LogsSayWithWhichSequenceTheyBegin) {
  OpenDb();
  Fill(0, 10, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  rocksdb::VectorLogPtr logs;
  ASSERT_TRUE(db_->GetSortedWalFiles(logs).ok());
  EXPECT_TRUE(logs.empty());  // the current one has no record
  Fill(0, 3, "b");
  ASSERT_TRUE(db_->GetSortedWalFiles(logs).ok());
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0]->StartSequence(), 11u);
  EXPECT_EQ(logs[0]->Type(), rocksdb::kAliveLogFile);
}

TEST_F(LiveFilesTest, OnlyReadDatabaseListsItsFiles) {
  OpenDb();
  Fill(0, 10, "a");
  CloseDb();
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  std::unique_ptr<rocksdb::DB> owned(db);
  EXPECT_TRUE(db->DisableFileDeletions().IsNotSupported());
  EXPECT_TRUE(db->EnableFileDeletions(false).IsNotSupported());
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db->GetLiveFiles(files, &manifest_bytes).ok());
  EXPECT_GT(manifest_bytes, 0u);
  rocksdb::VectorLogPtr logs;
  ASSERT_TRUE(db->GetSortedWalFiles(logs).ok());
  EXPECT_EQ(logs.size(), 1u);
  std::unique_ptr<rocksdb::LogFile> current;
  EXPECT_TRUE(db->GetCurrentWalFile(&current).IsPathNotFound());
}

// What was logged and is in no table yet is part of what the reader shows.
TEST_F(LiveFilesTest, CopyOfAnOnlyReadDatabaseHasWhatIsLogged) {
  options_.avoid_flush_during_shutdown = true;
  OpenDb();
  Fill(0, 1, "in a table");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Fill(1, 1, "logged");
  const std::string then = Scan();
  CloseDb();
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  db_.reset(db);
  ASSERT_EQ(Scan(), then);
  for (const uint64_t wal_size_for_flush : {uint64_t{0}, UINT64_MAX}) {
    const std::string dir = "/copy" + std::to_string(wal_size_for_flush);
    const auto files = Live(wal_size_for_flush);
    EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                            [](const auto& file) { return file.file_type == rocksdb::kOptionsFile; }));
    Copy(files, dir);
    EXPECT_EQ(ScanOf(dir), then);
  }
}

// A running primary deletes logs that the reader has read: a copy without them would lack their records.
TEST_F(LiveFilesTest, NoCopyOfAnOnlyReadDatabaseWhoseLogsAreGone) {
  OpenDb();
  Fill(0, 1, "logged");
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  const std::unique_ptr<rocksdb::DB> reader(db);
  Fill(1, 1, "later");
  std::vector<rocksdb::LiveFileStorageInfo> files;
  ASSERT_TRUE(reader->GetLiveFilesStorageInfo({}, &files).ok());
  Copy(files, "/copy");
  EXPECT_EQ(ScanOf("/copy"), Key(0) + "=logged");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_FALSE(reader->GetLiveFilesStorageInfo({}, &files).ok());
}

// Its copy has as much of the manifest as the reader has read, not as much as there was when it began to.
TEST_F(LiveFilesTest, CopyOfAnOnlyReadDatabaseThatWasFlushedWhileItWasOpened) {
  OpenDb();
  Fill(0, 1, "logged");
  bool flushed = false;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kOpen || path.find("MANIFEST") == std::string::npos || std::exchange(flushed, true)) return;
    EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  });
  rocksdb::DB* db = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &db);
  fs_->SetHook(nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::DB> reader(db);
  ASSERT_TRUE(flushed);
  std::vector<rocksdb::LiveFileStorageInfo> files;
  ASSERT_TRUE(reader->GetLiveFilesStorageInfo({}, &files).ok());
  Copy(files, "/copy");
  EXPECT_EQ(ScanOf("/copy"), Key(0) + "=logged");
}

// The manifest names the tables of all families, and the reader knows only of those that it opened.
TEST_F(LiveFilesTest, NoCopyOfSomeOfTheFamilies) {
  OpenDb();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "other", &handle).ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, "a", "b").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handle).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  CloseDb();
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  const std::unique_ptr<rocksdb::DB> reader(db);
  std::vector<rocksdb::LiveFileStorageInfo> files;
  EXPECT_TRUE(reader->GetLiveFilesStorageInfo({}, &files).IsNotSupported());
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  EXPECT_TRUE(reader->GetLiveFiles(names, &manifest_bytes).IsNotSupported());
}

}  // namespace
}  // namespace compassdb
