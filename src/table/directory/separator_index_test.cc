// SPDX-License-Identifier: Apache-2.0
#include "table/directory/separator_index.h"

#include <cmath>

#include "table/directory/separator_builder.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

struct TestBlock {
  std::string first, last;
  uint64_t length = 0;
};

class SeparatorTest : public ::testing::Test {
 protected:
  // Blocks of `per_block` keys each, of the sorted and distinct `keys`.
  void MakeBlocks(std::vector<std::string> keys, size_t per_block) {
    std::sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
      return order_.Compare(a, b) < 0;
    });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    keys_ = std::move(keys);
    block_of_.clear();
    blocks_.clear();
    for (size_t i = 0; i < keys_.size(); i += per_block) {
      const size_t end = std::min(keys_.size(), i + per_block);
      for (size_t k = i; k < end; ++k) block_of_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.push_back({keys_[i], keys_[end - 1], 4000 + rnd_.Uniform(100)});
    }
  }

  void Build() {
    SeparatorBuilder builder(order_);
    data_bytes_ = 0;
    for (const TestBlock& b : blocks_) {
      builder.Add(b.first, b.last, b.length);
      data_bytes_ += b.length;
    }
    ASSERT_TRUE(builder.Finish(&bytes_));
    ASSERT_OK(SeparatorIndex::Parse(bytes_, order_, blocks_.size(), data_bytes_, "test", &index_));
  }

  // Every key is in its block; keys between are in the block before or behind; offsets are exact.
  void Check() {
    Build();
    uint64_t offset = 0;
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      ASSERT_EQ(index_.BlockOffset(b), offset);
      ASSERT_EQ(index_.BlockLength(b), blocks_[b].length);
      offset += blocks_[b].length;
      const bool continues = b + 1 < blocks_.size() && blocks_[b].last == blocks_[b + 1].first;
      ASSERT_EQ(index_.KeyContinues(b), continues) << b;
    }
    ASSERT_EQ(index_.BlockOffset(index_.num_blocks()), offset);
    for (size_t i = 0; i < keys_.size(); ++i) {
      ASSERT_EQ(index_.LowerBound(order_, keys_[i]), block_of_[i]) << Slice(keys_[i]).ToString(true);
      CheckAbsent(keys_[i] + '\0');
      CheckAbsent(keys_[i] + "\xff\xff");
      CheckAbsent(keys_[i].substr(0, keys_[i].size() / 2));
      std::string other = keys_[i];
      if (!other.empty()) other[rnd_.Uniform(other.size())] = static_cast<char>(rnd_.Next());
      CheckAbsent(other);
    }
    CheckAbsent("");
    CheckAbsent(std::string(40, '\xff'));
  }

  // A seek finds the block of the next key, or to the one right before it.
  void CheckAbsent(const std::string& key) {
    const auto next = std::lower_bound(
        keys_.begin(), keys_.end(), key,
        [&](const std::string& a, const std::string& b) { return order_.Compare(a, b) < 0; });
    const uint32_t block = index_.LowerBound(order_, key);
    const uint32_t right = next == keys_.end() ? static_cast<uint32_t>(blocks_.size())
                                               : block_of_[next - keys_.begin()];
    ++seeks_;
    if (block == right) return;
    ++early_;
    ASSERT_EQ(block + 1, right) << Slice(key).ToString(true);
    ASSERT_TRUE(next == keys_.begin() || block_of_[next - keys_.begin() - 1] == block);
  }

  double BitsPerBlock() const {
    return 8.0 * static_cast<double>(bytes_.size()) / static_cast<double>(blocks_.size());
  }

  Random rnd_{17};
  KeyOrder order_;
  std::vector<std::string> keys_;
  std::vector<uint32_t> block_of_;
  std::vector<TestBlock> blocks_;
  uint64_t data_bytes_ = 0;
  std::string bytes_;
  SeparatorIndex index_;
  int seeks_ = 0, early_ = 0;
};

std::string Decimal(uint64_t n) {
  char buffer[32];
  snprintf(buffer, sizeof(buffer), "%020llu", static_cast<unsigned long long>(n));
  return buffer;
}

std::vector<std::string> Decimals(Random* rnd, size_t n) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < n; ++i) keys.push_back(Decimal(rnd->Next()));
  return keys;
}

TEST_F(SeparatorTest, AnyNumberOfBlocks) {
  for (size_t n : {0, 1, 2, 3, 127, 128, 129, 255, 256, 257, 1000}) {
    for (size_t per_block : {1, 3}) {
      MakeBlocks(Decimals(&rnd_, n * per_block), per_block);
      Check();
    }
  }
}

