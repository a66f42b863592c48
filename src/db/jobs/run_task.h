// SPDX-License-Identifier: Apache-2.0
// What the store does for a job. Running out of memory fails the job, as a full disk does: these are the calls that
// need much of it.
#pragma once

#include "db/jobs/commit.h"
#include "store/store.h"
#include "util/no_memory.h"

namespace compassdb {

inline Status RunTask(CompactionTask* task, const std::vector<SequenceNumber>& snapshots,
                      const std::atomic<bool>* cancel, VersionEdit* edit, JobReport* report) {
  return CatchOutOfMemory("a job", [&] { return task->Run(snapshots, cancel, edit, report); });
}

inline Status PrepareItem(CommitItem* item) {
  return CatchOutOfMemory("a job", [&] { return item->family->store()->Prepare(item->edit, &item->prepared); });
}

}  // namespace compassdb
