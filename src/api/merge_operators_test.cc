// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/merge_operators/built_in.h"
#include "rocksdb/config_options.h"
#include "util/coding.h"

namespace compassdb {
namespace {

using rocksdb::ConfigOptions;
using rocksdb::MergeOperator;
using rocksdb::Slice;

struct Folded {
  bool ok;
  std::string value;
  bool operator==(const Folded& other) const { return ok == other.ok && value == other.value; }
};

MergeOperatorPtr Make(const std::string& id) {
  MergeOperatorPtr made;
  EXPECT_TRUE(MergeOperator::CreateFromString(ConfigOptions(), id, &made).ok()) << id;
  return made;
}

Folded Full(const MergeOperator& op, const Slice* existing, const std::vector<Slice>& operands) {
  std::string value;
  Slice chosen(nullptr, 0);
  MergeOperator::MergeOperationOutput out(value, chosen);
  const bool ok = op.FullMergeV2(
      MergeOperator::MergeOperationInput("key", existing, operands, nullptr), &out);
  return {ok, chosen.data() != nullptr ? chosen.ToString() : value};
}

std::string Number(uint64_t n) {
  std::string s;
  PutFixed64(&s, n);
  return s;
}

TEST(MergeOperatorsTest, MadeByNameAndNickname) {
  const std::pair<const char*, const char*> names[] = {
      {"put", "PutOperator"},
      {"put_v1", "PutOperator"},
      {"uint64add", "UInt64AddOperator"},
      {"max", "MaxOperator"},
      {"bytesxor", "BytesXOR"},
      {"sortlist", "MergeSortOperator"},
      {"stringappend", "StringAppendOperator"},
      {"stringappendtest", "StringAppendTESTOperator"},
  };
  for (const auto& [nickname, name] : names) {
    EXPECT_STREQ(name, Make(nickname)->Name());
    EXPECT_STREQ(name, Make(name)->Name());
  }
  EXPECT_EQ(nullptr, Make(""));
  EXPECT_EQ(nullptr, Make("nullptr"));
  EXPECT_EQ(nullptr, Make("nope"));
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  MergeOperatorPtr op;
  EXPECT_TRUE(MergeOperator::CreateFromString(strict, "nope", &op).IsNotSupported());
  EXPECT_TRUE(MergeOperator::CreateFromString(strict, "id=put; delimiter=x", &op).IsNotFound());
}

TEST(MergeOperatorsTest, PutKeepsTheNewest) {
  const Slice existing = "old";
  EXPECT_EQ((Folded{true, "b"}), Full(*Make("put"), &existing, {"a", "b"}));
}

TEST(MergeOperatorsTest, AddCountsOtherLengthsAsZero) {
  const auto op = Make("uint64add");
  const std::string one = Number(1);
  const std::string most = Number(UINT64_MAX);
  const Slice existing = one;
  EXPECT_EQ((Folded{true, Number(3)}), Full(*op, &existing, {one, one}));
  EXPECT_EQ((Folded{true, Number(1)}), Full(*op, nullptr, {one}));
  EXPECT_EQ((Folded{true, Number(0)}), Full(*op, &existing, {most}));
  const Slice bad = "bad";
  EXPECT_EQ((Folded{true, Number(1)}), Full(*op, &bad, {one}));
}

TEST(MergeOperatorsTest, MaxIsBytewise) {
  const auto op = Make("max");
  const Slice existing = "b";
  EXPECT_EQ((Folded{true, "b"}), Full(*op, &existing, {"a", "aa"}));
  EXPECT_EQ((Folded{true, "c"}), Full(*op, &existing, {"c", "a"}));
  EXPECT_EQ((Folded{true, "aa"}), Full(*op, nullptr, {"a", "aa"}));
}

TEST(MergeOperatorsTest, XorFillsUpWithZeros) {
  const auto op = Make("bytesxor");
  const Slice existing("\x0f\xf0", 2);
  EXPECT_EQ((Folded{true, "\xf0\xf0"}), Full(*op, &existing, {Slice("\xff", 1)}));
  EXPECT_EQ((Folded{true, "a"}), Full(*op, nullptr, {"a"}));
}

TEST(MergeOperatorsTest, SortListMergesNumbers) {
  const auto op = Make("sortlist");
  const Slice existing = "1,3,10";
  EXPECT_EQ((Folded{true, "-5,1,2,3,7,10"}), Full(*op, &existing, {"2,7", "-5"}));
  EXPECT_EQ((Folded{true, ""}), Full(*op, nullptr, {""}));
  for (const char* bad : {"1,x", "1,", ",1", "1;2", "99999999999999999999"}) {
    EXPECT_FALSE(Full(*op, nullptr, {bad}).ok) << bad;
  }
}

TEST(MergeOperatorsTest, StringAppendJoins) {
  for (const char* name : {"stringappend", "stringappendtest"}) {
    const auto op = Make(name);
    const Slice existing = "a";
    EXPECT_EQ((Folded{true, "a,b,c"}), Full(*op, &existing, {"b", "c"}));
    EXPECT_EQ((Folded{true, "b,c"}), Full(*op, nullptr, {"b", "c"}));
    EXPECT_EQ((Folded{true, "b"}), Full(*op, nullptr, {"b"}));
    const auto other = Make("id=" + std::string(name) + "; delimiter= | ");
    EXPECT_EQ((Folded{true, "a|b"}), Full(*other, &existing, {"b"}));
    std::string options;
    ASSERT_TRUE(other->GetOptionString(ConfigOptions(), &options).ok());
    EXPECT_EQ((Folded{true, "a|b"}), Full(*Make(options), &existing, {"b"})) << options;
  }
}

// The option is a string: escaped in texts, as RocksDB has it.
TEST(MergeOperatorsTest, StringAppendHasAnEscapedDelimiter) {
  const Slice existing = "a";
  const std::pair<const char*, const char*> kDelimiters[] = {{"\\n", "\n"}, {"\\:", ":"}, {":", ":"}, {"\\\\n", "\\n"}, {"\\#", "#"}};
  for (const auto& [text, delimiter] : kDelimiters) {
    const auto op = Make("id=stringappend; delimiter=" + std::string(text));
    const Folded joined{true, "a" + std::string(delimiter) + "b"};
    EXPECT_EQ(joined, Full(*op, &existing, {"b"})) << text;
    std::string options;
    ASSERT_TRUE(op->GetOptionString(ConfigOptions(), &options).ok());
    EXPECT_EQ(joined, Full(*Make(options), &existing, {"b"})) << options;
  }
}

// Folding pairs first must not change the result.
TEST(MergeOperatorsTest, PartialMergeAgreesWithFull) {
  const std::deque<Slice> operands = {"12345678", "00000000", "87654321"};
  for (const char* name : {"put", "uint64add", "max", "bytesxor", "sortlist", "stringappend",
                           "stringappendtest"}) {
    const auto op = Make(name);
    std::string folded;
    const bool partial = op->PartialMergeMulti("key", operands, &folded, nullptr);
    EXPECT_EQ(std::string(name) != "stringappend", partial);
    if (!partial) continue;
    const Slice existing = "11111111";
    EXPECT_EQ(Full(*op, &existing, {operands.begin(), operands.end()}),
              Full(*op, &existing, {folded}))
        << name;
  }
}

// Appends, and counts the bytes that it writes.
class CountingAppend : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "CountingAppend"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    *merged = (existing == nullptr ? std::string() : existing->ToString()) + value.ToString();
    written += merged->size();
    return true;
  }
  mutable size_t written = 0;
};

