// SPDX-License-Identifier: Apache-2.0
#include "util/testing/data_driven.h"

#include <gtest/gtest-spi.h>

namespace compassdb {
namespace {

constexpr char kCases[] = "# A comment.\nadd to=1\n2\n3\n----\n6\n\nadd to=5\n----\n5\n";

std::string Add(DataCase& data) {
  int sum = std::stoi(data.Take("to", "0"));
  for (const std::string& line : data.input) sum += std::stoi(line);
  return std::to_string(sum) + "\n";
}

class DataDrivenTest : public ::testing::Test {
 protected:
  DataDrivenTest() : path_(::testing::TempDir() + "/data_driven_test.txt") {}
  ~DataDrivenTest() override { std::filesystem::remove(path_); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  std::string Read() {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  static inline std::string path_of_failure;  // gtest's macros take no locals
  const std::string path_;
};

TEST_F(DataDrivenTest, RewriteChangesNothingThatIsRight) {
  Write(kCases);
  RunDataDriven(path_, Add, false);
  RunDataDriven(path_, Add, true);
  EXPECT_EQ(Read(), kCases);
}

TEST_F(DataDrivenTest, RewriteWritesTheAnswer) {
  Write("add to=1\n----\n7\n");
  path_of_failure = path_;
  EXPECT_NONFATAL_FAILURE(RunDataDriven(path_of_failure, Add, false), "answered:\n1");
  RunDataDriven(path_, Add, true);
  EXPECT_EQ(Read(), "add to=1\n----\n1\n");
}

TEST_F(DataDrivenTest, AnUnknownArgumentFailsAndIsNotWritten) {
  const std::string text = "add too=1\n----\nunknown: too\n";
  Write(text);
  path_of_failure = path_;
  EXPECT_NONFATAL_FAILURE(RunDataDriven(path_of_failure, Add, false), "unknown: too");
  EXPECT_FATAL_FAILURE(RunDataDriven(path_of_failure, Add, true), "unknown: too");
  EXPECT_EQ(Read(), text);
}

}  // namespace
}  // namespace compassdb
