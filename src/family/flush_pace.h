// SPDX-License-Identifier: Apache-2.0
// How memtables and the merges that take them keep pace.
//
// A merge that memtables wait for is cut short if writers would have to stop until it ends: what it
// has not dealt with is then written as a run, which is quick, but is written
// once more by a later merge. Only so many bytes may go that way, and none while writers are
// stopped again and again, since what they wait for then is the work itself.
//
// A merge of two memtables rewrites the directories once, not twice. So a memtable waits for a
// second one where that makes nobody wait, or everybody waits anyway.
//
// Thread safety: the caller's. Times in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace compassdb {

class FlushPace {
 public:
  // A memtable of so many bytes is full.
  void Sealed(uint64_t now, uint64_t bytes);
  // Writers must stop until memtables are in the store.
  void Stopped();
  void MergeBegun(uint64_t now);
  void MergeEnded(uint64_t now, size_t memtables);
  // Whether one memtable that is full had better wait for the next.
  bool AwaitSecond() const;
  // Of the running merge `done` (0 to 1) is dealt with and `rest_bytes` are left; writers can fill
  // `room` memtables more before they stop. True spends the bytes.
  bool CutShort(uint64_t now, double done, double room, uint64_t rest_bytes);

 private:
  uint64_t sealed_at_ = 0;
  uint64_t fill_nanos_ = 0;  // how long writers last took for a memtable; 0: not known
  bool stopped_ = false;     // since the last memtable was full
  unsigned stops_ = 0;       // a bit for each of the last memtables: writers were stopped meanwhile
  uint64_t credit_ = 0;      // bytes that may be written once more
  bool any_ = false;
  uint64_t begun_at_ = 0, asked_at_ = 0;
  uint64_t merge_nanos_ = 0;  // of the last merge, for each of its memtables; 0: not known
};

}  // namespace compassdb
