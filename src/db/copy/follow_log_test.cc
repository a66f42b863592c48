// SPDX-License-Identifier: Apache-2.0
// Following the log: exact batches and sequences, tails, archives and gaps.
#include "db/copy/follow_log.h"

#include <map>
#include <thread>

#include "batch/write_batch_internal.h"
#include "db/space/wal_archive.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/transaction_log.h"
#include "util/coding.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

using rocksdb::TransactionLogIterator;

// Without a database: the log set alone.
TEST(LogFollowerTest, BatchesArePassedOnWhenReadersSeeThem) {
  FaultInjectionFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  DbConfig config;
  config.fs = &fs;
  config.wal_dir = "/wal";
  uint64_t number = 0;
  WalSet wals(&fs, config.wal_dir, WalSet::Options(), [&number] { return ++number; }, nullptr);
  std::atomic<SequenceNumber> last_sequence{0};
  const LogFollower follower(config, wals, last_sequence);
  std::unique_ptr<TransactionLogIterator> iterator;
  std::unique_ptr<rocksdb::LogFile> current;
  EXPECT_TRUE(follower.GetCurrentWalFile(&current).IsPathNotFound());
  ASSERT_TRUE(wals.StartFirst(WalHeader(), "id").ok());
  for (SequenceNumber sequence = 1; sequence <= 2; ++sequence) {
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put("key", "value").ok());
    WriteBatchInternal::SetSequence(&batch, sequence);
    ASSERT_TRUE(wals.Append(batch.Data(), /*sync=*/false).ok());
  }
  EXPECT_TRUE(follower.GetUpdatesSince(1, &iterator).IsNotFound());
  last_sequence = 1;
  ASSERT_TRUE(follower.GetUpdatesSince(1, &iterator).ok());
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->GetBatch().sequence, 1u);
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  last_sequence = 2;
  iterator->Next();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->GetBatch().sequence, 2u);

  rocksdb::VectorLogPtr files;
  ASSERT_TRUE(follower.GetSortedWalFiles(&files).ok());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0]->LogNumber(), wals.current_number());
  EXPECT_EQ(files[0]->StartSequence(), 1u);
}

class FollowLogTest : public DbTest {
 protected:
  std::unique_ptr<TransactionLogIterator> Follow(uint64_t since) {
    std::unique_ptr<TransactionLogIterator> iterator;
    Status s = db_->GetUpdatesSince(since, &iterator);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return iterator;
  }
  // "sequence:count ..." of the iterator's batches from its position on.
  static std::string Rest(TransactionLogIterator* iterator) {
    std::string out;
    for (; iterator->Valid(); iterator->Next()) {
      const rocksdb::BatchResult batch = iterator->GetBatch();
      out += (out.empty() ? "" : " ") + std::to_string(batch.sequence) + ":" +
             std::to_string(batch.writeBatchPtr->Count());
    }
    if (!iterator->status().ok()) out += "!" + iterator->status().ToString();
    return out;
  }
  std::string From(uint64_t since) { return Rest(Follow(since).get()); }
  Status WriteMany(int first, int count) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < count; ++i) batch.Put(Key(first + i), "v").PermitUncheckedError();
    return db_->Write(rocksdb::WriteOptions(), &batch);
  }
  std::string Logs() {
    rocksdb::VectorLogPtr files;
    EXPECT_TRUE(db_->GetSortedWalFiles(files).ok());
    std::string out;
    for (const auto& file : files) {
      EXPECT_GT(file->SizeFileBytes(), 0u);
      EXPECT_EQ(file->PathName(),
                WalFileName(file->Type() == rocksdb::kArchivedLogFile ? "/archive" : "/",
                            file->LogNumber()));
      out += (file->Type() == rocksdb::kArchivedLogFile ? "a" : "l") +
             std::to_string(file->StartSequence()) + " ";
    }
    return out;
  }
  void Archive() { options_.WAL_ttl_seconds = 3600; }
};

