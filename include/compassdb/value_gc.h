// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// Which segment group of separated values is collected next (HashKV 3.3).
enum class ValueGcPolicy : uint8_t {
  kGreedy = 0,        // the one with the most garbage
  kCostBenefit = 1,   // garbage per byte to be copied, times the time since the group was last written
  kGreedyRandom = 2,  // any of the `value_gc_choices` with the most garbage
  kRandom = 3,        // any that has garbage; to compare with
  // All values are one log, a single group. Flushes and collections append to it. Its oldest values are
  // collected, value_group_bytes at a time, with garbage or not (WiscKey's vLog, HashKV 2.2). To compare
  // with: cold values are copied again and again, and a collection holds about 72 bytes of memory for
  // each value of the family.
  kOldestFirst = 4,
};

}  // namespace compassdb
