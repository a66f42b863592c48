// SPDX-License-Identifier: Apache-2.0
// A database whose family is table-less, through the public API.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "compassdb/table.h"
#include "db/testing/model_test_util.h"
#include "db/testing/tableless_test_util.h"
#include "format/file_names.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "tableless/overflow/overflow_run.h"
#include "util/random.h"

namespace compassdb {
namespace {

class TablelessTest : public ModelTest {
 protected:
  TablelessTest() {
    piece_.store = StoreKind::kTableless;
    piece_.tableless_sections = 4;
    UsePieces();
    options_.merge_operator = std::make_shared<AppendOperator>();
  }
  void UsePieces() { options_.table_factory.reset(NewPieceTableFactory(piece_)); }
  static std::string Value(int i, size_t size) {
    std::string value = std::to_string(i) + ":";
    while (value.size() < size) value += static_cast<char>('a' + (i + value.size()) % 26);
    return value;
  }
  void Verify() {
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  PieceTableOptions piece_;
};

TEST_F(TablelessTest, ReadsWhatWasFlushed) {
  OpenDb();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Flush();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
  EXPECT_EQ(Get("nothing"), "NOT_FOUND");
  Compact();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
  OpenDb();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
  EXPECT_EQ(FilesOf(FileType::kPageFile).size(), 4u);
  Verify();
}

TEST_F(TablelessTest, OverwritesAndDeletions) {
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 50)).ok());
  Flush();
  for (int i = 0; i < 500; i += 2) ASSERT_TRUE(Put(Key(i), Value(i + 1, 700)).ok());
  for (int i = 1; i < 500; i += 4) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Flush();
  for (int round = 0; round < 3; ++round) {
    std::string all;
    for (int i = 0; i < 500; ++i) {
      const std::string expected =
          i % 2 == 0 ? Value(i + 1, 700) : i % 4 == 1 ? "NOT_FOUND" : Value(i, 50);
      ASSERT_EQ(Get(Key(i)), expected) << i;
      if (expected != "NOT_FOUND") all += (all.empty() ? "" : ",") + Key(i) + "=" + expected;
    }
    EXPECT_EQ(Scan(), all);
    if (round == 0) Compact();
    if (round == 1) OpenDb();
  }
  Verify();
}

TEST_F(TablelessTest, ValuesLargerThanAPage) {
  OpenDb();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 10000)).ok());
  Flush();
  for (int i = 0; i < 40; i += 2) ASSERT_TRUE(Put(Key(i), Value(i, 10)).ok());
  for (int i = 1; i < 40; i += 4) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Compact();
  OpenDb();
  for (int i = 0; i < 40; ++i) {
    const std::string expected = i % 2 == 0 ? Value(i, 10) : i % 4 == 1 ? "NOT_FOUND" : Value(i, 10000);
    ASSERT_EQ(Get(Key(i)), expected) << i;
  }
  Verify();
}

// In its page or in the overflow store, whose index shows it without a read.
TEST_F(TablelessTest, EveryHitIsOneRead) {
  piece_.tableless_pages = 64;
  piece_.tableless_max_overflow_percent = 100;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 400)).ok());
  Flush();
  Compact();
  std::string property;
  ASSERT_TRUE(db_->GetProperty("compassdb.tableless-overflow-records", &property));
  const uint64_t overflowed = std::stoull(property);
  ASSERT_GT(overflowed, 300u);
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(Key(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  rocksdb::get_perf_context()->Reset();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Get(keys[i]), Value(i, 400));
  const uint64_t alone = rocksdb::get_perf_context()->block_read_count;
  rocksdb::get_perf_context()->Reset();
  std::vector<std::string> values;
  const std::vector<Status> found = db_->MultiGet({}, slices, &values);
  const uint64_t together = rocksdb::get_perf_context()->block_read_count;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(found[i].ok()) << found[i].ToString();
    EXPECT_EQ(values[i], Value(i, 400));
  }
  EXPECT_LE(alone, 1000u);
  EXPECT_LE(together, overflowed + 64);
}

