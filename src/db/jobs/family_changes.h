// SPDX-License-Identifier: Apache-2.0
// Updates writers and background jobs when families or options change.
#pragma once

#include "db/families/family_observer.h"
#include "db/jobs/background_jobs.h"
#include "db/write/memtable_switcher.h"

namespace compassdb {

class FamilyChanges final : public FamilyObserver {
 public:
  // All of it outlives this. `mu`: the database mutex.
  FamilyChanges(const DbConfig& config, WriteStalls& stalls, MemTableSwitcher& switcher, BackgroundJobs& jobs, Mutex* mu)
      : config_(config), stalls_(stalls), switcher_(switcher), jobs_(jobs), mu_(mu) {}

  void FamilyChanged(const std::shared_ptr<ColumnFamily>& family) override {
    mu_->AssertHeld();
    if (family == nullptr) {
      stalls_.SetMaxRate(config_.options.delayed_write_rate);
    } else if (family->dropped) {
      jobs_.Remove(family);
    }
    switcher_.LimitsChanged(family.get());
    stalls_.Update();
    jobs_.MaybeSchedule();
  }
  void FamiliesChanged() override {
    stalls_.NotifyListeners();
    jobs_.ScheduleIdleLooks();
  }

 private:
  const DbConfig& config_;
  WriteStalls& stalls_;
  MemTableSwitcher& switcher_;
  BackgroundJobs& jobs_;
  Mutex* const mu_;
};

}  // namespace compassdb
