// SPDX-License-Identifier: Apache-2.0
#include "wal/log_values.h"

#include <gtest/gtest.h>

#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "rocksdb/cache.h"
#include "util/random.h"
#include "wal/wal_reader.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

constexpr uint64_t kLog = 7;

class LogValuesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/wal").ok());
    WalHeader header;
    header.number = kLog;
    ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer_).ok());
    ASSERT_TRUE(values_.Open(kLog, &log_).ok());
  }
  // References to parts of the batch of the given sizes, one after the other. `keep`: in the tail.
  void Write(const std::string& batch, const std::vector<size_t>& sizes, bool keep = false) {
    BatchPlace place;
    ASSERT_TRUE(writer_->AddBatch(batch, &place).ok());
    ASSERT_TRUE(writer_->Flush().ok());
    if (keep) log_->Keep(PlaceInLog(place.end, place.at), batch);
    const LoggedBatch logged{log_, place.end, place.at, batch};
    size_t at = 0;
    for (const size_t size : sizes) {
      ASSERT_LE(at + size, batch.size());
      wanted_.push_back(batch.substr(at, size));
      LogRef to;
      ASSERT_TRUE(logged.Refer(Slice(batch.data() + at, size), &to));
      to.EncodeTo(&refs_.emplace_back());
      at += size;
    }
  }
  void ExpectAll() {
    std::vector<std::string> read(refs_.size());
    std::vector<LogValues::Request> requests;
    for (size_t i = 0; i < refs_.size(); ++i) requests.push_back({refs_[i], &read[i], Status()});
    values_.ReadMany(requests);
    for (size_t i = 0; i < refs_.size(); ++i) {
      rocksdb::PinnableSlice value;
      const Status s = values_.Resolve("key", refs_[i], &value);
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_EQ(value.ToString(), wanted_[i]);
      ASSERT_TRUE(requests[i].status.ok()) << requests[i].status.ToString();
      ASSERT_EQ(read[i], wanted_[i]);
    }
  }

  FaultInjectionFileSystem fs_;
  std::unique_ptr<WalWriter> writer_;
  LogValues values_{&fs_, "/wal"};
  std::shared_ptr<LogFile> log_;
  std::vector<std::string> refs_, wanted_;
};

TEST_F(LogValuesTest, ValuesAreFoundAcrossTheBlocksOfALog) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    std::vector<size_t> sizes;
    size_t total = kWriteBatchHeader;
    for (uint64_t n = 1 + random.Uniform(4); n > 0; --n) {
      sizes.push_back(64 + random.Skewed(17));
      total += sizes.back();
    }
    Write(random.Bytes(total), sizes);
    if (HasFatalFailure()) return;
  }
  ExpectAll();
  // The last bytes of a block are too few for a header, or have one without payload.
  for (size_t left = 0; left < 2 * kLogHeaderSize; ++left) {
    const size_t room = kLogBlockSize - writer_->Size() % kLogBlockSize;
    const size_t fill = (room > 100 + left ? room : room + kLogBlockSize - kLogHeaderSize) - left;
    const size_t own = kLogHeaderSize + VarintLength(writer_->SyncedSize()) + 1;
    Write(random.Bytes(fill - own), {64});
    ASSERT_EQ(kLogBlockSize - writer_->Size() % kLogBlockSize, left == 0 ? kLogBlockSize : left);
    Write(random.Bytes(200), {64, 100});
  }
  ExpectAll();
}

TEST_F(LogValuesTest, AReaderOfTheLogKnowsTheSamePlaces) {
  Random random(2);
  for (int i = 0; i < 50; ++i) Write(random.Bytes(40000), {100, 39000});
  std::unique_ptr<WalReader> reader;
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", kLog, &reader).ok());
  Slice batch;
  for (size_t i = 0; i < refs_.size(); i += 2) {
    ASSERT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
    const LoggedBatch logged{log_, reader->place().end, reader->place().at, batch};
    LogRef to;
    std::string ref;
    ASSERT_TRUE(logged.Refer(Slice(batch.data(), 100), &to));
    to.EncodeTo(&ref);
    EXPECT_EQ(ref, refs_[i]);
    ASSERT_TRUE(logged.Refer(Slice(batch.data() + 100, 39000), &to));
    to.EncodeTo(&ref);
    EXPECT_EQ(ref, refs_[i + 1]);
  }
}

