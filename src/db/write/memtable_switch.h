// SPDX-License-Identifier: Apache-2.0
// Seals memtables and begins a log with them. Reasons: one is full, the logs together or the memtables together are too
// large, or a flush requests it.
//
// Thread safety: MemTableIsFull and Due from everywhere. The others are called at the front of the write queue, those
// marked [mutex] with the database mutex held.
#pragma once

#include <atomic>
#include <cstdint>

#include "db/jobs/background_work.h"
#include "db/open/db_config.h"
#include "db/report/listeners.h"
#include "db/write/memtable_switcher.h"
#include "db/write/write_front.h"
#include "db/write/write_stalls.h"
#include "family/column_family.h"
#include "rocksdb/listener.h"
#include "util/mutex.h"

namespace compassdb {

class MemTableSwitch final : public MemTableSwitcher {
 public:
  MemTableSwitch(const DbConfig& config, WriteFront& front, Mutex* mu, const ColumnFamilySet& families,
                 WriteStalls& stalls, const Listeners& listeners, BackgroundWork& work)
      : config_(config),
        front_(front),
        mu_(mu),
        families_(families),
        stalls_(stalls),
        listeners_(listeners),
        work_(work) {}

  // Some family's memtable: the next writer that leads switches it.
  void MemTableIsFull() { memtable_full_.store(true, std::memory_order_release); }
  // May be wrong when it says so, until SwitchDue has looked.
  bool Due() const;
  // [mutex] The memtables that are full, or else those that keep the oldest log, or that have the oldest data.
  Status SwitchDue(ReadStateGarbage* garbage);

  // MemTableSwitcher
  Status SwitchMemTables(const Families& families, rocksdb::FlushReason reason, ReadStateGarbage* garbage) override;
  void LimitsChanged(const ColumnFamily* family) override;

 private:
  bool LogsAreFull() const { return front_.logs.TotalBytes() > log_limit_.load(std::memory_order_relaxed); }
  bool BuffersAreFull() const { return config_.write_buffers != nullptr && config_.write_buffers->ShouldFlush(); }
  uint64_t LogLimit() const REQUIRES(*mu_);
  // Both release the mutex for a time.
  Status StartLog(bool give_up_failed) REQUIRES(*mu_);
  void NotifySealed(const Families& families) REQUIRES(*mu_);

  const DbConfig& config_;
  WriteFront& front_;
  Mutex* const mu_;
  const ColumnFamilySet& families_;
  WriteStalls& stalls_;
  const Listeners& listeners_;
  BackgroundWork& work_;
  std::atomic<bool> memtable_full_{false};
  std::atomic<uint64_t> log_limit_{UINT64_MAX};
};

}  // namespace compassdb
