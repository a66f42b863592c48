// SPDX-License-Identifier: Apache-2.0
// What operations leave in the thread's PerfContext, in Statistics and in CompactionJobStats.
#include <functional>

#include "db/testing/db_test_util.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/listener.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "util/compression.h"

namespace compassdb {
namespace {

using rocksdb::PerfContext;

class DropMarked : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "DropMarked"; }
  bool Filter(int, const Slice&, const Slice& value, std::string*, bool*) const override {
    return value == Slice("drop");
  }
};

class LastJob : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    stats.Add(info.stats);
    smallest = info.stats.smallest_output_key_prefix;
    largest = info.stats.largest_output_key_prefix;
  }
  rocksdb::CompactionJobStats stats;
  std::string smallest, largest;
};

class PerfCountsTest : public DbTest {
 protected:
  PerfCountsTest() {
    options_.statistics = rocksdb::CreateDBStatistics();
    options_.statistics->set_stats_level(rocksdb::kAll);
    options_.disable_auto_compactions = true;
    options_.merge_operator = std::make_shared<AppendOperator>();
    listener_ = std::make_shared<LastJob>();
    options_.listeners = {listener_};
  }
  ~PerfCountsTest() override { rocksdb::SetPerfLevel(rocksdb::kEnableCount); }

  PerfContext& Begin(rocksdb::PerfLevel level = rocksdb::kEnableTime) {
    rocksdb::SetPerfLevel(level);
    rocksdb::get_perf_context()->Reset();
    return *rocksdb::get_perf_context();
  }
  uint64_t Ticker(uint32_t ticker) const { return options_.statistics->getTickerCount(ticker); }
  rocksdb::HistogramData Histogram(uint32_t histogram) const {
    rocksdb::HistogramData data;
    options_.statistics->histogramData(histogram, &data);
    return data;
  }
  void Flush() { ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok()); }
  // Expects that the time of `again` is counted there. A clock may not see a single call: the clock of some virtual
  // machines advances every 100 ns.
  static void ExpectTime(const uint64_t& nanos, const std::function<void()>& again) {
    for (int i = 0; i < 10000 && nanos == 0; ++i) again();
    EXPECT_GT(nanos, 0u);
  }

  DropMarked filter_;
  std::shared_ptr<LastJob> listener_;
};

TEST_F(PerfCountsTest, WhyAMergeLeftRecordsOut) {
  options_.compaction_filter = &filter_;
  OpenDb();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(Key(i), i < 5 ? "drop" : "old").ok());
  Flush();
  rocksdb::WriteOptions w;
  for (int i = 10; i < 30; ++i) ASSERT_TRUE(Put(Key(i), "new").ok());
  for (int i = 30; i < 37; ++i) ASSERT_TRUE(db_->Delete(w, Key(i)).ok());
  ASSERT_TRUE(db_->SingleDelete(w, Key(40)).ok());
  ASSERT_TRUE(db_->SingleDelete(w, "nothing").ok());
  ASSERT_TRUE(db_->DeleteRange(w, db_->DefaultColumnFamily(), Key(50), Key(61)).ok());
  Flush();
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_KEY_DROP_NEWER_ENTRY), 0u);  // flushes are no compactions
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_KEY_DROP_NEWER_ENTRY), 20u + 7 + 1 + 11);
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_KEY_DROP_RANGE_DEL), 11u);
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_KEY_DROP_USER), 5u);
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_RANGE_DEL_DROP_OBSOLETE), 1u);
  // Deletions, those that the filter made, and the range's.
  EXPECT_EQ(Ticker(rocksdb::COMPACTION_KEY_DROP_OBSOLETE), 7u + 2 + 5 + 1);
  EXPECT_GT(Ticker(rocksdb::FILTER_OPERATION_TOTAL_TIME), 0u);
  EXPECT_GT(Histogram(rocksdb::COMPACTION_CPU_TIME).count, 0u);
  EXPECT_GT(Histogram(rocksdb::COMPACTION_OUTFILE_SYNC_MICROS).count, 0u);
  EXPECT_EQ(Histogram(rocksdb::TABLE_SYNC_MICROS).count, 2u);
  EXPECT_GT(Histogram(rocksdb::READ_BLOCK_COMPACTION_MICROS).count, 0u);

  const rocksdb::CompactionJobStats& job = listener_->stats;
  EXPECT_EQ(job.num_records_replaced, Ticker(rocksdb::COMPACTION_KEY_DROP_NEWER_ENTRY));
  EXPECT_EQ(job.num_expired_deletion_records, Ticker(rocksdb::COMPACTION_KEY_DROP_OBSOLETE));
  EXPECT_EQ(job.num_input_deletion_records, 9u);
  EXPECT_EQ(job.num_single_del_fallthru, 1u);
  EXPECT_EQ(job.num_corrupt_keys, 0u);
  EXPECT_GT(job.total_input_raw_key_bytes, 0u);
  EXPECT_GT(job.total_input_raw_value_bytes, 0u);
  EXPECT_TRUE(job.is_full_compaction);
  EXPECT_EQ(listener_->smallest, Key(5).substr(0, 8));
  EXPECT_EQ(listener_->largest, Key(99).substr(0, 8));
}

