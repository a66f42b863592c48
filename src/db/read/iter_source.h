// SPDX-License-Identifier: Apache-2.0
// What an iterator of the database reads, and how.
#pragma once

#include <memory>
#include <string>

#include "env/clock.h"
#include "filter/prefix_seek.h"
#include "format/internal_key.h"
#include "iter/internal_iterator.h"
#include "iter/merge_helper.h"
#include "iter/range_tombstone_set.h"
#include "iter/value_resolver.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"

namespace compassdb {

class Tracing;

// The state of the database that an iterator has pinned.
class DBIterPins {
 public:
  virtual ~DBIterPins() = default;
  // Another iterator over the same tables, to find separated values ahead. Null: no read-ahead.
  virtual InternalIteratorPtr NewScout() const { return nullptr; }
};

// What an iterator reads.
struct DBIterSource {
  explicit DBIterSource(const Comparator* comparator) : tombstones(comparator) {}
  // Declared first, so that it is destroyed last: owns what iter and tombstones use.
  std::unique_ptr<DBIterPins> pins;
  InternalIteratorPtr iter;
  RangeTombstoneSet tombstones;
  std::unique_ptr<ValueResolver> values;  // null: there are no separated values
  SequenceNumber snapshot = kMaxSequenceNumber;
  uint64_t super_version_number = 0;
};

// Makes a newer source for an iterator.
class DBIterRenewer {
 public:
  virtual ~DBIterRenewer() = default;
  virtual Status Renew(DBIterSource* source) = 0;
  // There is newer data than in `source`.
  virtual bool IsOutdated(const DBIterSource& source) const = 0;
};

struct DBIterOptions {
  const Comparator* comparator = nullptr;
  MergeEnv merge;
  // As in ReadOptions: borrowed, the user keeps the slices alive.
  const Slice* lower_bound = nullptr;
  const Slice* upper_bound = nullptr;
  // User-defined timestamps: records newer than `timestamp` are not seen. With `start_timestamp` all versions
  // from there on are returned one by one, deletions, too, with their internal keys.
  std::string timestamp;
  std::string start_timestamp;
  // Owned here as long as the iterator lives; null: no prefixes.
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;
  bool prefix_same_as_start = false;
  // The source's iterators use it; null: they do not.
  std::shared_ptr<PrefixSeek> prefix_seek;
  bool pin_data = false;                     // keys stay valid as long as the iterator
  uint64_t max_skippable_internal_keys = 0;  // 0: no limit
  uint64_t max_sequential_skip = 8;          // then a seek takes over
  std::shared_ptr<rocksdb::Statistics> statistics;
  Clock* clock = nullptr;  // for them; not null if there are any
  Tracing* tracing = nullptr;  // of seeks
  uint32_t family_id = 0;      // for it
  // With a renewer: a seek forward renews the source if it is outdated; no walk backward.
  bool tailing = false;
};

}  // namespace compassdb
