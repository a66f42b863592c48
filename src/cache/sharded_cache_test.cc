// SPDX-License-Identifier: Apache-2.0
#include "cache/sharded_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "rocksdb/secondary_cache.h"
#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::Cache;

std::atomic<int> live_values{0};

struct Value {
  explicit Value(uint64_t v) : number(v) { ++live_values; }
  ~Value() { --live_values; }
  uint64_t number;
};

void DeleteValue(const Slice& key, void* value) {
  auto* v = static_cast<Value*>(value);
  EXPECT_EQ(DecodeFixed64(key.data()), v->number);
  delete v;
}

std::string Key(uint64_t n) {
  std::string key;
  PutFixed64(&key, n);
  PutFixed64(&key, 0);
  return key;
}

class ShardedCacheTest : public ::testing::Test {
 protected:
  ShardedCacheTest() {
    options_.capacity = 1000;
    options_.num_shard_bits = 0;
    options_.metadata_charge_policy = rocksdb::kDontChargeCacheMetadata;
  }
  ~ShardedCacheTest() override {
    cache_.reset();
    EXPECT_EQ(live_values.load(), 0);
  }

  void Make() { cache_ = NewShardedCache(options_); }
  Status Insert(uint64_t n, size_t charge = 1, Cache::Priority priority = Cache::Priority::LOW) {
    return cache_->Insert(Key(n), new Value(n), charge, &DeleteValue, nullptr, priority);
  }
  Cache::Handle* InsertPinned(uint64_t n, size_t charge = 1) {
    Cache::Handle* handle = nullptr;
    auto* value = new Value(n);
    if (!cache_->Insert(Key(n), value, charge, &DeleteValue, &handle).ok()) delete value;
    return handle;
  }
  // A use: looked up and released.
  bool Touch(uint64_t n) {
    Cache::Handle* handle = cache_->Lookup(Key(n));
    if (handle == nullptr) return false;
    EXPECT_EQ(static_cast<Value*>(cache_->Value(handle))->number, n);
    cache_->Release(handle);
    return true;
  }
  // Like Touch, but does not change the policy's state.
  bool Has(uint64_t n) {
    bool found = false;
    cache_->ApplyToAllEntries(
        [&](const Slice& key, void*, size_t, Cache::DeleterFn) { found |= key == Slice(Key(n)); },
        {});
    return found;
  }

  CacheOptions options_;
  std::shared_ptr<Cache> cache_;
};

TEST_F(ShardedCacheTest, InsertLookupErase) {
  Make();
  EXPECT_FALSE(Touch(1));
  EXPECT_TRUE(Insert(1).ok());
  EXPECT_TRUE(Insert(2, 7).ok());
  EXPECT_TRUE(Touch(1));
  EXPECT_EQ(cache_->GetUsage(), 8u);
  cache_->Erase(Key(1));
  EXPECT_FALSE(Touch(1));
  EXPECT_EQ(cache_->GetUsage(), 7u);
  EXPECT_EQ(live_values.load(), 1);
  cache_->Erase(Key(1));
  EXPECT_TRUE(Insert(2, 9).ok());  // replaces
  EXPECT_EQ(cache_->GetUsage(), 9u);
  EXPECT_EQ(live_values.load(), 1);
  EXPECT_EQ(cache_->GetOccupancyCount(), 1u);
}

TEST_F(ShardedCacheTest, MetadataIsCharged) {
  options_.metadata_charge_policy = rocksdb::kFullChargeCacheMetadata;
  options_.capacity = 1 << 20;
  Make();
  Cache::Handle* handle = InsertPinned(1, 100);
  EXPECT_EQ(cache_->GetCharge(handle), 100u);
  EXPECT_GE(cache_->GetUsage(handle), 100 + sizeof(CacheEntry) + 16);
  EXPECT_EQ(cache_->GetUsage(), cache_->GetUsage(handle));
  EXPECT_EQ(cache_->GetDeleter(handle), &DeleteValue);
  cache_->Release(handle);
}

