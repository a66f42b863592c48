// SPDX-License-Identifier: Apache-2.0
// When a merge that memtables wait for is to be cut short, so that writers need not stop until it
// ends: what it has not dealt with is then written as a run, which is quick, but is written
// once more by a later merge. Only so many bytes may go that way, and none while writers are
// stopped again and again, since what they wait for then is the work itself.
//
// Thread safety: the caller's. Times in nanoseconds.
#pragma once

#include <cstdint>

namespace compassdb {

class FlushPace {
 public:
  // A memtable of so many bytes is full.
  void Sealed(uint64_t now, uint64_t bytes);
  // Writers must stop until memtables are in the store.
  void Stopped();
  void MergeBegun(uint64_t now);
  // Of the running merge `done` (0 to 1) is dealt with and `rest_bytes` are left; writers can fill
  // `room` memtables more before they stop. True spends the bytes.
  bool CutShort(uint64_t now, double done, double room, uint64_t rest_bytes);

 private:
  uint64_t sealed_at_ = 0;
  uint64_t fill_nanos_ = 0;  // how long writers last took for a memtable; 0: not known
  bool stopped_ = false;     // since the last memtable was full
  int calm_ = 0;             // memtables that became full since writers were stopped
  uint64_t credit_ = 0;      // bytes that may be written once more
  bool any_ = false;
  uint64_t begun_at_ = 0, asked_at_ = 0;
};

}  // namespace compassdb
