// SPDX-License-Identifier: Apache-2.0
// Reads at a time, in families with user-defined timestamps.
#include <algorithm>

#include "db/read/reader.h"
#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"

namespace compassdb {
namespace {

void AddMemTables(const ReadState& state, std::vector<InternalIteratorPtr>* children,
                  RangeTombstoneSet* tombstones) {
  const auto add = [&](const MemTable& memtable) {
    children->push_back(memtable.NewIterator());
    if (memtable.num_range_deletes() > 0) tombstones->Add(memtable.RangeTombstones());
  };
  add(*state.mem);
  for (const auto& immutable : state.immutables) add(*immutable);
}

}  // namespace

Status CheckReadTime(const ReadOptions& options, const ColumnFamily& family) {
  const size_t size = family.timestamp_size();
  if (size == 0) return TimestampsDisabled(family);
  if (options.timestamp == nullptr) return TimestampsEnabled(family);
  if (options.timestamp->size() != size) return TimestampSizeMismatch(size, options.timestamp->size());
  if (options.iter_start_ts != nullptr && options.iter_start_ts->size() != size) {
    return TimestampSizeMismatch(size, options.iter_start_ts->size());
  }
  const std::string low = family.history()->Get();
  if (!low.empty() && family.user_comparator()->CompareTimestamp(*options.timestamp, low) < 0) {
    return Status::InvalidArgument(
        "Read timestamp: " + options.timestamp->ToString(/*hex=*/true) +
        " is smaller than full_history_ts_low: " + Slice(low).ToString(/*hex=*/true) + "\n");
  }
  return Status::OK();
}

// The versions of a key are in the order of their times, in memtables and tables. So an iterator over
// all of them that seeks the time is at the result, or at a version that the snapshot does not see.
Status Reader::GetAtTime(const ReadOptions& options, const ColumnFamily& family,
                         const ReadState& state, const PointRead& read) {
  // Again, now that the state is pinned: the history low includes all history that was dropped before that.
  if (Status s = CheckReadTime(options, family); !s.ok()) return s;
  GetContext ctx(read.key, read.sequence, family.merge_operator(), read.value);
  if (read.operands != nullptr) ctx.CollectOperandsOnly(read.operands);
  ctx.IgnoreTombstones(options.ignore_range_deletions);
  std::vector<InternalIteratorPtr> children;
  RangeTombstoneSet tombstones(family.user_comparator());
  tombstones.CountUpTo(*options.timestamp);
  if (!SkipsMemTables(options)) AddMemTables(state, &children, &tombstones);
  if (options.read_tier != rocksdb::kMemtableTier) {
    Status s = state.view->AddIterators(BlockOptions(options), &children, &tombstones);
    if (!s.ok()) return s;
  }
  const InternalIteratorPtr iter = NewMergingIterator(&state.mem->comparator(), std::move(children));
  const size_t size = family.timestamp_size();
  // The newest tombstone over the key, at any time, and the record.
  Covering range;
  if (!options.ignore_range_deletions) {
    if (const Covering* t = tombstones.Newest(BehindAllTimes(read.key, size), read.sequence)) range = *t;
  }
  std::string time;
  SequenceNumber sequence = 0;
  const LookupKey target(AppendTimestamp(read.key, *options.timestamp), read.sequence);
  for (iter->Seek(target.internal_key()); iter->Valid(); iter->Next()) {
    ParsedInternalKey found;
    if (!ParseInternalKey(iter->key(), &found) || found.user_key.size() < size) {
      return Status::Corruption("malformed internal key", iter->key().ToString(/*hex=*/true));
    }
    if (family.user_comparator()->CompareWithoutTimestamp(found.user_key, true, read.key, false) != 0) {
      break;
    }
    if (found.sequence > read.sequence) continue;
    time = TimestampOf(found.user_key, size).ToString();
    sequence = found.sequence;
    ctx.AddCoveringTombstone(tombstones.MaxCovering(found.user_key, read.sequence));
    ctx.Add(found.sequence, found.type, iter->value(), nullptr);
    break;
  }
  if (!iter->status().ok()) return iter->status();
  if (!ctx.done() && options.read_tier == rocksdb::kMemtableTier) {
    return Status::Incomplete("the key may be outside the memtables");
  }
  // As in RocksDB, a key under a range tombstone has its time, with or without a record.
  if (ctx.state() != GetContext::State::kFound && range.sequence > 0 && range.sequence >= sequence) {
    time = range.timestamp.ToString();
  }
  if (read.timestamp != nullptr && !time.empty()) *read.timestamp = std::move(time);
  return ctx.Finish();
}

// Later times need not have later sequences, so all versions are read, unless an earlier step decides.
Status Reader::NewestTimedSequence(ColumnFamily* family, const Slice& key, SequenceNumber since,
                                   SequenceNumber* newest, std::string* time) {
  const rocksdb::Comparator* const comparator = family->user_comparator();
  ReadStatePin state(family->read_state());
  std::vector<InternalIteratorPtr> children;
  RangeTombstoneSet tombstones(comparator);
  AddMemTables(*state, &children, &tombstones);
  Status s = state->view->AddIterators(BlockOptions(ReadOptions()), &children, &tombstones);
  if (!s.ok()) return s;
  const size_t size = family->timestamp_size();
  std::string newest_time;
  const Covering* const range = tombstones.Newest(BehindAllTimes(key, size), kMaxSequenceNumber);
  if (range != nullptr) {
    *newest = range->sequence;
    newest_time = range->timestamp.ToString();
  }
  const InternalIteratorPtr iter = NewMergingIterator(&state->mem->comparator(), std::move(children));
  const LookupKey target(BeforeAllTimes(key, size), kMaxSequenceNumber);
  bool first = true;
  for (iter->Seek(target.internal_key()); iter->Valid(); iter->Next()) {
    ParsedInternalKey found;
    if (!ParseInternalKey(iter->key(), &found) || found.user_key.size() < size) {
      return Status::Corruption("malformed internal key", iter->key().ToString(/*hex=*/true));
    }
    if (comparator->CompareWithoutTimestamp(found.user_key, true, key, false) != 0) break;
    const Slice found_time = TimestampOf(found.user_key, size);
    if (first && (newest_time.empty() ||
                  comparator->CompareTimestamp(found_time, newest_time) > 0)) {
      newest_time = found_time.ToString();
    }
    first = false;
    *newest = std::max(*newest, found.sequence);
    if (*newest > since) break;
  }
  if (time != nullptr) *time = std::move(newest_time);
  return iter->status();
}

}  // namespace compassdb
