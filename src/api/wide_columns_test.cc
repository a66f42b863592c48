// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/wide_columns.h"

#include <gtest/gtest.h>

#include <sstream>

#include "api/wide_column_codec.h"
#include "util/coding.h"

namespace compassdb {
namespace {

using rocksdb::PinnableWideColumns;
using rocksdb::Slice;
using rocksdb::WideColumn;
using rocksdb::WideColumns;

TEST(WideColumnsTest, RoundTripSortsByName) {
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns({{"b", "2"}, {"", "plain"}, {"a", ""}}, &stored).ok());
  WideColumns columns;
  ASSERT_TRUE(DecodeWideColumns(stored, &columns).ok());
  EXPECT_EQ((WideColumns{{"", "plain"}, {"a", ""}, {"b", "2"}}), columns);
  Slice value;
  ASSERT_TRUE(DefaultWideColumn(stored, &value).ok());
  EXPECT_EQ("plain", value.ToString());
}

TEST(WideColumnsTest, NamesMustDiffer) {
  std::string stored = "before";
  EXPECT_TRUE(EncodeWideColumns({{"a", "1"}, {"a", "2"}}, &stored).IsCorruption());
  EXPECT_EQ("before", stored);
}

TEST(WideColumnsTest, EveryTruncationIsNoticed) {
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns({{"a", "1"}, {"bc", "23"}}, &stored).ok());
  for (size_t n = 0; n < stored.size(); ++n) {
    WideColumns columns;
    EXPECT_TRUE(DecodeWideColumns(Slice(stored.data(), n), &columns).IsCorruption()) << n;
    EXPECT_TRUE(columns.empty());
  }
  WideColumns columns;
  EXPECT_TRUE(DecodeWideColumns(stored + "x", &columns).IsCorruption());
}

TEST(WideColumnsTest, HugeCountsAndLaterVersionsAreRefused) {
  std::string stored;
  PutVarint32(&stored, kWideColumnsVersion);
  PutVarint32(&stored, UINT32_MAX);
  WideColumns columns;
  EXPECT_TRUE(DecodeWideColumns(stored, &columns).IsCorruption());
  stored.clear();
  PutVarint32(&stored, kWideColumnsVersion + 1);
  EXPECT_TRUE(DecodeWideColumns(stored, &columns).IsNotSupported());
}

TEST(WideColumnsTest, PinnableOnesSurviveAMove) {
  std::string stored;
  ASSERT_TRUE(EncodeWideColumns({{"a", "1"}}, &stored).ok());
  PinnableWideColumns a;
  ASSERT_TRUE(a.SetWideColumnValue(stored).ok());
  const PinnableWideColumns b(std::move(a));
  stored.assign(stored.size(), 'x');
  EXPECT_EQ((WideColumns{{"a", "1"}}), b.columns());
  PinnableWideColumns c;
  c.SetPlainValue("v");
  EXPECT_EQ((WideColumns{{rocksdb::kDefaultWideColumnName, "v"}}), c.columns());
  std::ostringstream text;
  text << b.columns().front() << ' ' << std::hex << b.columns().front();
  EXPECT_EQ("a:1 61:31", text.str());
}

}  // namespace
}  // namespace compassdb
