// SPDX-License-Identifier: Apache-2.0
#include "db/space/hole_puncher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "db/report/info_log.h"
#include "db/space/schedule_once.h"
#include "services/periodic_tasks.h"

namespace compassdb {

namespace {
// Between two passes that wait for the rate.
constexpr std::chrono::milliseconds kWait(100);
// The most bytes of one pass, so that other jobs get their turn.
constexpr uint64_t kMostBytes = 256 << 20;
}  // namespace

void HolePuncher::Configure(const PieceTableOptions& options) {
  rate_ = options.punch_bytes_per_second;
  percent_ = options.max_dead_space_percent;
  Schedule();
}

uint64_t HolePuncher::Rate() const {
  const uint64_t rate = tracked_.DeleteRate();
  return rate > 0 ? rate : rate_.load();
}

HoleLoad HolePuncher::Load() const {
  HoleLoad load;
  load.waiting_bytes = files_.ledger.PunchableBytes();
  if (load.waiting_bytes > 0) {
    load.live_bytes = files_.ledger.LiveBytes();
    const uint64_t dead = files_.ledger.DeadBytes();
    load.held_bytes = dead - std::min(dead, load.waiting_bytes);
  }
  load.percent = percent_;
  return load;
}

bool HolePuncher::ShortOfSpace(const HoleLoad& load) const {
  for (const std::string& dir : files_.tables.dirs()->All()) {
    uint64_t free = 0;
    if (config_.fs->GetFreeSpace(dir, &free).ok() && compassdb::ShortOfSpace(load, free)) return true;
  }
  return false;
}

bool HolePuncher::Wanted() const {
  const ExtentLedger& ledger = files_.ledger;
  if (!ledger.HasHoles(/*small=*/true)) return false;
  return ledger.HasHoles(/*small=*/false) || pressed_ || OverShare(Load());
}

void HolePuncher::Schedule() {
  if (Wanted()) Queue();
}

void HolePuncher::Press() {
  if (!files_.ledger.HasHoles(/*small=*/true)) return;
  pressed_ = true;
  Schedule();
}

void HolePuncher::Queue() {
  ScheduleOnce(scheduler_, &queued_, [this] { Pass(); });
}

void HolePuncher::Pass() {
  if (obsolete_.Any()) obsolete_.Purge();  // whole files first
  const uint64_t rate = Rate();
  const HoleLoad load = Load();
  const bool pressed = pressed_ || OverShare(load) || ShortOfSpace(load);
  const uint64_t due = pace_.Due(config_.clock->NowNanos(), pressed ? 0 : rate);
  bool done = false;
  if (due > 0) {
    ExtentLedger::PunchLimits limits;
    limits.bytes = std::min(due, kMostBytes);
    limits.small = pressed;
    uint64_t punched = 0;
    done = !Punch(limits, &punched);
    if (!pressed) pace_.Took(punched);
    MutexLock lock(db_mu_);
    work_.MaybeSchedule();  // the rest may be worth a job
  }
  // Press may have been called since.
  const bool more = !done && files_.ledger.HasHoles(pressed || pressed_);
  if (done || !files_.ledger.HasHoles(/*small=*/true)) pressed_ = false;
  const bool wait = more && !pressed && !pressed_ && rate != 0;
  SetTimer(wait);
  queued_ = false;
  if (more && !wait) {
    Queue();
  } else if (!done && !wait) {
    Schedule();  // for new holes
  }
}

bool HolePuncher::Punch(const ExtentLedger::PunchLimits& limits, uint64_t* punched) {
  if (files_.commits.in_doubt()) return false;
  MutexLock lock(&mu_);
  if (!files_.ledger.deletions_enabled()) return false;
  Status s = files_.ledger.Punch(limits, punched);
  if (!s.ok()) LogInfo(config_.info_log.get(), "cannot free space: " + s.ToString());
  return true;
}

void HolePuncher::SetTimer(bool on) {
  MutexLock lock(&timer_mu_);
  if (on == (timer_ != 0) || stopped_) return;
  PeriodicTasks* const tasks = PeriodicTasks::Shared();
  if (on) {
    timer_ = tasks->Add(kWait, [this] { Queue(); });
  } else {
    tasks->Remove(std::exchange(timer_, 0));
  }
}

void HolePuncher::Stop() {
  MutexLock lock(&timer_mu_);
  stopped_ = true;
  PeriodicTasks::Shared()->Remove(std::exchange(timer_, 0));
}

}  // namespace compassdb
