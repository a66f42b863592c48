// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "copies/backup_meta.h"
#include "copies/copies_test_util.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/utilities/backup_engine.h"

namespace compassdb {
namespace {

using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupEngineReadOnly;
using rocksdb::BackupID;
using rocksdb::BackupInfo;
using rocksdb::IOStatus;

// Long strings that need not be printed.
#define EXPECT_SAME(a, b) EXPECT_TRUE((a) == (b))

class BackupTest : public DbTest {
 protected:
  void SetUp() override { OpenDb(); }
  void Fill(int first, int count, const std::string& value) {
    for (int i = first; i < first + count; ++i) ASSERT_TRUE(Put(Key(i), value).ok());
  }
  Status TryEngine() {
    engine_.reset();
    BackupEngine* engine = nullptr;
    Status s = BackupEngine::Open(backup_options_, env_.get(), &engine);
    engine_.reset(engine);
    return s;
  }
  void OpenEngine() {
    Status s = TryEngine();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  BackupID Backup(bool flush = false) {
    if (engine_ == nullptr) OpenEngine();
    rocksdb::CreateBackupOptions options;
    options.flush_before_backup = flush;
    BackupID id = 0;
    IOStatus s = engine_->CreateNewBackup(options, db_.get(), &id);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return id;
  }
  // The contents of backup `id`, through restored files.
  std::string Restored(BackupID id) {
    IOStatus s = engine_->RestoreDBFromBackup(id, "/restored", "/restored");
    return s.ok() ? ScanAt("/restored") : s.ToString();
  }
  std::string ScanAt(const std::string& dir, rocksdb::Env* env = nullptr) {
    rocksdb::Options options = options_;
    options.create_if_missing = false;
    if (env != nullptr) options.env = env;
    rocksdb::DB* db = nullptr;
    Status s = env != nullptr ? rocksdb::DB::OpenForReadOnly(options, dir, &db)
                              : rocksdb::DB::Open(options, dir, &db);
    if (!s.ok()) return s.ToString();
    std::unique_ptr<rocksdb::DB> other(db);
    if (s = db->VerifyChecksum(); !s.ok()) return s.ToString();
    std::swap(other, db_);
    std::string all = Scan();
    std::swap(other, db_);
    return all;
  }
  std::vector<std::string> Children(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir, &names).ok()) << dir;
    return names;
  }

  BackupEngineOptions backup_options_{"/backups"};
  std::unique_ptr<BackupEngine> engine_;
};

// Restored tables are all in the database's directory, where they are found first.
TEST_F(BackupTest, ChecksumsOfWholeFilesAreCompared) {
  options_.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  OpenDb();
  Fill(0, 1000, "a");
  const std::string before = Scan();
  const BackupID good = Backup(/*flush=*/true);
  EXPECT_SAME(Restored(good), before);
  // A file of the copy has the checksum of the database's.
  {
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options_, "/restored", &db).ok());
    const std::unique_ptr<rocksdb::DB> restored(db);
    EXPECT_TRUE(db->VerifyFileChecksums(rocksdb::ReadOptions()).ok());
    std::unique_ptr<rocksdb::FileChecksumList> list(rocksdb::NewFileChecksumList());
    ASSERT_TRUE(db->GetLiveFilesChecksumInfo(list.get()).ok());
    EXPECT_GT(list->size(), 0u);
  }
  Fill(2000, 1000, "b");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  uint64_t newest = 0;
  for (const auto& file : files) newest = std::max(newest, file.file_number);
  FlipBit(PieceFileName(name_, newest), 5000);
  rocksdb::CreateBackupOptions options;
  BackupID id = 0;
  const IOStatus s = engine_->CreateNewBackup(options, db_.get(), &id);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(PieceFileName("", newest)), std::string::npos) << s.ToString();
  EXPECT_SAME(Restored(good), before);
}

