// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/delta.h"

#include <gtest/gtest.h>

#include "util/random.h"

namespace compassdb {
namespace {

// With a thousand regions and as many range deletions, a search of all for each is too slow.
TEST(Delta, OfItsRangeTombstonesARegionSeesItsOwn) {
  const Comparator* const cmp = rocksdb::BytewiseComparator();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    MemTableOptions options;
    options.comparator = cmp;
    auto memtable = std::make_shared<MemTable>(options, 1);
    std::vector<SequenceNumber> snapshots;
    const auto any_key = [&random] { return std::to_string(random.Between(1000, 9999)); };
    for (SequenceNumber s = 1; s <= 40; ++s) {
      std::string a = any_key(), b = any_key();
      if (a > b) std::swap(a, b);
      ASSERT_TRUE(memtable->Add(s, kTypeRangeDeletion, a, b, false).ok());
      if (random.OneIn(20)) snapshots.push_back(s);
    }
    Delta delta(cmp, {}, /*one_run=*/false, {memtable}, /*now_seconds=*/0);
    ASSERT_TRUE(delta.LoadTombstones(snapshots).ok());
    const auto reaching = [&](std::span<const RangeTombstone> all, const std::optional<std::string>& lower,
                              const std::optional<std::string>& upper) {
      std::vector<std::string> found;
      for (RangeTombstone t : all) {
        if (!ClipTombstone(cmp, lower, upper, &t)) continue;
        found.push_back(t.start + "-" + t.end + "@" + std::to_string(t.sequence));
      }
      return found;
    };
    for (int i = 0; i < 100; ++i) {
      std::optional<std::string> lower, upper;
      if (!random.OneIn(5)) lower = any_key();
      if (!random.OneIn(5)) upper = any_key();
      EXPECT_EQ(reaching(delta.TombstonesIn(lower, upper), lower, upper), reaching(delta.tombstones(), lower, upper));
    }
  }
}

TEST(Delta, DisjointRangeTombstonesOfOtherRegionsAreNotLookedAt) {
  MemTableOptions options;
  options.comparator = rocksdb::BytewiseComparator();
  auto memtable = std::make_shared<MemTable>(options, 1);
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(10000 + i);
    ASSERT_TRUE(memtable->Add(static_cast<SequenceNumber>(i + 1), kTypeRangeDeletion, key, key + "a", false).ok());
  }
  Delta delta(options.comparator, {}, /*one_run=*/false, {memtable}, /*now_seconds=*/0);
  ASSERT_TRUE(delta.LoadTombstones({}).ok());
  EXPECT_EQ(delta.tombstones().size(), 1000u);
  EXPECT_EQ(delta.TombstonesIn("10500", "10510").size(), 10u);
  EXPECT_EQ(delta.TombstonesIn(std::nullopt, "10001").size(), 1u);
  EXPECT_EQ(delta.TombstonesIn("10998", std::nullopt).size(), 2u);
  EXPECT_TRUE(delta.TombstonesIn("2", std::nullopt).empty());
  EXPECT_TRUE(delta.TombstonesIn("10500b", "10501").empty());
}

}  // namespace
}  // namespace compassdb
