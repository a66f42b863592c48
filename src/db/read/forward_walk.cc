// SPDX-License-Identifier: Apache-2.0
#include "db/read/forward_walk.h"

#include <utility>

namespace compassdb {

// The entries that are passed until a result.
struct ForwardWalk::Passing {
  // After more keys in a row under range tombstones a jump is tried.
  static constexpr uint64_t kCoveredRun = 16;

  bool any_key;              // the current key is that of the last entry
  bool skipping;             // the rest of the current key does not count
  bool hidden = false;       // it is under a range tombstone
  uint64_t run = 0;          // entries of one user key in a row
  uint64_t covered_run = 0;  // keys under range tombstones in a row
  int reseeks = 0;           // for one user key

  void SkipDeleted() {
    skipping = true;
    run = covered_run = 0;
  }
  void SkipCovered() {
    skipping = hidden = true;
    run = 0;
    ++covered_run;
  }
  bool JumpIsDue() {
    if (covered_run <= kCoveredRun) return false;
    covered_run = 0;
    return true;
  }
};

// The first entry of a key makes that the current one.
[[gnu::always_inline]] inline void ForwardWalk::Arrive(const ParsedInternalKey& entry, Passing* passing) {
  WalkParts& p = parts_;
  const bool same_key = passing->any_key && p.order.Compare(entry.user_key, p.key.stored()) <= 0;
  if (!same_key) {
    p.key.Set(entry.user_key);
    passing->any_key = true;
    passing->skipping = passing->hidden = false;
    passing->run = 0;
    passing->reseeks = 0;
  } else if (p.order.bytes_may_differ() && !passing->skipping && p.entries.Visible(entry)) {
    p.key.Set(entry.user_key);  // a newer version with other bytes is not visible
  }
}

// Makes the entry the result. *gone: it has no value, after all.
[[gnu::always_inline]] inline WalkPosition ForwardWalk::Show(const ParsedInternalKey& entry, bool* gone) {
  WalkParts& p = parts_;
  if (entry.type == kTypeMerge) [[unlikely]] return Merge();
  const InternalIterator& iter = *p.entries.iter();
  if (entry.type == kTypeWideColumnEntity) [[unlikely]] {
    return p.SetEntity(iter.value()) ? WalkPosition::kAtResult : WalkPosition::kInvalid;
  }
  p.key.SetVersion(entry);
  return entry.type == kTypeBlobIndex ? ShowSeparated(iter.value(), gone) : WalkPosition::kAtResult;
}

WalkPosition ForwardWalk::ShowSeparated(const Slice& ref, bool* gone) {
  WalkParts& p = parts_;
  p.MeetSeparated(/*forward=*/true);
  if (!p.Fetch(ref)) return WalkPosition::kInvalid;
  const ValueResolver::Version& version = p.separated.version();
  if (version.entity) return p.SetEntity(*p.value.separated()) ? WalkPosition::kAtResult : WalkPosition::kInvalid;
  *gone = version.gone;
  if (!version.gone) p.value.SetPlace(CurrentValue::Place::kSeparated);
  return WalkPosition::kAtResult;
}

// To the next entry, or past those of the current key. False on errors.
[[gnu::always_inline]] inline bool ForwardWalk::MoveOn(const ParsedInternalKey& entry, Passing* passing) {
  WalkParts& p = parts_;
  InternalIterator* const iter = p.entries.iter();
  // A visible version may be on either side of one that is too new for the snapshot.
  if (passing->run <= p.max_sequential_skip ||
      !(passing->skipping || !p.order.has_timestamps() ||
        (!p.order.history() && p.order.TooNew(entry.user_key)))) [[likely]] {
    iter->Next();
    return true;
  }
  passing->run = 0;
  // One seek passes the key's versions, or finds the visible one.
  if (++passing->reseeks > 2) {
    p.FailOutOfOrder();
    return false;
  }
  iter->Seek(passing->skipping
                 ? p.target.BehindStored(p.key.stored())
                 : p.target.FirstVisibleOfStored(p.key.stored(), p.entries.source().snapshot));
  p.counts.Reseek();
  return true;
}

WalkPosition ForwardWalk::FindNext(bool skipping) {
  WalkParts& p = parts_;
  p.value.SetPlace(CurrentValue::Place::kEntry);
  Passing passing{.any_key = skipping, .skipping = skipping};
  InternalIterator* const iter = p.entries.iter();
  while (iter->Valid()) {
    ParsedInternalKey entry;
    if (!p.Parse(&entry)) return WalkPosition::kInvalid;
    if (p.range.IsAbove(entry.user_key) || !p.range.HasPrefix(entry.user_key)) return WalkPosition::kInvalid;
    if (!p.CountEntry()) return WalkPosition::kInvalid;
    Arrive(entry, &passing);
    if (passing.skipping) {
      if (passing.hidden) p.limit.Uncount();
      ++passing.run;
      p.counts.Skipped();
      p.counts.Passed();
    } else if (!p.entries.Visible(entry)) {
      ++passing.run;
      p.counts.Recent();
    } else if (p.entries.Covered(entry)) {
      p.limit.Uncount();
      passing.SkipCovered();
      p.counts.Skipped();
      p.counts.Deletion();
      // (Versions with newer times than the tombstone's may be below it.)
      if (!p.order.has_timestamps() && passing.JumpIsDue()) {
        p.entries.JumpCovered(p.key.stored(), &p.target);
        continue;
      }
    } else if ((entry.type == kTypeDeletion || entry.type == kTypeSingleDeletion) && !p.order.history()) {
      passing.SkipDeleted();
      p.counts.Skipped();
      p.counts.Deletion();
    } else {
      bool gone = false;
      const WalkPosition position = Show(entry, &gone);
      if (!gone) return position;
      passing.SkipDeleted();
      p.counts.Skipped();
    }
    if (!MoveOn(entry, &passing)) return WalkPosition::kInvalid;
  }
  return WalkPosition::kInvalid;
}

WalkPosition ForwardWalk::Merge() {
  WalkParts& p = parts_;
  if (!p.operands.has_operator()) return p.Fail(MissingMergeOperator());
  InternalIterator* const iter = p.entries.iter();
  p.operands.Clear();
  p.operands.Add(iter->value(), ExtractSequence(iter->key()));
  bool merged = false;
  for (iter->Next(); iter->Valid() && !merged; iter->Next()) {
    ParsedInternalKey entry;
    if (!p.Parse(&entry)) return WalkPosition::kInvalid;
    if (p.order.Compare(entry.user_key, p.key.stored()) != 0) break;
    if (!p.CountEntry()) return WalkPosition::kInvalid;
    const bool covered = p.entries.Covered(entry);
    if (entry.type == kTypeMerge && !covered) {
      p.operands.Add(iter->value(), entry.sequence);
      p.counts.Merged();
      continue;
    }
    if (entry.type == kTypeWideColumnEntity && !covered) return p.Fail(MergeOntoEntity());
    if (entry.type == kTypeBlobIndex && !covered) {
      if (!p.Fetch(iter->value())) return WalkPosition::kInvalid;
      const ValueResolver::Version& version = p.separated.version();
      const Slice base = *p.value.separated();
      p.operands.DropUpTo(version.sequence);
      if (version.entity) {
        if (!p.operands.empty()) return p.Fail(MergeOntoEntity());
        return p.SetEntity(base) ? WalkPosition::kAtResult : WalkPosition::kInvalid;
      }
      merged = p.ApplyOperands(version.gone ? nullptr : &base);
    } else if (entry.type == kTypeValue && !covered) {
      const Slice base = iter->value();
      merged = p.ApplyOperands(&base);
    } else {
      merged = p.ApplyOperands(nullptr);
    }
    if (!merged) return WalkPosition::kInvalid;
  }
  if (!iter->Valid() && !iter->status().ok()) return WalkPosition::kInvalid;  // see status()
  if (!merged && !p.ApplyOperands(nullptr)) return WalkPosition::kInvalid;
  return WalkPosition::kBehindResult;
}

}  // namespace compassdb
