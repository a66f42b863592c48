// SPDX-License-Identifier: Apache-2.0
// What the leader of a group does before it writes: switches full memtables
// (and with them the write-ahead log), and waits out write stalls. All of it
// runs at the front of the write queue.
#include <algorithm>

#include "db/db_impl.h"
#include "db/report/statistics_util.h"
#include "format/number_limits.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace compassdb {
Status DBImpl::CheckSequencesAreLeft() const {
  const SequenceNumber last = front_.last_sequence.load(std::memory_order_relaxed);
  if (last <= kMaxWritableSequence) [[likely]] return Status::OK();
  return Status::NotSupported(config_.name, "has no sequence numbers left; the last one is " + std::to_string(last));
}

Status DBImpl::PrepareWrite(const WriteThread::Writer& leader) {
  if (errors_.writes_refused()) {
    WriteRefused();
    return errors_.error();
  }
  if (Status s = CheckSequencesAreLeft(); !s.ok()) return s;
  const bool buffers_full =
      config_.write_buffers != nullptr && config_.write_buffers->ShouldFlush();
  if (memtable_full_.load(std::memory_order_acquire) || buffers_full ||
      front_.logs.TotalBytes() > wal_limit_.load(std::memory_order_relaxed)) {
    Status s;
    {
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      s = MakeRoom(&garbage);
    }
    stalls_.NotifyListeners();
    if (!s.ok()) {
      SetBackgroundError(s, rocksdb::BackgroundErrorReason::kWriteCallback);
      return s;
    }
  }
  const bool over_budget =
      config_.write_buffers != nullptr && config_.write_buffers->ShouldStall();
  if (stalls_.stalled() || over_budget) return AwaitStall(leader);
  return Status::OK();
}

Status DBImpl::MakeRoom(ReadStateGarbage* garbage) {
  const Families all = families_.All();
  Families full;
  // A sealed memtable that waits for another one waits no longer if its log or its memory is wanted.
  const auto flush_waiting = [&all](uint64_t oldest) {
    for (const auto& family : all) {
      if (!family->immutables.empty() && !family->flush_running &&
          family->immutables.front().log_number <= oldest) {
        family->flush_requested = true;
      }
    }
  };
  rocksdb::FlushReason reason = rocksdb::FlushReason::kWriteBufferFull;
  if (memtable_full_.exchange(false, std::memory_order_acq_rel)) {
    for (const auto& family : all) {
      if (family->mem->ShouldFlush()) full.push_back(family);
    }
  }
  if (full.empty() && front_.logs.TotalBytes() > wal_limit_.load(std::memory_order_relaxed)) {
    // Whoever holds the oldest log lets go of it.
    uint64_t oldest = UINT64_MAX;
    for (const auto& family : all) oldest = std::min(oldest, family->OldestRecordLog());
    if (oldest < front_.logs.current_number()) {
      flush_waiting(oldest);
      for (const auto& family : all) {
        if (!family->mem->empty() && family->mem_log_number <= oldest) full.push_back(family);
      }
    }
    reason = rocksdb::FlushReason::kWalFull;
  }
  if (full.empty() && config_.write_buffers != nullptr && config_.write_buffers->ShouldFlush()) {
    flush_waiting(UINT64_MAX);
    // The family whose memtable holds the oldest data.
    std::shared_ptr<ColumnFamily> picked;
    for (const auto& family : all) {
      if (!family->mem->empty() &&
          (picked == nullptr ||
           family->mem->first_sequence() < picked->mem->first_sequence())) {
        picked = family;
      }
    }
    if (picked != nullptr) full.push_back(picked);
    reason = rocksdb::FlushReason::kWriteBufferManager;
  }
  if (full.empty()) {
    MaybeSchedule();
    return Status::OK();
  }
  return SwitchMemTables(config_.options.atomic_flush ? all : full, reason, garbage);
}

