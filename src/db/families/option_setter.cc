// SPDX-License-Identifier: Apache-2.0
// Changing options of an open database.
#include "db/db_impl.h"
#include "options/sanitize.h"

namespace compassdb {
namespace {

// What SetDBOptions may change; the rest of the struct is read without a lock.
void CopyChangeable(const rocksdb::DBOptions& from, rocksdb::DBOptions* to) {
  to->max_background_jobs = from.max_background_jobs;
  to->max_background_compactions = from.max_background_compactions;
  to->max_background_flushes = from.max_background_flushes;
  to->max_subcompactions = from.max_subcompactions;
  to->max_total_wal_size = from.max_total_wal_size;
  to->delayed_write_rate = from.delayed_write_rate;
  to->max_open_files = from.max_open_files;
  to->bytes_per_sync = from.bytes_per_sync;
  to->wal_bytes_per_sync = from.wal_bytes_per_sync;
  to->strict_bytes_per_sync = from.strict_bytes_per_sync;
  to->avoid_flush_during_shutdown = from.avoid_flush_during_shutdown;
  to->delete_obsolete_files_period_micros = from.delete_obsolete_files_period_micros;
  to->stats_dump_period_sec = from.stats_dump_period_sec;
  to->stats_persist_period_sec = from.stats_persist_period_sec;
  to->stats_history_buffer_size = from.stats_history_buffer_size;
  to->compaction_readahead_size = from.compaction_readahead_size;
  to->writable_file_max_buffer_size = from.writable_file_max_buffer_size;
}

}  // namespace

Status DBImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& changes) {
  if (Status s = CheckWritable("SetOptions"); !s.ok()) return s;
  if (changes.empty()) return Status::InvalidArgument("SetOptions: no options given");
  MutexLock one_at_a_time(&set_options_mu_);
  ColumnFamily* const family = FamilyOf(handle);
  rocksdb::ColumnFamilyOptions changed = family->options();
  Status s = ApplyMutableFamilyOptions(family->name(), GetDBOptions(), changes, &changed);
  if (!s.ok()) return s;
  StoreOptions store;
  s = ProjectFamilyOptions(family->id(), family->name(), changed, &store);
  if (!s.ok()) return s;
  ApplyMemoryLimit(config_, &changed, &store);
  {
    ExclusiveWrite front(&write_thread_);
    MutexLock lock(&mu_);
    if (family->dropped) return Status::ColumnFamilyDropped(family->name());
    family->set_options(changed);
    family->store()->SetOptions(store);
    family->mem->SetWriteBufferSize(changed.write_buffer_size);
    family->LimitMemTable();
    if (family->mem->ShouldFlush()) memtable_full_ = true;
    wal_limit_ = WalLimit();
    UpdateStall(&stall_changes_);
    MaybeSchedule();
  }
  NotifyStalls();
  idle_looks_.Schedule();
  space_.Configure(families_);
  return PersistOptions();
}

Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& changes) {
  if (Status s = CheckWritable("SetDBOptions"); !s.ok()) return s;
  if (changes.empty()) return Status::InvalidArgument("SetDBOptions: no options given");
  MutexLock one_at_a_time(&set_options_mu_);
  const rocksdb::DBOptions present = GetDBOptions();
  rocksdb::DBOptions changed = present;
  Status s = ApplyMutableDbOptions(changes, &changed);
  if (!s.ok()) return s;
  if (changed.delayed_write_rate == 0) changed.delayed_write_rate = 16 << 20;
  {
    ExclusiveWrite front(&write_thread_);
    MutexLock lock(&mu_);
    CopyChangeable(changed, &config_.options);
    store_context_.max_subcompactions = changed.max_subcompactions;
    store_context_.bytes_per_sync = changed.bytes_per_sync;
    stalls_.SetMaxRate(changed.delayed_write_rate);
    wal_limit_ = WalLimit();
    scheduler_->EnsureThreads(JobPriority::kHigh, config_.max_flushes());
    scheduler_->EnsureThreads(JobPriority::kLow, config_.max_compactions());
    MaybeSchedule();
  }
  wals_.SetBytesPerSync(changed.wal_bytes_per_sync);
  files_->SetLimits(FileLimits(changed));
  if (changed.stats_dump_period_sec != present.stats_dump_period_sec ||
      changed.stats_persist_period_sec != present.stats_persist_period_sec ||
      changed.stats_history_buffer_size != present.stats_history_buffer_size) {
    reports_.stats_dump()->Schedule();
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
