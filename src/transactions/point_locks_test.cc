// SPDX-License-Identifier: Apache-2.0
#include "transactions/point_locks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <set>
#include <thread>
#include <utility>

namespace compassdb {
namespace {

class PointLocksTest : public ::testing::Test {
 protected:
  PointLocksTest() { Make(-1); }

  void Make(int64_t max_locks) {
    PointLocks::Options options;
    options.stripes = 2;
    options.max_locks = max_locks;
    options.env = rocksdb::Env::Default();
    options.steal = [this](TransactionID id) {
      if (std::exchange(no_memory_, false)) throw std::bad_alloc();
      stolen_.insert(id);
      return true;
    };
    locks_ = std::make_unique<PointLocks>(std::move(options));
    locks_->AddFamily(0);
  }
  static LockRequest Request(TransactionID owner, bool exclusive = true,
                             int64_t timeout_micros = 0) {
    LockRequest request;
    request.owner = owner;
    request.exclusive = exclusive;
    request.timeout_micros = timeout_micros;
    request.max_depth = 50;
    return request;
  }
  Status Lock(TransactionID owner, const std::string& key, bool exclusive = true) {
    return locks_->Lock(Request(owner, exclusive), 0, key);
  }
  // Until `waiter` waits for a lock.
  class Waiter : public LockWaiter {
   public:
    void WaitingFor(const std::vector<TransactionID>&, uint32_t, const std::string&) override {
      waiting = true;
    }
    void WaitingEnded() override {}
    void Await() const {
      while (!waiting) std::this_thread::yield();
    }
    std::atomic<bool> waiting{false};
  };

