// SPDX-License-Identifier: Apache-2.0
#include "db/space/idle_looks.h"

#include <chrono>
#include <utility>

#include "services/periodic_tasks.h"
#include "store/value_space.h"

namespace compassdb {

void IdleLooks::Schedule() {
  MutexLock lock(&mu_);
  bool wanted = false;
  {
    MutexLock guard(db_mu_);
    for (const auto& family : families_.All()) {
      const ValueSpace* const values = family->store()->values();
      wanted = wanted || (values != nullptr && values->WantsIdleLooks());
    }
  }
  if (stopped_ || wanted == (task_ != 0)) return;
  PeriodicTasks* const tasks = PeriodicTasks::Shared();
  if (!wanted) {
    tasks->Remove(std::exchange(task_, 0));
    return;
  }
  task_ = tasks->Add(std::chrono::seconds(1), [this] {
    MutexLock guard(db_mu_);
    work_.MaybeSchedule();
  });
}

void IdleLooks::Stop() {
  MutexLock lock(&mu_);
  stopped_ = true;
  PeriodicTasks::Shared()->Remove(std::exchange(task_, 0));
}

}  // namespace compassdb