TEST_F(SeparatorTest, EveryKindOfKey) {
  std::vector<std::vector<std::string>> sets(8);
  for (int i = 0; i < 3000; ++i) {
    sets[0].push_back(rnd_.Bytes(rnd_.Uniform(12)));
    sets[1].push_back(rnd_.Bytes(20));
    sets[2].push_back(std::string(rnd_.Uniform(5), 'a') + rnd_.Text(rnd_.Uniform(4)));
    sets[3].push_back("user" + std::to_string(rnd_.Uniform(100000)));  // of several lengths
    sets[4].push_back(std::string(i, 'x'));
    sets[5].push_back(std::string(static_cast<size_t>(i % 7), '\0') + std::string(i % 30, '\1'));
    // Clusters with long prefixes of their own.
    sets[6].push_back(rnd_.Text(1) + std::string(200, 'p') + Decimal(rnd_.Uniform(1000000)));
    sets[7].push_back(std::string(1, static_cast<char>(rnd_.Uniform(2) * 255)) +
                      std::string(30, '\xff') + rnd_.Bytes(3));
  }
  for (auto& set : sets) {
    for (size_t per_block : {1, 4, 26}) {
      MakeBlocks(set, per_block);
      Check();
    }
  }
}

TEST_F(SeparatorTest, OtherComparators) {
  static const LengthFirstComparator length_first;
  for (const Comparator* c :
       {rocksdb::ReverseBytewiseComparator(), static_cast<const Comparator*>(&length_first)}) {
    order_ = KeyOrder(c);
    for (size_t n : {1, 5, 128, 3000}) {
      MakeBlocks(Decimals(&rnd_, n), 2);
      Check();
      std::vector<std::string> keys;
      for (size_t i = 0; i < n; ++i) keys.push_back(rnd_.Bytes(rnd_.Uniform(9)));
      MakeBlocks(keys, 2);
      Check();
    }
    MakeBlocks(Decimals(&rnd_, 3000), 3);
    std::vector<std::string> clusters;
    for (int i = 0; i < 3000; ++i) {
      clusters.push_back(rnd_.Text(1) + std::string(50, 'p') + Decimal(rnd_.Next()));
    }
    MakeBlocks(clusters, 3);
    Check();
  }
}

TEST_F(SeparatorTest, KeysThatGoOnInTheNextBlock) {
  for (size_t n : {3, 128, 129, 600}) {
    MakeBlocks(Decimals(&rnd_, n * 3), 3);
    // Each key's first block is where it is found.
    for (size_t b = 0; b + 1 < blocks_.size(); ++b) {
      if (rnd_.Uniform(3) == 0) blocks_[b + 1].first = blocks_[b].last;
    }
    Check();
    // One key alone fills many blocks.
    for (size_t b = n / 3; b < n / 2; ++b) blocks_[b].first = blocks_[b].last = blocks_[n / 3].last;
    blocks_[n / 2].first = blocks_[n / 3].last;
    Build();
    for (size_t b = n / 3; b < n / 2; ++b) EXPECT_TRUE(index_.KeyContinues(static_cast<uint32_t>(b)));
    EXPECT_EQ(index_.LowerBound(order_, blocks_[n / 3].last),
              n / 2 > n / 3 ? n / 3 - (n / 3 > 0 && blocks_[n / 3 - 1].last == blocks_[n / 3].last)
                            : n / 3);
  }
}

TEST_F(SeparatorTest, BitsPerBlock) {
  // 20-byte keys of random digits, three to a block and blocks of one length.
  MakeBlocks(Decimals(&rnd_, 6000), 3);
  for (TestBlock& b : blocks_) b.length = 3132;
  Check();
  EXPECT_LT(BitsPerBlock(), 15.5);
  seeks_ = early_ = 0;
  for (int i = 0; i < 10000; ++i) CheckAbsent(Decimal(rnd_.Next()));
  EXPECT_LT(early_, seeks_ / 50);
  MakeBlocks(Decimals(&rnd_, 60000), 26);
  for (TestBlock& b : blocks_) b.length = 3132;
  Check();
  EXPECT_LT(BitsPerBlock(), 18);
  // Binary keys take no more than digits.
  std::vector<std::string> keys;
  for (int i = 0; i < 6000; ++i) keys.push_back(rnd_.Bytes(20));
  MakeBlocks(keys, 3);
  for (TestBlock& b : blocks_) b.length = 3132;
  Check();
  EXPECT_LT(BitsPerBlock(), 15.5);
  // Dense keys.
  keys.clear();
  for (uint64_t i = 0; i < 20000; ++i) keys.push_back(Decimal(5000000 + i));
  MakeBlocks(keys, 20);
  for (TestBlock& b : blocks_) b.length = 3132;
  Check();
  EXPECT_LT(BitsPerBlock(), 12);
  // Prefixes that groups share, longer than any number.
  keys.clear();
  for (int i = 0; i < 60000; ++i) {
    keys.push_back(Decimal(rnd_.Uniform(2)) + std::string(100, '-') + Decimal(rnd_.Next()));
  }
  MakeBlocks(keys, 10);
  for (TestBlock& b : blocks_) b.length = 3132;
  Check();
  EXPECT_LT(BitsPerBlock(), 60);
}

