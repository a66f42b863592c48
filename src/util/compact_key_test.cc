// SPDX-License-Identifier: Apache-2.0
#include "util/compact_key.h"

#include <gtest/gtest.h>

#include <string>

namespace compassdb {
namespace {

using rocksdb::Slice;

TEST(CompactKeyTest, AnEmptyOneHasAnAddress) {
  const CompactKey a;
  EXPECT_NE(rocksdb::Slice(a).data(), nullptr);
  EXPECT_EQ(a, CompactKey());
}

TEST(CompactKeyTest, CopiesAreIndependent) {
  CompactKey a;
  EXPECT_TRUE(Slice(a).empty());
  EXPECT_EQ(a.MemoryBytes(), 0u);
  a = Slice("a\0b", 3);
  CompactKey b(a), c;
  c = a;
  a = Slice(a);  // of its own bytes
  EXPECT_TRUE(a == b && b == c && a == Slice("a\0b", 3));
  a = Slice(std::string(100, 'x'));
  EXPECT_EQ(Slice(a).ToString(), std::string(100, 'x'));
  EXPECT_FALSE(a == b);
  EXPECT_GE(a.MemoryBytes(), 100u);
  CompactKey d(std::move(a));
  EXPECT_EQ(Slice(d).size(), 100u);
  d = std::move(b);
  EXPECT_TRUE(d == c);
  d = Slice();
  EXPECT_TRUE(Slice(d).empty());
}

}  // namespace
}  // namespace compassdb