TEST_F(FollowLogTest, BatchesAndSequencesAreExact) {
  OpenDb();
  rocksdb::WriteBatch written;
  ASSERT_TRUE(written.Put("a", "1").ok());
  ASSERT_TRUE(written.Delete("b").ok());
  ASSERT_TRUE(written.PutLogData("note").ok());
  ASSERT_TRUE(Put("first", "x").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &written).ok());
  ASSERT_TRUE(WriteMany(0, 5).ok());
  EXPECT_EQ(From(0), "1:1 2:2 4:5");
  EXPECT_EQ(From(1), "1:1 2:2 4:5");
  EXPECT_EQ(From(2), "2:2 4:5");
  EXPECT_EQ(From(3), "2:2 4:5");  // the batch that holds it
  EXPECT_EQ(From(8), "4:5");
  auto iterator = Follow(2);
  EXPECT_EQ(iterator->GetBatch().writeBatchPtr->Data(), written.Data());
  std::unique_ptr<TransactionLogIterator> none;
  EXPECT_TRUE(db_->GetUpdatesSince(9, &none).IsNotFound());
}

TEST_F(FollowLogTest, AnEmptyDatabaseHasNothingToFollow) {
  OpenDb();
  auto iterator = Follow(0);
  EXPECT_EQ(Rest(iterator.get()), "");
  ASSERT_TRUE(Put("a", "1").ok());
  iterator->Next();  // it looks again
  EXPECT_EQ(Rest(iterator.get()), "1:1");
}

TEST_F(FollowLogTest, TheLiveLogCanBeTailed) {
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  auto iterator = Follow(1);
  EXPECT_EQ(Rest(iterator.get()), "1:1");
  // Records of all sizes, so that they end in, at and across blocks.
  uint64_t sequence = 1;
  for (size_t size : {1, 32700, 100, 32768 - 60, 70000, 11, 32740, 5}) {
    ASSERT_TRUE(Put("a", std::string(size, 'x')).ok());
    ++sequence;
    iterator->Next();
    ASSERT_TRUE(iterator->Valid()) << size << " " << iterator->status().ToString();
    EXPECT_EQ(iterator->GetBatch().sequence, sequence);
    iterator->Next();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().ok());
  }
}

TEST_F(FollowLogTest, ANewLogAsksForANewIterator) {
  Archive();
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  auto iterator = Follow(1);
  EXPECT_EQ(Rest(iterator.get()), "1:1");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  iterator->Next();
  EXPECT_EQ(Rest(iterator.get()), "");
  ASSERT_TRUE(Put("b", "1").ok());
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsTryAgain());
  iterator->Next();
  EXPECT_TRUE(iterator->status().IsTryAgain());
  EXPECT_EQ(From(2), "2:1");
  EXPECT_EQ(From(1), "1:1 2:1");
}

TEST_F(FollowLogTest, WhenItsLogIsDeletedANewIteratorIsAskedFor) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  auto iterator = Follow(1);
  EXPECT_EQ(Rest(iterator.get()), "1:1");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("b", "1").ok());
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsTryAgain()) << iterator->status().ToString();
  EXPECT_EQ(From(2), "2:1");
}

