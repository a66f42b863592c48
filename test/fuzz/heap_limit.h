// SPDX-License-Identifier: Apache-2.0
// Counts what operator new gives in a process (under AddressSanitizer, malloc, too), and ends the process
// when that grows beyond a limit. Linking this in replaces operator new and delete. Thread safe, but one
// limit at a time.
#pragma once

#include <cstddef>

namespace compassdb_test {

class HeapLimit {
 public:
  // From now on, `bytes` more than at present may be in use at a time. `what` is for the message.
  HeapLimit(const char* what, size_t bytes);
  ~HeapLimit();
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;

  // The most that was in use beyond what there was at the beginning.
  static size_t PeakBytes();
};

}  // namespace compassdb_test
