// SPDX-License-Identifier: Apache-2.0
// Jobs that free space.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "db/jobs/scheduler.h"
#include "util/no_memory.h"

namespace compassdb {

// Schedules `job`, unless *scheduled is true. The job sets it to false once another may be scheduled. Without memory it
// does nothing, and the next caller tries again.
inline void ScheduleOnce(Scheduler& scheduler, std::atomic<bool>* scheduled, std::function<void()> job) {
  if (scheduled->exchange(true)) return;
  if (!UnlessOutOfMemory(false, [&] {
        return scheduler.Schedule(std::move(job), JobPriority::kSpace, [scheduled] { *scheduled = false; });
      })) {
    *scheduled = false;
  }
}

}  // namespace compassdb