TEST_F(FollowLogTest, ArchivedLogsAreKeptAcrossOpens) {
  Archive();
  OpenDb();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(WriteMany(round, 2).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  EXPECT_EQ(Logs(), "a1 a3 a5 ");
  ASSERT_TRUE(WriteMany(7, 2).ok());
  EXPECT_EQ(Logs(), "a1 a3 a5 l7 ");
  OpenDb();
  ASSERT_TRUE(WriteMany(8, 2).ok());
  EXPECT_EQ(Logs(), "a1 a3 a5 a7 l9 ");
  EXPECT_EQ(From(1), "1:2 3:2 5:2 7:2 9:2");
  EXPECT_EQ(From(6), "5:2 7:2 9:2");
  // Without an archive no log is moved there, and archived ones stay.
  options_.WAL_ttl_seconds = 0;
  OpenDb();
  ASSERT_TRUE(WriteMany(9, 2).ok());
  EXPECT_EQ(Logs(), "a1 a3 a5 a7 l11 ");
  EXPECT_EQ(From(7), "7:2!NotFound: Gap in sequence numbers");
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_TRUE(fs_->FileExists(WalArchiveName(name_)).IsNotFound());
}

TEST_F(FollowLogTest, WithoutAnArchiveItBeginsWithTheFirstThatIsThere) {
  OpenDb();
  ASSERT_TRUE(WriteMany(0, 3).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(From(1), "");
  EXPECT_EQ(Logs(), "");
  ASSERT_TRUE(WriteMany(0, 3).ok());
  EXPECT_EQ(From(1), "4:3");
  EXPECT_EQ(Logs(), "l4 ");
}

TEST_F(FollowLogTest, WritesWithoutTheLogAreGaps) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db_->Put(unlogged, "b", "2").ok());
  auto tail = Follow(2);  // written, but in no log
  EXPECT_FALSE(tail->Valid());
  EXPECT_TRUE(tail->status().ok());
  ASSERT_TRUE(Put("c", "3").ok());
  EXPECT_EQ(From(1), "1:1!NotFound: Gap in sequence numbers");
  EXPECT_EQ(From(2), "3:1");
}

TEST_F(FollowLogTest, EmptyBatchesHaveAPlace) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  rocksdb::WriteBatch note;
  ASSERT_TRUE(note.PutLogData("note").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &note).ok());
  ASSERT_TRUE(Put("b", "1").ok());
  EXPECT_EQ(From(1), "1:1 2:0 2:1");
}

// The largest values mean without end, and no sum of them and something else wraps around.
TEST_F(FollowLogTest, LogsThatAreKeptForeverAreKept) {
  for (const uint64_t megabytes : {UINT64_MAX, uint64_t{1} << 44}) {
    options_.WAL_ttl_seconds = UINT64_MAX;
    options_.WAL_size_limit_MB = megabytes;
    OpenDb();
    const uint64_t since = db_->GetLatestSequenceNumber() + 1;
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(Put("b", "1").ok());
    EXPECT_EQ(From(since), std::to_string(since) + ":1 " + std::to_string(since + 1) + ":1") << megabytes;
  }
}

TEST_F(FollowLogTest, WhatRecoveryLeftOutIsNotFollowed) {
  Archive();
  OpenDb();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put(Key(i), std::string(1000, 'x')).ok());
  rocksdb::VectorLogPtr files;
  ASSERT_TRUE(db_->GetSortedWalFiles(files).ok());
  const std::string path = WalFileName(name_, files.back()->LogNumber());
  Crash(CutMode::kKeepUnsynced);
  // Damage inside record 5: point in time stops there.
  FlipBit(path, ReadFile(path).size() / 2);
  OpenDb();
  const uint64_t survived = db_->GetLatestSequenceNumber();
  ASSERT_LT(survived, 10u);
  ASSERT_TRUE(Put("new", "1").ok());
  std::string expected;
  for (uint64_t i = 1; i <= survived + 1; ++i) {
    expected += (expected.empty() ? "" : " ") + std::to_string(i) + ":1";
  }
  EXPECT_EQ(From(1), expected);
  EXPECT_EQ(From(survived + 1), std::to_string(survived + 1) + ":1");
}

// Resume abandons the failed log: no read and no follower uses it, even an earlier one.
TEST_F(FollowLogTest, ABatchWhoseWriteFailedIsNotFollowed) {
  Archive();
  options_.max_bgerror_resume_count = 0;
  OpenDb();
  ASSERT_TRUE(Put("a", "1", true).ok());
  ASSERT_TRUE(Put("b", "1").ok());  // acknowledged, though not synced
  auto early = Follow(1);
  fs_->FailNth(FaultOp::kSync, 1, ".log", Status::IOError("injected"));
  EXPECT_FALSE(Put("refused", "1", true).ok());
  EXPECT_EQ(From(1), "1:1 2:1");
  EXPECT_EQ(From(3), "");
  ASSERT_TRUE(db_->Resume().ok());
  ASSERT_TRUE(Put("c", "1", true).ok());
  EXPECT_EQ(Rest(early.get()).substr(0, 8), "1:1 2:1!");  // a new iterator is asked for
  for (const bool reopened : {false, true}) {
    if (reopened) OpenDb();
    EXPECT_EQ(Get("refused"), "NOT_FOUND");
    EXPECT_EQ(From(1), "1:1 2:1 4:1");
    EXPECT_EQ(From(2), "2:1 4:1");
    EXPECT_EQ(From(3), "4:1");
  }
}

