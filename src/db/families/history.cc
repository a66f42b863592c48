// SPDX-License-Identifier: Apache-2.0
// How far back the history of a family with user-defined timestamps goes.
#include "db/db_impl.h"

namespace compassdb {

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
  ReadStateGarbage garbage(&space_);
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
