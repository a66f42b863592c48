// SPDX-License-Identifier: Apache-2.0
#include "value_store/place_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/coding.h"
#include "util/random.h"
#include "value_store/value_format.h"

namespace compassdb {
namespace {

struct Value {
  uint64_t number;
  uint32_t size;
};

// docs/formats/value_run.md, written a second time.
std::string SectionOf(const std::vector<Value>& values) {
  std::string samples, entries, section;
  uint32_t offset = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % 32 == 0) {
      PutFixed64(&samples, values[i].number);
      PutFixed32(&samples, offset);
      PutFixed32(&samples, static_cast<uint32_t>(entries.size()));
    } else {
      PutVarint64(&entries, values[i].number - values[i - 1].number);
    }
    PutVarint32(&entries, values[i].size);
    offset += values[i].size;
  }
  PutFixed32(&section, static_cast<uint32_t>(values.size()));
  PutFixed32(&section, static_cast<uint32_t>((values.size() + 31) / 32));
  return section + samples + entries;
}

uint64_t BytesOf(const std::vector<Value>& values) {
  uint64_t bytes = 0;
  for (const Value& v : values) bytes += v.size;
  return bytes;
}

std::unique_ptr<PlaceIndex> Make(const std::vector<Value>& values) {
  return PlaceIndex::Make(SectionOf(values), values.size(), BytesOf(values));
}

void ExpectAll(const std::vector<Value>& values) {
  const auto index = Make(values);
  ASSERT_NE(index, nullptr);
  uint32_t offset = 0;
  ValuePlace place;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(index->Find(values[i].number, &place)) << i;
    ASSERT_EQ(place.offset, offset) << i;
    ASSERT_EQ(place.size, values[i].size) << i;
    offset += values[i].size;
    for (const uint64_t near : {values[i].number - 1, values[i].number + 1}) {
      bool listed = false;
      for (size_t j = i == 0 ? 0 : i - 1; j < std::min(i + 2, values.size()); ++j) listed |= values[j].number == near;
      if (listed) continue;
      ASSERT_FALSE(index->Find(near, &place)) << i;
    }
  }
  EXPECT_FALSE(index->Find(0, &place));
  EXPECT_FALSE(index->Find(UINT64_MAX, &place));
}

// `spread`: of sizes around a thousand.
std::vector<Value> Some(uint64_t seed, size_t n, uint32_t spread) {
  Random random(seed);
  std::vector<Value> values;
  uint64_t number = uint64_t{1} << 20;
  for (size_t i = 0; i < n; ++i) {
    number += random.Uniform(50) == 0 ? (uint64_t{1} << 20) : 1 + random.Uniform(100);
    values.push_back({number, 1000 + static_cast<uint32_t>(spread == 0 ? 0 : random.Uniform(spread))});
  }
  return values;
}

TEST(PlaceIndexTest, FindsEachValueAndNothingElse) {
  for (const size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 128, 1000}) {
    for (const uint32_t spread : {0, 2, 300, 100000}) ExpectAll(Some(n + spread, n, spread));
  }
  ExpectAll({{5, 0}, {6, 0}, {9, 0}});
  ExpectAll({{1, 7}, {UINT64_MAX - 1, UINT32_MAX - 7}});
}

TEST(PlaceIndexTest, OfNoValues) {
  const auto index = Make({});
  ASSERT_NE(index, nullptr);
  ValuePlace place;
  EXPECT_FALSE(index->Find(0, &place));
}

TEST(PlaceIndexTest, ValuesOfOneSizeTakeLittle) {
  EXPECT_LT(Make(Some(1, 1000, 0))->MemoryBytes(), 1600u);
  EXPECT_LT(Make(Some(1, 1000, 300))->MemoryBytes(), 2800u);
}

TEST(PlaceIndexTest, WhatIsMalformedIsRefused) {
  const std::vector<Value> values = Some(3, 100, 300);
  const std::string section = SectionOf(values);
  const uint64_t bytes = BytesOf(values);
  ASSERT_NE(PlaceIndex::Make(section, 100, bytes), nullptr);
  EXPECT_EQ(PlaceIndex::Make(section, 99, bytes), nullptr);
  EXPECT_EQ(PlaceIndex::Make(section, uint64_t{1} << 60, bytes), nullptr);
  EXPECT_EQ(PlaceIndex::Make(section, 100, bytes - 1), nullptr);
  EXPECT_EQ(PlaceIndex::Make(section + "x", 100, bytes), nullptr);
  for (size_t n = 0; n < section.size(); ++n) EXPECT_EQ(PlaceIndex::Make({section.data(), n}, 100, bytes), nullptr) << n;
  EXPECT_EQ(Make({{7, 1}, {7, 1}}), nullptr);          // not ascending
  EXPECT_EQ(Make({{7, 1}, {6, 1}}), nullptr);
  std::vector<Value> again = Some(4, 64, 0);
  again[32].number = again[31].number;                  // nor over samples
  EXPECT_EQ(Make(again), nullptr);
}

TEST(PlaceIndexTest, FlippedBitsAreRefusedOrStayInBounds) {
  const std::vector<Value> values = Some(5, 70, 300);
  std::string section = SectionOf(values);
  const uint64_t bytes = BytesOf(values);
  for (size_t bit = 0; bit < section.size() * 8; ++bit) {
    section[bit / 8] = static_cast<char>(section[bit / 8] ^ (1 << bit % 8));
    if (const auto index = PlaceIndex::Make(section, values.size(), bytes)) {
      for (const Value& v : values) {
        ValuePlace place;
        if (index->Find(v.number, &place)) {
          ASSERT_LE(uint64_t{place.offset} + place.size, bytes);
        }
      }
    }
    section[bit / 8] = static_cast<char>(section[bit / 8] ^ (1 << bit % 8));
  }
}

}  // namespace
}  // namespace compassdb