// Each byte is written once per doubling, not once per operand.
TEST(MergeOperatorsTest, ManyOperandsCostNLogN) {
  const CountingAppend append;
  const MergeOperator& op = append;
  constexpr size_t kOperands = 5000, kSize = 100, kDoublings = 16;
  std::vector<std::string> texts;
  std::string expected;
  for (size_t i = 0; i < kOperands; ++i) {
    texts.push_back(std::to_string(i));
    texts.back().resize(kSize, '.');
    expected += texts.back();
  }
  const std::vector<Slice> operands(texts.begin(), texts.end());
  EXPECT_EQ((Folded{true, expected}), Full(op, nullptr, operands));
  EXPECT_LE(append.written, kOperands * kSize * kDoublings);

  append.written = 0;
  const std::string base(100 * kSize, 'b');
  const Slice existing = base;
  EXPECT_EQ((Folded{true, base + expected}), Full(op, &existing, operands));
  EXPECT_LE(append.written, 2 * base.size() + kOperands * kSize * kDoublings);

  append.written = 0;
  std::string folded;
  ASSERT_TRUE(op.PartialMergeMulti("key", {operands.begin(), operands.end()}, &folded, nullptr));
  EXPECT_EQ(expected, folded);
  EXPECT_LE(append.written, kOperands * kSize * kDoublings);
}

// Appends to a value that begins with '=', and to nothing else.
class AppendToValue : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "AppendToValue"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    if (existing == nullptr || existing->empty() || (*existing)[0] != '=') return false;
    *merged = existing->ToString() + value.ToString();
    return true;
  }
};

TEST(MergeOperatorsTest, OperandsThatDoNotCombineAreMergedOneByOne) {
  const AppendToValue op;
  const Slice existing = "=";
  EXPECT_EQ((Folded{true, "=123"}), Full(op, &existing, {"1", "2", "3"}));
  EXPECT_EQ((Folded{true, "=" + std::string(100, '1')}), Full(op, &existing, std::vector<Slice>(100, "1")));
  EXPECT_FALSE(Full(op, nullptr, std::vector<Slice>(100, "1")).ok);
  EXPECT_TRUE(Full(op, &existing, {}).ok);
}

// An operator that looks at operands, but not at the value, refuses a bad one wherever it stands.
class RefusesBad : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "RefusesBad"; }
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    *merged = "good";
    return value != "bad";
  }
};

TEST(MergeOperatorsTest, ABadOperandIsRefusedWhereverItStands) {
  const RefusesBad op;
  for (size_t operands : {3, 16, 33, 100}) {
    for (size_t bad = 0; bad < operands; ++bad) {
      std::vector<Slice> list(operands, "good");
      list[bad] = "bad";
      EXPECT_FALSE(Full(op, nullptr, list).ok) << bad << " of " << operands;
    }
  }
}

}  // namespace
}  // namespace compassdb