Status DBImpl::SwitchMemTables(const Families& families, rocksdb::FlushReason reason,
                               ReadStateGarbage* garbage) {
  if (!front_.logs.CurrentIsEmpty()) {
    mu_.Unlock();
    Status s = front_.logs.Start(reason == rocksdb::FlushReason::kErrorRecovery);
    mu_.Lock();
    if (!s.ok()) return s;
  }
  const uint64_t number = front_.logs.current_number();
  if (!listeners_.empty()) TellSealed(families);
  for (const auto& family : families) {
    if (family->mem->empty() || family->dropped) continue;
    if (reason == rocksdb::FlushReason::kWriteBufferFull) {
      family->pace.Sealed(config_.clock->NowNanos(), family->mem->data_size());
    }
    family->SealMemTable(number, garbage->list());
    family->mem_earliest_sequence = front_.last_sequence.load(std::memory_order_acquire);
    family->flush_reason = reason;
    if (reason != rocksdb::FlushReason::kWriteBufferFull) family->flush_requested = true;
  }
  // Families without data do not hold old logs back.
  for (const auto& family : families_.All()) {
    if (family->mem->empty()) family->mem_log_number = std::max(family->mem_log_number, number);
  }
  stalls_.Update();
  MaybeSchedule();
  return Status::OK();
}

// Before, so that no flush of theirs begins first. At the front nobody changes them meanwhile.
void DBImpl::TellSealed(const Families& families) {
  std::vector<rocksdb::MemTableInfo> sealed;
  for (const auto& family : families) {
    if (family->mem->empty() || family->dropped) continue;
    rocksdb::MemTableInfo& info = sealed.emplace_back();
    info.cf_name = family->name();
    info.first_seqno = family->mem->first_sequence();
    info.earliest_seqno = family->mem_earliest_sequence;
    info.num_entries = family->mem->num_entries();
    info.num_deletes = family->mem->num_deletes();
  }
  mu_.Unlock();
  for (const rocksdb::MemTableInfo& info : sealed) listeners_.MemTableSealed(info);
  mu_.Lock();
}

// The leader waits for memory, so nobody else would switch what holds it.
Status DBImpl::FreeBudget() {
  Status s;
  if (config_.write_buffers->ShouldFlush()) {
    ReadStateGarbage garbage(&space_);
    s = MakeRoom(&garbage);
    mu_.Unlock();
    garbage.Release();
    mu_.Lock();
  }
  for (const auto& family : families_.All()) {
    if (!family->immutables.empty() && !family->flush_running) family->flush_requested = true;
  }
  MaybeSchedule();
  return s;
}

Status DBImpl::AwaitStall(const WriteThread::Writer& leader) {
  const auto is_over_budget = [this] {
    return config_.write_buffers != nullptr && config_.write_buffers->ShouldStall();
  };
  if (leader.no_slowdown) {
    // It goes on if it need not wait.
    MutexLock lock(&mu_);
    const StallState state = is_over_budget() ? StallState::kStopped : stalls_.state();
    const bool passes =
        state == StallState::kNormal || (state == StallState::kDelayed && stalls_.Passes(leader.bytes));
    return passes ? Status::OK() : Status::Incomplete("Write stall");
  }
  const uint64_t start = config_.clock->NowNanos();
  front_.queue.BeginStall();
  Status s;
  {
    MutexLock lock(&mu_);
    while (true) {
      if (errors_.writes_refused()) {
        s = errors_.error();
        break;
      }
      if (shutting_down_) {
        s = Status::ShutdownInProgress("stalled write");
        break;
      }
      const bool over_budget = is_over_budget();
      if (over_budget) {
        if (s = FreeBudget(); !s.ok()) break;
      }
      if (stalls_.state() == StallState::kStopped || over_budget) {
        AwaitBackground(std::chrono::milliseconds(over_budget ? 1 : 100));
        continue;
      }
      if (stalls_.state() == StallState::kDelayed) {
        uint64_t pause = stalls_.PauseMicros(leader.bytes);
        while (pause > 0 && stalls_.state() == StallState::kDelayed && !shutting_down_) {
          const uint64_t slice = std::min<uint64_t>(pause, 1000);
          mu_.Unlock();
          config_.clock->SleepMicros(slice);
          mu_.Lock();
          pause -= slice;
        }
        if (stalls_.state() == StallState::kStopped) continue;
      }
      break;
    }
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

void DBImpl::LimitsChanged(const ColumnFamily* family) {
  if (family != nullptr && !family->dropped && family->mem->ShouldFlush()) memtable_full_ = true;
  wal_limit_ = WalLimit();
}

uint64_t DBImpl::WalLimit() const {
  if (config_.options.max_total_wal_size > 0) return config_.options.max_total_wal_size;
  // With one family every switch frees all older logs.
  if (families_.size() <= 1) return UINT64_MAX;
  uint64_t buffers = 0;
  for (const auto& family : families_.All()) {
    buffers += family->settings.write_buffer_size *
               static_cast<uint64_t>(family->settings.max_write_buffer_number.load());
  }
  return 4 * buffers;
}

}  // namespace compassdb
