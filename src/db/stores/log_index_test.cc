// SPDX-License-Identifier: Apache-2.0
// A table-less family whose memtables have the addresses of values, which stay in the log
// (memtable_as_log_index).
#include "compassdb/encryption.h"
#include "db/testing/model_test_util.h"
#include "db/testing/tableless_test_util.h"
#include "memtable/memtable.h"
#include "rocksdb/env_encryption.h"
#include "util/random.h"
#include "wal/log_values.h"

namespace compassdb {
namespace {

class LogIndexTest : public TablelessDbTest {
 protected:
  LogIndexTest() {
    piece_.memtable_as_log_index = true;
    UsePieces();
  }
  void Fill(int n, size_t size = 400) {
    for (int i = 0; i < n; ++i) ASSERT_TRUE(Put(Key(i), Value(i, size)).ok());
  }
  // So that values are read from the file.
  void Sync() {
    const Status s = db_->SyncWAL();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  uint64_t MemTableBytes() { return IntProperty("rocksdb.cur-size-all-mem-tables"); }
  std::string Expected(int n, size_t size = 400) {
    std::string all;
    for (int i = 0; i < n; ++i) all += (i == 0 ? "" : ",") + Key(i) + "=" + Value(i, size);
    return all;
  }
  void ExpectAll(int n, size_t size = 400) {
    EXPECT_EQ(Scan(), Expected(n, size));
    std::vector<std::string> names, values;
    for (int i = 0; i < n; ++i) names.push_back(Key(i));
    const std::vector<Slice> slices(names.begin(), names.end());
    const std::vector<Status> statuses = db_->MultiGet({}, slices, &values);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(Get(Key(i)), Value(i, size));
      ASSERT_TRUE(statuses[i].ok()) << statuses[i].ToString();
      ASSERT_EQ(values[i], Value(i, size));
    }
  }
};

TEST_F(LogIndexTest, ValuesAreReadFromTheLogUntilTheyAreFlushed) {
  OpenDb();
  Fill(300);
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 300u);
  EXPECT_LT(MemTableBytes(), 300u * 150);
  ExpectAll(300);
  Flush();
  ExpectAll(300);
  Fill(300, 700);  // over what pages have
  ExpectAll(300, 700);
  OpenDb();
  ExpectAll(300, 700);
  Compact();
  ExpectAll(300, 700);
}

TEST_F(LogIndexTest, StatisticsShowWhatWaits) {
  OpenDb();
  Fill(10);
  Get(Key(1));
  Sync();
  Get(Key(2));
  std::string text;
  ASSERT_TRUE(db_->GetProperty("compassdb.stats", &text));
  EXPECT_NE(text.find("Values that wait in the log: 10, 3.91 KB; read since open, by all families: 2, "
                      "of them 1 from the 0 B that are not synced"),
            std::string::npos)
      << text;
  Flush();
  ASSERT_TRUE(db_->GetProperty("compassdb.stats-json", &text));
  EXPECT_NE(text.find("\"log_values\":{\"count\":0,\"bytes\":0,\"reads\":12,\"reads_in_memory\":1,"
                      "\"unsynced_bytes\":0}"),
            std::string::npos)
      << text;
}

TEST_F(LogIndexTest, AnIteratorReadsLogsThatWereDeletedSince) {
  OpenDb();
  Fill(300);
  const std::string log = NewestLog();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Flush();
  EXPECT_TRUE(fs_->FileExists(log).IsNotFound());
  std::string stats;  // nor does the iterator hold what a write would have to sync
  ASSERT_TRUE(db_->GetProperty("compassdb.stats-json", &stats));
  EXPECT_NE(stats.find("\"unsynced_bytes\":0}"), std::string::npos) << stats;
  int i = 300;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    ASSERT_EQ(it->value().ToString(), Value(--i, 400));
  }
  EXPECT_EQ(i, 0);
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
}

TEST_F(LogIndexTest, ReopeningGivesTheSameAddresses) {
  options_.avoid_flush_during_recovery = true;
  options_.avoid_flush_during_shutdown = true;
  OpenDb();
  Fill(100);
  const uint64_t bytes = MemTableBytes();
  OpenDb();
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 100u);
  EXPECT_LT(MemTableBytes(), bytes + 100 * 100);
  ExpectAll(100);
  Fill(100, 500);
  ExpectAll(100, 500);
  Flush();
  ExpectAll(100, 500);
}

TEST_F(LogIndexTest, AScanOfMemTablesAloneReadsTheLog) {
  OpenDb();
  Fill(20);
  rocksdb::ReadOptions memory;
  memory.read_tier = rocksdb::kMemtableTier;
  EXPECT_EQ(Scan(memory), Expected(20));
}

