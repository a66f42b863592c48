// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_histories.h"

#include <vector>

namespace compassdb {

Status FamilyHistories::Raise(const std::shared_ptr<ColumnFamily>& family, const std::string& low) {
  if (family->timestamp_size() == 0) {
    return Status::InvalidArgument("Timestamp is not enabled in this column family");
  }
  if (low.size() != family->timestamp_size()) {
    return Status::InvalidArgument("ts_low size mismatch");
  }
  if (Status s = config_.CheckWritable("IncreaseFullHistoryTsLow"); !s.ok()) return s;
  const rocksdb::Comparator* const comparator = family->user_comparator();
  const auto below_current = [&] {
    const std::string current = family->history()->Get();
    return !current.empty() && comparator->CompareTimestamp(low, current) < 0;
  };
  ReadStateGarbage garbage(&garbage_);
  MutexLock lock(mu_);
  if (below_current()) return Status::InvalidArgument("Cannot decrease full_history_ts_low");
  std::vector<CommitItem> items(1);
  items.front().family = family;
  items.front().edit.column_family = family->id();
  items.front().edit.history_low = low;
  // Another call may have had its turn before this one.
  items.front().finalize = [&](VersionEdit* edit) {
    if (below_current()) edit->history_low = family->history()->Get();
  };
  items.front().installed = [&] {
    if (!below_current()) family->history()->Set(low);
  };
  return commits_.Commit(&items, garbage.list());
}

Status FamilyHistories::Low(const ColumnFamily& family, std::string* low) {
  if (low == nullptr) return Status::InvalidArgument("ts_low is nullptr");
  if (family.history() == nullptr) {
    return Status::InvalidArgument("Timestamp is not enabled in this column family");
  }
  *low = family.history()->Get();
  return Status::OK();
}

}  // namespace compassdb
