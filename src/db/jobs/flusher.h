// SPDX-License-Identifier: Apache-2.0
// Flushes on request: seals memtables at the front of the write queue, and waits until background jobs have written
// them into tables.
//
// Thread safety: methods marked [mutex] are called with the database mutex held, the others without it.
#pragma once

#include <utility>
#include <vector>

#include "db/copy/live_files.h"
#include "db/jobs/background_jobs.h"
#include "db/write/memtable_switcher.h"
#include "db/write/write_front.h"

namespace compassdb {

class Flusher final : public CopyJobs {
 public:
  // A wait until a family's memtables are flushed up to this one.
  using Targets = std::vector<std::pair<std::shared_ptr<ColumnFamily>, uint64_t>>;
  // All of it outlives this.
  Flusher(const JobEnvironment& env, WriteFront& front, MemTableSwitcher& switcher, BackgroundJobs& jobs)
      : env_(env), mu_(env.mu), front_(front), switcher_(switcher), jobs_(jobs) {}

  Status Flush(const Families& families, const rocksdb::FlushOptions& options, rocksdb::FlushReason reason);
  // Data that no log holds would be lost, so it is flushed unless the options say otherwise.
  void FlushUnlogged();

  // At the front of the write queue: seals the memtables that hold data, and requests a flush of all sealed ones
  // without delay. A log that failed is given up, also if there is no data.
  Status SealAndRequest(const Families& families, rocksdb::FlushReason reason, Targets* targets) EXCLUDES(*mu_);
  // With `for_listeners` a flush ends after OnFlushCompleted. (A flush that was committed before the call is not
  // awaited: its listener may be the caller.) Without `while_paused` it is Busy while background work is paused.
  Status Wait(const Targets& targets, bool for_listeners, bool while_paused = true) EXCLUDES(*mu_);

  // CopyJobs.
  Status FlushAll() override;
  void AwaitDeletions() override EXCLUDES(*mu_);
  void ResumeDeletions() override EXCLUDES(*mu_);

 private:
  Targets Request(const Families& families) REQUIRES(*mu_);
  // Waits until one more sealed memtable would not stop the writers.
  void AwaitRoom(const Families& families) EXCLUDES(*mu_);

  const JobEnvironment& env_;
  Mutex* const mu_;
  WriteFront& front_;
  MemTableSwitcher& switcher_;
  BackgroundJobs& jobs_;
};

}  // namespace compassdb