// Pages count as data blocks do, with statistics and in the thread's counters; overflow records likewise, but they
// are never cached.
TEST_F(TablelessTest, ReadsCount) {
  piece_.tableless_pages = 64;
  piece_.tableless_max_overflow_percent = 100;
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.statistics->set_stats_level(rocksdb::kAll);
  UsePieces();
  OpenDb();
  constexpr uint64_t kKeys = 600;
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 400)).ok());
  Flush();
  Compact();
  std::string property;
  ASSERT_TRUE(db_->GetProperty("compassdb.tableless-overflow-records", &property));
  const uint64_t overflowed = std::stoull(property);
  ASSERT_GT(overflowed, 20u);
  rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  const auto begin = [&](rocksdb::PerfLevel level) {
    ASSERT_TRUE(options_.statistics->Reset().ok());
    rocksdb::SetPerfLevel(level);
    perf.Reset();
  };
  const auto ticker = [&](uint32_t name) { return options_.statistics->getTickerCount(name); };
  const auto times = [&](uint32_t name) {
    rocksdb::HistogramData data;
    options_.statistics->histogramData(name, &data);
    return data.count;
  };
  std::vector<std::string> keys, values;
  for (uint64_t i = 0; i < kKeys; ++i) keys.push_back(Key(i));

  // Every page comes once from its file, then from memory.
  begin(rocksdb::kEnableTime);
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_EQ(Get(keys[i]), Value(i, 400));
  const uint64_t pages = ticker(rocksdb::BLOCK_CACHE_MISS);
  EXPECT_GT(pages, 32u);
  EXPECT_LE(pages, 64u);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_DATA_MISS), pages);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_ADD), pages);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_DATA_ADD), pages);
  EXPECT_GT(ticker(rocksdb::BLOCK_CACHE_BYTES_WRITE), (kKeys - overflowed) * 400);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_DATA_BYTES_INSERT), ticker(rocksdb::BLOCK_CACHE_BYTES_WRITE));
  const uint64_t hits = kKeys - overflowed - pages;
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_HIT), hits);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_DATA_HIT), hits);
  EXPECT_GT(ticker(rocksdb::BLOCK_CACHE_BYTES_READ), hits * 400);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT), pages + overflowed);
  EXPECT_EQ(times(rocksdb::SST_READ_MICROS), pages + overflowed);
  EXPECT_EQ(times(rocksdb::READ_BLOCK_GET_MICROS), pages + overflowed);
  EXPECT_EQ(ticker(rocksdb::MEMTABLE_MISS), kKeys);
  EXPECT_EQ(ticker(rocksdb::GET_HIT_L0) + ticker(rocksdb::GET_HIT_L1) + ticker(rocksdb::GET_HIT_L2_AND_UP), 0u);
  EXPECT_EQ(perf.block_cache_hit_count, hits);
  EXPECT_EQ(perf.block_read_count, pages + overflowed);
  EXPECT_GT(perf.block_read_byte, pages * 4096 + overflowed * 400);
  EXPECT_GT(perf.block_read_time, 0u);
  EXPECT_GT(perf.block_checksum_time, 0u);

  // Together, a page once for all keys of it that are looked for at a time.
  begin(rocksdb::kEnableCount);
  for (const Status& s : db_->MultiGet({}, {keys.begin(), keys.end()}, &values)) ASSERT_TRUE(s.ok()) << s.ToString();
  const uint64_t together = ticker(rocksdb::BLOCK_CACHE_HIT);
  EXPECT_GE(together, pages);
  EXPECT_LT(together, kKeys - overflowed);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_MISS), 0u);
  EXPECT_EQ(perf.block_cache_hit_count, together);
  EXPECT_EQ(perf.block_read_count, overflowed);
  EXPECT_GT(times(rocksdb::SST_READ_MICROS), 0u);
  EXPECT_LT(times(rocksdb::SST_READ_MICROS), overflowed);
  EXPECT_EQ(perf.block_read_time, 0u);

  // Without the cache.
  OpenDb();
  begin(rocksdb::kEnableTime);
  rocksdb::ReadOptions aside;
  aside.fill_cache = false;
  for (const Status& s : db_->MultiGet(aside, {keys.begin(), keys.end()}, &values)) ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_MISS), together);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CACHE_ADD), 0u);
  EXPECT_EQ(perf.block_read_count, together + overflowed);
  EXPECT_EQ(ticker(rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT), together + overflowed);
  EXPECT_GT(perf.block_read_time, 0u);
  EXPECT_GT(perf.block_checksum_time, 0u);
  begin(rocksdb::kDisable);
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_EQ(Get(keys[i]), Value(i, 400));
  EXPECT_EQ(perf.ToString(/*exclude_zero_counters=*/true), "");
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
}

// More overflow records than are read together.
TEST_F(TablelessTest, OverflowOfManyMegabytes) {
  piece_.tableless_pages = 4;
  piece_.tableless_sections = 1;
  piece_.tableless_max_overflow_percent = 100;
  UsePieces();
  OpenDb();
  constexpr int kKeys = 60;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, 400 << 10)).ok());
    Flush();
    std::vector<std::string> keys, values;
    for (int i = 0; i < kKeys; ++i) keys.push_back(Key(i));
    const std::vector<Status> found = db_->MultiGet({}, {keys.begin(), keys.end()}, &values);
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(found[i].ok()) << found[i].ToString();
      ASSERT_TRUE(values[i] == Value(i + round, 400 << 10)) << i;
    }
    if (round == 1) OpenDb();
  }
  for (int i = 0; i < kKeys; i += 2) ASSERT_TRUE(db_->Merge({}, Key(i), "more").ok());
  for (int i = 1; i < kKeys; i += 2) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Flush();
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(Get(Key(i)).size(), i % 2 == 0 ? (400 << 10) + 5 : 9) << i;  // ",more"; NOT_FOUND
  }
  EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), 30u);
  Verify();
}

// Runs with mostly dead records are rewritten, a rehash takes the rest, and the files are deleted.
TEST_F(TablelessTest, OverflowGivesItsSpaceBack) {
  piece_.tableless_pages = 8;
  piece_.tableless_sections = 2;
  piece_.tableless_key_store = false;
  UsePieces();
  OpenDb();
  const auto files = [this] {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(name_, &names).ok());
    std::map<std::string, uint64_t> sizes;
    for (const std::string& name : names) {
      uint64_t bytes = 0;
      if (!name.ends_with(".ph") || !fs_->GetFileSize(name_ + "/" + name, &bytes).ok()) continue;
      if (bytes > 0) sizes[name] = bytes;  // others are spare files
    }
    return sizes;
  };
  const auto await = [](const std::function<bool()>& holds) {  // in the background
    for (int i = 0; i < 1000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
  };
  constexpr int kKeys = 100, kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, 8000)).ok());
    Flush();
  }
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  // Twice what lives, and 1 MiB, may be dead: of 13 MB that were written.
  EXPECT_TRUE(await([&] {
    uint64_t sum = 0;
    for (const auto& [name, bytes] : files()) sum += bytes;
    return sum < 5000000;
  }));
  const auto before = files();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "64"}}).ok());
  EXPECT_TRUE(await([&] {
    const auto now = files();
    return std::none_of(now.begin(), now.end(), [&](const auto& f) { return before.count(f.first) != 0; });
  }));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + kRounds - 1, 8000)) << i;
  // All that is in memory: 24 bytes for each record that is in no page.
  EXPECT_EQ(IntProperty("compassdb.tableless-page-bytes"), 4096u);
  EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), static_cast<uint64_t>(kKeys));
  const uint64_t index = IntProperty("compassdb.tableless-overflow-index-bytes");
  EXPECT_GE(index, 24u * kKeys);
  EXPECT_LE(index, 2 * 24u * kKeys + 1024);
  EXPECT_LE(IntProperty("compassdb.tableless-index-bytes"), index + 1024);
}

// Of records of a few bytes a run is mostly what it says of them, which is no dead space.
TEST_F(TablelessTest, OverflowOfTinyRecordsIsNotRewrittenForEver) {
  piece_.tableless_pages = 2;
  piece_.tableless_sections = 2;
  piece_.tableless_key_store = false;
  UsePieces();
  OpenDb();
  constexpr int kKeys = 300000;
  const auto key = [](int i) { return std::string(reinterpret_cast<const char*>(&i), 3); };
  for (int i = 0; i < kKeys;) {
    rocksdb::WriteBatch batch;
    for (const int end = i + 1000; i < end; ++i) batch.Put(key(i), "");
    ASSERT_TRUE(db_->Write({}, &batch).ok());
  }
  Flush();
  rocksdb::WaitForCompactOptions wait;
  wait.timeout = std::chrono::seconds(30);
  const Status s = db_->WaitForCompact(wait);
  EXPECT_TRUE(s.ok()) << s.ToString();
  for (int i = 0; i < kKeys; i += 1000) ASSERT_EQ(Get(key(i)), "");
}

