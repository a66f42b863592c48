// SPDX-License-Identifier: Apache-2.0
// compaction_style=kCompactionStyleFIFO: the oldest tables are dropped.
#include <atomic>
#include <chrono>
#include <thread>

#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class LastReason final : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    reason = info.compaction_reason;
  }
  std::atomic<rocksdb::CompactionReason> reason{rocksdb::CompactionReason::kUnknown};
};

class FifoTest : public DbTest {
 protected:
  FifoTest() {
    options_.compaction_style = rocksdb::kCompactionStyleFIFO;
    options_.write_buffer_size = 1 << 20;
    options_.listeners.push_back(listener_);
  }
  // Tables of 100 values of 1,000 bytes, with keys of their own.
  void Fill(int from, int to) {
    for (int table = from; table < to; ++table) {
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(Put(Key(table * 100 + i), std::string(1000, 'v')).ok());
      }
      Flush();
      ASSERT_TRUE(db_->WaitForCompact({}).ok());
    }
  }
  std::vector<rocksdb::LiveFileMetaData> Tables() {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    return tables;
  }

  const std::shared_ptr<LastReason> listener_ = std::make_shared<LastReason>();
};

TEST_F(FifoTest, DropsTheOldestTablesAboveItsSize) {
  options_.compaction_options_fifo.max_table_files_size = 550'000;
  OpenDb();
  EXPECT_EQ(db_->NumberLevels(), 1);
  Fill(0, 20);
  EXPECT_EQ(Tables().size(), 5u);
  for (const auto& table : Tables()) EXPECT_EQ(table.level, 0);
  EXPECT_EQ(Get(Key(1499)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(1500)), std::string(1000, 'v'));
  EXPECT_EQ(listener_->reason, rocksdb::CompactionReason::kFIFOMaxSize);
  OpenDb();
  EXPECT_EQ(Tables().size(), 5u);
  EXPECT_EQ(Get(Key(1499)), "NOT_FOUND");
  ASSERT_TRUE(
      db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=300000}"}}).ok());
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  EXPECT_EQ(Tables().size(), 2u);
}

TEST_F(FifoTest, CompactRangeDropsWhatIsAboveAndMergesNothing) {
  options_.compaction_options_fifo.max_table_files_size = 350 << 10;
  options_.disable_auto_compactions = true;
  OpenDb();
  Fill(0, 6);
  EXPECT_EQ(Tables().size(), 6u);
  const std::unique_ptr<rocksdb::Iterator> before(db_->NewIterator(rocksdb::ReadOptions()));
  Compact();
  EXPECT_EQ(Tables().size(), 3u);
  rocksdb::CompactRangeOptions change;
  change.change_level = true;
  EXPECT_TRUE(db_->CompactRange(change, nullptr, nullptr).IsNotSupported());
  before->SeekToFirst();  // what it pins stays
  ASSERT_TRUE(before->Valid());
  EXPECT_EQ(before->key().ToString(), Key(0));
}

TEST_F(FifoTest, DropsExpiredTables) {
  options_.ttl = 1000;
  OpenDb();
  Fill(0, 3);
  EXPECT_EQ(Tables().size(), 3u);
  ASSERT_TRUE(db_->SetOptions({{"ttl", "1"}}).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  Compact();
  EXPECT_TRUE(Tables().empty());
  EXPECT_EQ(Get(Key(0)), "NOT_FOUND");
}

TEST_F(FifoTest, RefusesWhatItDoesNotDo) {
  const auto refused = [&](const char* name) {
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
  };
  options_.compaction_options_fifo.allow_compaction = true;
  refused("allow_compaction");
  options_.compaction_options_fifo.allow_compaction = false;
  options_.compaction_options_fifo.age_for_warm = 10;
  refused("age_for_warm");
  options_.compaction_options_fifo.age_for_warm = 0;
  options_.enable_blob_files = true;
  refused("enable_blob_files");
}

}  // namespace
}  // namespace compassdb
