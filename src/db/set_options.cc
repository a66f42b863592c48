// SPDX-License-Identifier: Apache-2.0
// Changing options of an open database.
#include <set>

#include "db/db_impl.h"
#include "options/sanitize.h"

namespace compassdb {
namespace {

// What takes effect at once; the store reads its own options at open only.
const std::set<std::string>& ChangeableFamilyOptions() {
  static const std::set<std::string> names{
      "write_buffer_size", "max_write_buffer_number", "disable_auto_compactions",
      "level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
      "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit",
      "arena_block_size", "max_sequential_skip_in_iterations"};
  return names;
}

}  // namespace

Status DBImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& changes) {
  if (Status s = CheckWritable("SetOptions"); !s.ok()) return s;
  if (changes.empty()) return Status::InvalidArgument("SetOptions: no options given");
  ColumnFamily* const family = FamilyOf(handle);
  rocksdb::ColumnFamilyOptions changed = family->options();
  Status s = ApplyMutableFamilyOptions(family->name(), GetDBOptions(), changes, &changed);
  if (!s.ok()) return s;
  for (const auto& [name, value] : changes) {
    if (FamilyOptionHasEffect(name) && ChangeableFamilyOptions().count(name) == 0) {
      return Status::NotSupported("SetOptions: takes effect only when the database is opened", name);
    }
  }
  {
    ExclusiveWrite front(&write_thread_);
    MutexLock lock(&mu_);
    family->set_options(changed);
    family->mem->SetWriteBufferSize(changed.write_buffer_size);
    if (family->mem->ShouldFlush()) memtable_full_ = true;
    wal_limit_ = WalLimit();
    UpdateStall(&stall_changes_);
    MaybeSchedule();
  }
  NotifyStalls();
  return PersistOptions();
}

Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& changes) {
  if (Status s = CheckWritable("SetDBOptions"); !s.ok()) return s;
  if (changes.empty()) return Status::InvalidArgument("SetDBOptions: no options given");
  static const std::set<std::string> kChangeable{"max_total_wal_size", "delayed_write_rate",
                                                 "max_background_jobs"};
  rocksdb::DBOptions changed = GetDBOptions();
  Status s = ApplyMutableDbOptions(changes, &changed);
  if (!s.ok()) return s;
  for (const auto& [name, value] : changes) {
    if (DbOptionHasEffect(name) && kChangeable.count(name) == 0) {
      return Status::NotSupported("SetDBOptions: takes effect only when the database is opened",
                                  name);
    }
  }
  if (changed.delayed_write_rate == 0) changed.delayed_write_rate = 16 << 20;
  {
    ExclusiveWrite front(&write_thread_);
    MutexLock lock(&mu_);
    config_.options.max_total_wal_size = changed.max_total_wal_size;
    config_.options.delayed_write_rate = changed.delayed_write_rate;
    config_.options.max_background_jobs = changed.max_background_jobs;
    stalls_.SetMaxRate(changed.delayed_write_rate);
    wal_limit_ = WalLimit();
    scheduler_->EnsureThreads(JobPriority::kHigh, config_.max_flushes());
    scheduler_->EnsureThreads(JobPriority::kLow, config_.max_compactions());
    MaybeSchedule();
  }
  return PersistOptions();
}

rocksdb::Options DBImpl::GetOptions(ColumnFamilyHandle* handle) const {
  return rocksdb::Options(GetDBOptions(), FamilyOf(handle)->options());
}

rocksdb::DBOptions DBImpl::GetDBOptions() const {
  MutexLock lock(&mu_);
  return config_.options;
}

}  // namespace compassdb
