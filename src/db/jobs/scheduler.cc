// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/scheduler.h"

namespace compassdb {

bool Scheduler::Schedule(std::function<void()> job, JobPriority priority,
                         std::function<void()> unscheduled) {
  MutexLock l(&mu_);
  if (shut_down_) return false;
  if (priority == JobPriority::kBottom && pools_->Threads(priority) == 0) {
    priority = JobPriority::kLow;
  }
  pools_->Schedule(std::move(job), priority, this, std::move(unscheduled));
  return true;
}

void Scheduler::Shutdown() {
  {
    MutexLock l(&mu_);
    shut_down_ = true;
  }
  for (size_t i = 0; i < kNumJobPriorities; ++i) {
    pools_->Unschedule(this, static_cast<JobPriority>(i));
  }
  pools_->WaitForIdle(this);
}

}  // namespace compassdb