TEST_F(ShardedCacheTest, CapacityHolds) {
  Make();
  for (uint64_t i = 0; i < 5000; ++i) {
    EXPECT_TRUE(Insert(i, 1 + i % 7).ok());
    EXPECT_LE(cache_->GetUsage(), 1000u);
  }
  EXPECT_GT(cache_->GetUsage(), 980u);
  cache_->SetCapacity(100);
  EXPECT_LE(cache_->GetUsage(), 100u);
  EXPECT_EQ(cache_->GetCapacity(), 100u);
  cache_->SetCapacity(0);
  EXPECT_EQ(cache_->GetUsage(), 0u);
  EXPECT_TRUE(Insert(1).ok());  // as if evicted at once
  EXPECT_FALSE(Touch(1));
}

TEST_F(ShardedCacheTest, HandlesOutliveEviction) {
  Make();
  Cache::Handle* handle = InsertPinned(1, 10);
  EXPECT_EQ(cache_->GetPinnedUsage(), 10u);
  cache_->Erase(Key(1));
  EXPECT_FALSE(Touch(1));
  EXPECT_EQ(static_cast<Value*>(cache_->Value(handle))->number, 1u);
  EXPECT_EQ(cache_->GetUsage(), 10u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 10u);
  EXPECT_TRUE(cache_->Ref(handle));
  EXPECT_FALSE(cache_->Release(handle));
  EXPECT_TRUE(cache_->Release(handle));
  EXPECT_EQ(cache_->GetUsage(), 0u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
}

TEST_F(ShardedCacheTest, EraseIfLastRef) {
  Make();
  Cache::Handle* a = InsertPinned(1);
  Cache::Handle* b = cache_->Lookup(Key(1));
  EXPECT_FALSE(cache_->Release(a, true));
  EXPECT_TRUE(Has(1));
  EXPECT_TRUE(cache_->Release(b, true));
  EXPECT_FALSE(Has(1));
}

TEST_F(ShardedCacheTest, PinnedEntriesAreNotEvicted) {
  Make();
  std::vector<Cache::Handle*> handles;
  for (uint64_t i = 0; i < 500; ++i) handles.push_back(InsertPinned(i));
  for (uint64_t i = 1000; i < 4000; ++i) EXPECT_TRUE(Insert(i).ok());
  for (uint64_t i = 0; i < 500; ++i) EXPECT_TRUE(Has(i));
  EXPECT_LE(cache_->GetUsage(), 1000u);
  for (Cache::Handle* h : handles) cache_->Release(h);
}

TEST_F(ShardedCacheTest, StrictLimit) {
  options_.capacity = 10;
  options_.strict_capacity_limit = true;
  Make();
  std::vector<Cache::Handle*> handles;
  for (uint64_t i = 0; i < 10; ++i) handles.push_back(InsertPinned(i));
  Cache::Handle* handle = nullptr;
  auto* value = new Value(99);
  Status s = cache_->Insert(Key(99), value, 1, &DeleteValue, &handle);
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_EQ(handle, nullptr);
  delete value;
  EXPECT_TRUE(Insert(98).ok());  // no handle: dropped
  EXPECT_FALSE(Has(98));
  cache_->SetStrictCapacityLimit(false);
  EXPECT_FALSE(cache_->HasStrictCapacityLimit());
  handle = InsertPinned(100);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(cache_->GetUsage(), 11u);
  cache_->Release(handle);  // over the limit: does not stay
  EXPECT_EQ(cache_->GetUsage(), 10u);
  for (Cache::Handle* h : handles) cache_->Release(h);
}

TEST_F(ShardedCacheTest, AScanDoesNotDisplaceWhatIsHot) {
  Make();
  for (uint64_t i = 0; i < 800; ++i) EXPECT_TRUE(Insert(i).ok());
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 800; ++i) EXPECT_TRUE(Touch(i));
  }
  for (uint64_t i = 10000; i < 30000; ++i) {  // twenty times the capacity, each once
    if (!Touch(i)) {
      EXPECT_TRUE(Insert(i).ok());
    }
  }
  int kept = 0;
  for (uint64_t i = 0; i < 800; ++i) kept += Has(i);
  EXPECT_EQ(kept, 800);
}

