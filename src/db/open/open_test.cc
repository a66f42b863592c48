// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "batch/write_batch_internal.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

class OpenTest : public DbTest {};

// Every call of each kind fails once. Files that existed before stay, and foreign files, too.
TEST_F(OpenTest, ACreationThatFailsLeavesNothing) {
  options_.wal_dir = "/logs/of";
  options_.db_paths = {{"/tables", 1 << 20}, {"/more", 1 << 30}};
  options_.db_log_dir = "/info/deep";
  options_.WAL_ttl_seconds = 100;
  options_.create_missing_column_families = true;
  families_ = {rocksdb::kDefaultColumnFamilyName, "second"};
  ASSERT_TRUE(fs_->CreateDir("/logs").ok());
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/logs/notes", "mine").ok());
  int failed = 0;
  for (int op = 0; op < static_cast<int>(FaultOp::kNumOps); ++op) {
    for (uint64_t n = 1;; ++n) {
      const std::string where = std::string(FaultOpName(static_cast<FaultOp>(op))) + " " + std::to_string(n);
      const uint64_t before = fs_->faults_injected();
      fs_->FailNth(static_cast<FaultOp>(op), n, "/", Status::IOError("injected"));
      const Status s = TryOpen();
      CloseDb();
      fs_->ClearFaults();
      if (s.ok()) {
        ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok()) << where;
        for (const char* dir : {"/logs/of", "/tables", "/more", "/info/deep", "/info"}) {
          fs_->DeleteDir(dir).PermitUncheckedError();
        }
      } else {
        ++failed;
      }
      std::vector<std::string> names;
      ASSERT_TRUE(fs_->GetChildren("/", &names).ok());
      EXPECT_EQ(names, std::vector<std::string>{"logs"}) << where << ": " << s.ToString();
      ASSERT_TRUE(fs_->GetChildren("/logs", &names).ok());
      EXPECT_EQ(names, std::vector<std::string>{"notes"}) << where << ": " << s.ToString();
      if (fs_->faults_injected() == before) break;  // there is no further call
    }
  }
  EXPECT_GT(failed, 30);
}

// The failed attempt had its own LOG there meanwhile.
TEST_F(OpenTest, ACreationThatFailsLeavesTheLogThatWasThere) {
  options_.max_log_file_size = 200;  // its own LOG becomes several
  const std::string before = "2026/11/21-06:45:41.123456 7f3a of an earlier database\n";
  for (const std::string& log : {InfoLogFileName(name_), "/info/" + SharedInfoLogName(name_)}) {
    const std::string dir = ParentOf(log), base = log.substr(dir.size() + 1);
    if (dir != name_) options_.db_log_dir = dir;
    ASSERT_TRUE(fs_->CreateDir(dir).ok());
    int failed = 0;
    for (const bool had : {true, false}) {
      for (const FaultOp op : {FaultOp::kCreate, FaultOp::kWrite, FaultOp::kSync, FaultOp::kRename,
                               FaultOp::kDirSync}) {
        for (uint64_t n = 1; n < 20; ++n) {
          SCOPED_TRACE(dir + (had ? " " : " without log, ") + std::string(FaultOpName(op)) + " " + std::to_string(n));
          if (had) {
            ASSERT_TRUE(WriteFileAtomically(fs_.get(), log, before).ok());
          }
          fs_->FailNth(op, n, "/", Status::IOError("injected"));
          const Status s = TryOpen();
          CloseDb();
          fs_->ClearFaults();
          if (s.ok()) {
            ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
            ASSERT_TRUE(fs_->CreateDir(dir).ok());
            continue;
          }
          ++failed;
          std::vector<std::string> names;
          ASSERT_TRUE(fs_->GetChildren(dir, &names).ok());
          EXPECT_EQ(names, had ? std::vector<std::string>{base} : std::vector<std::string>{}) << s.ToString();
          if (had) {
            EXPECT_EQ(ReadFile(log), before) << s.ToString();
          }
        }
      }
      fs_->DeleteFile(log).PermitUncheckedError();
    }
    EXPECT_GT(failed, 20);
  }
}

