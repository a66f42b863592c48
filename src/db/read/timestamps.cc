// SPDX-License-Identifier: Apache-2.0
// Families with user-defined timestamps: writes and reads at a time, and how far back history goes.
#include "batch/write_batch_internal.h"
#include "db/db_impl.h"
#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"

namespace compassdb {
namespace {

Status SizeMismatch(size_t wanted, size_t given) {
  return Status::InvalidArgument("Timestamp sizes mismatch: expect " + std::to_string(wanted) +
                                 ", " + std::to_string(given) + " given");
}

Status CheckWriteTime(ColumnFamilyHandle* handle, const Slice& ts) {
  if (handle == nullptr) return Status::InvalidArgument("column family handle cannot be null");
  const ColumnFamily& family = *FamilyOf(handle);
  const size_t size = family.timestamp_size();
  if (size == 0) return TimestampsDisabled(family);
  return size == ts.size() ? Status::OK() : SizeMismatch(size, ts.size());
}

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

Status TimestampsDisabled(const ColumnFamily& family) {
  return Status::InvalidArgument("cannot call this method on column family " + family.name() +
                                 " that does not enable timestamp");
}

Status TimestampsEnabled(const ColumnFamily& family) {
  return Status::InvalidArgument("cannot call this method on column family " + family.name() +
                                 " that enables timestamp");
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const Slice& ts, const Slice& value) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + value.size() + 32);
  if (Status s = batch.Put(family, key, ts, value); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + 32);
  if (Status s = batch.Delete(family, key, ts); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + 32);
  if (Status s = batch.SingleDelete(family, key, ts); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                           const Slice& begin, const Slice& end, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(begin.size() + end.size() + 2 * ts.size() + 32);
  if (Status s = batch.DeleteRange(family, begin, end, ts); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::CheckReadTime(const ReadOptions& options, const ColumnFamily& family) const {
  const size_t size = family.timestamp_size();
  if (size == 0) return TimestampsDisabled(family);
  if (options.timestamp == nullptr) return TimestampsEnabled(family);
  if (options.timestamp->size() != size) return SizeMismatch(size, options.timestamp->size());
  if (options.iter_start_ts != nullptr && options.iter_start_ts->size() != size) {
    return SizeMismatch(size, options.iter_start_ts->size());
  }
  const std::string low = family.history->Get();
  if (!low.empty() && family.user_comparator()->CompareTimestamp(*options.timestamp, low) < 0) {
    return Status::InvalidArgument(
        "Read timestamp: " + options.timestamp->ToString(/*hex=*/true) +
        " is smaller than full_history_ts_low: " + Slice(low).ToString(/*hex=*/true) + "\n");
  }
  return Status::OK();
}

// The versions of a key lie in the order of their times, in memtables and tables alike, so that an
// iterator over all of them, set to the time, stands at the answer or at what the snapshot hides.
Status DBImpl::GetAtTime(const ReadOptions& options, const ColumnFamily& family,
                         const ReadState& state, const PointRead& read) {
  // Once more, now that the state is pinned: history that had gone from it when it was pinned is told of by now.
  if (Status s = CheckReadTime(options, family); !s.ok()) return s;
  GetContext ctx(read.key, read.sequence, family.merge_operator(), read.value);
  if (read.operands != nullptr) ctx.CollectOperandsOnly(read.operands);
  ctx.IgnoreTombstones(options.ignore_range_deletions);
  std::vector<InternalIteratorPtr> children;
  RangeTombstoneSet tombstones(family.user_comparator());
  tombstones.CountUpTo(*options.timestamp);
  const bool skip_memtables = options.read_tier == rocksdb::kPersistedTier &&
                              unlogged_data_.load(std::memory_order_relaxed);
  if (!skip_memtables) AddMemTables(state, &children, &tombstones);
  if (options.read_tier != rocksdb::kMemtableTier) {
    Status s = state.view->AddIterators(BlockOptions(options), &children, &tombstones);
    if (!s.ok()) return s;
  }
  const InternalIteratorPtr iter = NewMergingIterator(&state.mem->comparator(), std::move(children));
  const size_t size = family.timestamp_size();
  // The newest tombstone over the key, at whatever time, and the record.
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
  // As in RocksDB, a key that a range deleted has the time of that, be there a record or not.
  if (ctx.state() != GetContext::State::kFound && range.sequence > 0 && range.sequence >= sequence) {
    time = range.timestamp.ToString();
  }
  if (read.timestamp != nullptr && !time.empty()) *read.timestamp = std::move(time);
  return ctx.Finish();
}

// Later times need not have later sequences, so all versions are looked at, but for what decides before.
Status DBImpl::NewestTimedSequence(ColumnFamily* family, const Slice& key, SequenceNumber since,
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

Status DBImpl::RaiseHistoryLow(const std::shared_ptr<ColumnFamily>& family,
                               const std::string& low) {
  if (family->timestamp_size() == 0) {
    return Status::InvalidArgument("Timestamp is not enabled in this column family");
  }
  if (low.size() != family->timestamp_size()) {
    return Status::InvalidArgument("ts_low size mismatch");
  }
  if (Status s = CheckWritable("IncreaseFullHistoryTsLow"); !s.ok()) return s;
  const rocksdb::Comparator* const comparator = family->user_comparator();
  const auto below_current = [&] {
    const std::string current = family->history->Get();
    return !current.empty() && comparator->CompareTimestamp(low, current) < 0;
  };
  ReadStateGarbage garbage(files_let_go_);
  MutexLock lock(&mu_);
  if (below_current()) return Status::InvalidArgument("Cannot decrease full_history_ts_low");
  std::vector<CommitItem> items(1);
  items.front().family = family;
  items.front().edit.column_family = family->id();
  items.front().edit.history_low = low;
  // Another call may have had its turn before this one.
  items.front().finalize = [&](VersionEdit* edit) {
    if (below_current()) edit->history_low = family->history->Get();
  };
  items.front().installed = [&] {
    if (!below_current()) family->history->Set(low);
  };
  return commits_.Commit(&items, garbage.list());
}

// All tables are written anew, and compactions drop what is newer.
Status DBImpl::TrimHistory(ColumnFamilyHandle* handle, const std::string& time) {
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(handle);
  if (family->timestamp_size() == 0) return Status::OK();
  if (Status s = Flush(rocksdb::FlushOptions(), handle); !s.ok()) return s;
  family->history->TrimTo(time);
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  Status s = CompactRange(options, handle, nullptr, nullptr);
  family->history->TrimTo("");
  return s;
}

Status DBImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) {
  return RaiseHistoryLow(SharedFamilyOf(handle != nullptr ? handle : DefaultColumnFamily()),
                         ts_low);
}

Status DBImpl::GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) {
  if (ts_low == nullptr) return Status::InvalidArgument("ts_low is nullptr");
  const ColumnFamily& family = *FamilyOf(handle != nullptr ? handle : DefaultColumnFamily());
  if (family.history == nullptr) {
    return Status::InvalidArgument("Timestamp is not enabled in this column family");
  }
  *ts_low = family.history->Get();
  return Status::OK();
}

}  // namespace compassdb
