// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "filter/filter_bits.h"
#include "filter/filter_format.h"
#include "filter/filter_hash.h"
#include "filter/prefix_seek.h"
#include "filter/table_filter.h"

namespace compassdb {
namespace {

using rocksdb::NewFixedPrefixTransform;
using rocksdb::Slice;

std::string Text(size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text.push_back(static_cast<char>(i * 7 + i / 256 * 13 + 1));
  return text;
}

std::string Key(int i) { return "key" + std::to_string(i * 3); }

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(bool ribbon, double bits) {
  const int millibits = FilterMilliBits(bits);
  return ribbon ? NewRibbonBuilder(millibits) : NewBloomBuilder(millibits);
}

std::string Build(bool ribbon, double bits, int keys) {
  const auto builder = NewBuilder(ribbon, bits);
  for (int i = 0; i < keys; ++i) builder->AddKey(Key(i));
  return builder->Finish();
}

// RocksDB's of the same bytes.
TEST(FilterHash, IsRocksDBs) {
  struct {
    size_t length;
    uint64_t hash;
  } const kKnown[] = {
      {0, 0x5342c3010fe1dd04}, {1, 0xc913a720a2324df4},
      {2, 0xfdb0c4f27e682b9b}, {3, 0x5d73c7a7b4703d20},
      {4, 0x3eee4d8cec30fb56}, {5, 0x99531c1907034415},
      {7, 0xfa46ff257d719f40}, {8, 0x882407f43ae87754},
      {9, 0xcd415f9c1ec2613c}, {12, 0x3eb1ef380e50e0fa},
      {16, 0x2f728e2f7f07c6a}, {17, 0x8710c8e9df40291d},
      {32, 0xf106ac690239c126}, {33, 0xf6a645de996a064b},
      {64, 0x9e5633536a0269a3}, {65, 0x4b29810c26119dce},
      {96, 0xac740afb27a4b30d}, {97, 0xa02375bf80d7a4f9},
      {128, 0xe0b92a580d50d4af}, {129, 0x6f66371667f6cbe},
      {143, 0xe1604bcdaf9c74d9}, {144, 0x4a3886e9495e5b13},
      {160, 0x723ce79184a73c70}, {239, 0xb56b68af4d44d24},
      {240, 0x3d0867033ff12990}, {241, 0x7c6880690dbdbc2c},
      {256, 0xa6858bb74ce1c630}, {1023, 0xac6749d2b7820f9d},
      {1024, 0xe01ba8138754d640}, {1025, 0xc18f226dc9e0067c},
      {1088, 0x6d93da23ec6823b0}, {2048, 0xf7f58a71e6510dd7},
      {2049, 0xf47580599b20b7b9}, {3000, 0x42f1d966e8d6ba42},
  };
  for (const auto& known : kKnown) {
    EXPECT_EQ(FilterHash(Text(known.length)), known.hash) << known.length;
  }
}

// Length and hash of the bytes that RocksDB 7.8.3 makes of the same keys.
TEST(Filter, BytesAreRocksDBs) {
  struct {
    bool ribbon;
    double bits;
    int keys;
    size_t length;
    uint64_t hash;
  } const kKnown[] = {
      {false, 1, 1, 69, 0xf783b5f55bf64099},
      {false, 1, 1502, 197, 0xdbf31560f535cbba},
      {false, 2.5, 260, 133, 0xc460dd9971b1758f},
      {false, 8, 3, 69, 0xe24aadddafbbb7cd},
      {false, 8, 200, 261, 0x6f9901c7869a1d47},
      {false, 8, 950, 965, 0x104c2a90c0bb14c8},
      {false, 8, 1502, 1541, 0xb2bbce4e3ead8960},
      {false, 10, 60, 133, 0x60733ab7cbb9a5a7},
      {false, 10, 600, 773, 0xb3879f61ab76e9a7},
      {false, 10, 40000, 50053, 0x172167754adf93d5},
      {false, 15.9, 5000, 9989, 0x51caa39072872fe7},
      {false, 23, 260, 773, 0x30336ed5da9e5f38},
      {false, 23, 1502, 4357, 0x1e53ee14c723ecb5},
      {false, 40, 950, 4805, 0xc7a00e684beedfe9},
      {false, 100, 1, 69, 0xe0f089d64a6b8b5d},
      {false, 100, 5000, 62533, 0x7a8a743f4edcecdc},
      {true, 1, 1, 37, 0x7066d9981126aca6},
      {true, 1, 1502, 165, 0x099226e8954daa1c},
      {true, 2.5, 260, 101, 0xa5325eb04f57203d},
      {true, 8, 3, 69, 0xe24aadddafbbb7cd},
      {true, 8, 200, 197, 0x8c0313a4f8573b10},
      {true, 8, 950, 725, 0xb44987216e9b964e},
      {true, 8, 1502, 1077, 0xd61143e592b8a730},
      {true, 10, 60, 133, 0x60733ab7cbb9a5a7},
      {true, 10, 600, 565, 0x0e64046d2b504ab7},
      {true, 10, 40000, 35061, 0x6d682aa5de4e7129},
      {true, 15.9, 5000, 6613, 0xdb7fa42d1bfc212d},
      {true, 23, 260, 709, 0x031650b0f3813145},
      {true, 23, 1502, 2741, 0x3abcf3945e9acc3b},
      {true, 40, 950, 2901, 0xaa0aa03dfd19f928},
      {true, 100, 1, 69, 0xe0f089d64a6b8b5d},
      {true, 100, 5000, 20485, 0xc3b2bf165e14e306},
  };
  for (const auto& known : kKnown) {
    const std::string bits = Build(known.ribbon, known.bits, known.keys);
    EXPECT_EQ(bits.size(), known.length) << known.ribbon << " " << known.bits << " " << known.keys;
    EXPECT_EQ(FilterHash(bits), known.hash) << known.ribbon << " " << known.bits << " " << known.keys;
  }
}

TEST(Filter, KeysThatWereAddedMatch) {
  for (const bool ribbon : {false, true}) {
    for (const double bits : {1.0, 8.0, 9.7, 30.0, 60.0, 100.0}) {
      for (const int keys : {1, 2, 77, 1000, 1024, 20000}) {
        const std::string filter = Build(ribbon, bits, keys);
        const auto reader = NewFilterReader(filter);
        for (int i = 0; i < keys; ++i) {
          ASSERT_TRUE(reader->MayMatch(Key(i))) << ribbon << " " << bits << " " << keys << " " << i;
        }
      }
    }
  }
}

// The counts that RocksDB's own C test knows its filters by.
TEST(Filter, FalsePositivesAreRocksDBs) {
  for (const auto& [ribbon, expected] : {std::pair(false, 188), std::pair(true, 226)}) {
    const auto builder = NewBuilder(ribbon, 8);
    char key[32];
    builder->AddKey("bar");
    builder->AddKey("foo");
    for (int i = 0; i < 1500; ++i) {
      snprintf(key, sizeof(key), "yes%020d", i);
      builder->AddKey(key);
    }
    const std::string filter = builder->Finish();
    const auto reader = NewFilterReader(filter);
    int hits = 0;
    for (int i = 0; i < 10000; ++i) {
      snprintf(key, sizeof(key), "no%020d", i);
      hits += reader->MayMatch(key) ? 1 : 0;
    }
    EXPECT_EQ(hits, expected);
  }
}

TEST(Filter, BitsPerKeyAreRounded) {
  EXPECT_EQ(FilterMilliBits(0.49), 0);
  EXPECT_EQ(FilterMilliBits(0.5), 1000);
  EXPECT_EQ(FilterMilliBits(9.7), 9700);
  EXPECT_EQ(FilterMilliBits(1000), 100000);
}

TEST(Filter, NoKeysMatchNothingUnknownBytesMatchAll) {
  EXPECT_EQ(NewBuilder(true, 10)->Finish(), "");
  EXPECT_FALSE(NewFilterReader("")->MayMatch("a"));
  EXPECT_TRUE(NewFilterReader("abc")->MayMatch("a"));
  std::string later = Build(false, 10, 100);
  later[later.size() - 4] = 1;  // another way to lay out the bits
  EXPECT_TRUE(NewFilterReader(later)->MayMatch("something else"));
}

// For any bytes, lookups stay in bounds.
TEST(Filter, DamagedAndCutBytesAreSafe) {
  for (const bool ribbon : {false, true}) {
    const std::string filter = Build(ribbon, 10, 700);
    for (size_t n = 0; n < filter.size(); n += 7) {
      const std::string cut = filter.substr(filter.size() - n);  // its trailer is whole
      const auto reader = NewFilterReader(cut);
      for (int i = 0; i < 50; ++i) reader->MayMatch(Key(i));
    }
    for (size_t byte = filter.size() - kFilterTrailer; byte < filter.size(); ++byte) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = filter;
        flipped[byte] = static_cast<char>(flipped[byte] ^ 1 << bit);
        const auto reader = NewFilterReader(flipped);
        for (int i = 0; i < 50; ++i) reader->MayMatch(Key(i));
      }
    }
  }
}