TEST_F(BackupTest, OfTablesInSeveralDirectories) {
  options_.db_paths = {rocksdb::DbPath("/fast", 300 << 10), rocksdb::DbPath("/slow", 1 << 30)};
  OpenDb();
  rocksdb::WaitForCompactOptions wait;
  wait.flush = true;
  for (int i = 0; i < 10; ++i) Fill(i * 500, 500, std::string(300, 'a'));
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  const std::string then = Scan();
  ASSERT_EQ(Backup(true), 1u);
  Fill(1000, 3000, std::string(100, 'b'));
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  CloseDb();
  ASSERT_TRUE(engine_->RestoreDBFromLatestBackup(name_, name_).ok());
  OpenDb();
  EXPECT_SAME(Scan(), then);
  Fill(0, 5000, std::string(300, 'c'));
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  const std::string now = Scan();
  OpenDb();
  EXPECT_SAME(Scan(), now);
}

TEST_F(BackupTest, EveryBackupKeepsItsState) {
  std::vector<std::string> states;
  for (int n = 0; n < 5; ++n) {
    Fill(n * 100, 600, std::string(100, static_cast<char>('a' + n)));
    if (n % 2 == 0) Compact();
    states.push_back(Scan());
    ASSERT_EQ(Backup(n % 3 == 0), static_cast<BackupID>(n + 1));
    if (n == 2) OpenEngine();
  }
  Fill(0, 2000, "z");
  Compact();
  for (int n = 0; n < 5; ++n) {
    const auto id = static_cast<BackupID>(n + 1);
    EXPECT_SAME(Restored(id), states[static_cast<size_t>(n)]) << n;
    EXPECT_TRUE(engine_->VerifyBackup(id, true).ok());
  }
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup("/restored", "/restored").ok());
  EXPECT_SAME(ScanAt("/restored"), states.back());
}

TEST_F(BackupTest, OnlyNewFilesAreCopied) {
  Fill(0, 2000, std::string(100, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Backup();
  const size_t first = Children("/backups/shared_checksum").size();
  Backup();
  EXPECT_EQ(Children("/backups/shared_checksum").size(), first);
  BackupInfo one, two;
  ASSERT_TRUE(engine_->GetBackupInfo(1, &one).ok());
  ASSERT_TRUE(engine_->GetBackupInfo(2, &two).ok());
  EXPECT_EQ(one.size, two.size);
  backup_options_.share_table_files = false;
  OpenEngine();
  EXPECT_EQ(Backup(), 3u);
  EXPECT_EQ(Children("/backups/shared_checksum").size(), first);
  EXPECT_GT(Children("/backups/private/3").size(), Children("/backups/private/2").size());
}

// Both the file that a backup holds and the one that it would share may have been
// punched, and each lack what the other's history needs.
TEST_F(BackupTest, PunchedCopyIsNotTakenForTheWholeFile) {
  Fill(0, 3000, std::string(100, 'a'));
  Compact();
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string whole = Scan();
  backup_options_.backup_dir = "/early";
  Backup();
  // Most of the file dies and is punched; the second directory first sees it so.
  fs_->ResetCounts();
  for (int round = 0; round < 8 && fs_->Count(FaultOp::kPunch) == 0; ++round) {
    for (int i = 0; i < 1500; ++i) {
      ASSERT_TRUE(Put(Key(i), std::string(100, static_cast<char>('b' + round))).ok());
    }
    Compact();
  }
  EXPECT_GT(fs_->Count(FaultOp::kPunch), 0u);
  const std::string later = Scan();
  backup_options_.backup_dir = "/late";
  OpenEngine();
  Backup();
  // Back to the early state, which needs what the late copy lacks.
  backup_options_.backup_dir = "/early";
  OpenEngine();
  CloseDb();
  ASSERT_TRUE(engine_->RestoreDBFromLatestBackup(name_, name_).ok());
  OpenDb();
  ASSERT_EQ(Scan(), whole);
  backup_options_.backup_dir = "/late";
  OpenEngine();
  EXPECT_EQ(Backup(), 2u);
  EXPECT_SAME(Restored(1), later);
  EXPECT_SAME(Restored(2), whole);
}

TEST_F(BackupTest, InfoAndMetadata) {
  OpenEngine();
  BackupInfo info;
  EXPECT_TRUE(engine_->GetLatestBackupInfo(&info).IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup("/restored", "/restored").IsNotFound());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  EXPECT_TRUE(engine_->DeleteBackup(1).IsNotFound());
  Fill(0, 100, "a");
  EXPECT_TRUE(engine_->CreateNewBackupWithMetadata(db_.get(), std::string((1 << 20) + 1, 'x'), true).IsInvalidArgument());
  const std::string metadata("new\n\0line", 9);
  ASSERT_TRUE(engine_->CreateNewBackupWithMetadata(db_.get(), metadata, true).ok());
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(engine_->GetLatestBackupInfo(&info, true).ok());
    EXPECT_EQ(info.backup_id, 1u);
    EXPECT_EQ(info.app_metadata, metadata);
    EXPECT_EQ(info.number_files, info.file_details.size());
    uint64_t sum = 0;
    for (const auto& file : info.file_details) {
      sum += file.size;
      EXPECT_TRUE(fs_->FileExists(file.directory + "/" + file.relative_filename).ok());
    }
    EXPECT_EQ(info.size, sum);
    EXPECT_SAME(ScanAt(info.name_for_open, info.env_for_open.get()), Scan());
    OpenEngine();
  }
  BackupEngineReadOnly* opened = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(backup_options_, env_.get(), &opened).ok());
  std::unique_ptr<BackupEngineReadOnly> read_only(opened);
  std::vector<BackupInfo> infos;
  read_only->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_TRUE(read_only->VerifyBackup(1, true).ok());
  EXPECT_TRUE(read_only->RestoreDBFromBackup(1, "/restored", "/restored").ok());
}

