// SPDX-License-Identifier: Apache-2.0
#include "util/mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace compassdb {
namespace {

class MutexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kChecked) GTEST_SKIP() << "a mutex knows its owner in Checked builds";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  Mutex mu_;
};

TEST_F(MutexTest, IsHeldBetweenLockAndUnlock) NO_THREAD_SAFETY_ANALYSIS {
  EXPECT_DEATH(mu_.AssertHeld(), "invariant broken: the mutex is held by this thread");
  mu_.Lock();
  mu_.AssertHeld();
  mu_.Unlock();
  EXPECT_DEATH(mu_.AssertHeld(), "invariant broken");
  EXPECT_DEATH(mu_.Unlock(), "invariant broken");
  ASSERT_TRUE(mu_.TryLock());
  mu_.AssertHeld();
  mu_.Unlock();
}

TEST_F(MutexTest, IsNotHeldByAnotherThread) {
  MutexLock lock(&mu_);
  EXPECT_DEATH(std::thread([this]() NO_THREAD_SAFETY_ANALYSIS { mu_.AssertHeld(); }).join(), "invariant broken");
}

// Another thread holds it during the wait, and this one afterwards.
TEST_F(MutexTest, IsGivenUpWhileWaiting) {
  for (const bool timed : {false, true}) {
    CondVar changed(&mu_);
    bool done = false;
    MutexLock lock(&mu_);
    std::thread other([&] {
      MutexLock held(&mu_);
      mu_.AssertHeld();
      done = true;
      changed.Signal();
    });
    while (!done) {
      if (timed) {
        changed.WaitFor(std::chrono::seconds(10));
      } else {
        changed.Wait();
      }
      mu_.AssertHeld();
    }
    other.join();
  }
}

TEST_F(MutexTest, WaitingNeedsIt) {
  CondVar changed(&mu_);
  EXPECT_DEATH(changed.Wait(), "invariant broken: who waits holds the mutex");
}

}  // namespace
}  // namespace compassdb
