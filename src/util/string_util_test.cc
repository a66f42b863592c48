// SPDX-License-Identifier: Apache-2.0
#include "util/string_util.h"

#include <gtest/gtest.h>

#include "util/random.h"

namespace compassdb {
namespace {

TEST(StringUtil, JsonStrings) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(JsonString(std::string("\n\0x", 3)), "\"\\u000a\\u0000x\"");
}

TEST(StringUtil, HexRoundTripAndRejects) {
  Random random(1);
  const std::string data = random.Bytes(300);
  std::string back;
  ASSERT_TRUE(HexDecode(HexEncode(data), &back));
  EXPECT_EQ(back, data);
  EXPECT_EQ(HexEncode("\x01\xab"), "01AB");
  ASSERT_TRUE(HexDecode("01ab", &back));
  EXPECT_EQ(back, "\x01\xab");
  EXPECT_FALSE(HexDecode("123", &back));
  EXPECT_FALSE(HexDecode("1g", &back));
}

TEST(StringUtil, EscapedKeysArePrintableAndBounded) {
  EXPECT_EQ(EscapeKey("user7"), "'user7'");
  EXPECT_EQ(EscapeKey(Slice("a\0\n\\", 4)), "'a\\x00\\x0A\\x5C'");
  EXPECT_EQ(EscapeKey(std::string(100, 'k'), 3), "'kkk'... (100 bytes)");
}

TEST(StringUtil, IsNumber) {
  for (const char* yes : {"0", "12", "-12"}) EXPECT_TRUE(IsNumber(yes, false)) << yes;
  for (const char* no : {"", "-", "+1", "--1", " 1", "1.5"}) EXPECT_FALSE(IsNumber(no, false)) << no;
  for (const char* yes : {"12", "1.5", "-.5", ".5", "5."}) EXPECT_TRUE(IsNumber(yes, true)) << yes;
  for (const char* no : {"", ".", "-.", ".-5", "1.2.3"}) EXPECT_FALSE(IsNumber(no, true)) << no;
}

TEST(StringUtil, ConsumeDecimal) {
  uint64_t v;
  Slice in("18446744073709551615x");
  ASSERT_TRUE(ConsumeDecimal(&in, &v));
  EXPECT_EQ(v, UINT64_MAX);
  EXPECT_EQ(in, "x");
  EXPECT_FALSE(ConsumeDecimal(&in, &v));
  in = "18446744073709551616";
  EXPECT_FALSE(ConsumeDecimal(&in, &v));
  in = "-1";
  EXPECT_FALSE(ConsumeDecimal(&in, &v));
}

TEST(StringUtil, TrimSplitHumanBytes) {
  EXPECT_EQ(Trim(" \ta b\n"), "a b");
  EXPECT_EQ(Trim("  "), "");
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(HumanBytes(1536), "1.50 KB");
  EXPECT_EQ(HumanBytes(12), "12 B");
}

}  // namespace
}  // namespace compassdb
