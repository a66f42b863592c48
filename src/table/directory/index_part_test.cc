// SPDX-License-Identifier: Apache-2.0
#include "table/directory/index_part.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "rocksdb/comparator.h"

namespace compassdb {
namespace {

using rocksdb::Status;

struct Blob {
  std::string bytes;
};

IndexMemory MemoryOf(const Blob& blob) {
  IndexMemory memory;
  memory.separators = blob.bytes.size();
  return memory;
}

class IndexPartTest : public ::testing::Test {
 protected:
  TableContextRef Context(size_t cache_bytes, bool strict = false) {
    TableReaderOptions options;
    options.comparator = rocksdb::BytewiseComparator();
    if (cache_bytes > 0) options.block_cache = rocksdb::NewLRUCache(cache_bytes, 0, strict);
    cache_ = options.block_cache;
    return std::make_shared<const TableContext>(nullptr, options);
  }
  Status Get(const IndexPart<Blob>& part, PartRef<Blob>* ref, const BlockReadOptions& read = {}) {
    return part.Get(
        read,
        [this](std::unique_ptr<const Blob>* out) {
          ++loads_;
          if (fail_) return Status::IOError("injected");
          *out = std::make_unique<const Blob>(Blob{std::string(10000, 'x')});
          return Status::OK();
        },
        ref);
  }

  std::shared_ptr<rocksdb::Cache> cache_;
  std::atomic<int> loads_{0};
  std::atomic<bool> fail_{false};
};

constexpr IndexMode kModes[] = {IndexMode::kResident, IndexMode::kPinned, IndexMode::kPaged};

TEST_F(IndexPartTest, ErrorsAreTriedAgain) {
  for (IndexMode mode : kModes) {
    const TableContextRef context = Context(1 << 20);
    {
      const IndexPart<Blob> part(context, mode, IndexCache::Kind::kIndex);
      PartRef<Blob> ref;
      BlockReadOptions cache_only;
      cache_only.cache_only = true;
      EXPECT_TRUE(Get(part, &ref, cache_only).IsIncomplete());
      fail_ = true;
      EXPECT_TRUE(Get(part, &ref).IsIOError());
      EXPECT_FALSE(ref);
      fail_ = false;
      loads_ = 0;
      ASSERT_TRUE(Get(part, &ref).ok());
      ASSERT_TRUE(Get(part, &ref, cache_only).ok());
      EXPECT_EQ(loads_, 1);
      EXPECT_EQ(ref->bytes.size(), 10000u);
      EXPECT_EQ(part.Resident() != nullptr, mode != IndexMode::kPaged);
      EXPECT_EQ(context->index_usage.Get().separators, 10000u);
      EXPECT_EQ(cache_->GetUsage() >= 10000, mode != IndexMode::kResident);
    }
    EXPECT_EQ(context->index_usage.Get().total(), 0u);
    EXPECT_EQ(cache_->GetUsage(), 0u);
  }
}

TEST_F(IndexPartTest, PagedPartsAreEvictedAndPinnedOnesAreNot) {
  const TableContextRef context = Context(64 << 10);
  std::vector<std::unique_ptr<IndexPart<Blob>>> parts;
  for (int i = 0; i < 20; ++i) {
    parts.push_back(std::make_unique<IndexPart<Blob>>(
        context, i == 0 ? IndexMode::kPinned : IndexMode::kPaged, IndexCache::Kind::kFilter));
    PartRef<Blob> ref;
    ASSERT_TRUE(Get(*parts.back(), &ref).ok());
  }
  EXPECT_LE(cache_->GetUsage(), 64u << 10);
  EXPECT_EQ(loads_, 20);
  PartRef<Blob> ref;
  ASSERT_TRUE(Get(*parts[0], &ref).ok());
  EXPECT_EQ(loads_, 20);
  for (auto& part : parts) ASSERT_TRUE(Get(*part, &ref).ok());
  EXPECT_GT(loads_, 25);
  ref = PartRef<Blob>();
  parts.clear();
  EXPECT_EQ(context->index_usage.Get().total(), 0u);
}

// Without a cache, in a full strict one, and for reads that do not fill it: the part is the reader's own.
TEST_F(IndexPartTest, PartsThatTheCacheDoesNotTakeServeOneRead) {
  for (const int round : {0, 1, 2}) {
    const TableContextRef context =
        Context(round == 0 ? 0 : round == 1 ? 1000 : 1 << 20, /*strict=*/round == 1);
    const IndexPart<Blob> part(context, IndexMode::kPaged, IndexCache::Kind::kIndex);
    BlockReadOptions read;
    read.fill_cache = round != 2;
    loads_ = 0;
    for (int i = 1; i <= 3; ++i) {
      PartRef<Blob> ref;
      ASSERT_TRUE(Get(part, &ref, read).ok());
      EXPECT_EQ(ref->bytes.size(), 10000u);
      EXPECT_EQ(loads_, i);
      EXPECT_EQ(context->index_usage.Get().separators, 10000u);
    }
    EXPECT_EQ(context->index_usage.Get().total(), 0u);
  }
}

TEST_F(IndexPartTest, ManyThreads) {
  for (IndexMode mode : kModes) {
    const TableContextRef context = Context(24 << 10);
    loads_ = 0;
    {
      std::vector<std::unique_ptr<IndexPart<Blob>>> parts;
      for (int i = 0; i < 4; ++i) {
        parts.push_back(
            std::make_unique<IndexPart<Blob>>(context, mode, IndexCache::Kind::kIndex));
      }
      std::vector<std::thread> threads;
      for (size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (size_t i = 0; i < 300; ++i) {
            PartRef<Blob> ref;
            EXPECT_TRUE(Get(*parts[(i + t) % 4], &ref).ok());
            EXPECT_EQ(ref->bytes[i], 'x');
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      if (mode != IndexMode::kPaged) {
        EXPECT_EQ(loads_, 4);
      }
    }
    EXPECT_EQ(context->index_usage.Get().total(), 0u);
  }
}

}  // namespace
}  // namespace compassdb