// --- the filter of a piece ---

FilterOptions BloomOptions(bool whole_keys, const rocksdb::SliceTransform* extractor) {
  FilterOptions options;
  options.new_bits = [](const FilterPlace&) { return NewBloomBuilder(20000); };
  options.whole_keys = whole_keys;
  options.prefix_extractor.reset(extractor);
  return options;
}

std::unique_ptr<const TableFilter> Open(const FilterOptions& options,
                                        const std::vector<std::string>& keys) {
  const auto builder = TableFilterBuilder::New(options, {});
  for (const std::string& key : keys) builder->Add(key);
  std::unique_ptr<const TableFilter> filter;
  EXPECT_TRUE(TableFilter::Parse(builder->Finish(), &filter));
  return filter;
}

TEST(TableFilter, HoldsKeysAndPrefixes) {
  const FilterOptions options = BloomOptions(true, NewFixedPrefixTransform(3));
  const auto filter = Open(options, {"a", "abc1", "abc2", "xyz"});
  const auto* const extractor = options.prefix_extractor.get();
  EXPECT_EQ(filter->AskKey("abc1", extractor), FilterAnswer::kPerhaps);
  EXPECT_EQ(filter->AskKey("a", nullptr), FilterAnswer::kPerhaps);
  EXPECT_EQ(filter->AskKey("abc3", extractor), FilterAnswer::kAbsent);
  ASSERT_TRUE(filter->HasPrefixesOf(extractor));
  EXPECT_TRUE(filter->MayHavePrefix("abc"));
  EXPECT_TRUE(filter->MayHavePrefix("xyz"));
  EXPECT_FALSE(filter->MayHavePrefix("abd"));
}

