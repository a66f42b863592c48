// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace compassdb {

// Of the batches that were written since open, by the writer at the front.
struct WriteCounters {
  std::atomic<uint64_t> bytes{0}, keys{0}, by_self{0}, by_other{0}, with_wal{0}, stall_micros{0};

  void Reset() { bytes = keys = by_self = by_other = with_wal = stall_micros = 0; }
};

}  // namespace compassdb