// Flushes and rehashes do not wait for it, and what they write counts behind what it copies.
TEST_F(TablelessTest, OverflowIsRewrittenConcurrentlyWithOtherJobs) {
  class Keeps : public rocksdb::CompactionFilter {
   public:
    bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
    const char* Name() const override { return "Keeps"; }
  } keeps;
  constexpr int kKeys = 100, kRounds = 8;
  piece_.tableless_pages = 8;
  piece_.tableless_sections = 2;
  piece_.tableless_key_store = false;
  for (const bool rehashed : {false, true}) {
    SCOPED_TRACE(rehashed);
    UsePieces();
    options_.compaction_filter = rehashed ? &keeps : nullptr;
    options_.disable_auto_compactions = true;
    OpenDb();
    std::map<int, std::string> expected;
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), expected[i] = Value(i + round, 8000)).ok());
      Flush();
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool begun = false, go_on = false;
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      std::unique_lock<std::mutex> lock(mutex);
      if (op != FaultOp::kRead || !path.ends_with(".ph") || begun) return;
      begun = true;  // by the rewriting, which is the first to read such a file: it has copied nothing yet
      changed.notify_all();
      changed.wait(lock, [&] { return go_on; });
    });
    ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
    {
      std::unique_lock<std::mutex> lock(mutex);
      ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return begun; }));
    }
    for (int i = 0; i < kKeys; ++i) {
      if (i % 4 == 3) continue;
      if (i % 4 == 1) {
        expected.erase(i);
        ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
      } else {
        ASSERT_TRUE(Put(Key(i), expected[i] = Value(i, i % 4 == 0 ? 9000 : 50)).ok());
      }
    }
    std::future<Status> flush = std::async(std::launch::async, [this] { return db_->Flush({}); });
    const bool went_on = flush.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
    EXPECT_TRUE(went_on) << "a flush waits for the rewriting";
    if (rehashed && went_on) {  // by hand, as all of it passes a filter
      rocksdb::CompactRangeOptions all;
      all.exclusive_manual_compaction = false;
      EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
      EXPECT_EQ(IntProperty("compassdb.tableless-rehashes"), 2u);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex);
      go_on = true;
      changed.notify_all();
    }
    EXPECT_TRUE(flush.get().ok());
    ASSERT_TRUE(db_->WaitForCompact({}).ok());
    fs_->SetHook(nullptr);
    // Of 6.4 MB that were written: what was alive when it began, and what came since.
    EXPECT_LE(IntProperty("rocksdb.live-sst-files-size"), 1300000u);
    for (int round = 0; round < 2; ++round) {
      SCOPED_TRACE(round);
      for (int i = 0; i < kKeys; ++i) {
        ASSERT_EQ(Get(Key(i)), expected.count(i) == 0 ? "NOT_FOUND" : expected[i]) << i;
      }
      EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), 50u);
      Verify();
      OpenDb();
    }
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
  options_.compaction_filter = nullptr;
}

// An opening makes the index of what runs say of their records, and reads none of these.
TEST_F(TablelessTest, OverflowRecordsAreNotReadByAnOpening) {
  piece_.tableless_pages = 8;
  UsePieces();
  OpenDb();
  const std::string marked = "marked" + Value(7, 9000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), i == 50 ? marked : Value(i, 9000)).ok());
  Flush();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1, 9000)).ok());
  for (int i = 30; i < 40; ++i) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Flush();
  CloseDb();
  int damaged = 0;
  for (const std::string& name : FilesOf(FileType::kPieceFile)) {
    const std::string path = JoinPath(name_, name);
    std::string bytes;
    ASSERT_TRUE(ReadFileToString(fs_.get(), path, &bytes).ok());
    const size_t at = bytes.find(marked);
    if (at == std::string::npos) continue;
    bytes[at + 100] ^= 1;
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(path, FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(bytes).ok());
    ASSERT_TRUE(file->Close().ok());
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  OpenDb();
  EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), 90u);
  for (int i = 0; i < 100; ++i) {
    std::string value;
    const Status s = db_->Get({}, Key(i), &value);
    if (i == 50) {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    } else if (i >= 30 && i < 40) {
      EXPECT_TRUE(s.IsNotFound()) << i << s.ToString();
    } else {
      ASSERT_TRUE(s.ok()) << i << s.ToString();
      EXPECT_EQ(value, Value(i < 30 ? i + 1 : i, 9000)) << i;
    }
  }
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
}

// Overflow of more than a run may hold: in a flush, a rewriting, a rehash.
TEST_F(TablelessTest, OverflowOfManyRuns) {
  TEST_SetMaxOverflowRunBytes(20000);
  piece_.tableless_pages = 8;
  piece_.tableless_sections = 2;
  UsePieces();
  OpenDb();
  constexpr int kKeys = 200;
  const auto check = [this](int round) {
    std::string all;
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_EQ(Get(Key(i)), Value(i + round, 5000)) << i;
      all += (i == 0 ? "" : ",") + Key(i) + "=" + Value(i + round, 5000);
    }
    EXPECT_EQ(Scan(), all);
    Verify();
  };
  for (int round = 0; round < 8; ++round) {  // more dead than live: it is rewritten
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, 5000)).ok());
    Flush();
    check(round);
  }
  Compact();
  check(7);
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "64"}}).ok());
  for (int i = 0; i < 100 && IntProperty("compassdb.tableless-pages") < 60; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(IntProperty("compassdb.tableless-pages"), 60u);
  check(7);
  CloseDb();
  OpenDb();
  check(7);
  TEST_SetMaxOverflowRunBytes(0);
}

