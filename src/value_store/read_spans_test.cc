// SPDX-License-Identifier: Apache-2.0
#include "value_store/read_spans.h"

#include <gtest/gtest.h>

#include <string>

namespace compassdb {
namespace {

// A read per line: file, first and last byte, and which places it covers.
std::string Joined(std::vector<FilePlace> places) {
  for (uint32_t i = 0; i < places.size(); ++i) places[i].index = i;
  std::vector<ReadSpan> spans;
  JoinPlaces(&places, &spans);
  std::string text;
  for (const ReadSpan& span : spans) {
    text += std::to_string(places[span.first].file) + ": " + std::to_string(span.offset) + "+" +
            std::to_string(span.length) + " =";
    for (uint32_t i = span.first; i < span.first + span.count; ++i) text += " " + std::to_string(places[i].index);
    text += "\n";
  }
  return text;
}

TEST(ReadSpansTest, NeighboursShareARead) {
  struct Case {
    const char* what;
    std::vector<FilePlace> places;
    const char* reads;
  };
  const Case cases[] = {
      {"none", {}, ""},
      {"one", {{1, 100, 50}}, "1: 100+50 = 0\n"},
      {"side by side, in any order", {{1, 150, 50}, {1, 100, 50}}, "1: 100+100 = 1 0\n"},
      {"a gap of 4 KiB", {{1, 0, 10}, {1, 10 + 4096, 10}}, "1: 0+4116 = 0 1\n"},
      {"a longer gap", {{1, 0, 10}, {1, 11 + 4096, 10}}, "1: 0+10 = 0\n1: 4107+10 = 1\n"},
      {"two files", {{2, 100, 50}, {1, 100, 50}, {2, 150, 50}}, "1: 100+50 = 1\n2: 100+100 = 0 2\n"},
      {"the same twice", {{1, 100, 50}, {1, 100, 50}, {1, 150, 50}}, "1: 100+100 = 0 1 2\n"},
      {"within another one", {{1, 100, 500}, {1, 120, 50}}, "1: 100+500 = 0 1\n"},
      {"at most 16 KiB", {{1, 0, 8192}, {1, 8192, 8192}, {1, 16384, 1}}, "1: 0+16384 = 0 1\n1: 16384+1 = 2\n"},
      {"a large one by itself", {{1, 0, 100}, {1, 100, 20000}, {1, 20100, 100}},
       "1: 0+100 = 0\n1: 100+20000 = 1\n1: 20100+100 = 2\n"},
      {"at the end of the numbers", {{1, UINT64_MAX - 100, 50}, {1, UINT64_MAX - 50, 50}},
       "1: 18446744073709551515+100 = 0 1\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(Joined(c.places), c.reads) << c.what;
}

}  // namespace
}  // namespace compassdb
