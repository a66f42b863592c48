// SPDX-License-Identifier: Apache-2.0
#include "db/write/memtable_switch.h"

#include <algorithm>
#include <string>
#include <vector>

namespace compassdb {

bool MemTableSwitch::Due() const {
  return memtable_full_.load(std::memory_order_acquire) || BuffersAreFull() || LogsAreFull();
}

Status MemTableSwitch::SwitchDue(ReadStateGarbage* garbage) {
  front_.queue.AssertAtFront();
  mu_->AssertHeld();
  const Families all = families_.All();
  Families full;
  // A sealed memtable that waits for another one waits no longer if its log or its memory is needed.
  const auto flush_waiting = [&all](uint64_t oldest) {
    for (const auto& family : all) family->memtables().RequestFlushOfLog(oldest);
  };
  rocksdb::FlushReason reason = rocksdb::FlushReason::kWriteBufferFull;
  if (memtable_full_.exchange(false, std::memory_order_acq_rel)) {
    for (const auto& family : all) {
      if (family->memtables().active()->ShouldFlush()) full.push_back(family);
    }
  }
  if (full.empty() && LogsAreFull()) {
    // Families release the oldest log.
    uint64_t oldest = UINT64_MAX;
    for (const auto& family : all) oldest = std::min(oldest, family->memtables().OldestRecordLog());
    if (oldest < front_.logs.current_number()) {
      flush_waiting(oldest);
      for (const auto& family : all) {
        const MemTables& memtables = family->memtables();
        const bool keeps = !memtables.active()->empty() && memtables.active_log() <= oldest;
        if (keeps) full.push_back(family);
      }
    }
    reason = rocksdb::FlushReason::kWalFull;
  }
  if (full.empty() && BuffersAreFull()) {
    flush_waiting(UINT64_MAX);
    // The family whose memtable holds the oldest data.
    std::shared_ptr<ColumnFamily> picked;
    SequenceNumber oldest = kMaxSequenceNumber;
    for (const auto& family : all) {
      const MemTable& memtable = *family->memtables().active();
      if (!memtable.empty() && memtable.first_sequence() < oldest) {
        picked = family;
        oldest = memtable.first_sequence();
      }
    }
    if (picked != nullptr) full.push_back(picked);
    reason = rocksdb::FlushReason::kWriteBufferManager;
  }
  if (full.empty()) {
    work_.MaybeSchedule();
    return Status::OK();
  }
  return SwitchMemTables(config_.options.atomic_flush ? all : full, reason, garbage);
}

Status MemTableSwitch::SwitchMemTables(const Families& families, rocksdb::FlushReason reason,
                                       ReadStateGarbage* garbage) {
  front_.queue.AssertAtFront();
  mu_->AssertHeld();
  if (Status s = StartLog(/*give_up_failed=*/reason == rocksdb::FlushReason::kErrorRecovery); !s.ok()) return s;
  const uint64_t number = front_.logs.current_number();
  if (!listeners_.empty()) NotifySealed(families);
  for (const auto& family : families) {
    MemTables& memtables = family->memtables();
    if (memtables.active()->empty() || family->dropped()) continue;
    if (reason == rocksdb::FlushReason::kWriteBufferFull) {
      memtables.pace().Sealed(config_.clock->NowNanos(), memtables.active()->data_size());
    }
    // Only a log has the records of the other parts.
    const bool part = reason == rocksdb::FlushReason::kWriteBufferFull && !front_.unlogged_data &&
                      !config_.options.atomic_flush && config_.options.wal_filter == nullptr;
    family->SealMemTable(number, front_.last_sequence.load(std::memory_order_acquire), garbage->list(), part);
    memtables.SetFlushReason(reason);
  }
  // Families without data do not hold old logs back.
  for (const auto& family : families_.All()) {
    MemTables& memtables = family->memtables();
    if (memtables.active()->empty()) memtables.MoveToLog(std::max(memtables.active_log(), number));
  }
  stalls_.Update();
  work_.MaybeSchedule();
  return Status::OK();
}

Status MemTableSwitch::StartLog(bool give_up_failed) {
  if (front_.logs.CurrentIsEmpty()) return Status::OK();
  mu_->Unlock();
  Status s = front_.logs.Start(give_up_failed);
  mu_->Lock();
  return s;
}

// Before the flush of the memtables begins. At the front no other thread changes them.
void MemTableSwitch::NotifySealed(const Families& families) {
  std::vector<rocksdb::MemTableInfo> sealed;
  for (const auto& family : families) {
    const MemTable& memtable = *family->memtables().active();
    if (memtable.empty() || family->dropped()) continue;
    rocksdb::MemTableInfo& info = sealed.emplace_back();
    info.cf_name = family->name();
    info.first_seqno = memtable.first_sequence();
    info.earliest_seqno = family->memtables().earliest_sequence();
    info.num_entries = memtable.num_entries();
    info.num_deletes = memtable.num_deletes();
  }
  mu_->Unlock();
  for (const rocksdb::MemTableInfo& info : sealed) listeners_.MemTableSealed(info);
  mu_->Lock();
}

void MemTableSwitch::LimitsChanged(const ColumnFamily* family) {
  front_.queue.AssertAtFront();
  mu_->AssertHeld();
  if (family != nullptr && !family->dropped() && family->memtables().active()->ShouldFlush()) MemTableIsFull();
  log_limit_ = LogLimit();
}

uint64_t MemTableSwitch::LogLimit() const {
  if (config_.options.max_total_wal_size > 0) return config_.options.max_total_wal_size;
  // With one family every switch frees older logs: all, or if parts are sealed, those of some switches before.
  if (families_.size() <= 1) return UINT64_MAX;
  uint64_t buffers = 0;
  for (const auto& family : families_.All()) {
    buffers += family->settings.write_buffer_size *
               static_cast<uint64_t>(family->settings.max_write_buffer_number.load()) *
               (family->memtables().active()->indexes_log() ? MemTable::kLogPerIndex : 1);
  }
  return 4 * buffers;
}

}  // namespace compassdb
