// SPDX-License-Identifier: Apache-2.0
#include "db/report/stats_history.h"

#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/statistics.h"

namespace compassdb {
namespace {

std::string Show(const StatsHistory& history, uint64_t begin, uint64_t end) {
  std::string text;
  for (auto it = NewStatsHistoryIterator(&history, begin, end); it->Valid(); it->Next()) {
    text += std::to_string(it->GetStatsTime()) + ":";
    for (const auto& [name, value] : it->GetStatsMap()) text += " " + name + "=" + std::to_string(value);
    text += "; ";
  }
  return text;
}

TEST(StatsHistory, ShowsHowMuchTickersGrew) {
  StatsHistory history;
  history.Add(10, {{"a", 5}}, 1 << 20);
  EXPECT_EQ(Show(history, 0, 100), "");
  history.Add(20, {{"a", 7}, {"b", 1}}, 1 << 20);
  history.Add(30, {{"a", 3}, {"b", 1}}, 1 << 20);  // reset in between
  EXPECT_EQ(Show(history, 0, 100), "20: a=2 b=1; 30: a=3 b=0; ");
  EXPECT_EQ(Show(history, 20, 30), "20: a=2 b=1; ");
  EXPECT_EQ(Show(history, 21, 30), "");
  history.Add(30, {{"a", 4}, {"b", 1}}, 1 << 20);  // twice in a second
  EXPECT_EQ(Show(history, 21, 31), "30: a=4 b=0; ");
}

TEST(StatsHistory, TheOldestGoFirst) {
  StatsHistory history;
  for (uint64_t i = 0; i < 100; ++i) history.Add(i, {{"a", i}}, 1000);
  const std::string shown = Show(history, 0, 100);
  EXPECT_NE(shown.find("99: a=1; "), std::string::npos);
  EXPECT_EQ(shown.find("50: "), std::string::npos);
  history.Limit(0);
  EXPECT_EQ(Show(history, 0, 100), "");
}

class StatsDumpTest : public DbTest {};

TEST_F(StatsDumpTest, PeriodsAreKeptAndStatisticsAreInTheLog) {
  options_.statistics = rocksdb::CreateDBStatistics();
  options_.stats_persist_period_sec = 1;
  options_.stats_dump_period_sec = 1;
  OpenDb();
  std::unique_ptr<rocksdb::StatsHistoryIterator> it;
  bool found = false;
  for (int i = 0; i < 600 && !found; ++i) {
    ASSERT_TRUE(Put("key" + std::to_string(i), "value").ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(db_->GetStatsHistory(0, UINT64_MAX, &it).ok());
    found = it->Valid() && it->GetStatsMap().at("rocksdb.number.keys.written") > 0;
  }
  ASSERT_TRUE(found);
  std::string text;
  ASSERT_TRUE(ReadFileToString(fs_.get(), InfoLogFileName(name_), &text).ok());
  EXPECT_NE(text.find("------- DUMPING STATS -------"), std::string::npos);
  EXPECT_NE(text.find("rocksdb.number.keys.written COUNT"), std::string::npos);
  ASSERT_TRUE(db_->SetDBOptions({{"stats_history_buffer_size", "0"},
                                 {"stats_persist_period_sec", "0"},
                                 {"stats_dump_period_sec", "0"}})
                  .ok());
  ASSERT_TRUE(db_->GetStatsHistory(0, UINT64_MAX, &it).ok());
  EXPECT_FALSE(it->Valid());
}

}  // namespace
}  // namespace compassdb
