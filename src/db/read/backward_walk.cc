// SPDX-License-Identifier: Apache-2.0
#include "db/read/backward_walk.h"

namespace compassdb {

WalkPosition BackwardWalk::FindPrev() {
  WalkParts& p = parts_;
  InternalIterator* const iter = p.entries.iter();
  while (iter->Valid()) {
    ParsedInternalKey entry;
    if (!p.Parse(&entry)) return WalkPosition::kInvalid;
    if (p.range.IsBelow(entry.user_key) || !p.range.HasPrefix(entry.user_key)) return WalkPosition::kInvalid;
    p.key.Set(entry.user_key);
    bool found = false;
    if (!Resolve(&found) || !StepBeforeKey()) return WalkPosition::kInvalid;
    if (found) return WalkPosition::kBeforeKey;
  }
  return WalkPosition::kInvalid;
}

// The internal iterator is at the oldest entry of the current key. Walks to the
// newest visible one, and keeps the result so far. False on errors.
bool BackwardWalk::Resolve(bool* found) {
  WalkParts& p = parts_;
  InternalIterator* const iter = p.entries.iter();
  bool has_base = false;
  ValueType base = kTypeDeletion;  // the type of the value that was copied
  p.operands.Clear();
  for (uint64_t run = 0; iter->Valid(); iter->Prev(), ++run) {
    ParsedInternalKey entry;
    if (!p.Parse(&entry)) return false;
    if (p.order.Compare(entry.user_key, p.key.stored()) != 0) break;
    if (!p.entries.Visible(entry)) {
      if (!p.order.has_timestamps() || p.order.TooNew(entry.user_key)) break;
      continue;  // the snapshot does not see this one; a newer time may be older in sequence
    }
    if (!p.CountEntry()) return false;
    if (run >= p.max_sequential_skip) return ResolveBySeek(found);
    p.counts.Passed();
    const bool covered = p.entries.Covered(entry);
    if (covered) p.limit.Uncount();
    if (!covered && entry.type == kTypeMerge) {
      p.counts.Merged();
      p.operands.Add(iter->value(), entry.sequence);
      continue;
    }
    p.operands.Clear();
    has_base = !covered && p.order.ShowsValue(entry.type);
    if (has_base) {
      base = entry.type;
      p.value.Copy(iter->value());
      p.key.SetVersion(entry);
    } else {
      p.counts.Deletion();
    }
  }
  if (!iter->Valid() && !iter->status().ok()) return false;
  p.operands.Reverse();
  return MakeResult(has_base, base, found);
}

// From a base of that type, which was copied, and the operands. False on errors.
bool BackwardWalk::MakeResult(bool has_base, ValueType base, bool* found) {
  WalkParts& p = parts_;
  bool entity = has_base && base == kTypeWideColumnEntity;
  Slice value = *p.value.copied();
  if (has_base && base == kTypeBlobIndex) {
    p.MeetSeparated(/*forward=*/false);
    if (!p.Fetch(value)) return false;
    const ValueResolver::Version& version = p.separated.version();
    p.operands.DropUpTo(version.sequence);
    has_base = !version.gone;
    entity = has_base && version.entity;
    value = *p.value.separated();
    p.value.SetPlace(CurrentValue::Place::kSeparated);
  }
  *found = has_base || !p.operands.empty();
  if (p.operands.empty()) return !entity || p.SetEntity(value);
  if (entity || !p.operands.has_operator()) {
    p.Fail(entity ? MergeOntoEntity() : MissingMergeOperator());
    return false;
  }
  return p.ApplyOperands(has_base ? &value : nullptr);
}

// The key has many versions: walks from the newest visible one down. The
// internal iterator ends somewhere within the key or behind it. False on errors.
bool BackwardWalk::ResolveBySeek(bool* found) {
  WalkParts& p = parts_;
  InternalIterator* const iter = p.entries.iter();
  p.counts.Reseek();
  iter->Seek(p.target.FirstVisibleOfStored(p.key.stored(), p.entries.source().snapshot));
  if (!iter->Valid()) {
    // The entries were here a moment ago.
    if (iter->status().ok()) p.Fail(Status::Corruption("DBIter: key vanished", p.key.stored()));
    return false;
  }
  ParsedInternalKey entry;
  if (!p.Parse(&entry)) return false;
  while (p.order.Compare(entry.user_key, p.key.stored()) == 0 && !p.entries.Visible(entry)) {
    iter->Next();
    if (!iter->Valid() || !p.Parse(&entry)) return false;
  }
  *found = false;
  if (p.order.Compare(entry.user_key, p.key.stored()) == 0 && !p.entries.Covered(entry)) {
    if (p.order.ShowsValue(entry.type)) {
      p.operands.Clear();
      p.value.Copy(iter->value());
      p.key.SetVersion(entry);
      if (!MakeResult(/*has_base=*/true, entry.type, found)) return false;
    } else if (entry.type == kTypeMerge) {
      if (forward_.Merge() == WalkPosition::kInvalid) return false;
      *found = true;
    }
  }
  // After the merge the iterator may be anywhere, even at its end. StepBeforeKey
  // needs a position to step from.
  iter->SeekForPrev(p.target.BeforeStored(p.key.stored()));
  return true;
}

// Moves back to before all entries of the current key. False on errors.
bool BackwardWalk::StepBeforeKey() {
  WalkParts& p = parts_;
  InternalIterator* const iter = p.entries.iter();
  for (uint64_t run = 0; iter->Valid(); ++run) {
    ParsedInternalKey entry;
    if (!p.Parse(&entry)) return false;
    if (p.order.Compare(entry.user_key, p.key.stored()) < 0) return true;
    if (!p.CountEntry()) return false;
    if (run > p.max_sequential_skip) {  // also after the seek
      p.FailOutOfOrder();
      return false;
    }
    if (run == p.max_sequential_skip) {
      iter->SeekForPrev(p.target.BeforeStored(p.key.stored()));
      p.counts.Reseek();
    } else {
      p.counts.Skipped();
      iter->Prev();
    }
  }
  return iter->status().ok();
}

}  // namespace compassdb