TEST_F(LogValuesTest, OnlyLongValuesOfTheLoggedPartHaveAddresses) {
  const std::string batch(300, 'x');
  const std::string elsewhere(100, 'x');
  const LoggedBatch logged{log_, 0, 0, Slice(batch.data(), 200)};
  LogRef ref;
  EXPECT_TRUE(logged.Refer(Slice(batch.data() + 100, 100), &ref));
  EXPECT_FALSE(logged.Refer(Slice(batch.data() + 101, 100), &ref));
  EXPECT_FALSE(logged.Refer(Slice(batch.data(), 63), &ref));
  EXPECT_FALSE(logged.Refer(elsewhere, &ref));
  EXPECT_FALSE(LoggedBatch().Refer(batch, &ref));
}

TEST_F(LogValuesTest, DamageIsReportedWithItsPlace) {
  Write(std::string(1000, 'a') + std::string(1000, 'b'), {1000, 1000});
  const std::string path = WalFileName("/wal", kLog);
  std::string data;
  ASSERT_TRUE(ReadFileToString(&fs_, path, &data).ok());
  data[data.size() - 10] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(&fs_, path, data).ok());
  log_.reset();
  ASSERT_TRUE(values_.Open(kLog, &log_).ok());
  rocksdb::PinnableSlice value;
  EXPECT_TRUE(values_.Resolve("key", refs_[0], &value).ok());
  Status s = values_.Resolve("key", refs_[1], &value);
  LogRef ref;
  ASSERT_TRUE(ref.Parse(refs_[1]));
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find(path + " at offset " + std::to_string(ref.offset)), std::string::npos);
  ASSERT_TRUE(WriteFileAtomically(&fs_, path, Slice(data.data(), data.size() - 20)).ok());
  log_.reset();
  ASSERT_TRUE(values_.Open(kLog, &log_).ok());
  std::string many;
  LogValues::Request request{refs_[1], &many, Status()};
  values_.ReadMany({&request, 1});
  EXPECT_TRUE(request.status.IsCorruption());
  EXPECT_NE(request.status.ToString().find("cut off"), std::string::npos);
}

TEST_F(LogValuesTest, WhatIsNotSyncedIsInMemory) {
  Random random(3);
  const auto write = [&](size_t size, bool keep) {
    Write(random.Bytes(size), {size / 2, size - size / 2}, keep);
  };
  write(1000, /*keep=*/false);
  for (const size_t size : {1000, 30000, 200000, 1000}) write(size, /*keep=*/true);
  fs_.ResetCounts();
  ExpectAll();
  EXPECT_EQ(fs_.Count(FaultOp::kRead), 4u);  // the first two values, twice
  values_.DropTail(kLog + 1);
  EXPECT_TRUE(values_.NeedsSync(LogValues::kMostUnsynced - (200 << 10)));
  values_.DropTail(kLog);
  EXPECT_FALSE(values_.NeedsSync(LogValues::kMostUnsynced));
  write(1000, /*keep=*/true);  // in the same block as what was synced
  fs_.ResetCounts();
  ExpectAll();
  EXPECT_EQ(fs_.Count(FaultOp::kRead), 20u);
  log_.reset();
  EXPECT_FALSE(values_.NeedsSync(LogValues::kMostUnsynced));
}

TEST_F(LogValuesTest, ACacheIsChargedForWhatIsInMemory) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(8 << 20);
  LogValues values(&fs_, "/wal", cache, 1 << 20);
  std::shared_ptr<LogFile> log;
  ASSERT_TRUE(values.Open(kLog, &log).ok());
  log->Keep(100, std::string(900 << 10, 'x'));
  EXPECT_GE(cache->GetUsage(), 900u << 10);
  EXPECT_TRUE(values.NeedsSync(200 << 10));
  values.DropTail(kLog);
  EXPECT_FALSE(values.NeedsSync(200 << 10));
  EXPECT_LT(cache->GetUsage(), 512u << 10);
}

TEST_F(LogValuesTest, ALogIsReadableWhileItIsHeld) {
  Write(std::string(500, 'v'), {500});
  ASSERT_TRUE(fs_.DeleteFile(WalFileName("/wal", kLog)).ok());
  ExpectAll();
  log_.reset();
  rocksdb::PinnableSlice value;
  EXPECT_TRUE(values_.Resolve("key", refs_[0], &value).IsCorruption());
  EXPECT_TRUE(values_.Resolve("key", "k", &value).IsCorruption());
  EXPECT_FALSE(values_.Open(kLog, &log_).ok());
}

}  // namespace
}  // namespace compassdb