TEST_F(SeparatorTest, WideOffsets) {
  MakeBlocks(Decimals(&rnd_, 500), 1);
  for (TestBlock& b : blocks_) {
    b.length = rnd_.Uniform(10) == 0 ? (uint64_t{1} << 33) + rnd_.Uniform(1000) : 1 + rnd_.Uniform(9);
  }
  Check();
}

TEST_F(SeparatorTest, TruncationIsCorruption) {
  MakeBlocks(Decimals(&rnd_, 900), 3);
  Build();
  for (size_t cut = 0; cut < bytes_.size(); ++cut) {
    SeparatorIndex index;
    EXPECT_TRUE(SeparatorIndex::Parse(Slice(bytes_.data(), cut), order_, blocks_.size(),
                                      data_bytes_, "test", &index)
                    .IsCorruption());
  }
  SeparatorIndex index;
  EXPECT_FALSE(
      SeparatorIndex::Parse(bytes_ + "x", order_, blocks_.size(), data_bytes_, "test", &index).ok());
  EXPECT_FALSE(SeparatorIndex::Parse(bytes_, KeyOrder(rocksdb::ReverseBytewiseComparator()),
                                     blocks_.size(), data_bytes_, "test", &index)
                   .ok());
  EXPECT_FALSE(
      SeparatorIndex::Parse(bytes_, order_, blocks_.size() + 128, data_bytes_, "test", &index).ok());
}

TEST_F(SeparatorTest, DamagedBytesStayInBounds) {
  static const LengthFirstComparator length_first;
  for (const Comparator* c : {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator(),
                              static_cast<const Comparator*>(&length_first)}) {
    order_ = KeyOrder(c);
    std::vector<std::string> keys = Decimals(&rnd_, 1000);
    for (int i = 0; i < 300; ++i) keys.push_back("7" + std::string(60, 'q') + rnd_.Text(2));
    MakeBlocks(keys, 3);
    Build();
    int opened = 0;
    for (int round = 0; round < 4000; ++round) {
      std::string bad = bytes_;
      for (uint64_t i = 0; i <= rnd_.Uniform(3); ++i) {
        bad[rnd_.Uniform(bad.size())] = static_cast<char>(rnd_.Next());
      }
      // On the heap and no longer than it is, so that a sanitizer sees every step outside.
      const std::vector<char> exact(bad.begin(), bad.end());
      SeparatorIndex index;
      if (!SeparatorIndex::Parse(Slice(exact.data(), exact.size()), order_, blocks_.size(),
                                 data_bytes_, "test", &index)
               .ok()) {
        continue;
      }
      ++opened;
      for (int i = 0; i < 20; ++i) {
        const uint32_t b = index.LowerBound(order_, keys_[rnd_.Uniform(keys_.size())]);
        ASSERT_LE(b, blocks_.size());
        ASSERT_LE(index.BlockOffset(b), data_bytes_);
        if (b == blocks_.size()) continue;
        ASSERT_LE(index.BlockLength(b), data_bytes_ - index.BlockOffset(b));
        index.KeyContinues(b);
      }
    }
    EXPECT_GT(opened, 1000);
  }
}

TEST(KeyNumberTest, Monotone) {
  Random rnd(5);
  for (int round = 0; round < 300; ++round) {
    uint8_t low = static_cast<uint8_t>(rnd.Next()), high = static_cast<uint8_t>(rnd.Next());
    if (round % 3 == 0) low = '0', high = '9';
    if (round % 3 == 1) low = 0, high = 255;
    if (low > high) std::swap(low, high);
    KeyAlphabet alphabet{.low = low, .high = high};
    if (high - low >= 2 && high - low < 128 && rnd.Uniform(2) == 0) {
      alphabet.hole = static_cast<uint8_t>(low + 1 + rnd.Uniform(high - low - 1u));
      alphabet.hole_length = static_cast<uint8_t>(1 + rnd.Uniform(high - alphabet.hole));
    }
    ASSERT_TRUE(alphabet.Valid());
    const uint32_t most = KeyNumbering::MaxSymbols(alphabet);
    const auto symbols = static_cast<uint8_t>(1 + rnd.Uniform(most));
    const KeyNumbering up(alphabet, symbols, false), down(alphabet, symbols, true);
    std::vector<std::string> keys;
    for (int i = 0; i < 300; ++i) {
      std::string key;
      for (uint64_t n = rnd.Uniform(24); n > 0; --n) {
        const bool any = rnd.Uniform(30) == 0;
        key.push_back(static_cast<char>(any ? rnd.Next() : low + rnd.Uniform(high - low + 1u)));
      }
      keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end(),
              [](const std::string& a, const std::string& b) { return Slice(a).compare(b) < 0; });
    for (size_t i = 1; i < keys.size(); ++i) {
      ASSERT_LE(up(keys[i - 1].data(), keys[i - 1].size()), up(keys[i].data(), keys[i].size()));
      ASSERT_GE(down(keys[i - 1].data(), keys[i - 1].size()), down(keys[i].data(), keys[i].size()));
    }
  }
}

