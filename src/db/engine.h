// SPDX-License-Identifier: Apache-2.0
// The parts of an open database, and their wiring: each owns its state, and its constructor says
// what it may touch. They are in the order of their lifetimes. Some refer to later ones, which they
// use once all are built, and not after Close.
//
// An opener fills the state of an Engine, and a DBImpl forwards the calls of rocksdb::DB to its
// parts. Nothing else sees one.
//
// Thread safety: that of its parts, except that Follow, Start and Close run alone.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/copy/follow_log.h"
#include "db/copy/live_files.h"
#include "db/copy/table_exporter.h"
#include "db/families/family_histories.h"
#include "db/families/family_manager.h"
#include "db/families/option_setter.h"
#include "db/jobs/auto_resume.h"
#include "db/jobs/background_jobs.h"
#include "db/jobs/error_reporter.h"
#include "db/jobs/family_changes.h"
#include "db/jobs/flusher.h"
#include "db/jobs/ingester.h"
#include "db/jobs/job.h"
#include "db/jobs/manual_compactions.h"
#include "db/jobs/resumer.h"
#include "db/jobs/scheduler.h"
#include "db/open/database_state.h"
#include "db/open/secondary.h"
#include "db/read/reader.h"
#include "db/read/snapshot_list.h"
#include "db/report/metadata.h"
#include "db/report/reports.h"
#include "db/space/space_reclaimer.h"
#include "db/write/write_path.h"
#include "trace/tracing.h"
#include "util/process.h"

namespace compassdb {

struct Engine final {
  // `lock`: null for a database that is only read.
  explicit Engine(DbConfig config, std::unique_ptr<Ownership> ownership = nullptr,
                  std::unique_ptr<FileLock> lock = nullptr);
  ~Engine();
  COMPASSDB_DELETED_BY_ITS_PROCESS(Engine, process)
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // It is a secondary instance of a database. Before anything is recovered.
  void Follow(const std::vector<std::string>& table_dirs, std::unique_ptr<LinkDir> links,
              std::set<std::string> families);
  // It is recovered, as `db` for listeners. Background work begins, unless it is read-only.
  void Start(rocksdb::DB* db) EXCLUDES(state.mu);
  // No flush or compaction starts from now on.
  void CancelBackgroundWork(bool wait);
  // Ends all jobs and closes all files; once.
  Status Close() EXCLUDES(state.mu);

  const ProcessMark process;  // that opens it
  DatabaseState state;
  std::unique_ptr<Secondary> secondary;  // null: it follows no primary

  // --- Background work (jobs/, space/), and when writers wait for it ---
  AutoResume auto_resume{state.config,         state.listeners, state.errors,
                         *state.tables->dirs(), space,           resumer};
  ErrorReporter error_reporter{state.config, state.listeners, state.front.logs, state.errors,
                               auto_resume,  &state.mu,       &state.changed};
  Scheduler scheduler;
  const JobEnvironment job_environment{.db_id = state.manifest_state.db_id(),
                                       .config = state.config,
                                       .listeners = state.listeners,
                                       .event_log = state.event_log,
                                       .mu = &state.mu,
                                       .changed = &state.changed,
                                       .families = state.families,
                                       .commits = &state.commits,
                                       .stalls = &stalls,
                                       .snapshots = &snapshots,
                                       .next_job_id = &state.next_job_id,
                                       .shutting_down = &state.shutting_down,
                                       .space = &space,
                                       .errors = &state.errors,
                                       .background_errors = &error_reporter};
  BackgroundJobs jobs{job_environment, {&state.front.logs, state.front.unlogged_data}, scheduler};
  SnapshotList snapshots{&state.front.last_sequence, &state.mu, &jobs};
  SpaceReclaimer space{state.config, state.config.read_only(), state.files(), &state.mu, scheduler,
                       jobs,         {state.event_log, state.listeners}};
  WriteStalls stalls{state.config, state.listeners, state.families, &state.mu, &state.changed};
  MemTableSwitch memtable_switch{state.config, state.front,     &state.mu, state.families,
                                 stalls,       state.listeners, jobs};
  Flusher flusher{job_environment, state.front, memtable_switch, jobs};
  Resumer resumer{job_environment, state.front, jobs, flusher};
  FamilyChanges family_changes{state.config, stalls,        memtable_switch,
                               jobs,         options_files, &state.mu};
  ManualCompactions manual_compactions{job_environment, jobs, flusher};

  // --- Writes and reads ---
  Tracing tracing;
  WriteAdmission write_admission{
      state.config, state.front, &state.mu,    state.families, memtable_switch,    stalls,
      space,        jobs,        state.errors, error_reporter, state.shutting_down};
  WritePath write_path{state.config,    state.front, &state.mu,    state.families, memtable_switch,
                       write_admission, stalls,      state.errors, error_reporter, tracing,
                       state.shutting_down};
  Reader reader{state.config.clock,
                state.config.options.statistics,
                state.stores.hasher,
                state.config.read_only(),
                state.front.last_sequence,
                state.front.unlogged_data,
                &snapshots,
                &tracing,
                &state.mu};

  // --- Column families, their options, and tables from outside ---
  FamilyFactory family_factory{state.config, state.ownership.get(), state.stores,
                               snapshots,    space,                 &state.mu};
  OptionsFiles options_files{state.config,   state.ownership.get(), &state.mu,
                             state.families, state.commits,         *state.ledger};
  FamilyHandles family_handles{state.config, state.listeners, space};
  FamilyManager family_manager{state.config,  &state.mu,     state.front,    state.errors,
                               state.commits, state.manifest_state, state.families,
                               family_factory, family_handles, space, family_changes,
                               error_reporter};
  Ingester ingester{job_environment, state.front, jobs, flusher, family_manager};
  FamilyHistories family_histories{state.config, &state.mu, state.commits, space};

  // --- Copies, reports ---
  LiveFiles live_files{state.config,  state.config.read_only(), state.families,
                       state.files(), options_files.number(),   &state.mu, flusher, write_path};
  TableExporter table_exporter{state.config, state.config.read_only(), state.front.last_sequence,
                               reader};
  LogFollower log_follower{state.config, state.front.logs, state.front.last_sequence};
  Metadata metadata{state.manifest_state.db_id(), state.families, state.tables.get(),
                    *state.ledger};
  Reports reports{{state.config, state.families, *state.ledger, snapshots, state.front.logs,
                   state.errors, state.front.written, state.front.last_sequence, state.mu,
                   stalls.controller(), jobs}};
  OptionSetter option_setter{
      state.config, &state.mu, state.front.queue,
      OptionUsers{state.stores, state.front.logs, scheduler, *reports.stats_dump()},
      state.families, space, family_changes};

 private:
  Status CloseFiles() EXCLUDES(state.mu);

  bool closed_ GUARDED_BY(state.mu) = false;
  // A callback that forks may return into the engine in the child: there waits and jobs end soon.
  const AtForks forks_{this, {.in_child = [](void* engine) {
    static_cast<Engine*>(engine)->state.shutting_down = true;
    static_cast<Engine*>(engine)->manual_compactions.Cancel();
  }}};
};

}  // namespace compassdb
