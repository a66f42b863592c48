// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb_test {

// What the program's operator new has given out and not got back. Sanitizers have their own; then it
// is always 0. Thread safety: all functions.
uint64_t AllocatedBytes();
// The most that it was since ResetPeak.
uint64_t PeakBytes();
void ResetPeak();

}  // namespace compassdb_test
