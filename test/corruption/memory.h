// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb_test {

// The bytes in use from the program's operator new. Sanitizers have their own operator; then it is
// always 0. Thread safety: all functions.
uint64_t AllocatedBytes();
// The maximum since ResetPeak.
uint64_t PeakBytes();
void ResetPeak();

}  // namespace compassdb_test