TEST_F(BackupTest, ReadOnlyEngine) {
  BackupEngineReadOnly* opened = nullptr;
  EXPECT_TRUE(BackupEngineReadOnly::Open(backup_options_, env_.get(), &opened).IsNotFound());
  for (int n = 0; n < 3; ++n) Backup();
  backup_options_.max_valid_backups_to_open = 2;
  ASSERT_TRUE(BackupEngineReadOnly::Open(backup_options_, env_.get(), &opened).ok());
  std::unique_ptr<BackupEngineReadOnly> read_only(opened);
  std::vector<BackupInfo> infos;
  read_only->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].backup_id, 2u);
  backup_options_.destroy_old_data = true;
  EXPECT_TRUE(
      BackupEngineReadOnly::Open(backup_options_, env_.get(), &opened).IsInvalidArgument());
  OpenEngine();
  engine_->GetBackupInfo(&infos);
  EXPECT_TRUE(infos.empty());
  EXPECT_TRUE(Children("/backups/private").empty());
}

TEST_F(BackupTest, DeletedBackupsLeaveNothingBehind) {
  for (int n = 0; n < 4; ++n) {
    Fill(0, 500, std::string(100, static_cast<char>('a' + n)));
    Compact();
    Backup(true);
  }
  const std::string latest = Scan();
  ASSERT_TRUE(engine_->DeleteBackup(2).ok());
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(2, &info).IsNotFound());
  ASSERT_TRUE(engine_->PurgeOldBackups(1).ok());
  EXPECT_SAME(Restored(4), latest);
  ASSERT_TRUE(engine_->GetBackupInfo(4, &info, true).ok());
  std::set<std::string> named;
  for (const auto& file : info.file_details) named.insert(file.relative_filename);
  for (const std::string& name : Children("/backups/shared_checksum")) {
    EXPECT_EQ(named.count("shared_checksum/" + name), 1u) << name;
  }
  EXPECT_EQ(Children("/backups/private"), std::vector<std::string>{"4"});
  ASSERT_TRUE(engine_->PurgeOldBackups(0).ok());
  EXPECT_TRUE(Children("/backups/shared_checksum").empty());
  EXPECT_EQ(Backup(), 5u);
  ASSERT_TRUE(engine_->PurgeOldBackups(0).ok());
  OpenEngine();
  EXPECT_EQ(Backup(), 1u);
}