// The other one is made between the first look and the lock.
TEST_F(OpenTest, ACreationThatFailsLeavesADatabaseThatAnotherOneMade) {
  rocksdb::Options other = options_;
  bool made = false;
  fs_->SetHook([&](FaultOp op, const std::string&) {
    if (op != FaultOp::kLock || std::exchange(made, true)) return;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(other, name_, &db).ok());
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "a", "1").ok());
    delete db;
  });
  options_.db_log_dir = "/info";
  fs_->FailAll(FaultOp::kCreateDir, "/info", Status::IOError("injected"));
  EXPECT_TRUE(TryOpen().IsIOError());
  fs_->SetHook(nullptr);
  fs_->ClearFaults();
  ASSERT_TRUE(made);
  OpenDb();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(OpenTest, AFailedCreationIsRemovedUnderItsLock) {
  int deleted = 0;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kDelete) return;
    std::unique_ptr<FileLock> lock;
    EXPECT_FALSE(fs_->memory()->LockFile(LockFileName(name_), &lock).ok()) << path;
    ++deleted;
  });
  fs_->FailAll(FaultOp::kRename, "CURRENT", Status::IOError("injected"));
  EXPECT_TRUE(TryOpen().IsIOError());
  EXPECT_GT(deleted, 3);
  fs_->ClearFaults();
  OpenDb();
  CloseDb();
  deleted = 0;
  EXPECT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_GT(deleted, 3);
  fs_->SetHook(nullptr);
}

TEST_F(OpenTest, FilesThatAreNoneOfADatabasesStay) {
  options_.keep_log_file_num = 1;
  using Names = std::vector<std::string>;
  for (const Names& mine : {Names{"LOG", "LOG.old.7"}, Names{"LOG.old.7"}}) {
    ASSERT_TRUE(fs_->CreateDir(name_).ok());
    for (const std::string& name : mine) {
      ASSERT_TRUE(WriteFileAtomically(fs_.get(), JoinPath(name_, name), "mine").ok());
    }
    OpenDb();
    OpenDb();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    Names names;
    ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
    EXPECT_EQ(names, mine);
    for (const std::string& name : mine) {
      EXPECT_EQ(ReadFile(JoinPath(name_, name)), "mine");
      ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
    }
  }
}

TEST_F(OpenTest, NoDatabaseIsMadeOverAFileThatIsNotSynced) {
  ASSERT_TRUE(fs_->CreateDir(name_).ok());
  for (const char* text : {"mine", "mine, and longer than a magic number"}) {
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), SyncedMarkFileName(name_), text).ok());
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("SYNCED"), std::string::npos) << s.ToString();
    EXPECT_EQ(ReadFile(SyncedMarkFileName(name_)), text);
  }
}

TEST_F(OpenTest, AFamilyWithoutAnOrder) {
  rocksdb::ColumnFamilyOptions without_order = options_;
  without_order.comparator = nullptr;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families{{"default", options_},
                                                              {"a", without_order}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::Open(options_, name_, families, &handles, &db);
  EXPECT_EQ(s.ToString(), "Invalid argument: column family a: comparator is null");
  EXPECT_EQ(db, nullptr);
  EXPECT_TRUE(handles.empty());
  s = rocksdb::DB::OpenForReadOnly(options_, name_, families, &handles, &db);
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(db, nullptr);
}

// What an opening wrote before it met damage, too: the next attempt would leave as much.
TEST_F(OpenTest, ARefusedOpeningLeavesNoTables) {
  options_.write_buffer_size = 4 << 20;
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), std::string(1000, 'v'), i == 299).ok());
  CloseDb();
  const std::string log = JoinPath(name_, FilesOf(FileType::kWal).back());
  const std::vector<std::string> before = FilesOf(FileType::kPieceFile);
  FlipBit(log, ReadFile(log).size() - 10);
  options_.write_buffer_size = 64 << 10;
  for (int i = 0; i < 3; ++i) {
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_EQ(FilesOf(FileType::kPieceFile), before);
  }
  FlipBit(log, ReadFile(log).size() - 10);
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Get(Key(i)), std::string(1000, 'v'));
}

