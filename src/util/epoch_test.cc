// SPDX-License-Identifier: Apache-2.0
#include "util/epoch.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "util/mutex.h"

namespace compassdb {
namespace {

std::atomic<int> freed{0};

void FreeInt(void* p) {
  delete static_cast<std::atomic<int>*>(p);
  ++freed;
}

size_t CollectNow(RetireList* list) {
  std::vector<RetireList::Object> due;
  list->Collect(&due);
  RetireList::Free(due);
  return due.size();
}

TEST(EpochTest, NothingIsFreedUnderAnOlderGuard) {
  freed = 0;
  RetireList list;
  {
    std::optional<EpochGuard> guard(std::in_place);
    list.Add(new std::atomic<int>(1), &FreeInt, 4);
    EXPECT_EQ(CollectNow(&list), 0u);
    {
      const EpochGuard inner;  // ends without ending the outer one
    }
    EXPECT_EQ(CollectNow(&list), 0u);
    EXPECT_EQ(list.count(), 1u);
    EXPECT_EQ(list.bytes(), 4u);
  }
  EXPECT_EQ(CollectNow(&list), 1u);
  EXPECT_EQ(freed.load(), 1);
  EXPECT_EQ(list.bytes(), 0u);
}

TEST(EpochTest, AYoungerGuardDoesNotDelay) {
  freed = 0;
  RetireList list;
  list.Add(new std::atomic<int>(1), &FreeInt, 4);
  const EpochGuard guard;
  list.Add(new std::atomic<int>(2), &FreeInt, 4);
  EXPECT_EQ(CollectNow(&list), 1u);
  EXPECT_EQ(list.count(), 1u);
}

TEST(EpochTest, GuardsOfOtherThreadsCount) {
  freed = 0;
  RetireList list;
  std::atomic<int> stage{0};
  std::thread reader([&] {
    {
      const EpochGuard guard;
      stage = 1;
      while (stage != 2) std::this_thread::yield();
    }
    stage = 3;
  });
  while (stage != 1) std::this_thread::yield();
  list.Add(new std::atomic<int>(1), &FreeInt, 4);
  EXPECT_EQ(CollectNow(&list), 0u);
  stage = 2;
  while (stage != 3) std::this_thread::yield();
  EXPECT_EQ(CollectNow(&list), 1u);
  reader.join();
}

TEST(EpochTest, TheListFreesWhatIsLeft) {
  freed = 0;
  {
    RetireList list;
    list.Add(new std::atomic<int>(1), &FreeInt, 4);
  }
  EXPECT_EQ(freed.load(), 1);
}

// Freed numbers are poisoned first: a reader that meets one was not protected.
TEST(EpochTest, ReadersMeetNoFreedObject) {
  struct Number {
    std::atomic<int> value{1};
  };
  const auto poison = [](void* p) {
    static_cast<Number*>(p)->value.store(-1, std::memory_order_relaxed);
    delete static_cast<Number*>(p);
  };
  std::atomic<Number*> shared{new Number};
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        const EpochGuard guard;
        const Number* number = shared.load(std::memory_order_seq_cst);
        for (int k = 0; k < 10; ++k) bad += number->value.load(std::memory_order_relaxed) != 1;
      }
    });
  }
  {
    RetireList list;
    for (int i = 0; i < 20000; ++i) {
      Number* const old = shared.exchange(new Number, std::memory_order_seq_cst);
      list.Add(old, poison, sizeof(Number));
      if (list.count() > 8) CollectNow(&list);
    }
    stop = true;
    for (std::thread& t : readers) t.join();
  }
  EXPECT_EQ(bad.load(), 0);
  delete shared.load();
}

}  // namespace
}  // namespace compassdb