TEST_F(LogIndexTest, OperandsSnapshotsAndBatchesFindTheirValues) {
  OpenDb();
  ASSERT_TRUE(Put("a", std::string(200, 'a')).ok());
  const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_TRUE(db_->Merge({}, "a", "operand").ok());
  rocksdb::WriteBatch batch;
  const auto value = [](int i) { return Value(i, 30 + 5 * static_cast<size_t>(i)); };
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(batch.Put(Key(i), value(i)).ok());
  ASSERT_TRUE(db_->Write({}, &batch).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Get("a"), std::string(200, 'a') + ",operand");
    EXPECT_EQ(Get("a", snapshot), std::string(200, 'a'));
    for (int i = 0; i < 100; ++i) ASSERT_EQ(Get(Key(i)), value(i));
    Flush();
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(LogIndexTest, WritesWithoutALogStayInMemory) {
  OpenDb();
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(db_->Put(unlogged, Key(i), Value(i, 400)).ok());
  EXPECT_GT(MemTableBytes(), 50u * 400);
  ExpectAll(50);
  Flush();
  ExpectAll(50);
}

// ... and are read twice by a flush: its memory does not have them.
TEST_F(LogIndexTest, ValuesThatNoPageTakesWaitInTheLogToo) {
  OpenDb();
  const rocksdb::Snapshot* snapshot = nullptr;
  for (const size_t size : {3000, 5000, 70000}) {
    Fill(30, size);
    EXPECT_LT(MemTableBytes(), 30u * 1000);
    ExpectAll(30, size);
    Flush();
    ExpectAll(30, size);
    if (snapshot == nullptr) snapshot = db_->GetSnapshot();
  }
  EXPECT_EQ(Get(Key(7), snapshot), Value(7, 3000));
  db_->ReleaseSnapshot(snapshot);
  OpenDb();
  ExpectAll(30, 70000);
}

TEST_F(LogIndexTest, OverflowThatCannotBeReadAgainFailsItsFlush) {
  options_.max_bgerror_resume_count = 0;
  OpenDb();
  Fill(1, 5000);
  Sync();
  const std::string log = NewestLog();
  fs_->FailNth(FaultOp::kRead, 2, log, Status::IOError("injected"));
  EXPECT_FALSE(db_->Flush({}).ok());
  fs_->ClearFaults();
  EXPECT_TRUE(fs_->FileExists(log).ok());
  ASSERT_TRUE(db_->Resume().ok());
  ExpectAll(1, 5000);
}

TEST_F(LogIndexTest, AMemTableEndsBeforeItsLogIsHuge) {
  options_.write_buffer_size = 64 << 10;
  OpenDb();
  const int n = static_cast<int>(MemTable::kLogPerIndex * (64 << 10) / 20000);
  Fill(n, 20000);
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), static_cast<uint64_t>(n));
  Fill(n / 2, 20000);
  EXPECT_LT(IntProperty("rocksdb.num-entries-active-mem-table"), static_cast<uint64_t>(n / 2));
  ExpectAll(n, 20000);
}

TEST_F(LogIndexTest, AReadWithoutIoFindsOnlyThatTheValueIsThere) {
  OpenDb();
  Fill(1);
  Sync();
  rocksdb::ReadOptions memory;
  memory.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  fs_->ResetCounts();
  EXPECT_TRUE(db_->Get(memory, Key(0), &value).IsIncomplete());
  bool value_found = true;
  EXPECT_TRUE(db_->KeyMayExist({}, Key(0), &value, &value_found));
  EXPECT_FALSE(value_found);
  EXPECT_EQ(fs_->Count(FaultOp::kRead), 0u);
  EXPECT_TRUE(db_->Get({}, Key(0), &value).ok());
  EXPECT_EQ(fs_->Count(FaultOp::kRead), 1u);
}

TEST_F(LogIndexTest, AFlushThatCannotReadTheLogReleasesNothing) {
  options_.max_bgerror_resume_count = 0;
  OpenDb();
  Fill(10);
  Sync();
  const std::string log = NewestLog();
  fs_->FailAll(FaultOp::kRead, log, Status::IOError("injected"));
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(3), &value).IsIOError());
  EXPECT_FALSE(db_->Flush({}).ok());
  fs_->ClearFaults();
  EXPECT_EQ(Get(Key(3)), Value(3, 400));
  EXPECT_TRUE(fs_->FileExists(log).ok());
  ASSERT_TRUE(db_->Resume().ok());
  ExpectAll(10);
  OpenDb();
  ExpectAll(10);
}

