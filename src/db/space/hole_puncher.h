// SPDX-License-Identifier: Apache-2.0
// Punches holes into files that are still in use (rule 9), by jobs of their own (JobPriority::kSpace): the large ones,
// at a rate. If many are pending (max_dead_space_percent), the disk is nearly full or writers wait for room, it
// punches all of them, small ones, too, without a rate.
//
// Thread safety: all methods. One pass at a time; while a pass has to wait for the rate, a timer schedules it again.
// Lock order: the database mutex > timer_mu_; Schedule and Press take leaf locks only. No lock is held with mu_.
#pragma once

#include <atomic>
#include <cstdint>

#include "db/jobs/background_work.h"
#include "db/space/hole_pace.h"
#include "db/space/obsolete_files.h"
#include "options/table_factories.h"
#include "util/mutex.h"

namespace compassdb {

class HolePuncher {
 public:
  HolePuncher(const DbConfig& config, const DatabaseFiles& files, const TrackedFiles& tracked, ObsoleteFiles& obsolete,
              Scheduler& scheduler, Mutex* db_mu, BackgroundWork& work)
      : config_(config),
        files_(files),
        tracked_(tracked),
        obsolete_(obsolete),
        scheduler_(scheduler),
        db_mu_(db_mu),
        work_(work) {}
  // Uses these options from now on.
  void Configure(const PieceTableOptions& options);
  // There may be holes to punch.
  void Schedule();
  // All pending holes should be punched now.
  void Press();
  // Waits while holes are punched.
  void Wait() EXCLUDES(mu_) { MutexLock lock(&mu_); }
  // Permanently. The scheduler waits for a running pass.
  void Stop() EXCLUDES(timer_mu_);

 private:
  uint64_t Rate() const;
  HoleLoad Load() const;
  bool Wanted() const;
  bool ShortOfSpace(const HoleLoad& load) const;
  void Queue();
  void Pass();
  // False if it may not be done now.
  bool Punch(const ExtentLedger::PunchLimits& limits, uint64_t* punched) EXCLUDES(mu_);
  void SetTimer(bool on) EXCLUDES(timer_mu_);

  const DbConfig& config_;
  const DatabaseFiles files_;
  const TrackedFiles& tracked_;
  ObsoleteFiles& obsolete_;
  Scheduler& scheduler_;
  Mutex* const db_mu_;
  BackgroundWork& work_;
  std::atomic<uint64_t> rate_{0};     // bytes per second; 0: no limit
  std::atomic<uint32_t> percent_{0};  // HoleLoad::percent
  std::atomic<bool> queued_{false};   // a pass, or it runs
  std::atomic<bool> pressed_{false};  // until nothing is left
  HolePace pace_;  // of the pass
  Mutex mu_;  // held while holes are punched
  Mutex timer_mu_;
  uint64_t timer_ GUARDED_BY(timer_mu_) = 0;
  bool stopped_ GUARDED_BY(timer_mu_) = false;
};

}  // namespace compassdb
