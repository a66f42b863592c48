// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/statistics.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/histogram.h"
#include "rocksdb/config_options.h"

namespace ROCKSDB_NAMESPACE {
namespace {

TEST(StatisticsTest, NamesFollowTheEnums) {
  ASSERT_EQ(size_t{TICKER_ENUM_MAX}, TickersNameMap.size());
  ASSERT_EQ(size_t{HISTOGRAM_ENUM_MAX}, HistogramsNameMap.size());
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; ++i) EXPECT_EQ(i, TickersNameMap[i].first);
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; ++i) EXPECT_EQ(i, HistogramsNameMap[i].first);
  EXPECT_EQ("rocksdb.block.cache.miss", TickersNameMap[BLOCK_CACHE_MISS].second);
  EXPECT_EQ("rocksdb.db.get.micros", HistogramsNameMap[DB_GET].second);
}

TEST(StatisticsTest, TickersAddUpOverThreads) {
  auto stats = CreateDBStatistics();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        stats->recordTick(BYTES_WRITTEN, 2);
        stats->recordInHistogram(DB_WRITE, static_cast<uint64_t>(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(80000u, stats->getTickerCount(BYTES_WRITTEN));
  HistogramData data;
  stats->histogramData(DB_WRITE, &data);
  EXPECT_EQ(40000u, data.count);
  EXPECT_EQ(4u * (9999u * 10000u / 2), data.sum);
  EXPECT_EQ(0, data.min);
  EXPECT_EQ(9999, data.max);
  EXPECT_EQ(80000u, stats->getAndResetTickerCount(BYTES_WRITTEN));
  EXPECT_EQ(0u, stats->getTickerCount(BYTES_WRITTEN));
  stats->setTickerCount(BYTES_WRITTEN, 7);
  EXPECT_EQ(7u, stats->getTickerCount(BYTES_WRITTEN));
}

// The same 100 values recorded in RocksDB give the same numbers.
TEST(StatisticsTest, PercentilesInterpolateWithinBuckets) {
  auto stats = CreateDBStatistics();
  for (uint64_t i = 1; i <= 100; ++i) stats->recordInHistogram(DB_GET, i * i);
  HistogramData data;
  stats->histogramData(DB_GET, &data);
  EXPECT_NEAR(2600.0, data.median, 1e-6);
  EXPECT_NEAR(9166.666667, data.percentile95, 1e-5);
  EXPECT_NEAR(9900.0, data.percentile99, 1e-6);
  EXPECT_NEAR(3383.5, data.average, 1e-9);
  EXPECT_NEAR(3009.196080, data.standard_deviation, 1e-5);
  EXPECT_EQ(10000, data.max);
  EXPECT_EQ(1, data.min);
  EXPECT_EQ(338350u, data.sum);
  const std::string table = stats->getHistogramString(DB_GET);
  EXPECT_NE(std::string::npos, table.find("Count: 100 Average: 3383.5000  StdDev: 3009.20\n"));
  EXPECT_NE(std::string::npos,
            table.find("(    1900,    2900 ]       10  10.000%  53.000% ##\n"));
  EXPECT_NE(std::string::npos,
            stats->ToString().find("rocksdb.db.get.micros P50 : 2600.000000 P95 : 9166.666667 P99 "
                                   ": 9900.000000 P100 : 10000.000000 COUNT : 100 SUM : 338350\n"));
}

TEST(StatisticsTest, BucketsGrowByHalf) {
  using compassdb::HistogramBucketLimit;
  const uint64_t expected[] = {1, 2, 3, 4, 6, 10, 15, 22, 34, 51, 76, 110, 170, 250, 380};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(expected[i], HistogramBucketLimit(i));
  EXPECT_EQ(13000000000000000000u, HistogramBucketLimit(compassdb::kHistogramBuckets - 1));
  EXPECT_EQ(0u, compassdb::HistogramBucketOf(0));
  EXPECT_EQ(4u, compassdb::HistogramBucketOf(5));
  EXPECT_EQ(compassdb::kHistogramBuckets - 1, compassdb::HistogramBucketOf(UINT64_MAX));
}

TEST(StatisticsTest, LevelsSayWhatIsRecorded) {
  auto stats = CreateDBStatistics();
  EXPECT_EQ(StatsLevel::kExceptDetailedTimers, stats->get_stats_level());
  auto counts = [&] {
    stats->Reset();
    stats->recordTick(BYTES_READ, 1);
    stats->recordInHistogram(BYTES_PER_READ, 1);
    stats->reportTimeToHistogram(DB_GET, 1);
    HistogramData size;
    HistogramData time;
    stats->histogramData(BYTES_PER_READ, &size);
    stats->histogramData(DB_GET, &time);
    return std::vector<uint64_t>{stats->getTickerCount(BYTES_READ), size.count, time.count};
  };
  EXPECT_EQ((std::vector<uint64_t>{1, 1, 1}), counts());
  stats->set_stats_level(StatsLevel::kExceptTimers);
  EXPECT_EQ((std::vector<uint64_t>{1, 1, 0}), counts());
  stats->set_stats_level(StatsLevel::kExceptHistogramOrTimers);
  EXPECT_EQ((std::vector<uint64_t>{1, 0, 0}), counts());
  stats->set_stats_level(StatsLevel::kDisableAll);
  EXPECT_EQ((std::vector<uint64_t>{0, 0, 0}), counts());
}

TEST(StatisticsTest, EmptyAndUnknownTypesAreZero) {
  auto stats = CreateDBStatistics();
  HistogramData data;
  stats->histogramData(DB_GET, &data);
  EXPECT_EQ(0, data.median);
  EXPECT_EQ(0, data.min);
  EXPECT_EQ(0u, data.count);
  stats->recordTick(TICKER_ENUM_MAX, 1);
  stats->recordInHistogram(HISTOGRAM_ENUM_MAX, 1);
  EXPECT_EQ(0u, stats->getTickerCount(TICKER_ENUM_MAX));
  EXPECT_FALSE(stats->HistEnabledForType(HISTOGRAM_ENUM_MAX));
}

TEST(StatisticsTest, MapAndTextListEveryTicker) {
  auto stats = CreateDBStatistics();
  stats->recordTick(BLOCK_CACHE_HIT, 3);
  std::map<std::string, uint64_t> map;
  ASSERT_TRUE(stats->getTickerMap(&map));
  EXPECT_EQ(size_t{TICKER_ENUM_MAX}, map.size());
  EXPECT_EQ(3u, map["rocksdb.block.cache.hit"]);
  EXPECT_NE(std::string::npos, stats->ToString().find("rocksdb.block.cache.hit COUNT : 3\n"));
}

TEST(StatisticsTest, MadeByName) {
  ConfigOptions config;
  std::shared_ptr<Statistics> stats;
  for (const char* id : {"", "BasicStatistics", "id=BasicStatistics"}) {
    ASSERT_TRUE(Statistics::CreateFromString(config, id, &stats).ok());
    EXPECT_STREQ("BasicStatistics", stats->Name());
  }
  config.ignore_unsupported_options = false;
  EXPECT_TRUE(Statistics::CreateFromString(config, "nope", &stats).IsNotSupported());
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
