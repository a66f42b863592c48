// SPDX-License-Identifier: Apache-2.0
#include "util/findings.h"

#include <gtest/gtest.h>

namespace compassdb {
namespace {

using rocksdb::Status;

TEST(FindingsTest, EachHasALine) {
  Findings findings;
  findings.Add(Status::OK());
  EXPECT_TRUE(findings.ToStatus().ok());
  findings.Add(Status::IOError("e"));
  EXPECT_EQ(findings.ToStatus().ToString(), "IO error: e");
  findings.Add(Status::Corruption("a"));
  findings.Add(Status::Corruption("b"));
  EXPECT_EQ(findings.ToStatus().ToString(), "Corruption: a\nCorruption: b\nIO error: e");
}

TEST(FindingsTest, NotAllOfManyAreShown) {
  Findings findings;
  for (int i = 0; i < 23; ++i) findings.Add(Status::Corruption(std::to_string(i)));
  const std::string text = findings.ToStatus().ToString();
  EXPECT_TRUE(text.ends_with("\nCorruption: 19\nand 3 more")) << text;
}

}  // namespace
}  // namespace compassdb
