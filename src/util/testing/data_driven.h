// SPDX-License-Identifier: Apache-2.0
// Tests only: cases in text files. A case is a paragraph: a line with a command and its arguments
// ("name" or "name=value"), lines of input, and, if it answers anything, "----" and the answer.
// Lines that begin with '#' between cases are comments.
//
// `--rewrite` on the command line of the test program writes the answers into the file, unless one
// of them begins with "unknown".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace compassdb {

struct DataCase {
  std::string command;
  std::map<std::string, std::string> args;  // those that are not taken yet
  std::vector<std::string> input;

  bool Has(const std::string& name) const { return args.count(name) != 0; }
  std::string Take(const std::string& name, const std::string& otherwise = "") {
    const auto found = args.find(name);
    if (found == args.end()) return otherwise;
    std::string value = std::move(found->second);
    args.erase(found);
    return value;
  }
  bool TakeFlag(const std::string& name) { return args.erase(name) != 0; }
  // The arguments that the test has not taken.
  std::string Unknown() const {
    std::string names;
    for (const auto& [name, value] : args) names += "unknown: " + name + "\n";
    return names;
  }
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

inline bool IsDataRewrite() {
  const std::vector<std::string> argv = ::testing::internal::GetArgvs();
  return std::find(argv.begin(), argv.end(), "--rewrite") != argv.end();
}

// `answer` takes a DataCase& and returns text: lines that each end with a newline. Arguments that
// it does not take are the answer instead.
template <class Answer>
void RunDataDriven(const std::string& path, const Answer& answer, bool rewrite = IsDataRewrite()) {
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
    std::string actual = answer(data);
    if (!data.args.empty()) actual = data.Unknown();
    if (!actual.empty()) written += "----\n" + actual;
    if (in) written += "\n";
    ++cases;
    const bool unknown = actual.starts_with("unknown");
    ASSERT_FALSE(unknown && rewrite) << path << ":" << at << ": " << actual;
    if (!unknown && (rewrite || actual == expected)) continue;
    ADD_FAILURE_AT(path.c_str(), at) << "expected:\n" << expected << "answered:\n" << actual;
  }
  EXPECT_GT(cases, 0) << path;
  if (rewrite) std::ofstream(path) << written;
}

// The files of `folder`, which is where `source` is: a test for each is
//
//   INSTANTIATE_TEST_SUITE_P(Files, ATest, ::testing::ValuesIn(DataFiles(__FILE__)), DataFileName);
inline std::vector<std::string> DataFiles(const char* source,
                                          const std::string& folder = "testdata") {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(source).parent_path() / folder)) {
    if (file.path().extension() == ".txt") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}
inline std::string DataFileName(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

}  // namespace compassdb