// Each call that an opening makes fails once: the opening says so, or does without, and the next one finds everything.
TEST_F(OpenTest, EveryCallFailsOnce) {
  options_.create_missing_column_families = true;
  options_.merge_operator = std::make_shared<AppendOperator>();
  families_ = {"default", "other"};
  int last = 0;
  const auto fill = [&] {
    OpenDb();
    for (int i = 0; i <= last / 10; ++i) ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[0], Key(i), std::string(500, 'v')).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[0]).ok());
    // More than the memtable that it is opened with holds.
    for (int i = 0; i <= last; ++i) ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[0], Key(i), std::string(500, 'w')).ok());
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "k", "v").ok());
    CloseDb();
    // And a transaction that is prepared.
    rocksdb::WriteBatch section;
    ASSERT_TRUE(WriteBatchInternal::InsertNoop(&section).ok());
    ASSERT_TRUE(section.Put("prepared", "p").ok());
    ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&section, "xid").ok());
    WriteBatchInternal::SetSequence(&section, 10000);
    WalHeader header;
    header.number = 900;
    std::unique_ptr<WalWriter> writer;
    ASSERT_TRUE(WalWriter::Create(fs_.get(), name_, FileOptions(), header, &writer).ok());
    ASSERT_TRUE(writer->AddBatch(WriteBatchInternal::Contents(&section)).ok());
    ASSERT_TRUE(writer->Close().ok());
  };
  int refused = 0, done_without = 0;
  for (int setup = 0; setup < 4; ++setup) {
    options_.write_buffer_size = setup == 0 ? 64 << 10 : 64 << 20;
    last = setup == 0 ? 150 : 5;
    options_.avoid_flush_during_recovery = setup == 1;
    options_.WAL_ttl_seconds = setup == 2 ? 3600 : 0;
    options_.allow_2pc = true;
    for (const FaultOp op : {FaultOp::kOpen, FaultOp::kCreate, FaultOp::kRead, FaultOp::kWrite, FaultOp::kSync, FaultOp::kDirSync,
                             FaultOp::kList, FaultOp::kRename, FaultOp::kCreateDir, FaultOp::kLock, FaultOp::kStat}) {
      const bool looks = op == FaultOp::kRead || op == FaultOp::kStat || op == FaultOp::kRename || op == FaultOp::kLock;
      if (looks && (setup == 1 || setup == 2)) continue;  // as in the others
      for (uint64_t n = 1;; n += 1 + n / 6) {
        SCOPED_TRACE(std::string(FaultOpName(op)) + " " + std::to_string(n) + " of setup " + std::to_string(setup));
        const size_t buffer = std::exchange(options_.write_buffer_size, 64 << 20);
        fill();
        options_.write_buffer_size = buffer;
        if (setup == 3) {
          ASSERT_TRUE(fs_->DeleteFile(CurrentFileName(name_)).ok());
        }
        const uint64_t before = fs_->faults_injected();
        fs_->FailNth(op, n, "/", Status::IOError("injected"));
        Status s = TryOpen();
        const bool met = fs_->faults_injected() != before;
        CloseDb();
        fs_->ClearFaults();
        if (setup == 3) {
          EXPECT_FALSE(s.ok());
          EXPECT_TRUE(s.IsCorruption() || (met && s.ToString().find("injected") != std::string::npos)) << s.ToString();
          ASSERT_TRUE(rocksdb::RepairDB(name_, options_, {{"default", options_}, {"other", options_}}).ok());
        } else if (!s.ok()) {
          EXPECT_TRUE(met) << s.ToString();
          EXPECT_NE(s.ToString().find("injected"), std::string::npos) << s.ToString();
          ++refused;
        } else if (met) {
          ++done_without;
        }
        OpenDb();
        EXPECT_EQ(GetIn(0, Key(0)), std::string(500, 'w'));
        EXPECT_EQ(GetIn(0, Key(last)), std::string(500, 'w'));
        EXPECT_EQ(GetIn(1, "k"), "v");
        EXPECT_EQ(GetIn(0, "prepared"), "NOT_FOUND");
        CloseDb();
        ASSERT_TRUE(rocksdb::DestroyDB(name_, options_, {{"other", options_}}).ok());
        if (!met || HasFailure()) break;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(done_without, 5);
}

TEST_F(OpenTest, ASecondaryWhoseDirectoryCannotBeMade) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  fs_->FailAll(FaultOp::kCreateDir, "/secondary", Status::IOError("injected"));
  rocksdb::Options options = options_;
  options.max_open_files = -1;
  rocksdb::DB* opened = nullptr;
  Status s = rocksdb::DB::OpenAsSecondary(options, name_, "/secondary", &opened);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  fs_->ClearFaults();
  fs_->FailAll(FaultOp::kRead, "MANIFEST", Status::IOError("injected"));
  s = rocksdb::DB::OpenAsSecondary(options, name_, "/secondary", &opened);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
}

TEST_F(OpenTest, ReadOnlyWhereLogsAreNotWanted) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  rocksdb::DB* opened = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &opened, /*error_if_wal_file_exists=*/true);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(".log"), std::string::npos) << s.ToString();
}

