// SPDX-License-Identifier: Apache-2.0
// Jobs that free space.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "db/jobs/scheduler.h"
#include "util/no_memory.h"

namespace compassdb {

// Schedules `job`, unless it is *scheduled: it says false there once another may be. Not without memory: the next who
// looks does.
inline void ScheduleOnce(Scheduler& scheduler, std::atomic<bool>* scheduled, std::function<void()> job) {
  if (scheduled->exchange(true)) return;
  if (!UnlessOutOfMemory(false, [&] {
        return scheduler.Schedule(std::move(job), JobPriority::kSpace, [scheduled] { *scheduled = false; });
      })) {
    *scheduled = false;
  }
}

}  // namespace compassdb
