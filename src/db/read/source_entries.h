// SPDX-License-Identifier: Apache-2.0
// The entries of an iterator's source that its snapshot and its range tombstones show.
#pragma once

#include <string>
#include <utility>

#include "db/read/iter_source.h"
#include "db/read/version_order.h"

namespace compassdb {

class SourceEntries {
 public:
  SourceEntries(const VersionOrder* order, DBIterSource source) : order_(*order), source_(std::move(source)) {
    LimitTombstones();
  }

  const DBIterSource& source() const { return source_; }
  InternalIterator* iter() const { return source_.iter.get(); }
  void Replace(DBIterSource source) {
    // The old iterators are destroyed before the owner of their memory.
    std::swap(source_, source);
    source.iter.reset();
    LimitTombstones();
  }

  // The current entry. False: it is damaged.
  bool Parse(ParsedInternalKey* entry) const {
    return ParseInternalKey(source_.iter->key(), entry) && IsPointType(entry->type) &&
           entry->user_key.size() >= order_.timestamp_size();
  }
  Status Damage() const {
    return Status::Corruption("corrupted internal key in DBIter", source_.iter->key().ToString(/*hex=*/true));
  }

  bool Visible(const ParsedInternalKey& entry) const {
    return entry.sequence <= source_.snapshot && order_.InTime(entry.user_key);
  }
  bool Covered(const ParsedInternalKey& entry) {
    return !source_.tombstones.empty() &&
           source_.tombstones.Covers(entry.user_key, entry.sequence, source_.snapshot);
  }

  // A range tombstone covers `key`, where the internal iterator is: sources without newer records
  // jump to the tombstone's end. With its sequence the entries of the key itself may be skipped,
  // too.
  void JumpCovered(const Slice& key, SeekTarget* target) {
    Slice end;
    const SequenceNumber sequence = source_.tombstones.MaxCovering(key, source_.snapshot, &end);
    const std::string before = source_.iter->key().ToString();
    source_.iter->SkipCovered(target->Before(end), sequence);
    // No source could jump: continue by steps.
    if (source_.iter->Valid() && source_.iter->key() == Slice(before)) source_.iter->Next();
  }

 private:
  void LimitTombstones() {
    if (order_.has_timestamps()) source_.tombstones.CountUpTo(order_.time());
  }

  const VersionOrder& order_;
  DBIterSource source_;
};

}  // namespace compassdb