// A log that is more than a memtable holds, few descriptors, and an option that is for others.
TEST_F(OpenTest, ReadOnlyReplaysIntoOneMemtable) {
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), std::string(500, 'v')).ok());
  CloseDb();
  options_.write_buffer_size = 64 << 10;
  options_.max_open_files = 20;
  options_.error_if_exists = true;
  rocksdb::DB* opened = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &opened);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string value;
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), Key(i), &value).ok());
}

TEST_F(OpenTest, TheOrderOfEachFamilyIsChecked) {
  options_.create_missing_column_families = true;
  families_ = {"default", "other"};
  OpenDb();
  CloseDb();
  rocksdb::ColumnFamilyOptions reverse = options_;
  reverse.comparator = rocksdb::ReverseBytewiseComparator();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const Status s = rocksdb::DB::Open(options_, name_, {{"default", options_}, {"other", reverse}}, &handles, &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("of column family other"), std::string::npos) << s.ToString();
}

TEST_F(OpenTest, LogsInTheDirectoryOfAnotherDatabaseAreRefused) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  options_.wal_dir = name_;
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::Open(options_, "/other", &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find(name_), std::string::npos) << s.ToString();
  ASSERT_TRUE(fs_->CreateDir("/other").ok());
  s = rocksdb::DestroyDB("/other", options_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  options_.wal_dir.clear();
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

// Names whose number the counter cannot exceed are foreign, or are skipped.
TEST_F(OpenTest, NamesWithAbsurdNumbersChangeNothing) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  std::unique_ptr<WritableFile> file;
  for (const char* name : {"18446744073709551614.ph", "18446744073709551614.log", "MANIFEST-18446744073709551614",
                           "OPTIONS-18446744073709551613", "17592186044415.ph", "8796093022206.log",
                           "4398046511103.ph"}) {
    ASSERT_TRUE(fs_->NewWritableFile(JoinPath(name_, name), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append("x").ok());
    ASSERT_TRUE(file->Close().ok());
  }
  for (int i = 0; i < 3; ++i) {
    OpenDb();
    ASSERT_TRUE(Put(std::string(1, static_cast<char>('b' + i)), "2").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2,c=2,d=2");
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const auto& f : files) EXPECT_LT(f.file_number, 1000u);
}

TEST_F(OpenTest, SecondOpenerGetsAnErrorThatNamesTheLock) {
  OpenDb();
  rocksdb::DB* second = nullptr;
  Status s = rocksdb::DB::Open(options_, name_, &second);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("LOCK"), std::string::npos) << s.ToString();
  EXPECT_EQ(second, nullptr);
}

// What opening a database of many tables costs must not depend on their number beyond a stat each.
TEST_F(OpenTest, OpeningReadsNoTables) {
  OpenDb();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(10), Key(20)).ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  CloseDb();
  options_.disable_auto_compactions = true;
  uint64_t reads = 0;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    const bool table = path.size() > 3 && path.substr(path.size() - 3) == ".ph";
    if (table && (op == FaultOp::kRead || op == FaultOp::kOpen)) ++reads;
  });
  OpenDb();
  EXPECT_EQ(reads, 0u);
  EXPECT_EQ(Get(Key(3000)), std::string(100, 'v'));
  EXPECT_GT(reads, 0u);
  fs_->SetHook(nullptr);
  EXPECT_EQ(Get(Key(15)), "NOT_FOUND");
}