// Spare logs are not followed, also not those of a primary.
TEST_F(FollowLogTest, ASecondaryFollowsIntoTheNextLog) {
  options_.max_open_files = -1;
  OpenDb();
  for (int i = 0; i < 12; ++i) {  // until there are some
    ASSERT_TRUE(Put(Key(i), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  ASSERT_GT(FilesOf(FileType::kWal).size(), 1u);
  ASSERT_TRUE(Put("a", "1").ok());
  const uint64_t since = db_->GetLatestSequenceNumber();
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options_, name_, "/secondary", &opened).ok());
  const std::unique_ptr<rocksdb::DB> secondary(opened);
  std::unique_ptr<TransactionLogIterator> iterator;
  ASSERT_TRUE(secondary->GetUpdatesSince(since, &iterator).ok());
  EXPECT_EQ(Rest(iterator.get()), std::to_string(since) + ":1");
  ASSERT_TRUE(Put("b", "2").ok());
  ASSERT_TRUE(secondary->TryCatchUpWithPrimary().ok());
  iterator->Next();  // the same log has grown
  EXPECT_EQ(Rest(iterator.get()), std::to_string(since + 1) + ":1");
  ASSERT_TRUE(Put("c", "3").ok());
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("d", "4").ok());
  ASSERT_TRUE(secondary->TryCatchUpWithPrimary().ok());
  iterator->Next();
  EXPECT_EQ(Rest(iterator.get()), std::to_string(since + 2) + ":1!" + "Operation failed. Try again.: Create a new iterator to fetch the new tail.");
  ASSERT_TRUE(secondary->GetUpdatesSince(since, &iterator).ok());
  EXPECT_EQ(Rest(iterator.get()), std::to_string(since) + ":1 " + std::to_string(since + 1) + ":1 " + std::to_string(since + 2) + ":1 " +
                                      std::to_string(since + 3) + ":1");
}

// An error is the iterator's, not the end, wherever it is met.
TEST_F(FollowLogTest, ErrorsOfReadingAreReported) {
  Archive();
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("b", "2").ok());
  std::unique_ptr<TransactionLogIterator> iterator;
  int failed = 0;
  for (uint64_t n = 1;; ++n) {
    const uint64_t before = fs_->faults_injected();
    fs_->FailNth(FaultOp::kOpen, n, ".log", Status::IOError("injected"));
    const Status s = db_->GetUpdatesSince(1, &iterator);
    std::string rest = s.ok() ? Rest(iterator.get()) : "!" + s.ToString();
    const bool met = fs_->faults_injected() != before;
    fs_->ClearFaults();
    if (!met) {
      EXPECT_EQ(rest, "1:1 2:1");
      break;
    }
    // The first look at the logs, for empty ones at the end, may fail: then all are read.
    if (rest == "1:1 2:1") continue;
    EXPECT_NE(rest.find("injected"), std::string::npos) << n << ": " << rest;
    ++failed;
  }
  EXPECT_GT(failed, 2);
  // At the tail, when more was written.
  iterator = Follow(2);
  ASSERT_TRUE(iterator->Valid());
  ASSERT_TRUE(Put("c", "3").ok());
  fs_->FailAll(FaultOp::kOpen, ".log", Status::IOError("injected"));
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsIOError()) << iterator->status().ToString();
  fs_->ClearFaults();
}

