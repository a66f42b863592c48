// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace compassdb {

// Counts of the batches that were written since the open or ResetStats(), by the writer at the front.
struct WriteCounters {
  std::atomic<uint64_t> began_nanos{0};
  std::atomic<uint64_t> bytes{0}, keys{0}, by_self{0}, by_other{0}, with_wal{0}, stall_micros{0};

  // Adds a group: one of its writers wrote it for all.
  void Add(uint64_t batches, uint64_t of_keys, uint64_t of_bytes, bool logged) {
    const auto count = [](std::atomic<uint64_t>* c, uint64_t n) { c->fetch_add(n, std::memory_order_relaxed); };
    count(&bytes, of_bytes);
    count(&keys, of_keys);
    count(&by_self, 1);
    count(&by_other, batches - 1);
    if (logged) count(&with_wal, batches);
  }
  void Reset(uint64_t now_nanos) {
    began_nanos = now_nanos;
    bytes = keys = by_self = by_other = with_wal = stall_micros = 0;
  }
};

}  // namespace compassdb
