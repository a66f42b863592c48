// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "rocksdb/later_option.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ByteLimit;
using rocksdb::DBOptions;

// Of 20,000 options of random bytes, those that read as something else than `unset`.
template <class Option, class Value>
int CountRead(const Value& unset) {
  Random random(3);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = random.Bytes(sizeof(Option));
    Option option;
    std::memcpy(static_cast<void*>(&option), bytes.data(), bytes.size());
    read += option != unset;
  }
  return read;
}

TEST(ByteLimit, KeepsWholePages) {
  EXPECT_EQ(0u, ByteLimit());
  EXPECT_EQ(0u, ByteLimit(0));
  EXPECT_EQ(4096u, ByteLimit(1));
  for (uint64_t bytes : {uint64_t{128} << 10, uint64_t{3} << 30, (uint64_t{1} << 44) - 4096}) {
    EXPECT_EQ(bytes, ByteLimit(bytes));
  }
}

// A DBOptions copied by a program that does not know the member has anything there.
TEST(ByteLimit, WhatWasNotWrittenReadsAsNone) {
  EXPECT_LE(CountRead<ByteLimit>(uint64_t{0}), 5);  // one in 65,536
  for (int byte : {0x00, 0x20, 0x55, 0x7f, 0xff}) {
    ByteLimit limit;
    std::memset(static_cast<void*>(&limit), byte, sizeof(limit));
    EXPECT_EQ(0u, limit) << byte;
  }
}

TEST(ByteLimit, FitsTheEndOfDbOptions) {
  EXPECT_EQ(6u, sizeof(ByteLimit));
  EXPECT_EQ(656u, sizeof(DBOptions));
  EXPECT_EQ(1424u, sizeof(rocksdb::Options));
}

template <class Option>
void ReadsWhatWasWritten(std::initializer_list<typename Option::Value> values) {
  const typename Option::Value initial = Option();
  for (const auto value : values) {
    EXPECT_EQ(value, Option(value));
    Option copy;
    copy = value;
    EXPECT_EQ(value, copy);
  }
  EXPECT_LE(CountRead<Option>(initial), 5);
  for (int byte = 0; byte < 256; ++byte) {
    Option option;
    std::memset(static_cast<void*>(&option), byte, sizeof(option));
    EXPECT_EQ(initial, option) << byte;
  }
}

TEST(LaterOption, ReadsWhatWasWritten) {
  ReadsWhatWasWritten<LaterOption<bool, false>>({false, true});
  ReadsWhatWasWritten<LaterOption<bool, true>>({false, true});
  ReadsWhatWasWritten<LaterOption<uint32_t, 0>>({0, 1, 255, 256, 1u << 31, UINT32_MAX});
  ReadsWhatWasWritten<decltype(rocksdb::BlockBasedTableOptions::index_block_search_type)>(
      {rocksdb::BlockBasedTableOptions::kBinary, rocksdb::BlockBasedTableOptions::kAuto});
}

TEST(LaterOption, StructsKeepTheirSizes) {
  EXPECT_EQ(264u, sizeof(rocksdb::BlockBasedTableOptions));
  EXPECT_EQ(144u, sizeof(rocksdb::ReadOptions));
  EXPECT_EQ(488u, sizeof(rocksdb::AdvancedColumnFamilyOptions));
}

}  // namespace
}  // namespace compassdb