// Nor is anything read from a log whose sync failed: the kernel may have dropped it.
TEST_F(LogIndexTest, ALogThatCannotBeSyncedLosesNothing) {
  options_.max_bgerror_resume_count = 0;
  OpenDb();
  Fill(100, 300);
  Sync();
  Fill(50, 400);
  const std::string log = NewestLog();
  fs_->FailAll(FaultOp::kSync, log, Status::IOError("injected"));
  EXPECT_FALSE(db_->SyncWAL().ok());
  fs_->FailAll(FaultOp::kRead, log, Status::IOError("not what was written"));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 400));
  EXPECT_FALSE(db_->Resume().ok());  // what was synced before is not in memory
  fs_->ClearFaults();
  fs_->FailAll(FaultOp::kSync, log, Status::IOError("injected"));
  ASSERT_TRUE(db_->Resume().ok());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Get(Key(i)), Value(i, i < 50 ? 400 : 300));
  EXPECT_TRUE(fs_->FileExists(log).IsNotFound());
}

TEST_F(LogIndexTest, AFlushNeedsNothingOfALogThatWasNeverSynced) {
  options_.max_bgerror_resume_count = 0;
  OpenDb();
  Fill(100);
  const std::string log = NewestLog();
  fs_->FailAll(FaultOp::kRead, log, Status::IOError("injected"));
  fs_->FailNth(FaultOp::kWrite, 1, log, Status::NoSpace("injected"));
  EXPECT_FALSE(Put("refused", Value(0, 400)).ok());
  ASSERT_TRUE(db_->Resume().ok());
  ExpectAll(100);
  Fill(100, 500);
  OpenDb();
  ExpectAll(100, 500);
}

TEST_F(LogIndexTest, LogsAreSyncedBeforeMuchIsOnlyInMemory) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.write_buffer_size = 4 << 20;
  OpenDb();
  const int n = LogValues::kMostUnsynced / 2000;
  const auto syncs = [this] {
    return options_.statistics->getTickerCount(rocksdb::WAL_FILE_SYNCED);
  };
  Fill(n - n / 10, 2000);
  EXPECT_EQ(syncs(), 0u);
  Fill(n / 2, 2000);
  EXPECT_EQ(syncs(), 1u);
  rocksdb::WriteBatch batch;
  for (int i = 0; i < n; ++i) ASSERT_TRUE(batch.Put(Key(i), Value(i + 1, 2000)).ok());
  ASSERT_TRUE(db_->Write({}, &batch).ok());
  EXPECT_EQ(syncs(), 2u);
  for (int i = 0; i < n; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1, 2000));
}

TEST_F(LogIndexTest, ValuesThatAreNotFlushedToTheLogAreFound) {
  options_.manual_wal_flush = true;
  OpenDb();
  Fill(50);
  ExpectAll(50);
  Flush();
  ExpectAll(50);
  Fill(50, 500);
  ASSERT_TRUE(db_->FlushWAL(false).ok());
  ExpectAll(50, 500);
  ASSERT_TRUE(db_->FlushWAL(true).ok());
  ExpectAll(50, 500);
}

TEST_F(LogIndexTest, ReadersOfTheLogSeeWhatWasWritten) {
  options_.avoid_flush_during_shutdown = true;
  OpenDb();
  Fill(50);
  std::unique_ptr<rocksdb::TransactionLogIterator> updates;
  ASSERT_TRUE(db_->GetUpdatesSince(1, &updates).ok());
  for (int i = 0; i < 50; ++i, updates->Next()) {
    ASSERT_TRUE(updates->Valid());
    EXPECT_NE(updates->GetBatch().writeBatchPtr->Data().find(Value(i, 400)), std::string::npos);
  }
  CloseDb();
  rocksdb::DB* reader = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok());
  db_.reset(reader);
  EXPECT_LT(MemTableBytes(), 50u * 150);
  ExpectAll(50);
}

TEST_F(LogIndexTest, DamageOfALogIsReported) {
  OpenDb();
  Fill(3);
  Sync();
  for (const ReadDamage damage : {ReadDamage::kFlippedBit, ReadDamage::kHalf}) {
    fs_->DamageNthRead(1, ".log", damage);
    std::string value;
    const Status s = db_->Get({}, Key(1), &value);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(NewestLog() + " at offset"), std::string::npos) << s.ToString();
    fs_->ClearFaults();
  }
  ExpectAll(3);
}

TEST_F(LogIndexTest, ALogThatCannotBeOpenedLeavesItsValuesInMemory) {
  OpenDb();
  fs_->FailAll(FaultOp::kOpen, ".log", Status::IOError("injected"));
  Fill(20);
  fs_->ClearFaults();
  EXPECT_GT(MemTableBytes(), 20u * 400);
  ExpectAll(20);
}