  std::unique_ptr<PointLocks> locks_;
  std::set<TransactionID> stolen_;
  bool no_memory_ = false;  // for the next that is stolen from
};

TEST_F(PointLocksTest, ExclusiveLocksExclude) {
  ASSERT_TRUE(Lock(1, "k").ok());
  EXPECT_TRUE(Lock(1, "k").ok());
  Status s = Lock(2, "k");
  EXPECT_TRUE(s.IsTimedOut());
  EXPECT_EQ(s.subcode(), Status::SubCode::kLockTimeout);
  EXPECT_TRUE(Lock(2, "k", /*exclusive=*/false).IsTimedOut());
  EXPECT_TRUE(Lock(2, "other").ok());
  locks_->Unlock(1, 0, "k");
  EXPECT_TRUE(Lock(2, "k").ok());
  EXPECT_EQ(locks_->GetStatus().size(), 2u);
}

TEST_F(PointLocksTest, SharedLocksAreSharedAndUpgradedAlone) {
  ASSERT_TRUE(Lock(1, "k", false).ok());
  ASSERT_TRUE(Lock(2, "k", false).ok());
  EXPECT_TRUE(Lock(1, "k").IsTimedOut());
  const auto status = locks_->GetStatus();
  ASSERT_EQ(status.size(), 1u);
  EXPECT_FALSE(status.begin()->second.exclusive);
  EXPECT_EQ(status.begin()->second.ids.size(), 2u);
  locks_->Unlock(2, 0, "k");
  EXPECT_TRUE(Lock(1, "k").ok());
  EXPECT_TRUE(Lock(2, "k", false).IsTimedOut());
  EXPECT_TRUE(Lock(1, "k", false).ok());  // and back
  EXPECT_TRUE(Lock(2, "k", false).ok());
}

TEST_F(PointLocksTest, UnknownFamiliesAreRefused) {
  EXPECT_TRUE(locks_->Lock(Request(1), 7, "k").IsInvalidArgument());
  locks_->AddFamily(7);
  EXPECT_TRUE(locks_->Lock(Request(1), 7, "k").ok());
  locks_->RemoveFamily(7);
  EXPECT_TRUE(locks_->Lock(Request(1), 7, "k").IsInvalidArgument());
}

TEST_F(PointLocksTest, TheLimitHolds) {
  Make(2);
  ASSERT_TRUE(Lock(1, "a").ok());
  ASSERT_TRUE(Lock(1, "b").ok());
  Status s = Lock(1, "c");
  EXPECT_TRUE(s.IsBusy());
  EXPECT_EQ(s.subcode(), Status::SubCode::kLockLimit);
  EXPECT_TRUE(Lock(1, "a").ok());  // it has that one
  locks_->Unlock(1, 0, "b");
  EXPECT_TRUE(Lock(1, "c").ok());
}

TEST_F(PointLocksTest, ExpiredLocksAreTaken) {
  LockRequest request = Request(1);
  request.expires_micros = rocksdb::Env::Default()->NowMicros() + 2000;
  ASSERT_TRUE(locks_->Lock(request, 0, "k").ok());
  EXPECT_TRUE(locks_->Lock(Request(2, true, 5'000'000), 0, "k").ok());
  EXPECT_EQ(stolen_.count(1), 1u);
  locks_->Unlock(1, 0, "k");  // no longer its lock
  EXPECT_TRUE(Lock(3, "k").IsTimedOut());
}

TEST_F(PointLocksTest, AnAttemptWithoutMemoryBlocksNoOther) {
  LockRequest request = Request(1);
  request.expires_micros = 1;
  ASSERT_TRUE(locks_->Lock(request, 0, "k").ok());
  no_memory_ = true;
  EXPECT_THROW(Lock(2, "k").PermitUncheckedError(), std::bad_alloc);
  EXPECT_TRUE(Lock(3, "k").ok());
}

TEST_F(PointLocksTest, AWaiterIsWoken) {
  ASSERT_TRUE(Lock(1, "k").ok());
  Waiter waiter;
  Status s;
  std::thread other([&] {
    LockRequest request = Request(2, true, -1);
    request.waiter = &waiter;
    s = locks_->Lock(request, 0, "k");
  });
  waiter.Await();
  locks_->Unlock(1, 0, "k");
  other.join();
  EXPECT_TRUE(s.ok());
}

TEST_F(PointLocksTest, AWaiterLearnsThatItsFamilyIsDropped) {
  ASSERT_TRUE(Lock(1, "k").ok());
  Waiter waiter;
  Status s;
  std::atomic<bool> done{false};
  std::thread other([&] {
    LockRequest request = Request(2, true, -1);
    request.waiter = &waiter;
    s = locks_->Lock(request, 0, "k");
    done = true;
  });
  waiter.Await();
  locks_->RemoveFamily(0);
  locks_->Unlock(1, 0, "k");
  for (int i = 0; i < 5000 && !done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(done);
  other.join();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
}

TEST_F(PointLocksTest, CirclesAreFound) {
  for (TransactionID id = 1; id <= 3; ++id) ASSERT_TRUE(Lock(id, std::to_string(id)).ok());
  Waiter waiters[2];
  std::vector<std::thread> threads;
  for (TransactionID id = 1; id <= 2; ++id) {
    threads.emplace_back([&, id] {
      LockRequest request = Request(id, true, -1);
      request.detect_deadlock = true;
      request.waiter = &waiters[id - 1];
      EXPECT_TRUE(locks_->Lock(request, 0, std::to_string(id + 1)).ok());
      locks_->Unlock(id, 0, std::to_string(id + 1));
      locks_->Unlock(id, 0, std::to_string(id));
    });
  }
  for (const Waiter& waiter : waiters) waiter.Await();
  LockRequest request = Request(3, true, -1);
  request.detect_deadlock = true;
  Status s = locks_->Lock(request, 0, "1");
  EXPECT_TRUE(s.IsDeadlock()) << s.ToString();
  const std::vector<DeadlockPath> paths = locks_->detector()->Paths();
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_FALSE(paths[0].limit_exceeded);
  std::string path;
  for (const DeadlockInfo& link : paths[0].path) {
    path += std::to_string(link.m_txn_id) + ">" + link.m_waiting_key + " ";
  }
  EXPECT_EQ(path, "1>2 2>3 3>1 ");
  locks_->Unlock(3, 0, "3");
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(locks_->GetStatus().empty());
}

TEST(DeadlockDetector, TheSearchIsLimited) {
  DeadlockDetector detector(2);
  for (TransactionID id = 1; id < 10; ++id) {
    EXPECT_TRUE(detector.BeginWait(id, {{id + 1}, 0, true, "k"}, 50, 0));
  }
  EXPECT_FALSE(detector.BeginWait(10, {{1}, 0, true, "k"}, 3, 5));
  EXPECT_TRUE(detector.Paths()[0].limit_exceeded);
  EXPECT_FALSE(detector.BeginWait(10, {{1}, 0, true, "k"}, 50, 6));
  EXPECT_EQ(detector.Paths()[0].path.size(), 10u);
  EXPECT_FALSE(detector.BeginWait(10, {{1}, 0, true, "k"}, 50, 7));
  ASSERT_EQ(detector.Paths().size(), 2u);
  EXPECT_EQ(detector.Paths()[0].deadlock_time, 7);
  detector.EndWait(5);
  EXPECT_TRUE(detector.BeginWait(10, {{1}, 0, true, "k"}, 50, 8));
  detector.KeepPaths(1);
  EXPECT_EQ(detector.Paths().size(), 1u);
}

}  // namespace
}  // namespace compassdb