// A record that was accepted is flushed, found, rehashed and opened again, for each limit of a run.
TEST_F(TablelessTest, RecordsLargerThanARun) {
  TEST_SetMaxOverflowRunBytes(1 << 20);
  piece_.tableless_pages = 8;
  piece_.tableless_sections = 2;
  UsePieces();
  OpenDb();
  constexpr size_t kLarge = 3 << 20;
  const auto size = [](int i) { return i % 5 == 0 ? kLarge : size_t{6000}; };
  const auto check = [&](int round) {
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(Get(Key(i)) == Value(i + round, size(i))) << i << " of round " << round;
    EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), 12u);
    Verify();
  };
  for (int round = 0; round < 3; ++round) {
    const rocksdb::Snapshot* const snapshot = round == 2 ? db_->GetSnapshot() : nullptr;
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(Put(Key(i), Value(i + round, size(i))).ok());
    Flush();
    check(round);
    if (snapshot == nullptr) continue;
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    std::string old;
    EXPECT_TRUE(db_->Get(read, Key(5), &old).ok() && old == Value(6, kLarge));
    db_->ReleaseSnapshot(snapshot);
  }
  CloseDb();
  OpenDb();
  check(2);
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "64"}}).ok());
  for (int i = 0; i < 100 && IntProperty("compassdb.tableless-pages") < 64; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(IntProperty("compassdb.tableless-pages"), 64u);
  check(2);
  CloseDb();
  OpenDb();
  check(2);
  TEST_SetMaxOverflowRunBytes(0);
}

TEST_F(TablelessTest, PagesFollowWhatTheyCanHold) {
  const auto settle = [this] {
    Compact();
    for (int i = 0; i < 250 && IntProperty("compassdb.tableless-rehashing") != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), 0u);
  };
  OpenDb();
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 9000)).ok());
  settle();
  EXPECT_EQ(IntProperty("compassdb.tableless-pages"), 64u);  // as few as there may be
  EXPECT_EQ(IntProperty("compassdb.tableless-overflow-records"), 600u);
  // And records that fit in pages: at most 3 per cent overflow, or pages are less than 30 per cent full.
  uint64_t large = 600 * 9000;
  for (const int size : {300, 900, 2500}) {
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(Put("of " + std::to_string(size) + Key(i), Value(i, size)).ok());
    settle();
    const uint64_t bytes = IntProperty("compassdb.tableless-bytes") - large;
    const uint64_t overflow = IntProperty("compassdb.tableless-overflow-bytes") - large;
    const uint64_t room = IntProperty("compassdb.tableless-pages") * 4096;
    EXPECT_TRUE(overflow * 100 <= bytes * 4 || bytes * 100 <= room * 33) << size << ": " << overflow << " of " << bytes;
    EXPECT_GE(bytes * 100, room * 14) << size;
  }
  Verify();
}

TEST_F(TablelessTest, SectionsGrowAndShrink) {
  OpenDb();
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Compact();
  const uint64_t grown = IntProperty("compassdb.tableless-pages");
  EXPECT_GT(grown, 300u);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
  for (int i = 0; i < 20000; ++i) {
    if (i % 50 == 0) continue;
    ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  }
  Compact();
  for (int i = 0; i < 100 && IntProperty("compassdb.tableless-pages") >= grown; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LT(IntProperty("compassdb.tableless-pages"), grown);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(Get(Key(i)), i % 50 == 0 ? Value(i, 100) : "NOT_FOUND") << i;
  }
  Verify();
}

// Sections that wait for their turn count, too: between two of them nothing is over.
TEST_F(TablelessTest, RehashingReportsAllSections) {
  options_.disable_auto_compactions = true;
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Flush();
  EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), 0u);
  ASSERT_TRUE(db_->SetOptions({{"table_factory", "{tableless_pages=256}"}}).ok());
  EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), 4u);
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  for (int i = 0; i < 600 && IntProperty("compassdb.tableless-rehashing") != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), 0u);
  EXPECT_EQ(IntProperty("compassdb.tableless-pages"), 256u);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
  Verify();
}

TEST_F(TablelessTest, SnapshotsSeeWhatPagesHoldNoLonger) {
  OpenDb();
  std::map<int, const rocksdb::Snapshot*> snapshots;
  for (int version = 0; version < 5; ++version) {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(Key(i), Value(version, 30)).ok());
    snapshots[version] = db_->GetSnapshot();
    if (version != 2) Flush();
  }
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(0), Key(50)).ok());
  Compact();
  EXPECT_EQ(Scan(), "");
  for (const auto& [version, snapshot] : snapshots) {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    std::string all;
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(Get(Key(i), snapshot), Value(version, 30)) << version << " " << i;
      all += (i == 0 ? "" : ",") + Key(i) + "=" + Value(version, 30);
    }
    EXPECT_EQ(Scan(read), all) << version;
    db_->ReleaseSnapshot(snapshot);
  }
  Compact(/*force=*/true);
  Verify();
}

// An iterator without a snapshot of its own continues in its state, while pages change in place.
TEST_F(TablelessTest, IteratorsKeepTheirState) {
  OpenDb();
  std::string all;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(Put(Key(i), Value(i, 60)).ok());
    all += (i == 0 ? "" : ",") + Key(i) + "=" + Value(i, 60);
  }
  Flush();
  // The iterator has the operand in its memtable; the base it looks for has it in it by then.
  ASSERT_TRUE(db_->Merge({}, Key(7), "merged").ok());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  Compact();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1000, 80)).ok());
  for (int i = 0; i < 300; i += 3) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  Compact();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), "x").ok());
  Compact();
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++seen) {
    EXPECT_EQ(it->value().ToString(), seen == 7 ? Value(7, 60) + ",merged" : Value(seen, 60));
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, 300);
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    --seen;
    EXPECT_EQ(it->value().ToString(), seen == 7 ? Value(7, 60) + ",merged" : Value(seen, 60));
  }
  EXPECT_EQ(seen, 0);
}

TEST_F(TablelessTest, WithoutKeyStore) {
  piece_.tableless_key_store = false;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 60)).ok());
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  Flush();
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(10), Key(20)).ok());
  ASSERT_TRUE(Put(Key(5), "new").ok());
  Compact();
  EXPECT_EQ(Get(Key(15)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(15), snapshot), Value(15, 60));
  EXPECT_EQ(Get(Key(5), snapshot), Value(5, 60));
  EXPECT_EQ(Get(Key(5)), "new");
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
  it.reset();
  db_->ReleaseSnapshot(snapshot);
  Verify();
}

