// SPDX-License-Identifier: Apache-2.0
// A flush: sealed memtables of one family, or of several in one commit, are written to their stores.
// The logs that held them are not needed afterwards.
#pragma once

#include <utility>
#include <vector>

#include "db/jobs/job.h"
#include "db/write/wal_set.h"

namespace compassdb {

// Families that wait for a flush.
class FlushQueue {
 public:
  // [mutex] Starts flushes that may begin now. Before the listeners of one that is committed, which may wait for them.
  virtual void StartQueued() = 0;

 protected:
  ~FlushQueue() = default;
};

class MemTableFlush final : public Job {
 public:
  struct Deps {
    WalSet* wals;
    const std::atomic<bool>& unlogged_data;  // memtables may have data that no log has
  };
  MemTableFlush(const JobEnvironment& env, const Deps& deps, FlushQueue& queue)
      : Job(env, JobListener::Kind::kFlush), deps_(deps), queue_(queue) {}

  // [mutex] Adds the family's pending memtables; `all`: also those that should wait for a later flush.
  void AddFamily(const std::shared_ptr<ColumnFamily>& family, bool all, uint32_t threads);
  bool empty() const { return parts_.empty(); }
  // [mutex] After Run: ends waits for the listeners, and waits for this to release a dropped family. Memtables of a
  // flush that failed are pending again.
  void End();
  // Whether Run itself failed: not because a family was dropped or the database is closed.
  bool failed() const { return failed_; }

 private:
  struct Memory {
    FlushRequest request;
    rocksdb::FlushReason reason;
    uint64_t flushed_until = 0;  // MemTables::flushed_count with this flush
  };
  Memory& MemoryOf(const JobPart* part) { return memory_[static_cast<size_t>(part - parts_.data())]; }

  void Start() override;
  Status Work(JobPart* part) override;
  Status BeforeCommit() override;
  void PartCommitted(JobPart* part) override;
  void PartFailed(JobPart* part) override;
  void Committed() override;
  rocksdb::BackgroundErrorReason ReasonOf(bool commit_failed) const override;
  bool IsBackgroundError(const Status& s) const override;
  void Report(const Status& s) override;
  void ReleasePins(JobPart* part) override;

  Status WriteMemTables(JobPart* part);
  // FlushRequest::commit_ahead and hurry.
  Status CommitAhead(const std::shared_ptr<ColumnFamily>& family, VersionEdit edit, bool* logged);
  bool CutShort(ColumnFamily* family, double done, uint64_t rest_bytes);
  void Count(JobPart* part);

  const Deps deps_;
  FlushQueue& queue_;
  std::vector<Memory> memory_;  // as parts_
  bool log_failed_ = false;
  bool committed_ = false;
  bool failed_ = false;
};

}  // namespace compassdb
