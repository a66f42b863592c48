// SPDX-License-Identifier: Apache-2.0
#include "db/families/option_setter.h"

#include "db/report/info_log.h"
#include "options/sanitize.h"

namespace compassdb {
namespace {

// The options that SetDBOptions may change. The rest of the struct is read without a lock.
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

Status OptionSetter::SetFamilyOptions(const std::shared_ptr<ColumnFamily>& family, const Changes& changes) {
  if (changes.empty()) return Status::InvalidArgument("SetOptions: no options given");
  MutexLock one_at_a_time(&one_at_a_time_);
  LogInputs("SetOptions() on column family [" + family->name() + "]", changes);
  Status s = ChangeFamily(family, changes);
  LogResult("[" + family->name() + "] SetOptions()", s);
  return s.ok() ? observer_.FamiliesChanged() : s;
}

Status OptionSetter::SetDbOptions(const Changes& changes) {
  if (changes.empty()) return Status::InvalidArgument("SetDBOptions: no options given");
  MutexLock one_at_a_time(&one_at_a_time_);
  LogInputs("SetDBOptions()", changes);
  Status s = ChangeDb(changes);
  LogResult("SetDBOptions()", s);
  return s.ok() ? observer_.FamiliesChanged() : s;
}

// Users of RocksDB search for these lines.
void OptionSetter::LogInputs(const std::string& call, const Changes& changes) const {
  LogInfo(config_.info_log.get(), call + ", inputs:");
  for (const auto& [name, value] : changes) LogInfo(config_.info_log.get(), name + ": " + value);
}

void OptionSetter::LogResult(const std::string& call, const Status& s) const {
  if (s.ok()) {
    LogInfo(config_.info_log.get(), call + " succeeded");
  } else {
    LogWarning(config_.info_log.get(), call + " failed: " + s.ToString());
  }
}

Status OptionSetter::ChangeFamily(const std::shared_ptr<ColumnFamily>& family, const Changes& changes) {
  rocksdb::ColumnFamilyOptions changed = family->options();
  Status s = ApplyMutableFamilyOptions(family->name(), DbOptions(), changes, &changed);
  if (!s.ok()) return s;
  StoreOptions store;
  s = ProjectFamilyOptions(family->id(), family->name(), changed, &store);
  if (!s.ok()) return s;
  ApplyMemoryLimit(config_, &changed, &store);
  {
    ExclusiveWrite front(&queue_);
    MutexLock lock(mu_);
    if (family->dropped()) return Status::ColumnFamilyDropped(family->name());
    family->set_options(changed);
    family->store()->SetOptions(store);
    family->memtables().active()->SetWriteBufferSize(changed.write_buffer_size);
    family->LimitMemTables();
    observer_.FamilyChanged(family);
  }
  WarnAboutHints(config_.info_log.get(), rocksdb::DBOptions(), {{family->name(), changed}});
  space_.Configure(families_);
  return Status::OK();
}

Status OptionSetter::ChangeDb(const Changes& changes) {
  const rocksdb::DBOptions present = DbOptions();
  rocksdb::DBOptions changed = present;
  Status s = ApplyMutableDbOptions(changes, &changed);
  if (!s.ok()) return s;
  {
    ExclusiveWrite front(&queue_);
    MutexLock lock(mu_);
    CopyChangeable(changed, &config_.options);
    users_.stores.max_subcompactions = changed.max_subcompactions;
    users_.stores.bytes_per_sync = changed.bytes_per_sync;
    users_.scheduler.EnsureThreads(JobPriority::kHigh, config_.max_flushes());
    users_.scheduler.EnsureThreads(JobPriority::kLow, config_.max_compactions());
    observer_.FamilyChanged(nullptr);
  }
  users_.logs.SetBytesPerSync(changed.wal_bytes_per_sync);
  users_.stores.files->SetLimits(FileLimits(changed));
  if (changed.stats_dump_period_sec != present.stats_dump_period_sec ||
      changed.stats_persist_period_sec != present.stats_persist_period_sec ||
      changed.stats_history_buffer_size != present.stats_history_buffer_size) {
    users_.stats.Schedule();
  }
  WarnAboutHints(config_.info_log.get(), changed, {});
  return Status::OK();
}

rocksdb::DBOptions OptionSetter::DbOptions() const {
  MutexLock lock(mu_);
  return config_.options;
}

}  // namespace compassdb