TEST_F(TablelessTest, PropertiesShowPages) {
  for (const bool keys : {true, false}) {
    piece_.tableless_key_store = keys;
    UsePieces();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    OpenDb();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, i % 10 == 0 ? 5000 : 100)).ok());
    Flush();
    Compact();
    EXPECT_EQ(IntProperty("rocksdb.estimate-num-keys"), 1000u);
    const uint64_t stored = IntProperty("compassdb.tableless-pages") * 4096 + 100 * 5000;
    EXPECT_GE(IntProperty("rocksdb.total-sst-files-size"), stored);
    EXPECT_GE(IntProperty("rocksdb.live-sst-files-size"), stored);
    EXPECT_LE(IntProperty("rocksdb.live-sst-files-size"), 2 * stored);
    EXPECT_GE(IntProperty("rocksdb.estimate-live-data-size"), 100u * 5000 + 900 * 100);
    std::string text;
    for (const char* name : {"compassdb.stats", "rocksdb.stats"}) {
      ASSERT_TRUE(db_->GetProperty(name, &text));
      EXPECT_NE(text.find(" full with 1000 records"), std::string::npos) << text;
    }
    ASSERT_TRUE(db_->GetProperty("compassdb.stats-json", &text));
    EXPECT_NE(text.find("\"records\":1000,"), std::string::npos) << text;
  }
}

// The key store has its own options, which a change of the family's options does not change.
TEST_F(TablelessTest, TheKeyStoreKeepsItsOptions) {
  options_.write_buffer_size = 64 << 20;
  options_.target_file_size_base = 32 << 20;
  OpenDb();
  for (int turn = 0; turn < 2; ++turn) {
    for (int half = 0; half < 2; ++half) {  // overlapping, so that tables are rewritten
      for (int i = half; i < 40000; i += 2) {
        std::string key = std::to_string(turn) + Key(i);
        key.resize(100, static_cast<char>('a' + i % 26));
        ASSERT_TRUE(Put(key, "").ok());
      }
      Flush();
    }
    Compact();
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_GE(files.size(), 2u);
    for (const rocksdb::LiveFileMetaData& file : files) EXPECT_LE(file.size, 1500u << 10) << file.name << " turn " << turn;
    // Sorted tables: of points there is no index.
    for (const char* part : {"perfect-hash", "fingerprints", "pieces", "filters"}) {
      EXPECT_EQ(IntProperty(std::string("compassdb.index-memory-") + part), 0u) << part;
    }
    EXPECT_GT(IntProperty("compassdb.index-memory-separators"), 0u);
    ASSERT_TRUE(db_->SetOptions({{"paranoid_file_checks", "false"}}).ok());
  }
}

TEST_F(TablelessTest, PropertiesShowWork) {
  options_.write_buffer_size = 4 << 20;
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  const auto number = [this](const std::string& name) { return IntProperty("compassdb.tableless-" + name); };
  for (const char* name : {"pages-in-place", "unjournaled-pages", "overflow-written", "rehashes"}) {
    EXPECT_EQ(number(name), 0u) << name;
  }
  ASSERT_TRUE(db_->DisableFileDeletions().ok());  // so that pages wait
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i, i % 10 == 0 ? 5000 : 100)).ok());
  Flush();
  const uint64_t overflow = number("overflow-records"), pages = number("pending-pages");
  EXPECT_GE(overflow, 40u);
  EXPECT_GT(pages, 0u);
  EXPECT_EQ(number("overflow-written"), overflow);
  EXPECT_EQ(number("pages-in-place"), 0u);
  ASSERT_TRUE(db_->EnableFileDeletions(/*force=*/false).ok());
  Compact();
  EXPECT_EQ(number("pending-pages"), 0u);
  EXPECT_EQ(number("pages-in-place"), pages);
  EXPECT_EQ(number("rehashes"), 0u);
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "128"}}).ok());
  for (int i = 0; i < 500 && number("rehashing") != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(number("pages"), 128u);
  EXPECT_EQ(number("rehashes"), 4u);
  EXPECT_EQ(number("overflow-written"), overflow + number("overflow-records"));
  EXPECT_EQ(number("pages-in-place"), pages);
  EXPECT_EQ(number("unjournaled-pages"), 0u);
  std::string text;
  ASSERT_TRUE(db_->GetProperty("compassdb.stats", &text));
  EXPECT_NE(text.find("Pages since open: " + std::to_string(pages) + " written in place, of them 0 without a journal; " +
                      std::to_string(number("overflow-written")) + " records written to the overflow store; 4 rehashes"),
            std::string::npos)
      << text;
  ASSERT_TRUE(db_->GetProperty("compassdb.stats-json", &text));
  EXPECT_NE(text.find("\"rehashes\":4}"), std::string::npos) << text;
  piece_.tableless_pages = 128;
  UsePieces();
  OpenDb();
  EXPECT_EQ(number("rehashes") + number("overflow-written"), 0u);
}

// Keys that came and went while there was none are in it, or not, once there is one again.
TEST_F(TablelessTest, KeyStoreOffAndOn) {
  OpenDb();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 60)).ok());
  Flush();
  const auto use_keys = [this](bool keys) {
    piece_.tableless_key_store = keys;
    UsePieces();
    OpenDb();
  };
  for (int round = 0; round < 2; ++round) {
    use_keys(false);
    ASSERT_TRUE(Put("new" + std::to_string(round), Value(round, 9000)).ok());
    ASSERT_TRUE(db_->Delete({}, Key(round)).ok());
    if (round == 0) Flush();  // else it is flushed by the next opening
    use_keys(round == 1);
    if (round == 0) {
      CloseDb();
      piece_.tableless_key_store = true;
      UsePieces();
      rocksdb::DB* reader = nullptr;
      ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok());
      const std::unique_ptr<rocksdb::DB> owned(reader);
      std::string value;
      EXPECT_TRUE(reader->Get({}, "new0", &value).ok());
      const std::unique_ptr<rocksdb::Iterator> it(reader->NewIterator({}));
      it->SeekToFirst();
      EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
    }
    use_keys(true);
    for (int times = 0; times < 2; ++times) {
      std::string all;
      for (int i = round + 1; i < 300; ++i) all += Key(i) + "=" + Value(i, 60) + ",";
      for (int i = 0; i <= round; ++i) all += "new" + std::to_string(i) + "=" + Value(i, 9000) + (i < round ? "," : "");
      EXPECT_EQ(Scan(), all);
      Compact();
      OpenDb();
    }
  }
  // The range deletion is folded while the key store lacks keys.
  use_keys(false);
  ASSERT_TRUE(Put("u", "1").ok());
  Flush();
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(5), "v").ok());
  use_keys(true);
  EXPECT_EQ(Get("u"), "NOT_FOUND");
  EXPECT_EQ(Scan(), Key(2) + "=" + Value(2, 60) + "," + Key(3) + "=" + Value(3, 60) + "," + Key(4) + "=" + Value(4, 60));
  Verify();
}

