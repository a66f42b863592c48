// SPDX-License-Identifier: Apache-2.0
// The rate of writers while flushes and compactions are behind. The state of all families decides
// (family/stall_controller.h), and writers wait accordingly.
//
// Thread safety: methods marked [mutex] are called with the database mutex held, the others without it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "db/open/db_config.h"
#include "db/report/listeners.h"
#include "family/column_family.h"
#include "family/stall_controller.h"
#include "rocksdb/listener.h"
#include "util/mutex.h"

namespace compassdb {

class WriteStalls {
 public:
  // `changed` is signalled when writers may continue. All must outlive it.
  WriteStalls(const DbConfig& config, const Listeners& listeners, const ColumnFamilySet& families, Mutex* mu,
              CondVar* changed);

  // [mutex] Checks all families. After each change of their memtables, levels or triggers.
  void Update();
  // Calls the listeners for the changes that Update found.
  void NotifyListeners();

  // Writes are slowed or stopped. May be old by the time it returns.
  bool stalled() const { return stalled_.load(std::memory_order_acquire); }
  StallState state() const {  // [mutex]
    mu_->AssertHeld();
    return controller_.state();
  }
  const StallController& controller() const NO_THREAD_SAFETY_ANALYSIS { return controller_; }  // its state needs the mutex
  void SetMaxRate(uint64_t rate);  // [mutex]
  // [mutex] How long a write of `bytes` has to pause, which is charged with them.
  uint64_t PauseMicros(uint64_t bytes);
  // [mutex] Whether it need not pause at all; only then is it charged.
  bool Passes(uint64_t bytes);

  // A write with WriteOptions::low_pri waits here before it joins the queue, where it would delay others.
  // Incomplete if it must not wait (no_slowdown). Ends early at `shutting_down`.
  Status DelayLowPriority(const rocksdb::WriteOptions& options, uint64_t bytes, const std::atomic<bool>& shutting_down);

 private:
  void UpdateFamily(ColumnFamily* family, const StallDecision& decision, const StallTriggers& triggers,
                    const StallInputs& inputs) REQUIRES(*mu_);
  uint64_t NowMicros() const { return config_.clock->NowNanos() / 1000; }

  const DbConfig& config_;
  const Listeners& listeners_;
  const ColumnFamilySet& families_;
  Mutex* const mu_;
  CondVar* const changed_;
  StallController controller_ GUARDED_BY(*mu_);
  DelayBucket delays_ GUARDED_BY(*mu_), low_priority_delays_ GUARDED_BY(*mu_);
  // Of the families, by id, whose writers are slowed or stopped.
  std::map<uint32_t, rocksdb::WriteStallCondition> conditions_ GUARDED_BY(*mu_);
  // Listeners are not notified of them yet.
  std::vector<rocksdb::WriteStallInfo> changes_ GUARDED_BY(*mu_);
  std::atomic<bool> stalled_{false};
  std::atomic<bool> compaction_behind_{false};  // low priority writes are slowed
};

}  // namespace compassdb
