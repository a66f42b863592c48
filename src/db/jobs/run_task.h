// SPDX-License-Identifier: Apache-2.0
// Calls of the store by a job. They need much memory. If it runs out, the job fails, as with a full
// disk.
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
