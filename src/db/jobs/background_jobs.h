// SPDX-License-Identifier: Apache-2.0
// The background jobs of a database: decides when flushes, compactions and collections of separated values begin. They
// run on threads that databases share (Scheduler).
//
// A family that needs a flush or a compaction is queued once. While there are more queued families than scheduled jobs,
// and fewer jobs than max_background_jobs allows, a job is scheduled; it takes the first family of its queue that may
// run. Two kinds come in addition to these, one job of each at a time: collections that a flush waits for, and long
// work.
//
// Thread safety: methods marked [mutex] are called with the database mutex held, the others without it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "db/jobs/background_work.h"
#include "db/jobs/family_queue.h"
#include "db/jobs/memtable_flush.h"
#include "db/jobs/scheduler.h"
#include "db/space/idle_looks.h"
#include "rocksdb/options.h"

namespace compassdb {

class BackgroundJobs final : public BackgroundWork, private FlushQueue {
 public:
  // All of it outlives the jobs.
  BackgroundJobs(const JobEnvironment& env, const MemTableFlush::Deps& deps, Scheduler& scheduler);

  // [mutex] The database is open: jobs are scheduled from now on. Not called for a read-only database.
  void Open();
  bool opened() const;  // [mutex]
  // [mutex] Running jobs do not wait if they fail, or failed, before their work is tried again.
  void EndWaits();
  // The database is being closed: pauses end, and flushes do not wait.
  void BeginClose();
  // JobEnvironment::shutting_down is set: ends all jobs. None is scheduled afterwards.
  void Close();

  // Returns when no job runs. A pause ends with as many calls of Continue.
  void Pause();
  Status Continue();
  bool paused() const;  // [mutex]
  // JobEnvironment::shutting_down is set: wakes threads that wait for jobs, and waits until none runs.
  void Cancel(bool wait);
  // For WaitForCompact: until there is nothing to do.
  Status WaitUntilIdle(const rocksdb::WaitForCompactOptions& options);

  void MaybeSchedule() override;
  void AwaitBackground(std::chrono::milliseconds most) override NO_THREAD_SAFETY_ANALYSIS;
  int FlushesRunning() const override;
  int CompactionsRunning() const override;
  // [mutex] Wakes threads that wait for a change.
  void Changed();

  // [mutex] Whether the next flushes must take all families in one commit: true after a log was given up while tables
  // lack its records. After a power cut, the log could not complete a batch that only some tables have.
  void FlushTogether(bool together);
  // [mutex] A dropped family needs no jobs.
  void Remove(const std::shared_ptr<ColumnFamily>& family);
  // Families or options changed: decides whether a family needs periodic checks.
  void ScheduleIdleLooks() { idle_looks_.Schedule(); }

  // Manual compactions run in the threads of their callers. An exclusive one waits for automatic compactions, and
  // prevents new ones until it ends. Collections of values continue: they change no table.
  void BeginManual(bool exclusive);
  void EndManual(bool exclusive);
  void AwaitManual();
  // [mutex] Such a compaction runs, and does not wait.
  void ManualJobBegins();
  void ManualJobEnds();

 private:
  // Without family and task: none was found.
  struct Picked {
    std::shared_ptr<ColumnFamily> family;
    std::unique_ptr<CompactionTask> task;
    Status status;  // no memory to search
  };
  using Look = std::function<std::unique_ptr<CompactionTask>(Store*)>;

  // --- When jobs begin (background_jobs.cc)
  bool FlushReady(const ColumnFamily& family) const REQUIRES(*mu_);
  // Whether a flush takes all families.
  bool FlushesTogether() const REQUIRES(*mu_);
  // Whether no flush may begin now, although its job may.
  bool FlushesHeld() const REQUIRES(*mu_);
  bool MayCompact(const ColumnFamily& family) const REQUIRES(*mu_);
  void AwaitSnapshots() REQUIRES(*mu_);
  void StartQueued() override;
  // False if it may not be scheduled.
  bool Schedule(void (BackgroundJobs::*job)(), JobPriority priority, int* scheduled) REQUIRES(*mu_);
  void Unscheduled(int* scheduled) EXCLUDES(*mu_);
  // After a failed job: the next attempt is bgerror_resume_retry_interval later (a second, as in RocksDB). Until then
  // no other thread may take the same work: a flush keeps its memtables, and failed_compactions counts a compaction.
  // `waits_ended`: as the job began.
  void WaitAfterFailure(int waits_ended) REQUIRES(*mu_);
  bool Idle() const REQUIRES(*mu_);

  // --- What they do (run_jobs.cc)
  void Flush() EXCLUDES(*mu_);
  void Compact() EXCLUDES(*mu_);
  void Collect() EXCLUDES(*mu_);
  void WorkLong() EXCLUDES(*mu_);
  void AddFamilies(MemTableFlush* flush) REQUIRES(*mu_);
  // `extra`, if any, counts it while it runs. `pick` holds the mutex.
  void RunPicked(Picked (BackgroundJobs::*pick)(), int* scheduled, int* extra) EXCLUDES(*mu_);
  Picked PickCompaction() REQUIRES(*mu_);
  Picked PickCollection() REQUIRES(*mu_);
  Picked PickLongWork() REQUIRES(*mu_);
  bool PickOf(const std::shared_ptr<ColumnFamily>& family, const char* what, const Look& look, Picked* picked)
      REQUIRES(*mu_);
  Status Run(Picked* picked) EXCLUDES(*mu_);
  // Runs a task that writes nothing.
  Status RunSilently(Picked* picked) EXCLUDES(*mu_);

  // A job that comes in addition to max_background_jobs.
  struct Extra {
    int scheduled = 0;
    int running = 0;  // of State::compactions_running
    bool under_way() const { return scheduled + running > 0; }
  };
  struct State {
    bool opened = false;
    bool closing = false;
    int paused = 0;
    int flushes_scheduled = 0;
    int flushes_running = 0;
    int compactions_scheduled = 0;
    int compactions_running = 0;  // without manual ones
    int collections_running = 0;  // of these, of separated values
    Extra collections;            // while a flush waits for the space that they free
    Extra long_work;              // journals are applied at the same time
    uint32_t last_long_work = 0;  // family: the next one has its turn
    int manual_running = 0;
    int manual_jobs = 0;  // of these, those that do not wait
    int exclusive_manual = 0;
    bool flush_together = false;
    int waits_ended = 0;  // how often
    FamilyQueue flush_queue;
    FamilyQueue compaction_queue;

    int flushes_under_way() const { return flushes_scheduled + flushes_running; }
    // Only jobs that max_background_jobs counts.
    int compactions_under_way() const {
      return compactions_scheduled + compactions_running - long_work.running - collections.running;
    }
    bool any_job_runs() const { return flushes_running > 0 || compactions_running > 0; }
  };

  const JobEnvironment& env_;
  const MemTableFlush::Deps deps_;
  const DbConfig& config_;
  Scheduler& scheduler_;
  Mutex* const mu_;
  CondVar* const changed_;
  State state_ GUARDED_BY(*mu_);
  IdleLooks idle_looks_;
};

// A manual compaction runs during its lifetime.
class ManualTurn {
 public:
  ManualTurn(BackgroundJobs* jobs, bool exclusive) : jobs_(jobs), exclusive_(exclusive) {
    jobs_->BeginManual(exclusive);
  }
  ~ManualTurn() { jobs_->EndManual(exclusive_); }
  ManualTurn(const ManualTurn&) = delete;
  ManualTurn& operator=(const ManualTurn&) = delete;

 private:
  BackgroundJobs* const jobs_;
  const bool exclusive_;
};

}  // namespace compassdb