TEST(TableFilter, PrefixesAnswerForKeysWhereThereIsNothingElse) {
  const FilterOptions options = BloomOptions(false, NewFixedPrefixTransform(3));
  const auto filter = Open(options, {"a", "abc1"});
  const auto* const extractor = options.prefix_extractor.get();
  EXPECT_EQ(filter->AskKey("abc3", extractor), FilterAnswer::kPerhaps);
  EXPECT_EQ(filter->AskKey("abd", extractor), FilterAnswer::kAbsent);
  EXPECT_EQ(filter->AskKey("b", extractor), FilterAnswer::kNotAsked);  // outside of its domain
  EXPECT_EQ(filter->AskKey("abd", nullptr), FilterAnswer::kNotAsked);
}

TEST(TableFilter, AnotherExtractorsPrefixesAreNotAskedFor) {
  const FilterOptions options = BloomOptions(false, NewFixedPrefixTransform(3));
  const auto filter = Open(options, {"abc1"});
  const std::unique_ptr<const rocksdb::SliceTransform> other(NewFixedPrefixTransform(2));
  const std::unique_ptr<const rocksdb::SliceTransform> same(NewFixedPrefixTransform(3));
  EXPECT_FALSE(filter->HasPrefixesOf(other.get()));
  EXPECT_FALSE(filter->HasPrefixesOf(nullptr));
  EXPECT_TRUE(filter->HasPrefixesOf(same.get()));
  EXPECT_EQ(filter->AskKey("zzz", other.get()), FilterAnswer::kNotAsked);
  EXPECT_FALSE(Open(BloomOptions(true, nullptr), {"a"})->HasPrefixesOf(same.get()));
}