TEST_F(BackupTest, DamageIsFound) {
  Fill(0, 500, std::string(100, 'a'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Backup();
  Fill(0, 500, std::string(100, 'b'));
  Backup(true);
  BackupInfo first, second;
  ASSERT_TRUE(engine_->GetBackupInfo(1, &first, true).ok());
  ASSERT_TRUE(engine_->GetBackupInfo(2, &second, true).ok());
  // A bit in a table, of a backup that is shared by both.
  const std::string shared = "/backups/" + first.file_details[0].relative_filename;
  FlipBit(shared, 3000);
  EXPECT_TRUE(engine_->VerifyBackup(1).ok());
  EXPECT_TRUE(engine_->VerifyBackup(1, true).IsCorruption());
  bool of_both = false;  // unless the file was compacted away in between
  for (const auto& file : second.file_details) {
    of_both = of_both || "/backups/" + file.relative_filename == shared;
  }
  EXPECT_EQ(engine_->VerifyBackup(2, true).IsCorruption(), of_both);
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/restored", "/restored").IsCorruption());
  EXPECT_TRUE(fs_->FileExists("/restored/CURRENT").IsNotFound());
  FlipBit(shared, 3000);  // whole again
  // A missing file: known when the engine is opened, and before by VerifyBackup.
  ASSERT_TRUE(fs_->DeleteFile("/backups/private/1/CURRENT").ok());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsCorruption());
  OpenEngine();
  std::vector<BackupID> bad;
  engine_->GetCorruptedBackups(&bad);
  EXPECT_EQ(bad, std::vector<BackupID>{1});
  EXPECT_TRUE(engine_->GetBackupInfo(1, &first).IsCorruption());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/restored", "/restored").IsCorruption());
  EXPECT_SAME(Restored(2), Scan());
  // A description that cannot be read keeps what it may name.
  FlipBit("/backups/meta/2", 30);
  OpenEngine();
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  FlipBit("/backups/meta/2", 30);
  OpenEngine();
  EXPECT_SAME(Restored(2), Scan());
  ASSERT_TRUE(engine_->DeleteBackup(1).ok());
  EXPECT_EQ(Backup(), 3u);
  EXPECT_SAME(Restored(3), Scan());
}

// With any damage: a part that could be read is not all that it names.
TEST_F(BackupTest, ADamagedDescriptionKeepsWhatItMayName) {
  Fill(0, 500, std::string(100, 'a'));
  ASSERT_EQ(Backup(true), 1u);
  const std::string first = Scan();
  ASSERT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr).ok());
  Fill(500, 500, std::string(100, 'b'));
  ASSERT_EQ(Backup(true), 2u);  // shares no table with the first
  const size_t bytes = ReadFile("/backups/meta/1").size();
  BackupID newest = 2;
  for (size_t at = 0; at < bytes; at += 7) {
    SCOPED_TRACE(at);
    FlipBit("/backups/meta/1", at);
    OpenEngine();
    ASSERT_TRUE(engine_->PurgeOldBackups(10).ok());
    if (at % 5 == 0) {
      // It is not overwritten either.
      Compact(true);
      newest = Backup(true);
    }
    FlipBit("/backups/meta/1", at);
    OpenEngine();
    ASSERT_TRUE(engine_->VerifyBackup(1, true).ok());
  }
  EXPECT_SAME(Restored(1), first);
  EXPECT_SAME(Restored(newest), Scan());
}

// A file that an unreadable description may name is not overwritten by a file of the same name.
TEST_F(BackupTest, SharedFilesOfAnUnreadableBackupStay) {
  Fill(0, 500, std::string(100, 'a'));
  ASSERT_EQ(Backup(true), 1u);
  std::map<std::string, std::string> before;
  for (const std::string& name : Children("/backups/shared_checksum")) before[name] = ReadFile("/backups/shared_checksum/" + name);
  ASSERT_GT(before.size(), 0u);
  FlipBit("/backups/meta/1", 0);
  OpenEngine();
  std::vector<std::string> written;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op == FaultOp::kCreate) written.push_back(path);
  });
  ASSERT_EQ(Backup(), 2u);
  fs_->SetHook(nullptr);
  for (const auto& [name, data] : before) {
    EXPECT_EQ(std::count(written.begin(), written.end(), "/backups/shared_checksum/" + name), 0) << name;
    EXPECT_SAME(ReadFile("/backups/shared_checksum/" + name), data);
  }
  EXPECT_SAME(Restored(2), Scan());
}

