// SPDX-License-Identifier: Apache-2.0
// Punches holes into files that are still in use (rule 9), by jobs of their own (JobPriority::kSpace): the large ones,
// at a rate. Where much waits (max_dead_space_percent), the disk is nearly full or writers wait for room, all of
// them, small ones too, as fast as it goes.
//
// Thread safety: all methods. One pass at a time; while a pass has to wait for the rate, a timer asks for it again.
// Lock order: mu_ > the timer's lock; Schedule and Press take leaf locks only.
#pragma once

#include <atomic>
#include <cstdint>

#include "db/space/hole_pace.h"
#include "util/mutex.h"

namespace compassdb {

class DBImpl;

class HolePuncher {
 public:
  explicit HolePuncher(DBImpl* db) : db_(db) {}
  // Goes by the options as they are now.
  void Configure();
  // There may be holes to punch.
  void Schedule();
  // What there is to punch is to be punched now.
  void Press();
  // For good; a pass under way is the scheduler's to wait for.
  void Stop() EXCLUDES(mu_);

 private:
  uint64_t Rate() const;
  HoleLoad Load() const;
  bool Wanted() const;
  bool ShortOfSpace(const HoleLoad& load) const;
  void Queue();
  void Pass();
  void SetTimer(bool on) EXCLUDES(mu_);

  DBImpl* const db_;
  std::atomic<uint64_t> rate_{0};     // bytes per second; 0: no limit
  std::atomic<uint32_t> percent_{0};  // HoleLoad::percent
  std::atomic<bool> queued_{false};   // a pass, or it runs
  std::atomic<bool> pressed_{false};  // until nothing is left
  HolePace pace_;  // of the pass
  Mutex mu_;
  uint64_t timer_ GUARDED_BY(mu_) = 0;
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
