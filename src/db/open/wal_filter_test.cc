// SPDX-License-Identifier: Apache-2.0
// The application's filter of the log at recovery; compressed logs.
#include <map>

#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/wal_filter.h"

namespace compassdb {
namespace {

using Option = rocksdb::WalFilter::WalProcessingOption;

// Returns decisions for the batches in order; records its calls.
class ScriptedFilter final : public rocksdb::WalFilter {
 public:
  Option LogRecordFound(unsigned long long number, const std::string& file,
                        const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* new_batch,
                        bool* batch_changed) override {
    EXPECT_EQ(file, WalFileName("/db", number));
    EXPECT_GE(batch.Count(), 1);
    const size_t n = seen++;
    if (replace.count(n) != 0) {
      for (const std::string& key : replace[n]) EXPECT_TRUE(new_batch->Put(key, "replaced").ok());
      *batch_changed = true;
    }
    return answers.count(n) != 0 ? answers[n] : Option::kContinueProcessing;
  }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& numbers,
                                const std::map<std::string, uint32_t>& ids) override {
    log_numbers = numbers;
    family_ids = ids;
  }
  const char* Name() const override { return "Scripted"; }

  std::map<size_t, Option> answers;
  std::map<size_t, std::vector<std::string>> replace;
  size_t seen = 0;
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> family_ids;
};

class WalFilterTest : public DbTest {
 protected:
  // Five batches, k0 to k4, in the log alone.
  void SetUp() override {
    OpenDb();
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put("k" + std::to_string(i), "v").ok());
    CloseDb();
    options_.wal_filter = &filter_;
  }
  // The keys after recovery with the filter and, the same, without it.
  std::string Recovered() {
    OpenDb();
    std::string first = Keys();
    options_.wal_filter = nullptr;
    OpenDb();
    EXPECT_EQ(Keys(), first);
    return first;
  }
  std::string Keys() {
    std::string keys;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys += it->key().ToString() + " ";
    return keys;
  }
  ScriptedFilter filter_;
};

TEST_F(WalFilterTest, SeesEveryBatch) {
  EXPECT_EQ(Recovered(), "k0 k1 k2 k3 k4 ");
  EXPECT_EQ(filter_.seen, 5u);
  EXPECT_EQ(filter_.family_ids, (std::map<std::string, uint32_t>{{"default", 0}}));
  EXPECT_EQ(filter_.log_numbers.count(0), 1u);
}

TEST_F(WalFilterTest, IgnoresOne) {
  filter_.answers[2] = Option::kIgnoreCurrentRecord;
  EXPECT_EQ(Recovered(), "k0 k1 k3 k4 ");
}

TEST_F(WalFilterTest, StopsForGood) {
  filter_.answers[2] = Option::kStopReplay;
  EXPECT_EQ(Recovered(), "k0 k1 ");
  EXPECT_EQ(filter_.seen, 3u);
  std::string damage = "none";
  ASSERT_TRUE(db_->GetProperty("compassdb.wal-damage", &damage));
  EXPECT_EQ(damage, "");
}

TEST_F(WalFilterTest, CorruptionFollowsTheRecoveryMode) {
  filter_.answers[2] = Option::kCorruptedRecord;
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  EXPECT_TRUE(TryOpen().IsCorruption());
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  filter_.seen = 0;
  EXPECT_TRUE(TryOpen().IsCorruption());
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  filter_.seen = 0;
  EXPECT_EQ(Recovered(), "k0 k1 ");
}

TEST_F(WalFilterTest, CorruptionIsSkippedInTheModeThatSkips) {
  filter_.answers[2] = Option::kCorruptedRecord;
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  EXPECT_EQ(Recovered(), "k0 k1 k3 k4 ");
}

TEST_F(WalFilterTest, CorruptionDoesNotCountWithoutParanoidChecks) {
  filter_.answers[2] = Option::kCorruptedRecord;
  options_.paranoid_checks = false;
  EXPECT_EQ(Recovered(), "k0 k1 k2 k3 k4 ");
}

TEST_F(WalFilterTest, ReplacesABatch) {
  filter_.replace[1] = {"other"};
  filter_.replace[3] = {};
  EXPECT_EQ(Recovered(), "k0 k2 k4 other ");
}

TEST_F(WalFilterTest, MoreRecordsThanBeforeAreRefused) {
  filter_.replace[1] = {"a", "b"};
  EXPECT_TRUE(TryOpen().IsNotSupported());
  filter_.replace.clear();
  filter_.answers[1] = static_cast<Option>(77);
  filter_.seen = 0;
  EXPECT_TRUE(TryOpen().IsNotSupported());
}

class WalCompressionTest : public DbTest {
 protected:
  uint64_t LogBytes() {
    rocksdb::VectorLogPtr files;
    EXPECT_TRUE(db_->GetSortedWalFiles(files).ok());
    return files.empty() ? 0 : files.back()->SizeFileBytes();
  }
};

TEST_F(WalCompressionTest, IsSmallerAndRecovered) {
  for (rocksdb::CompressionType type : {rocksdb::kZSTD, rocksdb::kLZ4Compression}) {
    options_.wal_compression = type;
    OpenDb();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Key(i), std::string(2000, 'x')).ok());
    EXPECT_LT(LogBytes(), 10000u);
    const std::string before = Scan();
    std::unique_ptr<rocksdb::TransactionLogIterator> iterator;
    ASSERT_TRUE(db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &iterator).ok());
    ASSERT_TRUE(iterator->Valid());
    EXPECT_EQ(iterator->GetBatch().writeBatchPtr->GetDataSize(), 2000u + 25);
    iterator->Next();
    EXPECT_TRUE(iterator->status().ok());
    ASSERT_TRUE(Put("tail", "y").ok());  // read on from the middle
    iterator->Next();
    EXPECT_TRUE(iterator->Valid());
    iterator.reset();
    Crash(CutMode::kKeepUnsynced);
    // Reading does not depend on the option.
    options_.wal_compression = rocksdb::kNoCompression;
    OpenDb();
    EXPECT_EQ(Scan(), before + ",tail=y");
    ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "tail").ok());
  }
}

}  // namespace
}  // namespace compassdb