TEST_F(LogIndexTest, CompressedRecordsStayInMemory) {
  options_.wal_compression = rocksdb::kZSTD;
  options_.avoid_flush_during_recovery = options_.avoid_flush_during_shutdown = true;
  OpenDb();
  Fill(50);
  EXPECT_GT(MemTableBytes(), 50u * 400);
  ExpectAll(50);
  Random random(1);
  const std::string mixed = random.Bytes(400);  // no smaller when it is compressed
  const uint64_t bytes = MemTableBytes();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(Key(i), mixed).ok());
  EXPECT_LT(MemTableBytes(), bytes + 50 * 200);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_EQ(Get(Key(i)), mixed);
    OpenDb();
  }
}

TEST_F(LogIndexTest, ALogThatAMemTableNamesIsNotRecycled) {
  options_.recycle_log_file_num = 2;
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  OpenDb();
  Fill(50);
  const std::string log = NewestLog();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  for (int round = 1; round < 6; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, 400)).ok());
    Flush();
  }
  EXPECT_TRUE(fs_->FileExists(log).IsNotFound());
  EXPECT_GT(fs_->Count(FaultOp::kRename), 2u);  // others are
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(it->value().ToString(), Value(seen++, 400));
  EXPECT_EQ(seen, 50);
  it.reset();
  OpenDb();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 5, 400));
}

// Such a family is not on encrypted files at all.
TEST_F(LogIndexTest, EncryptedFilesAreRefused) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  const std::unique_ptr<rocksdb::Env> sealed(rocksdb::NewEncryptedEnv(env_.get(), provider));
  options_.env = sealed.get();
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("encrypted files are not written in place"), std::string::npos) << s.ToString();
}

TEST_F(LogIndexTest, OtherFamiliesAndTheArchiveKeepTheirWays) {
  options_.WAL_ttl_seconds = 3600;
  OpenDb();
  rocksdb::Options tables = options_;
  tables.table_factory.reset(NewPieceTableFactory());
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(tables, "tables", &handle).ok());
  std::unique_ptr<rocksdb::Iterator> it;
  for (int i = 0; i < 60; ++i) {
    if (i == 10) it.reset(db_->NewIterator({}));
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put(Key(i), Value(i, 400)).ok());
    ASSERT_TRUE(batch.Put(handle, Key(i), Value(i + 1, 400)).ok());
    ASSERT_TRUE(db_->Write({}, &batch).ok());
    if (i % 20 != 19) continue;
    ASSERT_TRUE(db_->Flush({}, i == 39 ? handle : db_->DefaultColumnFamily()).ok());
  }
  ExpectAll(60);
  int seen = 0;  // in a log that is in the archive now
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ASSERT_EQ(it->value().ToString(), Value(seen++, 400));
  }
  EXPECT_EQ(seen, 10);
  for (int i = 0; i < 60; ++i) {
    std::string value;
    ASSERT_TRUE(db_->Get({}, handle, Key(i), &value).ok());
    ASSERT_EQ(value, Value(i + 1, 400));
  }
  db_->DestroyColumnFamilyHandle(handle);
}

TEST_F(LogIndexTest, SyncedWritesSurviveAPowerCut) {
  OpenDb();
  Fill(200);
  ASSERT_TRUE(Put(Key(200), Value(200, 400), /*sync=*/true).ok());
  Fill(50, 500);
  Crash();
  OpenDb();
  for (int i = 50; i <= 200; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 400));
}

class LogIndexModelTest : public ModelTest {
 protected:
  LogIndexModelTest() {
    options_.merge_operator = std::make_shared<AppendOperator>();
    fs_->memory()->SetAtomicWrites(4096);
    UseAtomicWrites(false);
  }
  void UseAtomicWrites(bool atomic) {
    PieceTableOptions piece;
    piece.store = StoreKind::kTableless;
    piece.tableless_sections = 3;
    piece.tableless_atomic_page_writes = atomic;
    piece.memtable_as_log_index = true;
    options_.table_factory.reset(NewPieceTableFactory(piece));
  }
  Run Values(uint64_t seed) {
    Run run;
    run.seed = seed;
    run.value = [](int step, Random* rnd) {
      const uint64_t size = rnd->OneIn(3) ? rnd->Uniform(60) : rnd->Skewed(12);
      return std::to_string(step) + std::string(size, 'v');
    };
    run.change_options = [](Random*) { return Status::OK(); };
    return run;
  }
};

TEST_F(LogIndexModelTest, MatchesAMap) {
  MatchAMap(Values(1));
  UseAtomicWrites(true);
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  MatchAMap(Values(2));
}

TEST_F(LogIndexModelTest, PowerCutsLoseNothingThatWasSynced) {
  for (const bool atomic : {false, true}) {
    UseAtomicWrites(atomic);
    SurvivePowerCuts(Values(3), {CutMode::kDropUnsynced, CutMode::kRandom});
  }
}

}  // namespace
}  // namespace compassdb
