// SPDX-License-Identifier: Apache-2.0
// Iterators over tables in files of the operating system, however they are read.
#include <map>

#include "db/testing/db_test_util.h"
#include "env/env_test_util.h"
#include "env/io_ring.h"
#include "rocksdb/cache.h"
#include "rocksdb/table.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;

class ScanFilesTest : public testing::TestWithParam<std::pair<bool, bool>> {
 protected:
  void TearDown() override { IoRing::TEST_Permit(true); }
};

TEST_P(ScanFilesTest, AgreesWithAModel) {
  const auto [direct, ring] = GetParam();
  IoRing::TEST_Permit(ring);
  const std::string dir = NewTestPath();
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(100 << 10);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.use_direct_reads = direct;
  options.write_buffer_size = 128 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* raw = nullptr;
  Status s = rocksdb::DB::Open(options, dir, &raw);
  if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<rocksdb::DB> db(raw);
  Random random(direct * 2 + ring);
  std::map<std::string, std::string> model;
  const auto key_of = [](uint64_t i) {
    char buffer[16];
    snprintf(buffer, sizeof(buffer), "k%05d", static_cast<int>(i));
    return std::string(buffer);
  };
  for (int i = 0; i < 8000; ++i) {
    const std::string key = key_of(random.Uniform(4000));
    model[key] = random.Bytes(20 + random.Uniform(400));
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), key, model[key]).ok());
  }
  ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  for (int round = 0; round < 150; ++round) {
    ReadOptions read;
    read.async_io = random.OneIn(2);
    read.fill_cache = random.OneIn(2);
    if (random.OneIn(4)) read.readahead_size = random.Uniform(100000);
    const std::string bound = key_of(random.Uniform(5000));
    const Slice upper(bound);
    if (random.OneIn(3)) read.iterate_upper_bound = &upper;
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    const auto ended = [&](auto at) {
      return at == model.end() || (read.iterate_upper_bound != nullptr && at->first >= bound);
    };
    for (int seeks = 0; seeks < 3; ++seeks) {
      const std::string from = key_of(random.Uniform(4000));
      auto want = random.OneIn(8) ? model.begin() : model.lower_bound(from);
      want == model.begin() ? it->SeekToFirst() : it->Seek(from);
      for (uint64_t n = random.OneIn(10) ? 5000 : random.Uniform(120); n > 0 && !ended(want); --n) {
        ASSERT_TRUE(it->Valid()) << it->status().ToString();
        ASSERT_EQ(it->key().ToString(), want->first);
        ASSERT_TRUE(it->value() == want->second);
        ++want;
        it->Next();
      }
      if (ended(want)) {
        ASSERT_FALSE(it->Valid());
        ASSERT_TRUE(it->status().ok());
        continue;
      }
      for (uint64_t n = random.Uniform(60); n > 0; --n) {  // and back
        ASSERT_TRUE(it->Valid());
        ASSERT_EQ(it->key().ToString(), want->first);
        it->Prev();
        if (want == model.begin()) {
          ASSERT_FALSE(it->Valid());
          break;
        }
        --want;
      }
    }
  }
  db.reset();
  ASSERT_TRUE(rocksdb::DestroyDB(dir, options).ok());
}

INSTANTIATE_TEST_SUITE_P(Files, ScanFilesTest,
                         testing::Values(std::pair(false, true), std::pair(false, false),
                                         std::pair(true, true), std::pair(true, false)),
                         [](const auto& info) {
                           return std::string(info.param.first ? "direct" : "buffered") +
                                  (info.param.second ? "_ring" : "_pread");
                         });

class ScanTest : public DbTest {};

TEST_F(ScanTest, TimeLimitsAndErrorsOfReadsThatGoTogether) {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.disable_auto_compactions = true;
  OpenDb();
  for (int run = 0; run < 3; ++run) {
    const std::string value(5000, 'v');  // a block for each
    ASSERT_TRUE(Put("k" + std::to_string(run), value).ok());
    ASSERT_TRUE(Put("l" + std::to_string(run), value).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  const auto walk = [&](const ReadOptions& read) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    int n = 0;
    for (it->Seek("k"); it->Valid(); it->Next()) ++n;
    if (it->status().ok()) {
      EXPECT_EQ(n, 6);
    }
    return it->status();
  };
  ReadOptions read;
  ASSERT_TRUE(walk(read).ok());  // loads indexes
  fs_->SetHook([](FaultOp op, const std::string&) {
    if (op == FaultOp::kRead) SystemClock()->SleepMicros(3000);
  });
  read.io_timeout = std::chrono::microseconds(1000);
  EXPECT_TRUE(walk(read).IsTimedOut());
  read.io_timeout = std::chrono::seconds(1000);
  EXPECT_TRUE(walk(read).ok());
  // The deadline passes between two seeks: the reads of the second are not begun.
  read.deadline = std::chrono::microseconds(SystemClock()->NowMicros() + 1000000);
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
  fs_->SetHook(nullptr);
  it->Seek("k");
  EXPECT_TRUE(it->Valid());
  SystemClock()->SleepMicros(1001000);
  it->Seek("l");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsTimedOut()) << it->status().ToString();
  fs_->FailNth(FaultOp::kRead, 2, "", Status::IOError("injected"));
  EXPECT_TRUE(walk(ReadOptions()).IsIOError());
  EXPECT_TRUE(walk(ReadOptions()).ok());
}

// Of keys that are equal, the bytes of the version that is shown.
TEST_F(DbTest, IteratorsShowTheKeyAsItWasWritten) {
  class CaseBlind : public rocksdb::Comparator {
   public:
    const char* Name() const override { return "CaseBlind"; }
    int Compare(const Slice& a, const Slice& b) const override { return Lower(a).compare(Lower(b)); }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}

   private:
    static std::string Lower(const Slice& key) {
      std::string lower = key.ToString();
      for (char& c : lower) c = static_cast<char>(tolower(c));
      return lower;
    }
  } case_blind;
  options_.comparator = &case_blind;
  OpenDb();
  ASSERT_TRUE(Put("ij", "1").ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_TRUE(Put("IJ", "2").ok());
  ReadOptions read;
  read.snapshot = snapshot;
  EXPECT_EQ(Scan(read), "ij=1");
  EXPECT_EQ(Scan(), "IJ=2");
  db_->ReleaseSnapshot(snapshot);
  CloseDb();
}

}  // namespace
}  // namespace compassdb