// Journals that wait because files are not to be deleted do not hold up writers.
TEST_F(TablelessTest, WritersGoOnWhileFilesAreKept) {
  // More than the key store's runs, however late they are compacted; each of the journals would count for five.
  options_.level0_slowdown_writes_trigger = 60;
  options_.level0_stop_writes_trigger = 100;
  OpenDb();
  ASSERT_TRUE(Put(Key(0), Value(0, 100)).ok());
  Compact();
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 50; ++i) {
      rocksdb::WriteOptions write;
      write.no_slowdown = true;
      ASSERT_TRUE(db_->Put(write, Key(i * round % 600), Value(i + round, 100)).ok()) << round;
    }
    ASSERT_TRUE(db_->Flush(flush).ok());
  }
  EXPECT_EQ(IntProperty("rocksdb.is-write-stopped"), 0u);
  EXPECT_GT(IntProperty("compassdb.tableless-pending-pages"), 0u);
  ASSERT_TRUE(db_->EnableFileDeletions(false).ok());
  Compact();
  EXPECT_EQ(IntProperty("compassdb.tableless-pending-pages"), 0u);
  Verify();
}

// A check reads pages that change in place at the same time: they have more or fewer records than it expects.
TEST_F(TablelessTest, IsVerifiedWhileItChanges) {
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 512;
  UsePieces();
  options_.max_background_jobs = 4;
  OpenDb();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int round = 0; round < 60; ++round) {
      for (int i = 0; i < 300; ++i) {
        const std::string key = Key((round * 300 + i) % 2000);
        const Status s = round % 2 == 0 ? db_->Put({}, key, Value(i, 100)) : db_->Delete({}, Key(i * 5 % 2000));
        EXPECT_TRUE(s.ok()) << s.ToString();
      }
      EXPECT_TRUE(db_->Flush({}).ok());
    }
    done.store(true);
  });
  while (!done.load()) Verify();
  writer.join();
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  Verify();
}

// Operands that cannot be merged are their key's misfortune alone, until it is written again.
TEST_F(TablelessTest, OperandsThatCannotBeMerged) {
  options_.merge_operator = std::make_shared<PickyOperator>();
  OpenDb();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  for (const char* key : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(Put(key, "base").ok());
  ASSERT_TRUE(db_->PutEntity({}, family, "entity", {{"", "x"}, {"b", "2"}}).ok());
  Flush();
  const rocksdb::Snapshot* first = db_->GetSnapshot();
  for (const char* key : {"a", "b", "c", "none", "entity"}) ASSERT_TRUE(db_->Merge({}, key, "bad").ok());
  ASSERT_TRUE(db_->Merge({}, "d", "good").ok());
  Flush();
  const rocksdb::Snapshot* second = db_->GetSnapshot();
  ASSERT_TRUE(db_->Merge({}, "a", "more").ok());
  ASSERT_TRUE(db_->Delete({}, "b").ok());
  ASSERT_TRUE(Put("c", "new").ok());
  const auto is_failure = [](const std::string& got) {
    return got.find("Merge operator failed") != std::string::npos || got.find("wide-column") != std::string::npos;
  };
  for (int round = 0; round < 4; ++round) {
    for (const char* key : {"a", "none", "entity"}) EXPECT_TRUE(is_failure(Get(key))) << key << " " << Get(key);
    std::vector<std::string> values;
    const std::vector<Status> found = db_->MultiGet({}, {"a", "b", "c", "d", "entity"}, &values);
    EXPECT_TRUE(found[0].IsCorruption()) << found[0].ToString();
    EXPECT_TRUE(found[1].IsNotFound()) << found[1].ToString();
    EXPECT_EQ(values[2], "new");
    EXPECT_EQ(values[3], "base,good");
    EXPECT_TRUE(found[4].IsNotSupported()) << found[4].ToString();
    EXPECT_EQ(Get("b"), "NOT_FOUND");
    EXPECT_EQ(Get("c"), "new");
    EXPECT_EQ(Get("e"), "base");
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
    it->SeekToFirst();
    EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
    it->Seek("b");
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_EQ(it->key(), "c");
    EXPECT_EQ(it->value(), "new");
    it.reset();
    if (round < 3 && first != nullptr) {
      for (const char* key : {"a", "b", "c", "d"}) {
        EXPECT_EQ(Get(key, first), "base") << key;
        EXPECT_EQ(is_failure(Get(key, second)), *key != 'd') << key;
      }
      EXPECT_EQ(Get("none", first), "NOT_FOUND");
    }
    if (round == 0) Compact();
    if (round == 1) {
      ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "200"}}).ok());
      Compact();
    }
    if (round != 2) continue;
    db_->ReleaseSnapshot(first);
    db_->ReleaseSnapshot(second);
    OpenDb();
  }
  Verify();
  for (const char* key : {"a", "c", "none", "entity"}) ASSERT_TRUE(Put(key, "healed").ok());
  Flush();
  EXPECT_EQ(Scan(), "a=healed,c=healed,d=base,good,e=base,entity=healed,none=healed");
  Verify();
  CloseDb();
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  EXPECT_EQ(Get("a"), "healed");
}

