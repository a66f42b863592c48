// SPDX-License-Identifier: Apache-2.0
// The iterator that users hold: turns internal keys into the user's view at a
// snapshot.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/clock.h"
#include "filter/prefix_seek.h"
#include "format/internal_key.h"
#include "iter/internal_iterator.h"
#include "iter/merge_helper.h"
#include "iter/range_tombstone_set.h"
#include "iter/value_resolver.h"
#include "rocksdb/iterator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"

namespace compassdb {

class Tracing;

// What an iterator reads: a pinned state of the database.
struct DBIterSource {
  explicit DBIterSource(const Comparator* comparator) : tombstones(comparator) {}
  // Declared first, so that it goes last: owns what iter and tombstones use.
  std::shared_ptr<void> pins;
  InternalIteratorPtr iter;
  RangeTombstoneSet tombstones;
  std::unique_ptr<ValueResolver> values;  // null: there are no separated values
  // Makes another iterator over the same tables, that looks ahead for separated values. Empty: nothing is
  // read ahead.
  std::function<InternalIteratorPtr()> scout;
  SequenceNumber snapshot = kMaxSequenceNumber;
  uint64_t super_version_number = 0;
};

struct DBIterOptions {
  const Comparator* comparator = nullptr;
  MergeEnv merge;
  // As in ReadOptions: borrowed, the user keeps the slices alive.
  const Slice* lower_bound = nullptr;
  const Slice* upper_bound = nullptr;
  // User-defined timestamps: what is newer than `timestamp` is not seen. With `start_timestamp` all versions
  // from there on are shown one by one, deletions as well, by their internal keys.
  std::string timestamp;
  std::string start_timestamp;
  std::shared_ptr<const void> timed_bound;  // keeps what the source's bound points to
  // Owned here as long as the iterator lives; null: no prefixes.
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;
  bool prefix_same_as_start = false;
  // Of the source's iterators, which look at it; null: they do not.
  std::shared_ptr<PrefixSeek> prefix_seek;
  bool pin_data = false;                     // keys stay valid as long as the iterator
  uint64_t max_skippable_internal_keys = 0;  // 0: no limit
  uint64_t max_sequential_skip = 8;          // then a seek takes over
  std::shared_ptr<rocksdb::Statistics> statistics;
  Clock* clock = nullptr;  // for them; needed where there are some
  Tracing* tracing = nullptr;  // of seeks
  uint32_t family_id = 0;      // for it
  // Makes the source anew, for Refresh(); empty: not allowed.
  std::function<Status(DBIterSource* source)> refresh;
  // Tailing: a seek forward makes the source anew if it is outdated; there is no way back.
  std::function<bool(const DBIterSource& source)> outdated;
};

// The caller owns the result.
rocksdb::Iterator* NewDBIterator(DBIterOptions options, DBIterSource source);

}  // namespace compassdb