TEST_F(FollowLogTest, ABatchThatIsNoneIsCorruption) {
  Archive();
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(Put("b", "2").ok());
  std::vector<WalFileInfo> files;
  ASSERT_TRUE(ListWalFiles(fs_.get(), name_, &files).ok());
  ASSERT_TRUE(files.front().archived);
  WalHeader header;
  header.number = files.front().number;
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(fs_.get(), WalArchiveName(name_), FileOptions(), header, &writer).ok());
  std::string batch;
  PutFixed64(&batch, 1);
  PutFixed32(&batch, 1);
  ASSERT_TRUE(writer->AddBatch(batch + "\x63").ok());  // a record of a kind that is none
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<TransactionLogIterator> iterator;
  EXPECT_TRUE(db_->GetUpdatesSince(1, &iterator).IsCorruption());
  EXPECT_EQ(From(2), "2:1");
}

// A commit's batch does not have the number of its sequences: a reader of one within it gets it whole.
TEST_F(FollowLogTest, FromWithinACommit) {
  Archive();
  options_.allow_2pc = true;
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  CloseDb();
  rocksdb::WriteBatch section, commit, next;
  ASSERT_TRUE(WriteBatchInternal::InsertNoop(&section).ok());
  for (const char* key : {"b", "c", "d"}) ASSERT_TRUE(section.Put(key, "2").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&section, "xid").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkCommit(&commit, "xid").ok());
  ASSERT_TRUE(next.Put("e", "3").ok());
  WalHeader header;
  header.number = 900;
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(fs_.get(), name_, FileOptions(), header, &writer).ok());
  for (const auto& [batch, sequence] : {std::pair(&section, 2), std::pair(&commit, 2), std::pair(&next, 5)}) {
    WriteBatchInternal::SetSequence(batch, sequence);
    ASSERT_TRUE(writer->AddBatch(WriteBatchInternal::Contents(batch)).ok());
  }
  ASSERT_TRUE(writer->Close().ok());
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2,c=2,d=2,e=3");
  for (const uint64_t since : {3, 4}) {
    const auto iterator = Follow(since);
    ASSERT_TRUE(iterator->Valid()) << since << iterator->status().ToString();
    const rocksdb::BatchResult batch = iterator->GetBatch();
    EXPECT_EQ(batch.sequence, 2u);
    EXPECT_TRUE(batch.writeBatchPtr->HasCommit());
    iterator->Next();
    ASSERT_TRUE(iterator->Valid()) << iterator->status().ToString();
    EXPECT_EQ(iterator->GetBatch().sequence, 5u);
  }
}

TEST_F(FollowLogTest, DamageInTheLiveLogIsReported) {
  OpenDb();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put(Key(i), std::string(1000, 'x')).ok());
  rocksdb::VectorLogPtr files;
  ASSERT_TRUE(db_->GetSortedWalFiles(files).ok());
  const std::string path = WalFileName(name_, files.back()->LogNumber());
  FlipBit(path, ReadFile(path).size() / 2);
  EXPECT_NE(From(1).find("!Corruption"), std::string::npos) << From(1);
}