// An index that cannot be read is the error of the read, and the next read tries again.
TEST_F(OpenTest, IndexThatCannotBeReadIsTheErrorOfTheRead) {
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), "v").ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  options_.disable_auto_compactions = true;
  OpenDb();
  rocksdb::ReadOptions cache_only;
  cache_only.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(db_->Get(cache_only, Key(1), &value).IsIncomplete());
  for (const FaultOp op : {FaultOp::kOpen, FaultOp::kRead}) {
    fs_->FailAll(op, ".ph", Status::IOError("injected"));
    EXPECT_NE(Get(Key(1)).find("injected"), std::string::npos);
    EXPECT_NE(Scan().find("injected"), std::string::npos);
    const std::string a = Key(2), b = Key(300);
    const std::vector<Slice> keys{a, b};
    std::vector<std::string> values;
    for (const Status& s : db_->MultiGet({}, keys, &values)) {
      EXPECT_TRUE(s.IsIOError() || s.IsNotFound()) << s.ToString();
    }
    fs_->ClearFaults();
  }
  EXPECT_EQ(Get(Key(1)), "v");
  EXPECT_EQ(Get(Key(300)), "NOT_FOUND");
  EXPECT_EQ(Scan().size(), 100 * (Key(0).size() + 3) - 1);
}

// As with RocksDB, with max_open_files = -1.
TEST_F(OpenTest, ReadOnlyKeepsFilesThatThePrimaryDeletes) {
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), "old").ok());
  Flush();
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &raw).ok());
  const std::unique_ptr<rocksdb::DB> reader(raw);
  const auto before = FilesOf(FileType::kPieceFile);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), "new").ok());
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(force, nullptr, nullptr).ok());
  ASSERT_NE(FilesOf(FileType::kPieceFile), before);
  for (int i = 0; i < 300; ++i) {
    std::string value;
    const Status s = reader->Get({}, Key(i), &value);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(value, "old");
  }
}

TEST_F(OpenTest, IdentityIsKeptAndSessionsDiffer) {
  OpenDb();
  std::string id, session, id2, session2;
  ASSERT_TRUE(db_->GetDbIdentity(id).ok());
  ASSERT_TRUE(db_->GetDbSessionId(session).ok());
  OpenDb();
  ASSERT_TRUE(db_->GetDbIdentity(id2).ok());
  ASSERT_TRUE(db_->GetDbSessionId(session2).ok());
  EXPECT_EQ(id, id2);
  EXPECT_NE(session, session2);
  EXPECT_EQ(session.size(), 20u);
}

