// SPDX-License-Identifier: Apache-2.0
// Edits on their way to the manifest and back. The cases are in testdata/: a line of `edits` is an
// edit (testing/edit_text.h), a line of `numbers` the varints of one. It is shown as it is read, or
// the error of that.
#include "manifest/version_edit.h"

#include "manifest/testing/edit_text.h"
#include "util/coding.h"
#include "util/testing/data_driven.h"

namespace compassdb {
namespace {

class VersionEditTextTest : public ::testing::TestWithParam<std::string> {};

std::string Read(const std::string& bytes) {
  VersionEdit edit;
  if (Status s = edit.DecodeFrom(bytes); !s.ok()) return s.ToString() + "\n";
  std::string again;
  edit.EncodeTo(&again);
  return edit.DebugString() + (bytes == again ? "\n" : "\n  other bytes\n");
}

std::string Encode(const std::string& command, const std::string& line, std::string* unknown) {
  std::string bytes;
  if (command == "numbers") {
    std::istringstream numbers(line);
    for (uint64_t number; numbers >> number;) PutVarint64(&bytes, number);
    return bytes;
  }
  const EditText text(line);
  *unknown += text.unknown();
  text.edit().EncodeTo(&bytes);
  return bytes;
}

TEST_P(VersionEditTextTest, Cases) {
  RunDataDriven(GetParam(), [](DataCase& data) {
    std::string answer, unknown;
    for (const std::string& line : data.input) answer += Read(Encode(data.command, line, &unknown));
    return unknown.empty() ? answer : unknown;
  });
}

INSTANTIATE_TEST_SUITE_P(Files, VersionEditTextTest, ::testing::ValuesIn(DataFiles(__FILE__)),
                         DataFileName);

}  // namespace
}  // namespace compassdb
