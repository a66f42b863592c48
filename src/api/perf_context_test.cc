// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/perf_context.h"

#include <gtest/gtest.h>

#include <thread>

#include "rocksdb/iostats_context.h"

namespace ROCKSDB_NAMESPACE {
namespace {

TEST(PerfContextTest, EachThreadHasItsOwn) {
  get_perf_context()->Reset();
  get_perf_context()->block_read_count = 5;
  std::thread other([] {
    EXPECT_EQ(0u, get_perf_context()->block_read_count);
    SetPerfLevel(kDisable);
    EXPECT_EQ(kDisable, GetPerfLevel());
  });
  other.join();
  EXPECT_EQ(kEnableCount, GetPerfLevel());
  EXPECT_EQ("block_read_count = 5", get_perf_context()->ToString(true));
  get_perf_context()->Reset();
  EXPECT_EQ("", get_perf_context()->ToString(true));
  EXPECT_NE(std::string::npos, get_perf_context()->ToString().find("number_async_seek = 0"));
}

TEST(PerfContextTest, LevelsOutOfRangeAreIgnored) {
  SetPerfLevel(kOutOfBounds);
  SetPerfLevel(kUninitialized);
  EXPECT_EQ(kEnableCount, GetPerfLevel());
}

TEST(PerfContextTest, CountersByLevelAreCopied) {
  PerfContext a;
  a.EnablePerLevelPerfContext();
  (*a.level_to_perf_context)[2].bloom_filter_useful = 3;
  PerfContext b(a);
  EXPECT_NE(a.level_to_perf_context, b.level_to_perf_context);
  EXPECT_EQ("bloom_filter_useful = 3@level2", b.ToString(true));
  b.Reset();
  EXPECT_EQ("", b.ToString(true));
  EXPECT_EQ(3u, (*a.level_to_perf_context)[2].bloom_filter_useful);
  PerfContext c(std::move(a));
  EXPECT_EQ("bloom_filter_useful = 3@level2", c.ToString(true));
  c.ClearPerLevelPerfContext();
  EXPECT_EQ(nullptr, c.level_to_perf_context);
}

TEST(IOStatsContextTest, ResetKeepsTheSwitch) {
  IOStatsContext* io = get_iostats_context();
  io->Reset();
  io->bytes_read = 4;
  io->file_io_stats_by_temperature.hot_file_read_count = 1;
  io->disable_iostats = true;
  EXPECT_EQ("thread_pool_id = 4, bytes_read = 4, hot_file_read_count = 1", io->ToString(true));
  io->Reset();
  EXPECT_EQ(0u, io->bytes_read);
  EXPECT_TRUE(io->disable_iostats);
  io->disable_iostats = false;
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