TEST_F(ShardedCacheTest, WhatComesBackSoonIsRemembered) {
  Make();
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(Insert(i).ok());
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(Touch(i));
  // Never used again after insertion: gone, but known by its ghost.
  EXPECT_TRUE(Insert(5000).ok());
  for (uint64_t i = 6000; Has(5000); ++i) EXPECT_TRUE(Insert(i).ok());
  EXPECT_TRUE(Insert(5000).ok());
  for (uint64_t i = 20000; i < 20500; ++i) EXPECT_TRUE(Insert(i).ok());
  EXPECT_TRUE(Has(5000));
}

TEST_F(ShardedCacheTest, HitRateOfASkewedLoadWithScans) {
  options_.capacity = 2000;
  Make();
  Random rnd(5);
  uint64_t hits = 0, reads = 0, scan = 1000000;
  for (int i = 0; i < 300000; ++i) {
    uint64_t n;
    if (i % 3 == 0) {
      n = scan++;
    } else {
      n = rnd.Skewed(14);
      ++reads;
    }
    if (Touch(n)) {
      if (n < 1000000) ++hits;
    } else {
      EXPECT_TRUE(Insert(n).ok());
    }
  }
  // The best 2000 of these keys get 83 % of the reads.
  EXPECT_GT(static_cast<double>(hits) / static_cast<double>(reads), 0.78);
}