TEST_F(FollowLogTest, ReadOnlyAndUnknownDirectory) {
  Archive();
  OpenDb();
  ASSERT_TRUE(WriteMany(0, 2).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(WriteMany(0, 2).ok());
  CloseDb();
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  db_.reset(db);
  EXPECT_EQ(From(2), "1:2 3:2");
  EXPECT_EQ(Logs(), "a1 l3 ");
}

TEST_F(FollowLogTest, DisabledDeletionsKeepLogsWhereTheyAre) {
  Archive();
  OpenDb();
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  ASSERT_TRUE(WriteMany(0, 2).ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(Logs(), "l1 ");
  ASSERT_TRUE(db_->EnableFileDeletions(true).ok());
  EXPECT_EQ(Logs(), "a1 ");
}

TEST_F(FollowLogTest, AFollowerOfConcurrentWritersSeesEveryBatchOnce) {
  Archive();
  options_.write_buffer_size = 64 << 10;
  OpenDb();
  constexpr uint64_t kWrites = 3000;
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([this, t] {
      for (uint64_t i = 0; i < kWrites; ++i) {
        ASSERT_TRUE(Put(Key(static_cast<int>(2 * i) + t), std::string(100, 'x')).ok());
      }
    });
  }
  uint64_t next = 1;
  while (next <= 2 * kWrites) {
    std::unique_ptr<TransactionLogIterator> iterator;
    Status s = db_->GetUpdatesSince(next, &iterator);
    if (s.IsNotFound()) continue;  // not written yet
    ASSERT_TRUE(s.ok()) << s.ToString();
    while (next <= 2 * kWrites) {
      if (iterator->Valid()) {
        const rocksdb::BatchResult batch = iterator->GetBatch();
        ASSERT_EQ(batch.sequence, next);
        next += batch.writeBatchPtr->Count();
      } else if (!iterator->status().ok()) {
        ASSERT_TRUE(iterator->status().IsTryAgain()) << iterator->status().ToString();
        break;
      }
      iterator->Next();
    }
  }
  for (std::thread& writer : writers) writer.join();
}

// Seconds as the test says.
class FakeClock final : public Clock {
 public:
  uint64_t NowMicros() override { return seconds * 1'000'000; }
  uint64_t NowNanos() override { return seconds * 1'000'000'000; }
  void SleepMicros(uint64_t) override {}
  uint64_t seconds = 0;
};

class WalArchiveTest : public ::testing::Test {
 protected:
  void Add(uint64_t number, size_t bytes) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(WalFileName("/wal", number), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(bytes, 'x')).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  std::string Files(const std::string& dir) {
    std::vector<WalFileInfo> files;
    EXPECT_TRUE(ListWalFiles(&fs_, "/wal", &files).ok());
    std::string out;
    for (const WalFileInfo& file : files) {
      if (file.archived == (dir == "archive")) out += std::to_string(file.number) + " ";
    }
    return out;
  }
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/wal").ok());
    uint64_t now = 0;
    Add(1, 1000);
    ASSERT_TRUE(fs_.GetModificationTime(WalFileName("/wal", 1), &now).ok());
    clock_.seconds = now;
  }

  FaultInjectionFileSystem fs_;
  FakeClock clock_;
};

TEST_F(WalArchiveTest, WithoutLimitsLogsAreDeleted) {
  WalArchive archive(&fs_, &clock_, "/wal", 0, 0);
  ASSERT_TRUE(archive.Open().ok());
  ASSERT_TRUE(archive.Retire(1).ok());
  ASSERT_TRUE(archive.Retire(1).ok());  // it is gone
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("live") + Files("archive"), "");
  EXPECT_TRUE(fs_.FileExists("/wal/archive").IsNotFound());
}

TEST_F(WalArchiveTest, TheOldGoAtHalfOfTheTimeToLive) {
  WalArchive archive(&fs_, &clock_, "/wal", 100, 0);
  ASSERT_TRUE(archive.Open().ok());
  ASSERT_TRUE(archive.Purge().ok());
  ASSERT_TRUE(archive.Retire(1).ok());
  EXPECT_EQ(Files("archive"), "1 ");
  clock_.seconds += 40;
  ASSERT_TRUE(archive.Purge().ok());
  clock_.seconds += 60;
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("archive"), "1 ");  // not older than 100
  clock_.seconds += 40;
  ASSERT_TRUE(archive.Purge().ok());  // too soon to look again
  EXPECT_EQ(Files("archive"), "1 ");
  clock_.seconds += 10;
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("archive"), "");
}

TEST_F(WalArchiveTest, TheOldestGoAtTheSizeLimit) {
  WalArchive archive(&fs_, &clock_, "/wal", 0, 3000);
  ASSERT_TRUE(archive.Open().ok());
  for (uint64_t number = 2; number <= 5; ++number) Add(number, 1000);
  for (uint64_t number = 1; number <= 4; ++number) ASSERT_TRUE(archive.Retire(number).ok());
  EXPECT_EQ(Files("archive"), "1 2 3 4 ");
  EXPECT_EQ(Files("live"), "5 ");
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("archive"), "2 3 4 ");
  ASSERT_TRUE(archive.Retire(5).ok());
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("archive"), "2 3 4 5 ");
  clock_.seconds += 600;
  ASSERT_TRUE(archive.Purge().ok());
  EXPECT_EQ(Files("archive"), "3 4 5 ");
}

}  // namespace
}  // namespace compassdb
