// SPDX-License-Identifier: Apache-2.0
// Balances memtables and the merges that flush them.
//
// A merge that memtables wait for is cut short if writers would have to stop until it ends. The rest
// is then written as a run, which is quick, but is written
// again by a later merge. The bytes written this way are limited, and there are none while writers
// are stopped repeatedly: then the merges themselves are too slow.
//
// A merge of two memtables rewrites the directories once, not twice. So a memtable waits for a
// second one if that makes no writer wait, or if all writers wait anyway.
//
// Thread safety: the caller's. Times in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace compassdb {

class FlushPace {
 public:
  // A memtable of this many bytes is full.
  void Sealed(uint64_t now, uint64_t bytes);
  // Writers must stop until memtables are in the store.
  void Stopped();
  void MergeBegun(uint64_t now);
  void MergeEnded(uint64_t now, size_t memtables);
  // Whether a full memtable should wait for the next one.
  bool AwaitSecond() const;
  // Of the running merge `done` (0 to 1) is finished and `rest_bytes` are left; writers can fill
  // `room` more memtables before they stop. True spends the bytes.
  bool CutShort(uint64_t now, double done, double room, uint64_t rest_bytes);

 private:
  uint64_t sealed_at_ = 0;
  uint64_t fill_nanos_ = 0;  // the time in which writers filled the last memtable; 0: not known
  bool stopped_ = false;     // since the last memtable was full
  unsigned stops_ = 0;       // a bit for each of the last memtables: writers were stopped during it
  uint64_t credit_ = 0;      // bytes that may be written again
  bool any_ = false;
  uint64_t begun_at_ = 0, asked_at_ = 0;
  uint64_t merge_nanos_ = 0;  // of the last merge, for each of its memtables; 0: not known
};

}  // namespace compassdb