TEST(KeyNumberTest, Alphabets) {
  const KeyAlphabet decimal{.low = '0', .high = '9'};
  const KeyAlphabet hexadecimal{.low = '0', .high = 'f', .hole = '9' + 1, .hole_length = 'a' - '9' - 1};
  EXPECT_EQ(KeyNumbering::MaxSymbols(decimal), 19u);
  EXPECT_EQ(KeyNumbering::MaxSymbols(hexadecimal), 16u);
  EXPECT_EQ(KeyNumbering::MaxSymbols({}), 8u);
  EXPECT_EQ(KeyNumbering::MaxSymbols({.low = 'a', .high = 'a'}), 64u);
  const KeyNumbering digits(decimal, 19, false);
  EXPECT_EQ(digits("1234567890123456789", 19), 1234567890123456789u);
  EXPECT_EQ(digits("12345678", 8), 1234567800000000000u);
  EXPECT_EQ(digits("12x", 3), 1299999999999999999u);
  EXPECT_EQ(digits("12345678 0123456789", 19), 1234567800000000000u);
  const KeyNumbering hex(hexadecimal, 16, false);
  EXPECT_EQ(hex("0123456789abcdef", 16), 0x0123456789abcdefu);
  EXPECT_EQ(hex("fedcba98", 8), 0xfedcba9800000000u);
  EXPECT_EQ(hex("12G45678", 8), 0x12a0000000000000u);
  EXPECT_EQ(hex("12g", 3), 0x12ffffffffffffffu);
  for (const KeyAlphabet& bad : {KeyAlphabet{.low = 2, .high = 1},
                                 KeyAlphabet{.low = 0, .high = 200, .hole = 5, .hole_length = 1},
                                 KeyAlphabet{.low = 5, .high = 9, .hole = 5, .hole_length = 1},
                                 KeyAlphabet{.low = 5, .high = 9, .hole = 7, .hole_length = 3},
                                 KeyAlphabet{.low = 5, .high = 9, .hole = 7, .hole_length = 0}}) {
    EXPECT_FALSE(bad.Valid());
  }
}

TEST_F(SeparatorTest, SectionsMustFitThePieceAndTheComparator) {
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("key" + std::to_string(100 + i));
  MakeBlocks(keys, 10);
  Build();
  const auto parse = [&](const Slice& bytes, uint64_t blocks, uint64_t data_bytes) {
    SeparatorIndex index;
    return SeparatorIndex::Parse(bytes, order_, blocks, data_bytes, "test", &index).ToString();
  };
  EXPECT_EQ(parse(bytes_, 10, data_bytes_), "OK");
  const std::string header = "Corruption: test: separators: malformed header";
  EXPECT_EQ(parse(Slice(bytes_.data(), kSeparatorHeaderBytes - 1), 10, data_bytes_), header);
  EXPECT_EQ(parse(bytes_, UINT32_MAX, data_bytes_), header);
  EXPECT_EQ(parse(bytes_, 10, uint64_t{1} << 47), header);
  EXPECT_EQ(parse(bytes_, 1000, data_bytes_), "Corruption: test: separators: the parts do not fill the section");
  EXPECT_EQ(parse(bytes_ + "x", 10, data_bytes_), "Corruption: test: separators: the parts do not fill the section");
  std::string bad = bytes_;
  bad[0] = 3;
  EXPECT_EQ(parse(bad, 10, data_bytes_), "Corruption: test: separators: malformed numbering");
  bad[0] = static_cast<char>(SeparatorKind::kDescending);
  EXPECT_EQ(parse(bad, 10, data_bytes_), "Corruption: test: separators: not those of the comparator");
  // With other comparators each block has its string.
  LengthFirstComparator length_first;
  order_ = KeyOrder(&length_first);
  MakeBlocks(keys, 10);
  Build();
  EXPECT_EQ(parse(bytes_, 10, data_bytes_), "OK");
  EXPECT_EQ(parse(bytes_, 9, data_bytes_), "Corruption: test: separators: not those of the comparator");
}

}  // namespace
}  // namespace compassdb
