// SPDX-License-Identifier: Apache-2.0
#include "lsm/read/table_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "util/random.h"

namespace compassdb {
namespace {

class TableFinderTest : public ::testing::Test {
 protected:
  void Level(const std::vector<std::pair<std::string, std::string>>& bounds) {
    TableReaderOptions options;
    options.comparator = comparator_;
    const auto context = std::make_shared<TableContext>(nullptr, options);
    tables_.clear();
    for (const auto& [smallest, largest] : bounds) {
      TphMeta meta;
      meta.smallest = smallest;
      meta.largest = largest;
      std::shared_ptr<Tph> tph;
      ASSERT_TRUE(Tph::Open(context, meta, {}, IndexMode::kResident, &tph).ok());
      tables_.push_back(std::make_shared<TableHandle>(tph, nullptr));
    }
    finder_ = std::make_unique<TableFinder>(comparator_, tables_);
  }
  int Expected(const Slice& key) const {
    for (size_t i = 0; i < tables_.size(); ++i) {
      const TphMeta& meta = tables_[i]->meta();
      if (comparator_->Compare(meta.smallest, key) <= 0 &&
          comparator_->Compare(key, meta.largest) <= 0) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  const Comparator* comparator_ = rocksdb::BytewiseComparator();
  std::vector<TableRef> tables_;
  std::unique_ptr<TableFinder> finder_;
};

TEST_F(TableFinderTest, NoTables) {
  Level({});
  EXPECT_EQ(finder_->Find(""), -1);
  EXPECT_EQ(finder_->Find("a"), -1);
}

TEST_F(TableFinderTest, WhereEightBytesAreEqual) {
  Level({{"prefix-12345678a", "prefix-12345678c"},
         {"prefix-12345678d", "prefix-12345678dd"},
         {"prefix-12345678e", "prefix-2"},
         {"prefix-3", "q"}});
  EXPECT_EQ(finder_->Find("prefix-12345678"), -1);
  EXPECT_EQ(finder_->Find("prefix-12345678a"), 0);
  EXPECT_EQ(finder_->Find("prefix-12345678c"), 0);
  EXPECT_EQ(finder_->Find("prefix-12345678cc"), -1);
  EXPECT_EQ(finder_->Find("prefix-12345678d"), 1);
  EXPECT_EQ(finder_->Find("prefix-12345678de"), -1);
  EXPECT_EQ(finder_->Find("prefix-12345678zzz"), 2);
  EXPECT_EQ(finder_->Find("prefix-2"), 2);
  EXPECT_EQ(finder_->Find(std::string("prefix-2\0", 9)), -1);
  EXPECT_EQ(finder_->Find("prefix-9"), 3);
  EXPECT_EQ(finder_->Find("q"), 3);
  EXPECT_EQ(finder_->Find("qq"), -1);
  EXPECT_EQ(finder_->Find("a"), -1);
  EXPECT_EQ(finder_->Find(""), -1);
}

TEST_F(TableFinderTest, AgreesWithComparing) {
  Random rnd(11);
  const auto key = [&](uint64_t alphabet, size_t most) {
    std::string k;
    for (size_t n = rnd.Uniform(most + 1); n > 0; --n) {
      k.push_back(static_cast<char>(rnd.Uniform(alphabet) * (255 / (alphabet - 1))));
    }
    return k;
  };
  for (const Comparator* comparator :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    comparator_ = comparator;
    for (int round = 0; round < 300; ++round) {
      const std::string shared = rnd.OneIn(2) ? key(3, 12) : "";
      const auto less = [&](const std::string& a, const std::string& b) {
        return comparator->Compare(a, b) < 0;
      };
      std::set<std::string, decltype(less)> keys(less);
      const size_t tables = 1 + rnd.Uniform(20);
      while (keys.size() < 2 * tables) keys.insert(shared + key(2 + rnd.Uniform(3), 12));
      std::vector<std::pair<std::string, std::string>> bounds;
      for (auto k = keys.begin(); k != keys.end(); std::advance(k, 2)) {
        bounds.emplace_back(*k, rnd.OneIn(4) ? *k : *std::next(k));
      }
      Level(bounds);
      for (const std::string& k : keys) ASSERT_EQ(finder_->Find(k), Expected(k));
      for (int i = 0; i < 100; ++i) {
        const std::string k = (rnd.OneIn(8) ? "" : shared) + key(3, 14);
        ASSERT_EQ(finder_->Find(k), Expected(k)) << Slice(k).ToString(true);
      }
    }
  }
}

}  // namespace
}  // namespace compassdb
