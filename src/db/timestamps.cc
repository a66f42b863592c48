// SPDX-License-Identifier: Apache-2.0
// Families with user-defined timestamps: writes and reads at a time, and how far back history goes.
#include "base/user_timestamp.h"
#include "batch/write_batch_internal.h"
#include "db/db_impl.h"
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

Status DBImpl::DeleteRange(const WriteOptions&, ColumnFamilyHandle* family, const Slice&,
                           const Slice&, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  return Status::NotSupported("DeleteRange in a column family with timestamps",
                              FamilyOf(family)->name());
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
  GetContext ctx(read.key, read.sequence, family.merge_operator(), read.value);
  if (read.operands != nullptr) ctx.CollectOperandsOnly(read.operands);
  std::vector<InternalIteratorPtr> children;
  const bool skip_memtables = options.read_tier == rocksdb::kPersistedTier &&
                              unlogged_data_.load(std::memory_order_relaxed);
  if (!skip_memtables) {
    children.push_back(state.mem->NewIterator());
    for (const auto& immutable : state.immutables) children.push_back(immutable->NewIterator());
  }
  if (options.read_tier != rocksdb::kMemtableTier) {
    RangeTombstoneSet none(family.user_comparator());  // these families have none
    Status s = state.view->AddIterators(BlockOptions(options), &children, &none);
    if (!s.ok()) return s;
  }
  const InternalIteratorPtr iter = NewMergingIterator(&state.mem->comparator(), std::move(children));
  const size_t size = family.timestamp_size();
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
    if (read.timestamp != nullptr) {
      *read.timestamp = TimestampOf(found.user_key, size).ToString();
    }
    ctx.Add(found.sequence, found.type, iter->value(), nullptr);
    break;
  }
  if (!iter->status().ok()) return iter->status();
  if (!ctx.done() && options.read_tier == rocksdb::kMemtableTier) {
    return Status::Incomplete("the key may be outside the memtables");
  }
  return ctx.Finish();
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
  ReadStateGarbage garbage;
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