TEST(TableFilter, IsBuiltWhereItIsWanted) {
  FilterOptions options = BloomOptions(true, nullptr);
  options.not_at_bottom = true;
  EXPECT_EQ(TableFilterBuilder::New(options, {.level = 3, .bottommost = true}), nullptr);
  EXPECT_NE(TableFilterBuilder::New(options, {.level = 3}), nullptr);
  options.whole_keys = false;  // and no prefixes
  EXPECT_EQ(TableFilterBuilder::New(options, {}), nullptr);
  EXPECT_EQ(TableFilterBuilder::New(FilterOptions(), {}), nullptr);
}

TEST(TableFilter, RepeatedPrefixesAndKeysAreTakenOnce) {
  const auto size = [](const FilterOptions& options, int repeats) {
    const auto builder = TableFilterBuilder::New(options, {});
    for (int i = 0; i < 100 * repeats; ++i) builder->Add("p" + std::to_string(100 + i / repeats));
    return builder->Finish().size();
  };
  const FilterOptions options = BloomOptions(true, NewFixedPrefixTransform(1));
  EXPECT_EQ(size(options, 1), size(options, 5));
}

TEST(TableFilter, MalformedSectionsAreReported) {
  std::unique_ptr<const TableFilter> filter;
  EXPECT_FALSE(TableFilter::Parse("", &filter));
  EXPECT_FALSE(TableFilter::Parse(std::string("\x04\0", 2), &filter));     // an unknown flag
  EXPECT_FALSE(TableFilter::Parse(std::string("\x02\x05" "ab", 4), &filter));  // a name that is cut
  EXPECT_TRUE(TableFilter::Parse(std::string("\x01\0", 2), &filter));
}

// --- seeks for a prefix ---

PrefixSeek Automatic(size_t length) {
  PrefixSeek seek;
  seek.extractor.reset(NewFixedPrefixTransform(length));
  seek.automatic = true;
  return seek;
}

TEST(PrefixSeek, IsAutomaticWhereTheBoundStaysInThePrefix) {
  const auto active = [](const char* key, const char* bound) {
    PrefixSeek seek = Automatic(2);
    const Slice upper(bound == nullptr ? "" : bound);
    seek.Start(key, bound == nullptr ? nullptr : &upper, rocksdb::BytewiseComparator());
    return seek.active;
  };
  EXPECT_TRUE(active("ab1", "ab7"));
  EXPECT_TRUE(active("ab1", "ac"));   // right behind the prefix, and as long
  EXPECT_FALSE(active("ab1", "ac1"));
  EXPECT_FALSE(active("ab1", "ad"));
  EXPECT_FALSE(active("ab1", "b"));   // no prefix
  EXPECT_FALSE(active("ab1", nullptr));
  EXPECT_FALSE(active("a", "ab"));
}

TEST(PrefixSeek, KnowsKeysBehind) {
  PrefixSeek seek = Automatic(2);
  seek.automatic = false;
  seek.Start("ab", nullptr, rocksdb::BytewiseComparator());
  EXPECT_TRUE(seek.active);
  EXPECT_FALSE(seek.IsPast("ab9"));
  EXPECT_TRUE(seek.IsPast("ac"));
  EXPECT_TRUE(seek.IsPast("b"));
  const uint64_t number = seek.number;
  seek.Start("ab", nullptr, rocksdb::BytewiseComparator());
  EXPECT_NE(seek.number, number);
  seek.Stop();
  EXPECT_FALSE(seek.active);
}

}  // namespace
}  // namespace compassdb
