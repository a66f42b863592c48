// SPDX-License-Identifier: Apache-2.0
// The parts of an iterator that its walks forward and backward share.
#pragma once

#include <utility>

#include "db/read/current_key.h"
#include "db/read/current_value.h"
#include "db/read/iter_source.h"
#include "db/read/source_entries.h"
#include "db/read/version_order.h"
#include "db/read/merge_operands.h"
#include "db/read/separated_values.h"
#include "db/read/walk_counts.h"
#include "db/read/walk_range.h"

namespace compassdb {

// The position of the internal iterator.
enum class WalkPosition : uint8_t {
  kInvalid,       // at no result: the end of the walk, or an error
  kAtResult,      // forward: at the entry that is the result
  kBehindResult,  // forward: behind the last entry that was merged into the result
  kBeforeKey,     // backward: at the last entry before those of the current key
};

struct WalkParts {
  WalkParts(const DBIterOptions& options, DBIterSource source)
      : order(options.comparator, options.timestamp, options.start_timestamp),
        counts(options.statistics),
        range(&order, options.lower_bound, options.upper_bound,
              options.prefix_same_as_start ? options.prefix_extractor : nullptr, options.prefix_seek),
        entries(&order, std::move(source)),
        key(&order, options.pin_data),
        operands(options.merge),
        separated(&order, &range, &entries),
        limit(options.max_skippable_internal_keys),
        max_sequential_skip(options.max_sequential_skip),
        target(&order) {}

  const VersionOrder order;
  WalkCounts counts;
  WalkRange range;
  SourceEntries entries;
  CurrentKey key;
  CurrentValue value;
  MergeOperands operands;
  SeparatedValues separated;
  SkipLimit limit;
  const uint64_t max_sequential_skip;  // then a seek takes over
  SeekTarget target;
  Status status;

  WalkPosition Fail(Status s) {
    status = std::move(s);
    return WalkPosition::kInvalid;
  }
  // The current entry. False on damage.
  bool Parse(ParsedInternalKey* entry) {
    if (entries.Parse(entry)) [[likely]] return true;
    Fail(entries.Damage());
    return false;
  }
  // False past the limit.
  bool CountEntry() {
    if (limit.Count()) [[likely]] return true;
    Fail(Status::Incomplete("Too many internal keys skipped."));
    return false;
  }
  // Only with damaged data: a seek did not pass the key.
  void FailOutOfOrder() {
    Fail(Status::Corruption("keys are out of order near", Slice(key.stored()).ToString(/*hex=*/true)));
  }

  // At a separated value.
  void MeetSeparated(bool forward) {
    value.separated()->Reset();
    separated.Meet(key, forward, &target);
  }
  // Makes the value. False on errors.
  // Into value.separated(); separated.version() describes it.
  bool Fetch(const Slice& ref) {
    Status s = separated.Fetch(key, ref, value.separated());
    if (s.ok()) return true;
    Fail(std::move(s));
    return false;
  }
  bool SetEntity(const Slice& stored) {
    Status s = value.SetEntity(stored);
    if (s.ok()) return true;
    Fail(std::move(s));
    return false;
  }
  // To `base`; null: there is none.
  bool ApplyOperands(const Slice* base) {
    if (operands.empty() && base != nullptr) {
      value.Copy(*base);
      return true;
    }
    Status s = operands.Apply(key.stored(), base, value.copied());
    value.SetPlace(CurrentValue::Place::kCopied);
    if (s.ok()) return true;
    Fail(std::move(s));
    return false;
  }
};

}  // namespace compassdb
