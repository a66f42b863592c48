// SPDX-License-Identifier: Apache-2.0
// Tests only: cases in a text file. A case is a paragraph: a line with a command and its arguments
// ("name" or "name=value"), lines of input, and, if it answers anything, "----" and the answer.
// Lines that begin with '#' between cases are comments.
//
// `--rewrite` on the command line of the test program writes the answers into the file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace compassdb {

struct DataCase {
  std::string command;
  std::map<std::string, std::string> args;
  std::vector<std::string> input;
};

inline DataCase ParseDataCase(const std::string& first_line) {
  DataCase data;
  std::istringstream words(first_line);
  words >> data.command;
  for (std::string word; words >> word;) {
    const size_t equal = word.find('=');
    data.args[word.substr(0, equal)] = equal == std::string::npos ? "" : word.substr(equal + 1);
  }
  return data;
}

// `answer` takes a DataCase and returns text: lines that each end with a newline.
template <class Answer>
void RunDataDriven(const std::string& path, const Answer& answer) {
  const std::vector<std::string> argv = ::testing::internal::GetArgvs();
  const bool rewrite = std::find(argv.begin(), argv.end(), "--rewrite") != argv.end();
  std::ifstream in(path);
  ASSERT_TRUE(in.is_open()) << path;
  std::string written, line;
  int cases = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    written += line + "\n";
    if (line.empty() || line.front() == '#') continue;
    DataCase data = ParseDataCase(line);
    const int at = number;
    std::string expected;
    bool answers = false;
    while (std::getline(in, line) && !line.empty()) {
      ++number;
      if (answers) {
        expected += line + "\n";
      } else if (line == "----") {
        answers = true;
      } else {
        written += line + "\n";
        data.input.push_back(line);
      }
    }
    ++number;
    const std::string actual = answer(data);
    if (!actual.empty()) written += "----\n" + actual;
    if (in) written += "\n";
    ++cases;
    if (rewrite || actual == expected) continue;
    ADD_FAILURE_AT(path.c_str(), at) << "expected:\n" << expected << "answered:\n" << actual;
  }
  EXPECT_GT(cases, 0) << path;
  if (rewrite) std::ofstream(path) << written;
}

}  // namespace compassdb