TEST_F(ShardedCacheTest, PrioritiesDecideAmongUnusedEntries) {
  options_.high_pri_pool_ratio = 0.3;
  options_.low_pri_pool_ratio = 0.4;
  Make();
  for (uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(Insert(i, 1, Cache::Priority::HIGH).ok());
  for (uint64_t i = 1000; i < 1300; ++i) EXPECT_TRUE(Insert(i, 1, Cache::Priority::LOW).ok());
  for (uint64_t i = 2000; i < 6000; ++i) EXPECT_TRUE(Insert(i, 1, Cache::Priority::BOTTOM).ok());
  for (uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(Has(i));
  for (uint64_t i = 1000; i < 1300; ++i) EXPECT_TRUE(Has(i));
  for (uint64_t i = 10000; i < 14000; ++i) EXPECT_TRUE(Insert(i, 1, Cache::Priority::LOW).ok());
  for (uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(Has(i));
  // Its own kind displaces a HIGH entry that was never used.
  for (uint64_t i = 20000; i < 24000; ++i) EXPECT_TRUE(Insert(i, 1, Cache::Priority::HIGH).ok());
  EXPECT_FALSE(Has(0));
}

TEST_F(ShardedCacheTest, OptionsWithoutSenseMakeNoCache) {
  EXPECT_EQ(rocksdb::NewLRUCache(1000, 20), nullptr);
  EXPECT_EQ(rocksdb::NewLRUCache(1000, 0, false, 1.5), nullptr);
  EXPECT_EQ(rocksdb::NewLRUCache(1000, 0, false, 0.7, nullptr, false,
                                 rocksdb::kFullChargeCacheMetadata, 0.7),
            nullptr);
  EXPECT_NE(rocksdb::NewClockCache(1000), nullptr);
  auto cache = rocksdb::HyperClockCacheOptions(1 << 20, 4096).MakeSharedCache();
  EXPECT_STREQ(cache->Name(), "HyperClockCache");
  EXPECT_NE(cache->GetPrintableOptions().find("capacity : 1048576"), std::string::npos);
}

TEST_F(ShardedCacheTest, ApplyAndEraseUnreferenced) {
  options_.num_shard_bits = 3;
  options_.capacity = 100000;
  Make();
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(Insert(i, i + 1).ok());
  std::set<uint64_t> seen;
  size_t charges = 0;
  Cache::ApplyToAllEntriesOptions apply;
  apply.average_entries_per_lock = 3;
  cache_->ApplyToAllEntries(
      [&](const Slice& key, void* value, size_t charge, Cache::DeleterFn deleter) {
        EXPECT_EQ(DecodeFixed64(key.data()), static_cast<Value*>(value)->number);
        EXPECT_EQ(deleter, &DeleteValue);
        EXPECT_TRUE(seen.insert(DecodeFixed64(key.data())).second);
        charges += charge;
      },
      apply);
  EXPECT_EQ(seen.size(), cache_->GetOccupancyCount());
  EXPECT_EQ(charges, cache_->GetUsage());
  EXPECT_GE(cache_->GetTableAddressCount(), seen.size() / 2);
  Cache::Handle* pinned = cache_->Lookup(Key(*seen.begin()));
  cache_->EraseUnRefEntries();
  EXPECT_EQ(cache_->GetOccupancyCount(), 1u);
  cache_->Release(pinned);
  EXPECT_NE(cache_->NewId(), cache_->NewId());
}

// Keeps numbers; the value's number is all there is to save.
class MapSecondaryCache : public rocksdb::SecondaryCache {
 public:
  class Result : public rocksdb::SecondaryCacheResultHandle {
   public:
    Result(void* value, size_t size) : value_(value), size_(size) {}
    bool IsReady() override { return true; }
    void Wait() override {}
    void* Value() override { return value_; }
    size_t Size() override { return size_; }

   private:
    void* value_;
    size_t size_;
  };
  const char* Name() const override { return "test.Map"; }
  Status Insert(const Slice& key, void* value, const Cache::CacheItemHelper* helper) override {
    std::string data(helper->size_cb(value), '\0');
    Status s = helper->saveto_cb(value, 0, data.size(), data.data());
    if (s.ok()) map[key.ToString()] = data;
    return s;
  }
  std::unique_ptr<rocksdb::SecondaryCacheResultHandle> Lookup(const Slice& key,
                                                              const Cache::CreateCallback& create,
                                                              bool, bool, bool& stays) override {
    auto it = map.find(key.ToString());
    if (it == map.end()) return nullptr;
    stays = false;
    void* value = nullptr;
    size_t charge = 0;
    if (!create(it->second.data(), it->second.size(), &value, &charge).ok()) return nullptr;
    map.erase(it);
    return std::make_unique<Result>(value, charge);
  }
  bool SupportForceErase() const override { return true; }
  void Erase(const Slice& key) override { map.erase(key.ToString()); }
  void WaitAll(std::vector<rocksdb::SecondaryCacheResultHandle*>) override {}

  std::map<std::string, std::string> map;
};

TEST_F(ShardedCacheTest, EvictedValuesComeBackFromTheSecondaryCache) {
  auto secondary = std::make_shared<MapSecondaryCache>();
  options_.secondary_cache = secondary;
  options_.capacity = 100;
  Make();
  static const Cache::CacheItemHelper helper(
      [](void*) { return sizeof(uint64_t); },
      [](void* from, size_t, size_t, void* out) {
        memcpy(out, &static_cast<Value*>(from)->number, 8);
        return Status::OK();
      },
      &DeleteValue);
  const Cache::CreateCallback create = [](const void* data, size_t size, void** out,
                                          size_t* charge) {
    EXPECT_EQ(size, 8u);
    uint64_t number;
    memcpy(&number, data, 8);
    *out = new Value(number);
    *charge = 1;
    return Status::OK();
  };
  for (uint64_t i = 0; i < 300; ++i) {
    EXPECT_TRUE(cache_->Insert(Key(i), new Value(i), &helper, 1).ok());
  }
  EXPECT_EQ(secondary->map.size(), 200u);
  EXPECT_EQ(cache_->Lookup(Key(0)), nullptr);
  Cache::Handle* handle =
      cache_->Lookup(Key(0), &helper, create, Cache::Priority::LOW, true, nullptr);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(static_cast<Value*>(cache_->Value(handle))->number, 0u);
  EXPECT_EQ(secondary->map.count(Key(0)), 0u);
  cache_->Release(handle);
  EXPECT_EQ(cache_->Lookup(Key(999), &helper, create, Cache::Priority::LOW, true, nullptr), nullptr);
}

TEST_F(ShardedCacheTest, ManyThreads) {
  options_.num_shard_bits = 2;
  options_.capacity = 500;
  Make();
  std::vector<std::thread> threads;
  std::atomic<uint64_t> found{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random rnd(static_cast<uint64_t>(t));
      std::vector<Cache::Handle*> held;
      for (int i = 0; i < 30000; ++i) {
        const uint64_t n = rnd.Skewed(11);
        switch (rnd.Uniform(12)) {
          case 0:
            cache_->Erase(Key(n));
            break;
          case 1:
            if (held.size() < 20) held.push_back(InsertPinned(n, 1 + n % 3));
            break;
          case 2:
            cache_->SetCapacity(400 + rnd.Uniform(200));
            break;
          case 3:
            if (!held.empty()) {
              cache_->Release(held.back(), rnd.OneIn(3));
              held.pop_back();
            }
            break;
          case 4:
            if (i % 100 == 0) cache_->EraseUnRefEntries();
            break;
          default:
            if (Touch(n)) {
              found.fetch_add(1, std::memory_order_relaxed);
            } else {
              EXPECT_TRUE(Insert(n, 1 + n % 3).ok());
            }
        }
      }
      for (Cache::Handle* h : held) cache_->Release(h);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(found.load(), 0u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
  size_t charges = 0;
  cache_->ApplyToAllEntries(
      [&](const Slice&, void*, size_t charge, Cache::DeleterFn) { charges += charge; }, {});
  EXPECT_EQ(charges, cache_->GetUsage());
  EXPECT_EQ(static_cast<size_t>(live_values.load()), cache_->GetOccupancyCount());
}

// A value that brings its entry along.
struct Embedded {
  CacheEntry entry;
  char key[16];
  std::atomic<uint64_t> number;
  explicit Embedded(uint64_t n) : number(n) { ++live_values; }
  ~Embedded() {
    number.store(UINT64_MAX, std::memory_order_relaxed);
    --live_values;
  }
};
static_assert(offsetof(Embedded, key) == sizeof(CacheEntry));

class EmbeddedEntriesTest : public ShardedCacheTest {
 protected:
  void Make() {
    ShardedCacheTest::Make();
    own_ = dynamic_cast<ShardedCache*>(cache_.get());
    ASSERT_NE(own_, nullptr);
  }
  Status InsertEmbedded(uint64_t n, Cache::Handle** handle = nullptr, size_t charge = 1) {
    auto* const value = new Embedded(n);
    return own_->InsertEmbedded(&value->entry, Key(n), value, &kHelper, charge, handle,
                                Cache::Priority::LOW);
  }
  inline static const Cache::CacheItemHelper kHelper{
      nullptr, nullptr,
      [](const Slice&, void* value) { delete static_cast<Embedded*>(value); }};
  // Under a guard of the caller's.
  Embedded* Peek(uint64_t n) const {
    CacheEntry* const entry = own_->Peek(Key(n), ShardedCache::HashOfWords(n, 0));
    return entry == nullptr ? nullptr : static_cast<Embedded*>(entry->value);
  }
  ShardedCache* own_ = nullptr;
};

TEST_F(EmbeddedEntriesTest, AreFoundWithAndWithoutAHandle) {
  Make();
  EXPECT_TRUE(InsertEmbedded(1).ok());
  EXPECT_TRUE(Insert(2).ok());
  {
    const EpochGuard guard;
    ASSERT_NE(Peek(1), nullptr);
    EXPECT_EQ(Peek(1)->number, 1u);
    EXPECT_EQ(Peek(2), nullptr);  // it exists, but only a handle can get it
    EXPECT_EQ(Peek(3), nullptr);
    Cache::Handle* const handle = ShardedCache::Pin(&Peek(1)->entry);
    ASSERT_NE(handle, nullptr);
    EXPECT_EQ(own_->GetPinnedUsage(), 1u);
    cache_->Release(handle);
  }
  Cache::Handle* const handle = cache_->Lookup(Key(1));
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(static_cast<Embedded*>(cache_->Value(handle))->number, 1u);
  cache_->Release(handle);
  EXPECT_EQ(live_values.load(), 2);
}

TEST_F(EmbeddedEntriesTest, OutliveEvictionWhileTheyAreLookedAt) {
  Make();
  EXPECT_TRUE(InsertEmbedded(1).ok());
  {
    const EpochGuard guard;
    const Embedded* const value = Peek(1);
    own_->Erase(Key(1));
    EXPECT_EQ(Peek(1), nullptr);
    EXPECT_EQ(own_->GetUsage(), 0u);
    // Enough of them that the cache frees what it may.
    for (uint64_t i = 100; i < 200; ++i) {
      EXPECT_TRUE(InsertEmbedded(i).ok());
      own_->Erase(Key(i));
    }
    EXPECT_EQ(value->number, 1u);
    EXPECT_EQ(ShardedCache::Pin(const_cast<CacheEntry*>(&value->entry)), nullptr);
  }
  for (uint64_t i = 100; i < 200; ++i) {
    EXPECT_TRUE(InsertEmbedded(i).ok());
    own_->Erase(Key(i));
  }
  EXPECT_LT(live_values.load(), 10);
}

TEST_F(EmbeddedEntriesTest, HitsWithoutHandlesProtectFromScans) {
  Make();
  for (uint64_t i = 0; i < 800; ++i) EXPECT_TRUE(InsertEmbedded(i).ok());
  for (uint64_t i = 0; i < 800; ++i) {
    const EpochGuard guard;
    EXPECT_NE(Peek(i), nullptr);
  }
  for (uint64_t i = 10000; i < 30000; ++i) EXPECT_TRUE(InsertEmbedded(i).ok());
  int kept = 0;
  for (uint64_t i = 0; i < 800; ++i) kept += Has(i);
  EXPECT_EQ(kept, 800);
}

TEST_F(EmbeddedEntriesTest, HintsAreTakenBack) {
  Make();
  std::atomic<CacheEntry*> one{nullptr}, other{nullptr}, dropped{nullptr};
  const auto set = [&](uint64_t n, std::atomic<CacheEntry*>* hint) {
    const EpochGuard guard;
    own_->SetHint(&Peek(n)->entry, hint);
  };
  for (uint64_t n = 1; n <= 3; ++n) EXPECT_TRUE(InsertEmbedded(n).ok());
  set(1, &one);
  {
    const EpochGuard guard;
    EXPECT_EQ(one.load(), &Peek(1)->entry);
  }
  set(1, &other);  // an entry has one
  EXPECT_EQ(other.load(), nullptr);
  set(2, &one);  // and a hint is of one entry
  own_->Erase(Key(2));
  EXPECT_NE(one.load(), nullptr);
  set(3, &dropped);
  own_->DropHint(&dropped);
  EXPECT_EQ(dropped.load(), nullptr);
  own_->DropHint(&dropped);
  set(3, &other);
  EXPECT_NE(other.load(), nullptr);
  {
    const EpochGuard guard;
    const auto* const value = reinterpret_cast<const Embedded*>(one.load()->value);
    own_->Erase(Key(1));
    EXPECT_EQ(one.load(), nullptr);
    EXPECT_EQ(value->number, 1u);
  }
  EXPECT_TRUE(InsertEmbedded(3).ok());  // replaces
  EXPECT_EQ(other.load(), nullptr);
  set(3, &other);
  own_->EraseUnRefEntries();
  EXPECT_EQ(other.load(), nullptr);
}

TEST_F(EmbeddedEntriesTest, AFullStrictCacheLeavesTheValueToTheCaller) {
  options_.capacity = 10;
  options_.strict_capacity_limit = true;
  Make();
  Cache::Handle* handle = nullptr;
  EXPECT_TRUE(InsertEmbedded(1, &handle, 10).ok());
  auto* const value = new Embedded(2);
  Cache::Handle* none = nullptr;
  EXPECT_TRUE(own_->InsertEmbedded(&value->entry, Key(2), value, &kHelper, 1, &none,
                                   Cache::Priority::LOW)
                  .IsMemoryLimit());
  EXPECT_EQ(value->number, 2u);
  delete value;
  EXPECT_TRUE(InsertEmbedded(3).ok());  // no handle: dropped
  EXPECT_EQ(live_values.load(), 1);
  cache_->Release(handle);
}

TEST_F(EmbeddedEntriesTest, ManyThreadsPeek) {
  options_.num_shard_bits = 1;
  options_.capacity = 300;
  Make();
  std::atomic<uint64_t> found{0}, wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random rnd(t + 1);
      for (int i = 0; i < 30000; ++i) {
        const uint64_t n = rnd.Skewed(10);
        bool hit = false;
        {
          const EpochGuard guard;
          if (Embedded* const value = Peek(n)) {
            hit = true;
            wrong += value->number.load(std::memory_order_relaxed) != n;
            if (rnd.OneIn(8)) {
              if (Cache::Handle* handle = ShardedCache::Pin(&value->entry)) cache_->Release(handle);
            }
            wrong += value->number.load(std::memory_order_relaxed) != n;
          }
        }
        found += hit;
        if (!hit) {
          EXPECT_TRUE(InsertEmbedded(n).ok());
        }
        if (rnd.OneIn(50)) own_->Erase(Key(n));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(found.load(), 0u);
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(own_->GetPinnedUsage(), 0u);
  EXPECT_EQ(own_->GetUsage(), own_->GetOccupancyCount());
}

TEST_F(EmbeddedEntriesTest, ManyThreadsUseHints) {
  options_.num_shard_bits = 1;
  options_.capacity = 300;
  Make();
  constexpr uint64_t kKeys = 1000;
  std::vector<std::atomic<CacheEntry*>> hints(kKeys);
  std::atomic<uint64_t> by_hint{0}, wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random rnd(t + 1);
      for (int i = 0; i < 30000; ++i) {
        const uint64_t n = rnd.Skewed(10) % kKeys;
        bool hit = false;
        {
          const EpochGuard guard;
          CacheEntry* entry = hints[n].load(std::memory_order_seq_cst);
          if (entry != nullptr) {
            ++by_hint;
          } else if (Embedded* const value = Peek(n)) {
            entry = &value->entry;
            own_->SetHint(entry, &hints[n]);
          }
          if (entry != nullptr) {
            hit = true;
            auto* const value = static_cast<Embedded*>(entry->value);
            wrong += value->number.load(std::memory_order_relaxed) != n;
          }
        }
        if (!hit) {
          EXPECT_TRUE(InsertEmbedded(n).ok());
        }
        if (rnd.OneIn(50)) own_->Erase(Key(n));
        if (rnd.OneIn(50)) own_->DropHint(&hints[n]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(by_hint.load(), 0u);
  EXPECT_EQ(wrong.load(), 0u);
  for (auto& hint : hints) own_->DropHint(&hint);
  EXPECT_EQ(own_->GetUsage(), own_->GetOccupancyCount());
}

TEST_F(ShardedCacheTest, AFullCacheKeepsWhatIsWantedAgain) {
  options_.capacity = 100 << 10;
  Make();
  auto* const cache = dynamic_cast<ShardedCache*>(cache_.get());
  const auto hash = [](uint64_t n) { return ShardedCache::HashOfWords(n, 1); };
  using Keep = ShardedCache::Keep;
  EXPECT_EQ(cache->NoteMiss(hash(1), 4096, hash(2)), Keep::kBlock);  // there is room
  for (uint64_t n = 0; n < 25; ++n) ASSERT_TRUE(Insert(n, 4096).ok());
  EXPECT_FALSE(cache->keeps_records());
  EXPECT_EQ(cache->NoteMiss(hash(1), 4096, hash(2)), Keep::kNothing);
  EXPECT_EQ(cache->NoteMiss(hash(1), 4096, hash(3)), Keep::kBlock);  // another record of it
  for (uint64_t n = 100; n < 600; ++n) cache->NoteMiss(hash(n), 4096, hash(n + 10000));
  EXPECT_FALSE(cache->keeps_records());
  EXPECT_EQ(cache->NoteMiss(hash(595), 4096, hash(10000 + 595)), Keep::kRecord);
  EXPECT_TRUE(cache->keeps_records());
}

}  // namespace
}  // namespace compassdb
