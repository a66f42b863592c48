// SPDX-License-Identifier: Apache-2.0
// DB::Resume: after a failure whose cause is gone.
//
// A write-ahead log that failed ends at an unknown place, so the memtables are
// flushed and a new log is begun before the first write is let in: recovery
// never needs to read across the gap.
#include "db/db_impl.h"

namespace compassdb {

Status DBImpl::Resume() {
  if (Status s = CheckWritable("Resume"); !s.ok()) return s;
  const Status old = errors_.error();
  if (old.ok()) return Status::OK();
  if (old.severity() >= Status::kFatalError) return old;

  Status s;
  {
    ExclusiveWrite front(&write_thread_);
    std::vector<std::pair<std::shared_ptr<ColumnFamily>, uint64_t>> targets;
    {
      ReadStateGarbage garbage;
      MutexLock lock(&mu_);
      if (commits_.in_doubt()) s = commits_.Rotate();
      const Families all = families_.All();
      if (s.ok()) s = SwitchMemTables(all, rocksdb::FlushReason::kErrorRecovery, &garbage);
      if (s.ok()) {
        for (const auto& family : all) {
          targets.emplace_back(family, family->sealed_count);
          family->flush_requested = !family->immutables.empty();
        }
        errors_.Clear();
        MaybeSchedule();
      }
    }
    NotifySealed();
    if (s.ok()) s = WaitForFlush(targets, /*for_listeners=*/false);
    if (s.ok()) {
      // Also families without data say that they need nothing of the old log.
      ReadStateGarbage garbage;
      MutexLock lock(&mu_);
      std::vector<CommitItem> items;
      for (const auto& family : families_.All()) {
        CommitItem item;
        item.family = family;
        item.edit.column_family = family->id();
        item.edit.log_number = family->OldestRecordLog();
        items.push_back(std::move(item));
      }
      s = commits_.Commit(&items, garbage.list());
    }
    if (!s.ok()) {
      SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
      return s;
    }
  }
  LogInfo(config_.info_log.get(), "resumed after: " + old.ToString());
  listeners_.ErrorRecovered(old);
  PurgeObsolete();
  MutexLock lock(&mu_);
  BackgroundDone();
  return Status::OK();
}

}  // namespace compassdb
