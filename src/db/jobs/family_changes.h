// SPDX-License-Identifier: Apache-2.0
// Updates writers, background jobs and the OPTIONS file when families or options change.
#pragma once

#include "db/families/family_observer.h"
#include "db/families/options_files.h"
#include "db/jobs/background_jobs.h"
#include "db/write/memtable_switcher.h"

namespace compassdb {

class FamilyChanges final : public FamilyObserver {
 public:
  // All of it outlives this. `mu`: the database mutex.
  FamilyChanges(const DbConfig& config, WriteStalls& stalls, MemTableSwitcher& switcher,
                BackgroundJobs& jobs, OptionsFiles& options_files, Mutex* mu)
      : config_(config),
        stalls_(stalls),
        switcher_(switcher),
        jobs_(jobs),
        options_files_(options_files),
        mu_(mu) {}

  void FamilyChanged(const std::shared_ptr<ColumnFamily>& family) override {
    mu_->AssertHeld();
    if (family == nullptr) {
      stalls_.SetMaxRate(config_.options.delayed_write_rate);
    } else if (family->dropped()) {
      jobs_.Remove(family);
    }
    switcher_.LimitsChanged(family.get());
    stalls_.Update();
    jobs_.MaybeSchedule();
  }
  Status FamiliesChanged() override {
    stalls_.NotifyListeners();
    jobs_.ScheduleIdleLooks();
    return options_files_.Write();
  }

 private:
  const DbConfig& config_;
  WriteStalls& stalls_;
  MemTableSwitcher& switcher_;
  BackgroundJobs& jobs_;
  OptionsFiles& options_files_;
  Mutex* const mu_;
};

}  // namespace compassdb
