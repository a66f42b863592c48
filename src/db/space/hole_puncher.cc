// SPDX-License-Identifier: Apache-2.0
#include "db/space/hole_puncher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "db/db_impl.h"
#include "options/table_factories.h"
#include "services/periodic_tasks.h"
#include "services/sst_file_manager.h"

namespace compassdb {

namespace {
// Between two passes, where they wait for the rate.
constexpr std::chrono::milliseconds kWait(100);
// Of one pass, in any case: other jobs want their turn.
constexpr uint64_t kMostBytes = 256 << 20;
}  // namespace

void HolePuncher::Configure() {
  // The files are of all families: what the default one says counts.
  const auto family = db_->FamilyById(0);
  if (family == nullptr) return;
  const PieceTableOptions piece = TableSettingsOf(family->options().table_factory.get()).piece;
  rate_ = piece.punch_bytes_per_second;
  percent_ = piece.max_dead_space_percent;
  Schedule();
}

uint64_t HolePuncher::Rate() const {
  auto* const space = dynamic_cast<FileSpace*>(db_->config_.options.sst_file_manager.get());
  const int64_t rate = space == nullptr ? 0 : space->GetDeleteRateBytesPerSecond();
  return rate > 0 ? static_cast<uint64_t>(rate) : rate_.load();
}

HoleLoad HolePuncher::Load() const {
  HoleLoad load;
  load.waiting_bytes = db_->ledger_->PunchableBytes();
  if (load.waiting_bytes > 0) {
    load.live_bytes = db_->ledger_->LiveBytes();
    const uint64_t dead = db_->ledger_->DeadBytes();
    load.held_bytes = dead - std::min(dead, load.waiting_bytes);
  }
  load.percent = percent_;
  return load;
}

bool HolePuncher::ShortOfSpace(const HoleLoad& load) const {
  for (const std::string& dir : db_->files_->dirs()->All()) {
    uint64_t free = 0;
    if (db_->config_.fs->GetFreeSpace(dir, &free).ok() && compassdb::ShortOfSpace(load, free)) return true;
  }
  return false;
}

bool HolePuncher::Wanted() const {
  const ExtentLedger& ledger = *db_->ledger_;
  if (db_->read_only_ || !ledger.HasHoles(/*small=*/true)) return false;
  return ledger.HasHoles(/*small=*/false) || pressed_ || OverShare(Load());
}

void HolePuncher::Schedule() {
  if (Wanted()) Queue();
}

void HolePuncher::Press() {
  if (!db_->ledger_->HasHoles(/*small=*/true)) return;
  pressed_ = true;
  Schedule();
}

void HolePuncher::Queue() {
  db_->ScheduleForSpace(&queued_, [this] { Pass(); });
}

void HolePuncher::Pass() {
  if (db_->HasGarbage()) db_->PurgeObsolete();  // whole files first
  const uint64_t rate = Rate();
  const HoleLoad load = Load();
  const bool pressed = pressed_ || OverShare(load) || ShortOfSpace(load);
  const uint64_t due = pace_.Due(db_->config_.clock->NowNanos(), pressed ? 0 : rate);
  bool done = false;
  if (due > 0) {
    ExtentLedger::PunchLimits limits;
    limits.bytes = std::min(due, kMostBytes);
    limits.small = pressed;
    uint64_t punched = 0;
    done = !db_->PunchHoles(limits, &punched);
    if (!pressed) pace_.Took(punched);
    MutexLock lock(&db_->mu_);
    db_->MaybeSchedule();  // what could not be punched may be worth a job
  }
  // Somebody may press meanwhile.
  const bool more = !done && db_->ledger_->HasHoles(pressed || pressed_);
  if (done || !db_->ledger_->HasHoles(/*small=*/true)) pressed_ = false;
  const bool wait = more && !pressed && !pressed_ && rate != 0;
  SetTimer(wait);
  queued_ = false;
  if (more && !wait) {
    Queue();
  } else if (!done && !wait) {
    Schedule();  // what came meanwhile
  }
}

void HolePuncher::SetTimer(bool on) {
  MutexLock lock(&mu_);
  if (on == (timer_ != 0) || stopped_) return;
  PeriodicTasks* const tasks = PeriodicTasks::Shared();
  if (on) {
    timer_ = tasks->Add(kWait, [this] { Queue(); });
  } else {
    tasks->Remove(std::exchange(timer_, 0));
  }
}

void HolePuncher::Stop() {
  MutexLock lock(&mu_);
  stopped_ = true;
  PeriodicTasks::Shared()->Remove(std::exchange(timer_, 0));
}

}  // namespace compassdb
