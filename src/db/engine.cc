// SPDX-License-Identifier: Apache-2.0
#include "db/engine.h"

#include "db/report/info_log.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"

namespace compassdb {

Engine::Engine(DbConfig config, std::unique_ptr<Ownership> ownership,
               std::unique_ptr<FileLock> lock)
    : state(std::move(config), std::move(ownership), std::move(lock)),
      scheduler(ThreadPoolsOfEnv(state.config.options.env)) {
  const rocksdb::DBOptions& options = state.config.options;
  if (options.sst_file_manager != nullptr && !state.config.read_only()) {
    options.sst_file_manager->SetStatisticsPtr(options.statistics);
  }
  state.stores.compaction_wanted = [this] {
    MutexLock mutex(&state.mu);
    jobs.MaybeSchedule();
  };
  state.stores.delete_later = [this](const std::string& path) { space.obsolete().AddPages(path); };
  state.stores.snapshots = [this] { return snapshots.Sequences(); };
  state.stores.oldest_snapshot = [this] { return snapshots.Oldest(); };
  state.stores.pinned_value_runs = snapshots.pinned_value_runs();
}

Engine::~Engine() { Close().PermitUncheckedError(); }

void Engine::Follow(const std::vector<std::string>& table_dirs, std::unique_ptr<LinkDir> links,
                    std::set<std::string> families) {
  secondary = std::make_unique<Secondary>(state.config, state.files(), state.families,
                                          state.front.last_sequence, &state.mu, space, table_dirs,
                                          std::move(links), std::move(families));
  live_files.Refuse(Status::NotSupported("Not supported operation in secondary mode."));
  reader.Follow(secondary.get());
  family_factory.FollowPrimary();
}

void Engine::Start(rocksdb::DB* db) {
  state.listeners.SetDatabase(db);
  if (state.config.read_only()) return;
  if (Status limit = space.TrackAll(); !limit.ok()) {
    error_reporter.SetBackgroundError(limit, rocksdb::BackgroundErrorReason::kFlush);
  }
  {
    const ExclusiveWrite front(&state.front.queue);
    MutexLock lock(&state.mu);
    for (const auto& family : state.families.All()) family->LimitMemTables();
    memtable_switch.LimitsChanged(nullptr);
    stalls.Update();
    jobs.Open();
  }
  space.Start(state.families);
  reports.stats_dump()->Schedule();
  jobs.ScheduleIdleLooks();
}

void Engine::CancelBackgroundWork(bool wait) {
  if (!state.shutting_down) {
    {
      MutexLock lock(&state.mu);
      jobs.EndWaits();
    }
    flusher.FlushUnlogged();
  }
  state.shutting_down = true;
  manual_compactions.Cancel();
  jobs.Cancel(wait);
}

Status Engine::Close() {
  {
    MutexLock lock(&state.mu);
    if (closed_) return Status::OK();
    closed_ = true;
  }
  reports.stats_dump()->Stop();
  space.Stop();
  jobs.BeginClose();
  write_path.AbandonLogLock();
  auto_resume.Stop();
  flusher.FlushUnlogged();
  state.shutting_down = true;
  manual_compactions.Cancel();
  jobs.Close();
  const Status s = state.config.read_only() ? Status::OK() : CloseFiles();
  space.UntrackAll();
  family_manager.Close();
  LogInfo(state.config.info_log.get(), "closed: " + s.ToString());
  state.lock.reset();
  return s;
}

// No job runs any longer.
Status Engine::CloseFiles() {
  const DbConfig& config = state.config;
  space.Close();
  state.spare_files.DeleteAll();
  WalSet& logs = state.front.logs;
  Status s = logs.Close();
  for (uint64_t number : logs.TakeSpares()) {
    // If this fails, the next open deletes it.
    config.fs->DeleteFile(WalFileName(config.wal_dir, number)).PermitUncheckedError();
  }
  ReadStateGarbage garbage(&space);
  MutexLock lock(&state.mu);
  CommitQueue& commits = state.commits;
  const bool synced = !logs.CurrentIsEmpty() && logs.synced().bytes > 0;
  if (s.ok() && jobs.opened() && (synced || commits.committed()) && state.errors.error().ok() &&
      !commits.in_doubt()) {
    // Records how far the logs are synced, so that a short or missing log is noticed. It is behind
    // the last real commit, so damage to the manifest's last record, which looks like a torn one,
    // loses nothing.
    std::vector<CommitItem> nothing(1);
    s = commits.Commit(&nothing, garbage.list());
  }
  Status closed = commits.Close();
  return s.ok() ? closed : s;
}

}  // namespace compassdb
