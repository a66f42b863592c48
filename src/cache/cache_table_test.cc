// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_table.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

std::string CrowdedKey(uint64_t n) {
  std::string key;
  PutFixed64(&key, n);
  return key;
}

// Few homes, so that probes are long and wrap around.
uint64_t CrowdedHash(uint64_t n) { return (n * 0x9E3779B97F4A7C15u) | 0xC000000000000000u; }

class CacheTableTest : public ::testing::Test {
 protected:
  ~CacheTableTest() override {
    for (auto& [n, entry] : model_) entry->Discard(false);
  }
  void Insert(uint64_t n) {
    CacheEntry* const entry = CacheEntry::New(CrowdedKey(n), CrowdedHash(n));
    if (table_.Full()) table_.Grow(&retired_);
    table_.Insert(entry);
    model_[n] = entry;
  }
  void Erase(uint64_t n) {
    table_.Erase(model_[n]);
    model_[n]->Discard(false);
    model_.erase(n);
  }
  CacheEntry* Find(uint64_t n) const { return table_.Find(CrowdedKey(n), CrowdedHash(n)); }

  RetireList retired_;
  CacheTable table_;
  std::map<uint64_t, CacheEntry*> model_;
};

TEST_F(CacheTableTest, AgreesWithAMap) {
  Random rnd(3);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t n = rnd.Uniform(300);
    if (model_.count(n) == 0) {
      EXPECT_EQ(Find(n), nullptr);
      Insert(n);
    } else if (rnd.OneIn(2)) {
      Erase(n);
    }
    const uint64_t other = rnd.Uniform(300);
    const auto it = model_.find(other);
    ASSERT_EQ(Find(other), it == model_.end() ? nullptr : it->second);
    ASSERT_EQ(table_.entries(), model_.size());
  }
  for (const auto& [n, entry] : model_) EXPECT_EQ(Find(n), entry);
}

TEST_F(CacheTableTest, ForEachVisitsEveryHomeOnce) {
  for (uint64_t n = 0; n < 200; ++n) Insert(n);
  std::map<CacheEntry*, int> seen;
  for (size_t home = 0; home < table_.slots(); home += 3) {
    table_.ForEach(home, std::min(home + 3, table_.slots()), [&](CacheEntry* e) {
      EXPECT_GE(table_.HomeOf(e->hash), home);
      EXPECT_LT(table_.HomeOf(e->hash), home + 3);
      ++seen[e];
    });
  }
  EXPECT_EQ(seen.size(), 200u);
  for (const auto& [entry, times] : seen) EXPECT_EQ(times, 1);
}

TEST_F(CacheTableTest, OtherKeysOfTheSameHashAreDistinguished) {
  CacheEntry* const a = CacheEntry::New("a", 7);
  CacheEntry* const b = CacheEntry::New("b", 7);
  table_.Insert(a);
  table_.Insert(b);
  EXPECT_EQ(table_.Find("a", 7), a);
  EXPECT_EQ(table_.Find("b", 7), b);
  EXPECT_EQ(table_.Find("c", 7), nullptr);
  table_.Erase(a);
  EXPECT_EQ(table_.Find("a", 7), nullptr);
  EXPECT_EQ(table_.Find("b", 7), b);
  a->Discard(false);
  b->Discard(false);
}

// One writer; what the readers find without a lock is what they asked for.
TEST_F(CacheTableTest, ReadersConcurrentWithAWriter) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> found{0}, wrong{0};
  std::vector<std::thread> readers;
  for (uint64_t t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      Random rnd(t);
      while (!stop.load(std::memory_order_relaxed)) {
        const uint64_t n = rnd.Uniform(400);
        const EpochGuard guard;
        const CacheEntry* const entry = Find(n);
        if (entry == nullptr) continue;
        ++found;
        wrong += entry->key() != Slice(CrowdedKey(n));
      }
    });
  }
  Random rnd(9);
  for (int i = 0; i < 40000; ++i) {
    const uint64_t n = rnd.Uniform(400);
    if (model_.count(n) == 0) {
      Insert(n);
      continue;
    }
    CacheEntry* const entry = model_[n];
    table_.Erase(entry);
    model_.erase(n);
    retired_.Add(entry, &CacheEntry::Free, entry->DeferredBytes());
    if (retired_.count() > 16) {
      std::vector<RetireList::Object> due;
      retired_.Collect(&due);
      RetireList::Free(due);
    }
  }
  while (found.load() == 0) std::this_thread::yield();
  stop = true;
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace compassdb
