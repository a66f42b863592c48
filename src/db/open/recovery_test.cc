// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "db/testing/db_test_util.h"
#include "util/random.h"

namespace compassdb {
namespace {

class RecoveryTest : public DbTest {};

TEST_F(RecoveryTest, MergesAreNotReplayedTwice) {
  options_.merge_operator = std::make_shared<AppendOperator>();
  options_.write_buffer_size = 16 << 10;
  OpenDb();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), "k", std::to_string(i)).ok());
    ASSERT_TRUE(Put(Key(i), std::string(200, 'x')).ok());
  }
  const std::string before = Get("k");
  for (int round = 0; round < 3; ++round) {
    Crash(CutMode::kKeepUnsynced, round);
    OpenDb();
    EXPECT_EQ(Get("k"), before);
  }
}

// A cut may leave the padding of a log's block, and nothing of the record behind it. The kept log
// ends before that, and must not be said to have been synced further.
TEST_F(RecoveryTest, AKeptLogMayEndInPadding) {
  constexpr uint64_t kBlock = 32 << 10, kPadding = 5;
  options_.avoid_flush_during_recovery = true;
  options_.create_missing_column_families = true;
  families_ = {"default", "other"};
  OpenDb();
  std::vector<uint64_t> sizes;
  for (const char* key : {"a", "b", "c", "d"}) {
    // The last one has as many bytes in addition to its value as the third.
    const uint64_t overhead = sizes.size() < 3 ? 0 : sizes[2] - sizes[1] - 10000;
    const uint64_t length = sizes.size() < 3 ? 10000 : kBlock - kPadding - sizes[2] - overhead;
    ASSERT_TRUE(Put(key, std::string(length, 'v'), true).ok());
    ASSERT_TRUE(fs_->GetFileSize(NewestLog(), &sizes.emplace_back()).ok());
  }
  ASSERT_EQ(sizes[3], kBlock - kPadding);
  const std::string log = NewestLog();
  Crash();
  std::string data;
  ASSERT_TRUE(ReadFileToString(fs_.get(), log, &data).ok());
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile(log, FileOptions(), &file).ok());
  data.append(kPadding, '\0');
  ASSERT_TRUE(file->Append(data).ok() && file->Sync().ok() && file->Close().ok());
  for (int round = 0; round < 3; ++round) {
    OpenDb();
    for (const char* key : {"a", "b", "c", "d"}) EXPECT_NE(Get(key), "NOT_FOUND");
    // The manifest now says how far the kept log was synced: it is the last one with a batch.
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    ASSERT_TRUE(db_->Put(write, handles_[1], Key(round), "v").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[1]).ok());
    Crash(CutMode::kKeepUnsynced);
  }
}

TEST_F(RecoveryTest, RandomCutsKeepSyncedWritesAndWholeBatches) {
  Random random(7);
  options_.write_buffer_size = 16 << 10;
  std::map<std::string, std::string> synced;
  OpenDb();
  for (int round = 0; round < 40; ++round) {
    std::map<std::string, std::string> latest = synced;
    std::map<std::string, std::set<std::string>> since;  // values written after the last sync
    const int writes = 1 + static_cast<int>(random.Uniform(60));
    for (int i = 0; i < writes; ++i) {
      const std::string n = std::to_string(random.Uniform(200));
      const std::string value = random.Text(200 + random.Uniform(200));
      rocksdb::WriteBatch batch;
      batch.Put("x" + n, value);
      batch.Put("y" + n, value);
      rocksdb::WriteOptions write;
      write.sync = random.OneIn(8);
      ASSERT_TRUE(db_->Write(write, &batch).ok());
      latest["x" + n] = latest["y" + n] = value;
      since["x" + n].insert(value);
      if (write.sync) {
        synced = latest;
        since.clear();
      }
    }
    Crash(CutMode::kRandom, random.Next());
    OpenDb();
    for (int n = 0; n < 200; ++n) {
      const std::string x = Get("x" + std::to_string(n));
      ASSERT_EQ(x, Get("y" + std::to_string(n))) << "round " << round;
      const auto it = synced.find("x" + std::to_string(n));
      if (it != synced.end() && x != it->second) {
        ASSERT_EQ(since["x" + std::to_string(n)].count(x), 1u)
            << "round " << round << " key " << n;
      }
    }
    synced.clear();
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      synced[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_TRUE(it->status().ok());
  }
}

}  // namespace
}  // namespace compassdb