TEST_F(PerfCountsTest, PartsOfAGet) {
  OpenDb();
  const std::string value(50000, 'v');  // whose block takes a while to read and to check
  ASSERT_TRUE(Put("a", value).ok());
  const auto get = [&] { EXPECT_EQ(Get("a"), value); };
  PerfContext& perf = Begin();
  get();
  EXPECT_EQ(Get("b"), "NOT_FOUND");
  EXPECT_EQ(perf.get_from_memtable_count, 2u);
  EXPECT_EQ(perf.bloom_memtable_hit_count + perf.bloom_memtable_miss_count, 2u);
  EXPECT_EQ(perf.get_read_bytes, value.size());
  EXPECT_EQ(Histogram(rocksdb::BYTES_PER_READ).count, 2u);
  ExpectTime(perf.get_from_memtable_time, get);
  ExpectTime(perf.get_cpu_nanos, get);
  ExpectTime(perf.get_from_output_files_time, [&] { EXPECT_EQ(Get("b"), "NOT_FOUND"); });  // it is nowhere

  Flush();
  Begin();
  get();
  EXPECT_EQ(perf.get_from_memtable_count, 0u);
  EXPECT_GT(perf.get_from_output_files_time, 0u);
  EXPECT_GT(perf.block_read_time, 0u);
  EXPECT_GT(perf.block_checksum_time, 0u);
  EXPECT_EQ(Histogram(rocksdb::SST_READ_MICROS).count, 1u);
  EXPECT_EQ(Histogram(rocksdb::READ_BLOCK_GET_MICROS).count, 1u);
  EXPECT_GT(Ticker(rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT), 0u);

  Begin(rocksdb::kEnableTimeExceptForMutex);
  get();
  ExpectTime(perf.get_post_process_time, get);
  EXPECT_EQ(perf.get_cpu_nanos, 0u);
  Begin(rocksdb::kEnableCount);
  get();
  EXPECT_EQ(perf.get_from_output_files_time, 0u);
  EXPECT_EQ(perf.get_read_bytes, value.size());
  Begin(rocksdb::kDisable);
  get();
  EXPECT_EQ(perf.ToString(/*exclude_zero_counters=*/true), "");
}

TEST_F(PerfCountsTest, LevelsThatHadTheKey) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok() && Put("b", "1").ok());
  Flush();
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(Put("b", "2").ok() && Put("c", "2").ok());
  ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "d").ok());
  Flush();
  for (const char* key : {"a", "b", "c", "d", "e"}) Get(key);
  EXPECT_EQ(Ticker(rocksdb::GET_HIT_L0), 2u);
  EXPECT_EQ(Ticker(rocksdb::GET_HIT_L1), 1u);
  std::vector<std::string> values;
  db_->MultiGet(rocksdb::ReadOptions(), {"a", "b", "c", "d", "e"}, &values);
  EXPECT_EQ(Ticker(rocksdb::GET_HIT_L0), 4u);
  EXPECT_EQ(Ticker(rocksdb::GET_HIT_L1), 2u);
}

// Its counts are in testdata/skips.txt.
TEST_F(PerfCountsTest, TimesOfAWalk) {
  OpenDb();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Key(i), "v").ok());
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(10), "x").ok());
  ASSERT_TRUE(db_->Merge(rocksdb::WriteOptions(), Key(10), "y").ok());
  PerfContext& perf = Begin(rocksdb::kEnableCount);
  const auto walk = [&](bool forward) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();) forward ? it->Next() : it->Prev();
  };
  walk(true);
  EXPECT_EQ(perf.find_next_user_entry_time, 0u);
  EXPECT_EQ(perf.merge_operator_time_nanos, 0u);
  EXPECT_EQ(Histogram(rocksdb::READ_NUM_MERGE_OPERANDS).count, 1u);

  Begin();
  ExpectTime(perf.iter_prev_cpu_nanos, [&] { walk(false); });
  Begin();
  for (const uint64_t* nanos : {&perf.find_next_user_entry_time, &perf.seek_internal_seek_time,
                                &perf.iter_next_cpu_nanos, &perf.iter_seek_cpu_nanos,
                                &perf.merge_operator_time_nanos}) {
    ExpectTime(*nanos, [&] { walk(true); });
  }
}

TEST_F(PerfCountsTest, PartsOfAWrite) {
  OpenDb();
  PerfContext& perf = Begin();
  for (const uint64_t* nanos : {&perf.write_wal_time, &perf.write_memtable_time, &perf.write_pre_and_post_process_time,
                                &perf.write_thread_wait_nanos, &perf.write_scheduling_flushes_compactions_time}) {
    ExpectTime(*nanos, [&] { ASSERT_TRUE(Put("a", "b").ok()); });
  }
  Begin(rocksdb::kEnableCount);
  ASSERT_TRUE(Put("a", "b").ok());
  EXPECT_EQ(perf.ToString(/*exclude_zero_counters=*/true), "");
}

TEST_F(PerfCountsTest, CompressionOfBlocks) {
  if (!CompressionTypeSupported(rocksdb::kLZ4Compression)) GTEST_SKIP();
  options_.compression = rocksdb::kLZ4Compression;
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'x')).ok());
  Flush();
  EXPECT_GT(Ticker(rocksdb::NUMBER_BLOCK_COMPRESSED), 0u);
  EXPECT_EQ(Histogram(rocksdb::BYTES_COMPRESSED).count, Ticker(rocksdb::NUMBER_BLOCK_COMPRESSED));
  EXPECT_GE(Histogram(rocksdb::BYTES_COMPRESSED).sum, 200u * 100);
  EXPECT_GT(Histogram(rocksdb::COMPRESSION_TIMES_NANOS).count, 0u);
  EXPECT_EQ(Get(Key(7)), std::string(100, 'x'));
  EXPECT_EQ(Histogram(rocksdb::BYTES_DECOMPRESSED).count, Ticker(rocksdb::NUMBER_BLOCK_DECOMPRESSED));
  EXPECT_EQ(Histogram(rocksdb::DECOMPRESSION_TIMES_NANOS).count, 1u);
}

}  // namespace
}  // namespace compassdb