TEST_F(BackupTest, DescriptionsThatAreGoneHoldNoPurgeUp) {
  for (int i = 0; i < 3; ++i) {
    Fill(100 * i, 100, "v");
    Backup(true);
  }
  ASSERT_TRUE(fs_->DeleteFile("/backups/meta/2").ok());
  // One that cannot be deleted does not keep the others.
  fs_->FailAll(FaultOp::kDelete, "meta/1", IOStatus::IOError("injected"));
  EXPECT_TRUE(engine_->PurgeOldBackups(0).IsIOError());
  fs_->ClearFaults();
  EXPECT_EQ(Children("/backups/meta"), std::vector<std::string>{"1"});
  ASSERT_TRUE(engine_->PurgeOldBackups(0).ok());
  EXPECT_TRUE(Children("/backups/meta").empty());
}

TEST_F(BackupTest, StoppedBackup) {
  Fill(0, 500, std::string(100, 'a'));
  OpenEngine();
  std::atomic<int> calls{0};
  backup_options_.callback_trigger_interval_size = 1000;
  OpenEngine();
  rocksdb::CreateBackupOptions options;
  options.flush_before_backup = true;
  options.progress_callback = [&] {
    ++calls;
    engine_->StopBackup();
  };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsIncomplete());
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(engine_->CreateNewBackup(db_.get()).IsIncomplete());
  OpenEngine();
  EXPECT_EQ(Backup(), 1u);
  EXPECT_SAME(Restored(1), Scan());
}

TEST_F(BackupTest, LogFiles) {
  Fill(0, 100, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const std::string flushed = Scan();
  Fill(100, 100, "b");
  backup_options_.backup_log_files = false;
  Backup();
  EXPECT_SAME(Restored(1), flushed);
  backup_options_.backup_log_files = true;
  OpenEngine();
  Backup();
  ASSERT_TRUE(engine_->RestoreDBFromBackup(2, "/restored", "/restored_wal").ok());
  rocksdb::Options options = options_;
  options_.wal_dir = "/restored_wal";
  EXPECT_SAME(ScanAt("/restored"), Scan());
  options_ = options;
}

TEST_F(BackupTest, RestoredOverNewerLogs) {
  Fill(0, 100, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  backup_options_.backup_log_files = false;
  Backup();
  Fill(50, 100, "b");
  const std::string all = Scan();
  CloseDb();
  ASSERT_TRUE(engine_->RestoreDBFromBackup(rocksdb::RestoreOptions(true), 1, name_, name_).ok());
  OpenDb();
  EXPECT_SAME(Scan(), all);
  // Not over an open database.
  EXPECT_FALSE(engine_->RestoreDBFromBackup(1, name_, name_).ok());
}

TEST_F(BackupTest, SeveralThreadsAndLimits) {
  Fill(0, 3000, std::string(100, 'a'));
  backup_options_.max_background_operations = 4;
  backup_options_.backup_rate_limit = 64 << 20;
  backup_options_.restore_rate_limit = 64 << 20;
  backup_options_.callback_trigger_interval_size = 10000;
  OpenEngine();
  std::atomic<uint64_t> calls{0};
  rocksdb::CreateBackupOptions options;
  options.flush_before_backup = true;
  options.progress_callback = [&] { ++calls; };
  options.decrease_background_thread_cpu_priority = true;
  options.background_thread_cpu_priority = rocksdb::CpuPriority::kLow;
  ASSERT_TRUE(engine_->CreateNewBackup(options, db_.get()).ok());
  BackupInfo info;
  ASSERT_TRUE(engine_->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(calls, info.size / 10000);
  EXPECT_SAME(Restored(1), Scan());
}

// It need not be thread safe.
TEST_F(BackupTest, ProgressIsReportedByOneThreadAtATime) {
  Fill(0, 3000, std::string(100, 'a'));
  backup_options_.max_background_operations = 4;
  backup_options_.callback_trigger_interval_size = 1000;
  OpenEngine();
  std::mutex mu;
  std::condition_variable came;
  int inside = 0;
  bool waited = false, together = false;
  const auto caller = std::this_thread::get_id();
  rocksdb::CreateBackupOptions options;
  options.flush_before_backup = true;
  options.progress_callback = [&] {
    std::unique_lock<std::mutex> lock(mu);
    together = together || ++inside > 1;
    came.notify_all();
    // The first one of those that copy files side by side gives others the time to come.
    if (std::this_thread::get_id() != caller && !std::exchange(waited, true)) {
      came.wait_for(lock, std::chrono::milliseconds(200), [&] { return together; });
    }
    --inside;
  };
  ASSERT_TRUE(engine_->CreateNewBackup(options, db_.get()).ok());
  EXPECT_TRUE(waited);
  EXPECT_FALSE(together);
}

TEST_F(BackupTest, RatesOverAllRatesAreNoLimits) {
  Fill(0, 100, std::string(100, 'a'));
  backup_options_.backup_rate_limit = UINT64_MAX;
  backup_options_.restore_rate_limit = uint64_t{1} << 63;
  OpenEngine();
  EXPECT_EQ(Backup(true), 1u);
  EXPECT_SAME(Restored(1), Scan());
}

TEST_F(BackupTest, ReadOnlyZeroBackupsToOpenAreAll) {
  Fill(0, 100, "a");
  Backup();
  Backup();
  backup_options_.max_valid_backups_to_open = 0;
  BackupEngineReadOnly* opened = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(backup_options_, env_.get(), &opened).ok());
  const std::unique_ptr<BackupEngineReadOnly> reader(opened);
  std::vector<BackupInfo> infos;
  reader->GetBackupInfo(&infos);
  EXPECT_EQ(infos.size(), 2u);
}

TEST_F(BackupTest, OtherFilesNextToDescriptionsStay) {
  Backup();
  for (const char* name : {"/backups/meta/notes", "/backups/meta/x.tmp", "/backups/meta/7.tmp"}) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(name, FileOptions(), &file).ok());
  }
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  EXPECT_TRUE(fs_->FileExists("/backups/meta/notes").ok());
  EXPECT_TRUE(fs_->FileExists("/backups/meta/x.tmp").ok());
  EXPECT_TRUE(fs_->FileExists("/backups/meta/7.tmp").IsNotFound());
}

