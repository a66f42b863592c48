// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_admission.h"

#include <algorithm>
#include <chrono>

#include "db/report/statistics_util.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {

Status WriteAdmission::Admit(const WriteThread::Writer& leader) {
  front_.queue.AssertAtFront();
  if (errors_.writes_refused()) {
    background_errors_.WriteRefused();
    return errors_.error();
  }
  if (Status s = front_.CheckSequencesAreLeft(config_); !s.ok()) return s;
  if (memtable_switch_.Due()) {
    if (Status s = SwitchDue(); !s.ok()) return s;
  }
  return stalls_.stalled() || OverBudget() ? AwaitStall(leader) : Status::OK();
}

Status WriteAdmission::SwitchDue() {
  Status s;
  {
    ReadStateGarbage garbage(&garbage_);
    MutexLock lock(mu_);
    s = memtable_switch_.SwitchDue(&garbage);
  }
  stalls_.NotifyListeners();
  if (!s.ok()) background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kWriteCallback);
  return s;
}

// The leader waits for memory, so no other thread would switch the memtables that use it.
Status WriteAdmission::FreeBudget() {
  Status s;
  if (config_.write_buffers->ShouldFlush()) {
    ReadStateGarbage garbage(&garbage_);
    s = memtable_switch_.SwitchDue(&garbage);
    mu_->Unlock();
    garbage.Release();
    mu_->Lock();
  }
  for (const auto& family : families_.All()) family->memtables().RequestFlushOfLog(UINT64_MAX);
  work_.MaybeSchedule();
  return s;
}

bool WriteAdmission::PassesWithoutWait(const WriteThread::Writer& leader) {
  MutexLock lock(mu_);
  const StallState state = OverBudget() ? StallState::kStopped : stalls_.state();
  return state == StallState::kNormal || (state == StallState::kDelayed && stalls_.Passes(leader.bytes));
}

Status WriteAdmission::AwaitStall(const WriteThread::Writer& leader) {
  if (leader.no_slowdown) return PassesWithoutWait(leader) ? Status::OK() : Status::Incomplete("Write stall");
  const uint64_t start = config_.clock->NowNanos();
  front_.queue.BeginStall();
  Status s;
  {
    MutexLock lock(mu_);
    s = AwaitNormal(leader);
  }
  front_.queue.EndStall();
  stalls_.NotifyListeners();
  const uint64_t nanos = config_.clock->NowNanos() - start;
  const uint64_t micros = nanos / 1000;
  if (rocksdb::GetPerfLevel() >= rocksdb::kEnableTimeExceptForMutex) {
    rocksdb::get_perf_context()->write_delay_time += nanos;
  }
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  front_.written.stall_micros.fetch_add(micros, std::memory_order_relaxed);
  Tick(statistics, rocksdb::STALL_MICROS, micros);
  Record(statistics, rocksdb::WRITE_STALL, micros);
  return s;
}

Status WriteAdmission::AwaitNormal(const WriteThread::Writer& leader) {
  while (true) {
    if (errors_.writes_refused()) return errors_.error();
    if (shutting_down_) return Status::ShutdownInProgress("stalled write");
    const bool over_budget = OverBudget();
    if (over_budget) {
      if (Status s = FreeBudget(); !s.ok()) return s;
    }
    if (stalls_.state() == StallState::kStopped || over_budget) {
      work_.AwaitBackground(std::chrono::milliseconds(over_budget ? 1 : 100));
      continue;
    }
    if (stalls_.state() == StallState::kDelayed) {
      Pause(stalls_.PauseMicros(leader.bytes));
      if (stalls_.state() == StallState::kStopped) continue;
    }
    return Status::OK();
  }
}

void WriteAdmission::Pause(uint64_t micros) {
  while (micros > 0 && stalls_.state() == StallState::kDelayed && !shutting_down_) {
    const uint64_t slice = std::min<uint64_t>(micros, 1000);
    mu_->Unlock();
    config_.clock->SleepMicros(slice);
    mu_->Lock();
    micros -= slice;
  }
}

}  // namespace compassdb
