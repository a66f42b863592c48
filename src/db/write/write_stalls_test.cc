// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_stalls.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

using Condition = rocksdb::WriteStallCondition;

class StallListener final : public rocksdb::EventListener {
 public:
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    if (info.cf_name == "levels") changes.push_back(info.condition.cur);
  }
  std::vector<Condition> changes;
};

// A family that slows writers at two runs on level 0, and stops them at three.
class WriteStallsTest : public ::testing::Test {
 protected:
  WriteStallsTest() {
    rocksdb::ColumnFamilyOptions options;
    options.level0_file_num_compaction_trigger = 1;
    options.level0_slowdown_writes_trigger = 2;
    options.level0_stop_writes_trigger = 3;
    family_ = db_.Add("levels", options);
    config_.clock = SystemClock();
    config_.info_log = log_;
    config_.options.delayed_write_rate = 1 << 20;
  }
  void AddRun() {
    db_.Write(family_, kTypeValue, "k", "v");
    db_.Flush(family_);
    MutexLock lock(&db_.mu);
    stalls_.Update();
  }
  StallState State() {
    MutexLock lock(&db_.mu);
    return stalls_.state();
  }

  FamilyHarness db_;
  ColumnFamily* family_ = nullptr;
  DbConfig config_;
  const std::shared_ptr<Warnings> log_ = std::make_shared<Warnings>();
  const std::shared_ptr<StallListener> listener_ = std::make_shared<StallListener>();
  const Listeners listeners_{{listener_}};
  CondVar changed_{&db_.mu};
  WriteStalls stalls_{config_, listeners_, db_.families, &db_.mu, &changed_};
};

TEST_F(WriteStallsTest, WritersAreSlowedBeforeTheyAreStopped) {
  AddRun();
  EXPECT_EQ(State(), StallState::kNormal);
  EXPECT_FALSE(stalls_.stalled());
  AddRun();
  EXPECT_EQ(State(), StallState::kDelayed);
  EXPECT_TRUE(stalls_.stalled());
  AddRun();
  EXPECT_EQ(State(), StallState::kStopped);
  EXPECT_TRUE(listener_->changes.empty());  // not under the mutex
  stalls_.NotifyListeners();
  EXPECT_EQ(listener_->changes, (std::vector<Condition>{Condition::kDelayed, Condition::kStopped}));
  stalls_.NotifyListeners();
  EXPECT_EQ(listener_->changes.size(), 2u);
  ASSERT_EQ(log_->lines.size(), 2u);
  EXPECT_TRUE(log_->lines[1].starts_with("[WARN] [levels] Stopping writes: ")) << log_->lines[1];
}

TEST_F(WriteStallsTest, LowPriorityWritesWaitForCompactions) {
  const std::atomic<bool> shutting_down{true};  // a waiting write continues
  rocksdb::WriteOptions low;
  low.low_pri = low.no_slowdown = true;
  EXPECT_TRUE(stalls_.DelayLowPriority(low, 1000, shutting_down).ok());
  AddRun();
  AddRun();
  EXPECT_TRUE(stalls_.DelayLowPriority(low, 1000, shutting_down).IsIncomplete());
  low.no_slowdown = false;
  EXPECT_TRUE(stalls_.DelayLowPriority(low, 1000, shutting_down).ok());
  low.low_pri = false;
  low.no_slowdown = true;
  EXPECT_TRUE(stalls_.DelayLowPriority(low, 1000, shutting_down).ok());
}

}  // namespace
}  // namespace compassdb