TEST_F(BackupTest, WhatCannotBeRestoredReplacesNothing) {
  Fill(0, 100, "a");
  Backup(true);
  ASSERT_TRUE(engine_->RestoreDBFromBackup(1, "/restored", "/restored").ok());
  std::string text;
  ASSERT_TRUE(ReadFileToString(fs_.get(), "/backups/meta/1", &text).ok());
  BackupMeta meta;
  ASSERT_TRUE(DecodeBackupMeta("meta", text, &meta).ok());
  const BackupFile current = *std::find_if(meta.files.begin(), meta.files.end(),
                                           [](const BackupFile& file) { return file.name == "CURRENT"; });
  for (const char* name : {"unheard-of", "LOCK", "CURRENT"}) {
    BackupMeta forged = meta;
    forged.files.push_back(current);
    forged.files.back().name = name;
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile("/backups/meta/1", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(EncodeBackupMeta(forged)).ok());
    ASSERT_TRUE(file->Close().ok());
    OpenEngine();
    const IOStatus s = engine_->RestoreDBFromBackup(1, "/restored", "/restored");
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
    EXPECT_TRUE(fs_->FileExists("/restored/CURRENT").ok()) << name;
  }
  EXPECT_SAME(ScanAt("/restored"), Scan());
}

// Whichever call fails: the place holds a database that nothing opens, or repairs, until it is restored again.
TEST_F(BackupTest, AnUnfinishedRestoreIsRefusedByName) {
  OpenDb();
  Fill(0, 300, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  OpenEngine();
  ASSERT_TRUE(engine_->CreateNewBackup(db_.get()).ok());
  const std::string then = Scan();
  int refused = 0;
  for (const FaultOp op : {FaultOp::kCreate, FaultOp::kWrite, FaultOp::kSync, FaultOp::kRename, FaultOp::kDelete, FaultOp::kDirSync}) {
    for (uint64_t n = 1;; ++n) {
      const std::string where = std::string(FaultOpName(op)) + " " + std::to_string(n);
      EXPECT_SAME(Restored(1), then);
      fs_->FailNth(op, n, "/restored", Status::IOError("injected"));
      const IOStatus s = engine_->RestoreDBFromBackup(1, "/restored", "/restored");
      fs_->ClearFaults();
      if (s.ok()) break;
      rocksdb::DB* db = nullptr;
      const Status opened = rocksdb::DB::Open(options_, "/restored", &db);
      const std::unique_ptr<rocksdb::DB> closes(db);
      if (opened.ok()) continue;  // nothing was begun, or all was done
      ++refused;
      EXPECT_TRUE(opened.IsIncomplete() && opened.ToString().find("restore of backup 1 of /backups") != std::string::npos)
          << where << ": " << opened.ToString();
      std::vector<std::string> names;
      EXPECT_TRUE(rocksdb::DB::ListColumnFamilies(options_, "/restored", &names).IsIncomplete()) << where;
      EXPECT_TRUE(rocksdb::DB::OpenForReadOnly(options_, "/restored", &db).IsIncomplete()) << where;
      EXPECT_TRUE(rocksdb::RepairDB("/restored", options_).IsIncomplete()) << where;
    }
  }
  EXPECT_GT(refused, 20);
  // It may be given up, too.
  fs_->FailNth(FaultOp::kSync, 3, "/restored", Status::IOError("injected"));
  EXPECT_FALSE(engine_->RestoreDBFromBackup(1, "/restored", "/restored").ok());
  ASSERT_TRUE(rocksdb::DestroyDB("/restored", options_).ok());
  EXPECT_TRUE(fs_->FileExists("/restored").IsNotFound());
}

TEST_F(BackupTest, AnUnfinishedRestoreWithLogsElsewhereIsRunAgain) {
  Fill(0, 100, "a");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  Fill(100, 100, "b");
  Backup();
  const std::string then = Scan();
  const rocksdb::Options options = options_;
  options_.wal_dir = "/restored_wal";
  const auto restore = [&] { return engine_->RestoreDBFromBackup(1, "/restored", "/restored_wal"); };
  for (const bool opened : {true, false}) {
    for (const FaultOp op : {FaultOp::kCreate, FaultOp::kSync, FaultOp::kRename, FaultOp::kDelete}) {
      for (uint64_t n = 1;; ++n) {
        IOStatus s = restore();
        ASSERT_TRUE(s.ok()) << FaultOpName(op) << " " << n << ": " << s.ToString();
        if (opened) {
          EXPECT_SAME(ScanAt("/restored"), then);
        }
        fs_->FailNth(op, n, "/restored", Status::IOError("injected"));
        s = restore();
        fs_->ClearFaults();
        if (s.ok()) break;
      }
    }
  }
  EXPECT_SAME(ScanAt("/restored"), then);
  options_ = options;
}

TEST_F(BackupTest, EveryNaming) {
  using Options = BackupEngineOptions;
  Fill(0, 100, "a");
  const Options::ShareFilesNaming namings[] = {
      Options::kLegacyCrc32cAndFileSize, Options::kUseDbSessionId,
      Options::kUseDbSessionId | Options::kFlagIncludeFileSize};
  BackupID id = 0;
  for (const auto naming : namings) {
    backup_options_.share_files_with_checksum_naming = naming;
    OpenEngine();
    Backup(true);
    id = Backup();
  }
  EXPECT_EQ(Children("/backups/shared_checksum").size(), 3u);
  backup_options_.share_files_with_checksum = false;
  OpenEngine();
  id = Backup();
  EXPECT_EQ(Children("/backups/shared").size(), 1u);
  for (; id > 0; --id) EXPECT_SAME(Restored(id), Scan());
}

TEST_F(BackupTest, FailuresKeepWhatIsThere) {
  Fill(0, 500, std::string(100, 'a'));
  Backup(true);
  const std::string before = Scan();
  Fill(200, 500, std::string(100, 'b'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  const FaultOp ops[] = {FaultOp::kWrite, FaultOp::kSync,   FaultOp::kCreate, FaultOp::kDirSync,
                         FaultOp::kRename, FaultOp::kClose, FaultOp::kCreateDir};
  for (FaultOp op : ops) {
    int failures = 0;
    for (uint64_t n = 1;; ++n) {
      fs_->FailNth(op, n, "/backups/", Status::NoSpace("injected"));
      const uint64_t faults = fs_->faults_injected();
      IOStatus s = engine_->CreateNewBackup(db_.get());
      fs_->ClearFaults();
      if (fs_->faults_injected() == faults) {
        EXPECT_TRUE(s.ok()) << s.ToString();
        break;
      }
      if (!s.ok()) ++failures;
      BackupInfo info;
      if (!s.ok()) {
        EXPECT_EQ(s.subcode(), Status::SubCode::kNoSpace) << s.ToString();
      }
      ASSERT_TRUE(engine_->VerifyBackup(1, true).ok()) << FaultOpName(op) << n;
    }
    EXPECT_GT(failures, 0) << FaultOpName(op);
  }
  EXPECT_SAME(Restored(1), before);
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  std::vector<BackupInfo> infos;
  engine_->GetBackupInfo(&infos);
  for (const BackupInfo& info : infos) EXPECT_TRUE(engine_->VerifyBackup(info.backup_id, true).ok());
  EXPECT_SAME(Restored(infos.back().backup_id), Scan());
}

TEST_F(BackupTest, CrashAnywhereLeavesWholeBackups) {
  Fill(0, 300, std::string(100, 'a'));
  ASSERT_TRUE(db_->SyncWAL().ok());
  Backup(true);
  const std::string before = Scan();
  for (uint64_t n = 1; n < 80; ++n) {
    Fill(static_cast<int>(n), 50, std::string(100, 'b'));
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    const std::string now = Scan();
    std::atomic<uint64_t> left{n};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kRead && op != FaultOp::kStat && path.rfind("/backups", 0) == 0 &&
          --left == 0) {
        fs_->PowerCut(n, n % 2 == 0 ? CutMode::kRandom : CutMode::kDropUnsynced);
      }
    });
    BackupID id = 0;
    const bool ok =
        engine_->CreateNewBackup(rocksdb::CreateBackupOptions(), db_.get(), &id).ok();
    fs_->SetHook(nullptr);
    if (!fs_->IsDown()) {
      EXPECT_TRUE(ok);
      break;
    }
    engine_.reset();
    CloseDb();
    fs_->Restart();
    OpenDb();
    OpenEngine();
    std::vector<BackupID> bad;
    engine_->GetCorruptedBackups(&bad);
    EXPECT_TRUE(bad.empty()) << n;
    EXPECT_SAME(Restored(1), before);
    BackupInfo info;
    ASSERT_TRUE(engine_->GetLatestBackupInfo(&info).ok());
    ASSERT_TRUE(engine_->VerifyBackup(info.backup_id, true).ok()) << n;
    if (ok) {
      EXPECT_SAME(Restored(id), now);
    }
    ASSERT_TRUE(engine_->GarbageCollect().ok());
  }
}

TEST_F(BackupTest, UnderLoadEveryOneIsAPrefix) {
  OpenEngine();
  std::vector<int> at_least;
  {
    const NumberedWriter writer(db_.get());
    for (int n = 0; n < 8; ++n) {
      at_least.push_back(writer.WrittenSomeMore());
      ASSERT_EQ(Backup(n % 2 == 0), static_cast<BackupID>(n + 1));
    }
  }
  for (int n = 0; n < 8; ++n) {
    ASSERT_TRUE(engine_->RestoreDBFromBackup(static_cast<BackupID>(n + 1), "/restored", "/restored").ok());
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options_, "/restored", &opened).ok());
    std::unique_ptr<rocksdb::DB> copy(opened);
    EXPECT_GE(NumberedWriter::LastIn(copy.get()), at_least[static_cast<size_t>(n)]);
  }
}

}  // namespace
}  // namespace compassdb