// A read-only open reports what a concurrent primary has changed; it is never just missing.
TEST_F(TablelessTest, ReadOnlyNextToAPrimary) {
  piece_.tableless_sections = 2;
  piece_.tableless_pages = 32;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 40)).ok());
  Flush();
  Compact();
  rocksdb::DB* reader = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &reader).ok());
  const std::unique_ptr<rocksdb::DB> owned(reader);
  ASSERT_TRUE(Put(Key(0), Value(1000, 40)).ok());  // a page that was only added to keeps its old records
  for (int i = 1; i < 200; i += 2) ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
  for (int i = 100; i < 200; i += 2) ASSERT_TRUE(Put(Key(i), Value(i, i % 4 == 0 ? 50 : 6000)).ok());
  Flush();
  Compact();
  int kept = 0, refused = 0;
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(Key(i));
  std::vector<std::string> values;
  const std::vector<Status> together = reader->MultiGet({}, {keys.begin(), keys.end()}, &values);
  for (int i = 0; i < 200; ++i) {
    std::string value;
    const Status s = reader->Get({}, Key(i), &value);
    EXPECT_EQ(together[i].code(), s.code());
    if (s.ok()) {
      EXPECT_EQ(value, Value(i, 40));
      EXPECT_EQ(values[i], value);
      ++kept;
    } else {
      EXPECT_TRUE(s.IsTryAgain()) << s.ToString();
      ++refused;
    }
  }
  EXPECT_GE(kept, 40);
  EXPECT_GE(refused, 150);
  // The same for keys that never existed, unless their page is unchanged: the keys of a page differ by database.
  int missing = 0;
  for (int i = 0; i < 100; ++i) {
    std::string value;
    const Status s = reader->Get({}, "nothing" + std::to_string(i), &value);
    EXPECT_TRUE(s.IsTryAgain() || s.IsNotFound()) << s.ToString();
    missing += s.IsNotFound() ? 1 : 0;
  }
  EXPECT_LE(missing, 50);
  const std::unique_ptr<rocksdb::Iterator> it(reader->NewIterator({}));
  it->SeekToFirst();
  while (it->Valid()) it->Next();
  EXPECT_TRUE(it->status().IsTryAgain()) << it->status().ToString();
  EXPECT_TRUE(reader->VerifyChecksum().IsTryAgain());
}

// A database with an older manifest, and its other files, next to its pages.
class OldFilesTest : public TablelessTest {
 protected:
  void RestoreAllButPages(const SavedFiles& before) {
    const std::vector<std::string> sections = FilesOf(FileType::kPageFile);
    std::vector<std::string> names;
    ASSERT_TRUE(fs_->GetChildren(name_, &names).ok());
    for (const std::string& name : names) {
      if (name != "lost" && before.count(name) == 0) {
        ASSERT_TRUE(fs_->DeleteFile(JoinPath(name_, name)).ok());
      }
    }
    for (const auto& [name, data] : before) {
      const bool pages = std::find(sections.begin(), sections.end(), name) != sections.end();
      if (!pages) SetFile(JoinPath(name_, name), data);
    }
  }
};

// A copy that took the manifest first has such pages. If no other process writes, they are damage: no read waits for a
// newer state, and no write is folded into them.
TEST_F(OldFilesTest, PagesNewerThanTheManifestAreDamage) {
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 8;
  piece_.tableless_max_overflow_percent = 90;
  UsePieces();
  for (const bool atomic_writes : {false, true}) {
    piece_.tableless_atomic_page_writes = atomic_writes;
    if (atomic_writes) fs_->memory()->SetAtomicWrites(4096);
    UsePieces();
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 40)).ok());
    Flush();
    Compact();
    CloseDb();
    const SavedFiles before = SaveFiles();
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1000, 40)).ok());
    Flush();
    Compact();
    CloseDb();
    RestoreAllButPages(before);
    const std::vector<std::string> sections = FilesOf(FileType::kPageFile);
    OpenDb();
    const auto is_damage = [&](const Status& s) {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find(sections.front() + ": page "), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find("newer than the manifest"), std::string::npos) << s.ToString();
    };
    std::string value;
    rocksdb::PinnableSlice operands[2];
    rocksdb::GetMergeOperandsOptions merge_options;
    merge_options.expected_max_number_of_operands = 2;
    int count = 0;
    is_damage(db_->Get({}, Key(1), &value));
    is_damage(db_->Get({}, "nothing", &value));
    is_damage(db_->GetMergeOperands({}, db_->DefaultColumnFamily(), Key(1), operands, &merge_options, &count));
    const std::string key = Key(2);
    std::vector<std::string> values;
    is_damage(db_->MultiGet({}, {Slice(key)}, &values).front());
    is_damage(db_->VerifyChecksum());
    ASSERT_TRUE(Put(key, "more").ok());
    is_damage(db_->Flush({}));
    EXPECT_EQ(Get(key), "more");
    CloseDb();
    // They are the newest that there is, by their sequences, too: a repaired database reads and writes them.
    ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
    OpenDb();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(Get(Key(i)), Value(i + 1000, 40));
    const Status whole = db_->VerifyChecksum();
    EXPECT_TRUE(whole.ok()) << whole.ToString();
    ASSERT_TRUE(Put(Key(1), "newer").ok());
    Flush();
    OpenDb();
    EXPECT_EQ(Get(Key(1)), "newer");
    EXPECT_EQ(Get(Key(3)), Value(1003, 40));
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// A journal's image does not count where the page is newer.
TEST_F(OldFilesTest, ARepairTakesTheNewestOfJournalAndPage) {
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 8;
  piece_.tableless_max_overflow_percent = 90;
  UsePieces();
  const auto fill = [&](int value) {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), Value(i + value, 40)).ok());
    Flush();
  };
  OpenDb();
  fill(0);
  Compact();
  fill(1000);
  CloseDb();
  const SavedFiles before = SaveFiles();
  OpenDb();
  fill(2000);
  Compact();
  CloseDb();
  RestoreAllButPages(before);
  const std::string section = JoinPath(name_, FilesOf(FileType::kPageFile).front());
  SetFile(section, ReadFile(section) + "x");
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Get(Key(i)), Value(i + 2000, 40));
}