TEST_F(OpenTest, FailedCreationCanBeRepeated) {
  // Every write of the creation fails once.
  for (uint64_t n = 1; n < 12; ++n) {
    fs_->FailNth(FaultOp::kSync, n, name_, Status::IOError("injected"));
    Status s = TryOpen();
    fs_->ClearFaults();
    if (s.ok()) break;
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// Without descriptors for a while: the removal of a failed creation fails in parts, but leaves a database that opens.
TEST_F(OpenTest, CreationWithoutDescriptorsForAWhileCanBeRepeated) {
  const std::set<FaultOp> takes_descriptor{FaultOp::kCreate, FaultOp::kOpen, FaultOp::kDirSync, FaultOp::kList, FaultOp::kLock};
  for (uint64_t many = 2; many < 14; many += 2) {
    bool met = true;
    for (uint64_t first = 1; met; ++first) {
      SCOPED_TRACE(std::to_string(many) + " calls from " + std::to_string(first));
      uint64_t calls = 0;
      met = false;
      fs_->SetHook([&](FaultOp op, const std::string& path) {
        if (path == InfoLogFileName(name_)) return;  // its failures do not matter
        ++calls;
        if (calls < first || calls >= first + many) return;
        met = true;
        if (takes_descriptor.count(op) != 0) fs_->FailNth(op, 1, path, Status::IOError("injected"));
      });
      TryOpen().PermitUncheckedError();
      CloseDb();
      fs_->SetHook(nullptr);
      fs_->ClearFaults();
      OpenDb();
      ASSERT_TRUE(Put("a", "1").ok());
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
      std::vector<std::string> left;  // logs of the failed attempt: to the second one they are of others
      if (!fs_->GetChildren(name_, &left).ok()) continue;
      for (const std::string& file : left) ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, file)).ok()) << file;
    }
  }
}

TEST_F(OpenTest, InfoLogShowsOptionsInEachFile) {
  options_.max_log_file_size = 4000;
  options_.create_missing_column_families = true;
  OpenDb();
  std::string text;
  ASSERT_TRUE(ReadFileToString(fs_.get(), InfoLogFileName(name_), &text).ok());
  for (const char* line :
       {"Options.create_if_missing: 1\n", "Options.wal_recovery_mode: 2\n",
        "--------------- Options for column family [default]:\n", "Options.num_levels: 7\n",
        "  cache_index_and_filter_blocks: 0\n", "  data_block_hash_table_util_ratio: 0.750000\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  for (int i = 0; i < 300; ++i) {
    rocksdb::Info(db_->GetDBOptions().info_log, "line %d", i);
  }
  ASSERT_TRUE(ReadFileToString(fs_.get(), InfoLogFileName(name_), &text).ok());
  EXPECT_EQ(text.find("line 0\n"), std::string::npos);
  EXPECT_NE(text.find("line 299\n"), std::string::npos);
  EXPECT_NE(text.find("Options.create_if_missing: 1\n"), std::string::npos);
}

TEST_F(OpenTest, InfoLogRollsAtOpen) {
  options_.keep_log_file_num = 3;
  for (int i = 0; i < 6; ++i) OpenDb();
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
  int logs = 0;
  for (const std::string& name : names) logs += name.rfind("LOG", 0) == 0 ? 1 : 0;
  EXPECT_LE(logs, 3);
  EXPECT_GE(logs, 2);
}

// As in RocksDB, which has ZSTD only.
TEST_F(OpenTest, ALogIsNotCompressedByWhatIsNotLinked) {
  for (const int type : {int{rocksdb::kXpressCompression}, int{rocksdb::kZSTDNotFinalCompression}, 77,
                         int{rocksdb::kDisableCompressionOption}}) {
    options_.wal_compression = static_cast<rocksdb::CompressionType>(type);
    OpenDb();
    EXPECT_EQ(db_->GetDBOptions().wal_compression, rocksdb::kNoCompression);
    ASSERT_TRUE(Put("a", std::string(1000, 'a')).ok());
    std::string text;
    ASSERT_TRUE(ReadFileToString(fs_.get(), InfoLogFileName(name_), &text).ok());
    EXPECT_NE(text.find("option wal_compression"), std::string::npos);
    OpenDb();
    EXPECT_EQ(Get("a"), std::string(1000, 'a')) << type;
  }
}

}  // namespace
}  // namespace compassdb
