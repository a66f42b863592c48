// SPDX-License-Identifier: Apache-2.0
// A store's facet for tables in levels: the tables that users add, drop and move, and flushes that
// merge into a level.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/range_tombstone.h"
#include "iter/internal_iterator.h"
#include "store/compaction_task.h"

namespace compassdb {

struct FlushRequest;
struct KeyRange;

// Records from outside that are to become tables.
struct IngestRequest {
  InternalIteratorPtr records;  // in internal-key order
  std::vector<RangeTombstone> tombstones;
  std::string smallest, largest;  // user keys; bounds of the records
};

enum class IngestPlace {
  kTop,      // level 0
  kDeepest,  // the deepest level where neither it nor a level above has data in the range
  kBehind,   // the last level, below all
};

// All methods are [mutex].
class Levels {
 public:
  virtual ~Levels() = default;
  // The level that level 0 merges into.
  virtual int BaseLevel() const = 0;
  // A task that merges the memtables into a level instead of Store::Flush; null: use Flush.
  // If the task fails, Flush is used.
  virtual std::unique_ptr<CompactionTask> PickFlush(const FlushRequest& request) = 0;
  // Drops all tables that are inside one of the ranges, on levels below 0 and not busy, by the
  // manifest alone. Null: there are none.
  virtual std::unique_ptr<CompactionTask> PickDrop(std::span<const KeyRange> ranges,
                                                   bool include_end) = 0;
  // Moves all tables of a level to another, by the manifest alone. That level and those between
  // must be empty, and tables of level 0 must share no key: otherwise NotSupported. Null with OK:
  // nothing to do; with *conflict set: a job uses them, try again later.
  virtual Status PickMove(int from, int to, std::unique_ptr<CompactionTask>* task,
                          bool* conflict) = 0;
  // A task that writes the request as tables. Null if the family was dropped.
  virtual std::unique_ptr<CompactionTask> PickIngest(IngestRequest request, IngestPlace place) = 0;
  // Whether records of the range, with sequence 0, may be added to the last level, and if not, why.
  virtual Status CheckIngestBehind(const Slice& smallest, const Slice& largest) const = 0;
  // Records of the range must not have sequence 0: a table overlaps the range, or there are
  // separated values, whose groups remember deletions that the tables have dropped.
  virtual bool NeedSequence(const Slice& smallest, const Slice& largest) const = 0;
};

}  // namespace compassdb