TEST_F(TablelessTest, OnlyWhereItWasChosen) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Flush();
  piece_.store = StoreKind::kLsm;
  UsePieces();
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Flush();
  piece_.store = StoreKind::kTableless;
  UsePieces();
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(TablelessTest, WhatItDoesNotDoIsRefused) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Flush();
  EXPECT_TRUE(db_->IngestExternalFile({"/file"}, {}).IsNotSupported());
  EXPECT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr).ok());
  EXPECT_EQ(Get("a"), "1");  // no file holds only keys of a range
  rocksdb::DB* secondary = nullptr;
  EXPECT_TRUE(rocksdb::DB::OpenAsSecondary(options_, name_, "/secondary", &secondary).IsNotSupported());
  EXPECT_EQ(secondary, nullptr);
  for (const char* option : {"ttl", "periodic_compaction_seconds"}) {
    const Status refused = db_->SetOptions({{option, "3600"}});
    EXPECT_TRUE(refused.IsNotSupported()) << refused.ToString();
  }
  // The defaults mean neither, even if they are spelt out, and the family shows that.
  for (const bool spelt : {false, true}) {
    class Nothing : public rocksdb::CompactionFilter {
     public:
      bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
      const char* Name() const override { return "Nothing"; }
    } filter;
    CloseDb();
    options_.compaction_filter = &filter;
    if (spelt) options_.ttl = options_.periodic_compaction_seconds = 30 * 24 * 60 * 60;
    OpenDb();
    EXPECT_EQ(db_->GetOptions().ttl, 0u);
    EXPECT_EQ(db_->GetOptions().periodic_compaction_seconds, 0u);
    CloseDb();
    options_.compaction_filter = nullptr;
    options_.periodic_compaction_seconds = rocksdb::Options().periodic_compaction_seconds;
  }
  options_.ttl = 3600;
  EXPECT_TRUE(TryOpen().IsNotSupported());
  options_.ttl = rocksdb::Options().ttl;
  rocksdb::DB* reader = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &reader);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::DB> owned(reader);
  std::string value;
  EXPECT_TRUE(reader->Get({}, "a", &value).ok());
  EXPECT_EQ(value, "1");
}

class TablelessModelTest : public TablelessTest, public ::testing::WithParamInterface<int> {};

TEST_P(TablelessModelTest, MatchesAMap) {
  piece_.tableless_sections = 1 + GetParam() % 5;
  piece_.tableless_page_bytes = GetParam() % 3 == 2 ? 8192 : 4096;
  piece_.tableless_max_overflow_percent = GetParam() % 4 == 1 ? 1 : 20;
  piece_.tableless_pages = GetParam() % 4 == 3 ? 64 : 0;
  piece_.tableless_rehash_threads = 1 + GetParam() % 2;
  piece_.tableless_key_store = GetParam() % 5 != 4;
  UsePieces();
  options_.write_buffer_size = 32 << 10;
  Run run;
  run.seed = static_cast<uint64_t>(GetParam()) * 7919 + 17;
  run.keys = GetParam() % 2 == 0 ? 400 : 4000;
  run.scans = piece_.tableless_key_store;
  run.value = [](int step, Random* rnd) {
    const size_t size = rnd->OneIn(100) ? 5000 : rnd->OneIn(2) ? 20 + rnd->Uniform(60) : 100 + rnd->Uniform(900);
    return Value(step, size);
  };
  run.change_options = [this](Random* rnd) {
    const std::string pages = std::to_string(rnd->OneIn(3) ? 0 : 16 + rnd->Uniform(400));
    return db_->SetOptions({{"table_factory.tableless_pages", pages}});
  };
  MatchAMap(run);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TablelessModelTest, ::testing::Range(0, 20));

// Power cuts may tear pages, and come while journals wait, records overflow and sections are rehashed.
class TablelessCrashTest : public TablelessTest,
                           public ::testing::WithParamInterface<std::tuple<uint32_t, bool>> {};

// Also within pages: the disk tears at 4 KiB.
TEST_P(TablelessCrashTest, CrashesLoseNothingThatWasSynced) {
  piece_.tableless_page_bytes = std::get<0>(GetParam());
  piece_.tableless_key_store = std::get<1>(GetParam());
  piece_.tableless_rehash_threads = 2;
  UsePieces();
  options_.write_buffer_size = 16 << 10;
  int overflowing = 0, pending = 0, rehashing = 0, rehashed = 0;
  Run run;
  run.keys = 300;
  const size_t scale = piece_.tableless_page_bytes == 32768 ? 6 : 1;
  run.value = [scale](int i, Random* rnd) {
    return Value(i, rnd->OneIn(4) ? 20 : rnd->OneIn(40) ? scale * 6000 : scale * 600);
  };
  run.before_cut = [&](Random* rnd) {
    overflowing += IntProperty("compassdb.tableless-overflow-records") > 0 ? 1 : 0;
    pending += IntProperty("compassdb.tableless-pending-pages") > 0 ? 1 : 0;
    rehashed += IntProperty("compassdb.tableless-pages") != 4 * 16 ? 1 : 0;
    if (rnd->OneIn(3)) return;
    const std::string pages = std::to_string(20 + rnd->Uniform(300 / scale));
    ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", pages}}).ok());
    rehashing += IntProperty("compassdb.tableless-rehashing") > 0 ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::microseconds(rnd->Uniform(3000 * scale)));
  };
  const bool usual = piece_.tableless_page_bytes == 4096 && piece_.tableless_key_store;
  const uint64_t seeds = usual ? 24 : 8;
  const int often = static_cast<int>(seeds * 5 / 6);
  // What a cut meets is a matter of time: more of them, where a busy machine has it that some meet nothing.
  const auto enough = [&] {
    return overflowing > often && pending > (usual ? 5 : 0) && rehashing > often && rehashed > (usual ? often : 0);
  };
  for (run.seed = 1; run.seed <= seeds || (run.seed <= 4 * seeds && !enough()); ++run.seed) {
    SurvivePowerCuts(run, {CutMode::kDropUnsynced, CutMode::kRandom, CutMode::kTornBytes, CutMode::kTornPages});
  }
  EXPECT_TRUE(enough()) << overflowing << " overflowing, " << pending << " pending, " << rehashing << " rehashing, "
                        << rehashed << " rehashed";
}

INSTANTIATE_TEST_SUITE_P(PagesAndKeys, TablelessCrashTest,
                         ::testing::Combine(::testing::Values(4096u, 8192u, 32768u), ::testing::Bool()));

}  // namespace
}  // namespace compassdb
