// SPDX-License-Identifier: Apache-2.0
// The life of every job: flush, compaction, manual compaction, drop of tables, ingestion.
//
//   admitted   its parts are picked under the database mutex, by the caller that makes the Job
//   running    LOG and listeners are notified; each part does its work and writes its files
//   committed  one manifest record takes the edits of all parts; or failed: none is installed
//   reported   statistics, LOG and listeners know the result; replaced files are deleted
//
// A kind of job is a class derived from Job. It defines the work and the reports.
//
// Thread safety: one thread runs a job. The database mutex is held in the methods marked [mutex] alone.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/jobs/background_errors.h"
#include "db/jobs/commit.h"
#include "db/jobs/error_handler.h"
#include "db/read/snapshot_list.h"
#include "db/report/event_log.h"
#include "db/report/job_listener.h"
#include "db/space/space_reclaimer.h"
#include "db/write/write_stalls.h"
#include "rocksdb/listener.h"

namespace compassdb {

// The parts of the database that jobs use. All of it outlives them.
struct JobEnvironment {
  const std::string& db_id;
  const DbConfig& config;
  const Listeners& listeners;
  const EventLog& event_log;
  Mutex* mu;         // the database mutex
  CondVar* changed;  // jobs ended, states installed, errors
  const ColumnFamilySet& families;
  CommitQueue* commits;
  WriteStalls* stalls;
  SnapshotList* snapshots;
  std::atomic<int>* next_job_id;
  const std::atomic<bool>* shutting_down;
  SpaceReclaimer* space;  // deletes replaced files
  ErrorHandler* errors;
  BackgroundErrors* background_errors;  // sets them
};

// One family's part of a job.
struct JobPart {
  std::shared_ptr<ColumnFamily> family;
  std::unique_ptr<CompactionTask> task;  // busy until it is released; null: the kind works without one
  CommitItem item;
  JobReport report;
  JobContext context;
  std::unique_ptr<JobListener> listener;
};

class Job {
 public:
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Running, then committed or failed. A failure that affects the database is its background error.
  Status Execute();
  // Reported. `s`: what Execute returned.
  void Finish(const Status& s);
  Status Run() {
    const Status s = Execute();
    Finish(s);
    return s;
  }

 protected:
  Job(const JobEnvironment& env, JobListener::Kind kind) : env_(env), kind_(kind) {}
  // Before Execute. The parts of a job have one id.
  JobPart* AddPart(std::shared_ptr<ColumnFamily> family, std::unique_ptr<CompactionTask> task);

  // --- Running ---
  virtual void Start() {}
  // Writes the part's files. On success part->item.edit is to be committed.
  virtual Status Work(JobPart* part) = 0;
  // All parts are written.
  virtual Status BeforeCommit() { return Status::OK(); }

  // --- Commit [mutex] ---
  // False: nothing to commit, which is no error.
  virtual bool WantsCommit() { return true; }
  virtual void AddItems(std::vector<CommitItem>* /*items*/) {}
  // The commit failed. Its record may be on disk nevertheless, until a new manifest is written.
  virtual void CommitFailed() {}
  virtual void PartCommitted(JobPart* /*part*/) {}
  virtual void PartFailed(JobPart* /*part*/) {}
  virtual void Committed() {}

  // --- Report ---
  // The reason of a background error, by what failed.
  virtual rocksdb::BackgroundErrorReason ReasonOf(bool commit_failed) const {
    return commit_failed ? rocksdb::BackgroundErrorReason::kManifestWrite : rocksdb::BackgroundErrorReason::kCompaction;
  }
  virtual bool IsBackgroundError(const Status& s) const = 0;
  virtual void Report(const Status& s) = 0;
  // Releases other pins of the part on files.
  virtual void ReleasePins(JobPart* /*part*/) {}

  Status RunTask(JobPart* part, const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel);
  void Log(const JobPart& part, const std::string& line) const;
  rocksdb::Statistics* statistics() const { return env_.config.options.statistics.get(); }

  const JobEnvironment& env_;
  std::vector<JobPart> parts_;

 private:
  Status WritePart(JobPart* part);
  void Track(const JobReport& report);
  Status Commit(Status s);

  const JobListener::Kind kind_;
  bool commit_failed_ = false;
};

}  // namespace compassdb
