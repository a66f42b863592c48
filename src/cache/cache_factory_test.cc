// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rocksdb/cache.h"
#include "rocksdb/config_options.h"
#include "rocksdb/secondary_cache.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::Cache;

TEST(CacheFactoryTest, FromStrings) {
  rocksdb::ConfigOptions config;
  std::shared_ptr<Cache> cache;
  ASSERT_TRUE(Cache::CreateFromString(config, "3M", &cache).ok());
  EXPECT_EQ(cache->GetCapacity(), size_t{3} << 20);
  ASSERT_TRUE(Cache::CreateFromString(config,
                                      "capacity=1G;num_shard_bits=2;strict_capacity_limit=true;"
                                      "high_pri_pool_ratio=0.2",
                                      &cache)
                  .ok());
  EXPECT_EQ(cache->GetCapacity(), size_t{1} << 30);
  EXPECT_TRUE(cache->HasStrictCapacityLimit());
  EXPECT_NE(cache->GetPrintableOptions().find("num_shard_bits : 2"), std::string::npos);
  config.ignore_unknown_options = true;
  for (const char* bad :
       {"", "x", "nullptr", "capacity=1M;nonsense=1", "capacity=1M;num_shard_bits=nan", "id=x"}) {
    EXPECT_TRUE(Cache::CreateFromString(config, bad, &cache).IsInvalidArgument()) << bad;
    EXPECT_EQ(cache->GetCapacity(), size_t{1} << 30);
  }
  for (const char* none : {"capacity=1;num_shard_bits=20", "capacity=1;high_pri_pool_ratio=2"}) {
    EXPECT_TRUE(Cache::CreateFromString(config, none, &cache).ok()) << none;
    EXPECT_EQ(cache, nullptr) << none;
  }
  for (const char* type : {"kNoCompression", "kSnappyCompression", "kZlibCompression", "kBZip2Compression",
                           "kLZ4Compression", "kLZ4HCCompression", "kZSTD"}) {
    const std::string text = std::string("compressed_secondary_cache://capacity=1M;compression_type=") + type;
    std::shared_ptr<rocksdb::SecondaryCache> secondary;
    EXPECT_TRUE(rocksdb::SecondaryCache::CreateFromString(config, text, &secondary).ok()) << type;
  }
}

struct Text {
  std::string text;
};

TEST(CacheFactoryTest, CompressedSecondaryCacheKeepsWhatTheBlockCacheDrops) {
  rocksdb::LRUCacheOptions options;
  options.capacity = 20 << 10;
  options.num_shard_bits = 0;
  ASSERT_TRUE(rocksdb::SecondaryCache::CreateFromString(
                  rocksdb::ConfigOptions(),
                  "compressed_secondary_cache://"
                  "capacity=1M;num_shard_bits=0;compression_type=kLZ4Compression",
                  &options.secondary_cache)
                  .ok());
  const std::shared_ptr<Cache> cache = NewLRUCache(options);
  static const Cache::CacheItemHelper helper(
      [](void* value) { return static_cast<Text*>(value)->text.size(); },
      [](void* value, size_t offset, size_t n, void* out) {
        static_cast<Text*>(value)->text.copy(static_cast<char*>(out), n, offset);
        return rocksdb::Status::OK();
      },
      [](const rocksdb::Slice&, void* value) { delete static_cast<Text*>(value); });
  const Cache::CreateCallback create = [](const void* data, size_t n, void** out, size_t* charge) {
    *out = new Text{std::string(static_cast<const char*>(data), n)};
    *charge = n;
    return rocksdb::Status::OK();
  };
  Random rnd(9);
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) {
    texts.push_back(std::string(500, static_cast<char>('a' + i % 26)) + rnd.Bytes(50));
    ASSERT_TRUE(
        cache->Insert(std::to_string(i), new Text{texts.back()}, &helper, texts.back().size()).ok());
  }
  EXPECT_LE(cache->GetUsage(), size_t{20} << 10);
  for (int i = 0; i < 100; ++i) {
    auto* handle =
        cache->Lookup(std::to_string(i), &helper, create, Cache::Priority::LOW, true, nullptr);
    ASSERT_NE(handle, nullptr) << i;
    EXPECT_EQ(static_cast<Text*>(cache->Value(handle))->text, texts[static_cast<size_t>(i)]);
    cache->Release(handle);
  }
}

TEST(CacheFactoryTest, RoleNames) {
  EXPECT_EQ(rocksdb::GetCacheEntryRoleName(rocksdb::CacheEntryRole::kDataBlock), "data-block");
  EXPECT_EQ(rocksdb::GetCacheEntryRoleName(rocksdb::CacheEntryRole::kMisc), "misc");
  EXPECT_EQ(rocksdb::BlockCacheEntryStatsMapKeys::UsedBytes(rocksdb::CacheEntryRole::kWriteBuffer),
            "bytes.write-buffer");
}

}  // namespace
}  // namespace compassdb
