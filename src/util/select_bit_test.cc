// SPDX-License-Identifier: Apache-2.0
#include "util/select_bit.h"

#include <gtest/gtest.h>

#include "util/random.h"

namespace compassdb {
namespace {

TEST(SelectInWordTest, EverySetBit) {
  Random rnd(8);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t word = round % 2 == 0 ? rnd.Next() : rnd.Next() & rnd.Next() & rnd.Next();
    uint32_t k = 0;
    for (uint32_t bit = 0; bit < 64; ++bit) {
      if ((word >> bit & 1) == 0) continue;
      ASSERT_EQ(SelectInWord(word, k), bit);
      ++k;
    }
  }
}

}  // namespace
}  // namespace compassdb
