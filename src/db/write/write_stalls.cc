// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_stalls.h"

#include <algorithm>

#include "db/report/info_log.h"

namespace compassdb {
namespace {

StallTriggers TriggersOf(const ColumnFamily& family) {
  const ColumnFamily::Settings& settings = family.settings;
  StallTriggers triggers;
  triggers.max_write_buffer_number = settings.max_write_buffer_number;
  triggers.min_write_buffer_number_to_merge = settings.min_write_buffers_to_merge;
  triggers.level0_slowdown_writes_trigger = settings.level0_slowdown;
  triggers.level0_stop_writes_trigger = settings.level0_stop;
  triggers.soft_pending_compaction_bytes = settings.soft_pending_bytes;
  triggers.hard_pending_compaction_bytes = settings.hard_pending_bytes;
  triggers.disable_auto_compactions = settings.disable_auto_compactions;
  return triggers;
}

// The highest rate of low priority writes while compactions are behind.
constexpr uint64_t kMaxLowPriorityRate = 1 << 20;

// Not yet a stall, but a quarter of the way to it.
bool CompactionBehind(const ColumnFamily& family, const StallInputs& inputs) {
  const ColumnFamily::Settings& settings = family.settings;
  if (settings.disable_auto_compactions) return false;
  const int trigger = settings.level0_trigger;
  const int speedup = std::min(2 * trigger, trigger + (settings.level0_slowdown - trigger) / 4);
  if (trigger > 0 && inputs.level0_runs >= std::max(speedup, trigger)) return true;
  const uint64_t soft = settings.soft_pending_bytes;
  return soft > 0 && inputs.pending_compaction_bytes >= soft / 4;
}

rocksdb::WriteStallCondition ConditionOf(StallState state) {
  switch (state) {
    case StallState::kStopped:
      return rocksdb::WriteStallCondition::kStopped;
    case StallState::kDelayed:
      return rocksdb::WriteStallCondition::kDelayed;
    default:
      return rocksdb::WriteStallCondition::kNormal;
  }
}

}  // namespace

WriteStalls::WriteStalls(const DbConfig& config, const Listeners& listeners, const ColumnFamilySet& families,
                         Mutex* mu, CondVar* changed)
    : config_(config),
      listeners_(listeners),
      families_(families),
      mu_(mu),
      changed_(changed),
      controller_(config.options.delayed_write_rate) {}

void WriteStalls::SetMaxRate(uint64_t rate) {
  mu_->AssertHeld();
  controller_.SetMaxRate(rate);
}

uint64_t WriteStalls::PauseMicros(uint64_t bytes) {
  mu_->AssertHeld();
  return delays_.PauseMicros(bytes, controller_.rate(), NowMicros());
}

bool WriteStalls::Passes(uint64_t bytes) {
  mu_->AssertHeld();
  return delays_.Passes(bytes, controller_.rate(), NowMicros());
}

Status WriteStalls::DelayLowPriority(const rocksdb::WriteOptions& options, uint64_t bytes,
                                     const std::atomic<bool>& shutting_down) {
  if (!options.low_pri || !compaction_behind_.load(std::memory_order_acquire)) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("Low priority write stall");
  uint64_t pause;
  {
    MutexLock lock(mu_);
    const uint64_t rate = std::min<uint64_t>(controller_.max_rate() / 4, kMaxLowPriorityRate);
    pause = low_priority_delays_.PauseMicros(bytes, std::max<uint64_t>(rate, StallController::kMinRate), NowMicros());
  }
  while (pause > 0 && compaction_behind_.load(std::memory_order_acquire) && !shutting_down) {
    const uint64_t slice = std::min<uint64_t>(pause, 1000);
    config_.clock->SleepMicros(slice);
    pause -= slice;
  }
  return Status::OK();
}

void WriteStalls::Update() {
  mu_->AssertHeld();
  const auto dropped = [this](const auto& c) { return families_.ById(c.first) == nullptr; };
  std::erase_if(conditions_, dropped);
  StallDecision worst;
  uint64_t backlog = 0;
  bool behind = false;
  for (const auto& family : families_.All()) {
    StallInputs inputs;
    inputs.immutable_memtables = static_cast<int>(family->memtables().full_count());
    inputs.level0_runs = family->store()->Level0Runs();
    inputs.pending_compaction_bytes = family->store()->PendingCompactionBytes();
    const StallTriggers triggers = TriggersOf(*family);
    const StallDecision decision = ChooseStall(triggers, inputs);
    behind = behind || decision.state != StallState::kNormal || CompactionBehind(*family, inputs);
    UpdateFamily(family.get(), decision, triggers, inputs);
    if (decision.state >= worst.state) {
      worst = decision;
      backlog = decision.reason == StallReason::kPendingCompactionBytes ? inputs.pending_compaction_bytes
                                                                        : static_cast<uint64_t>(inputs.level0_runs);
    }
  }
  controller_.Update(worst, backlog);
  compaction_behind_.store(behind, std::memory_order_release);
  stalled_.store(controller_.state() != StallState::kNormal, std::memory_order_release);
  changed_->SignalAll();
}

void WriteStalls::UpdateFamily(ColumnFamily* family, const StallDecision& decision, const StallTriggers& triggers,
                               const StallInputs& inputs) {
  const auto present = conditions_.find(family->id());
  const rocksdb::WriteStallCondition before =
      present == conditions_.end() ? rocksdb::WriteStallCondition::kNormal : present->second;
  const rocksdb::WriteStallCondition condition = ConditionOf(decision.state);
  if (condition == before) return;
  if (!listeners_.empty()) {
    rocksdb::WriteStallInfo& info = changes_.emplace_back();
    info.cf_name = family->name();
    info.condition.cur = condition;
    info.condition.prev = before;
  }
  if (condition == rocksdb::WriteStallCondition::kNormal) {
    conditions_.erase(present);
  } else {
    conditions_[family->id()] = condition;
  }
  const auto reason = static_cast<size_t>(decision.reason);
  if (decision.state == StallState::kDelayed) ++family->counters.slowdowns[reason];
  if (decision.state == StallState::kStopped) {
    ++family->counters.stops[reason];
    family->memtables().pace().Stopped();
  }
  LogWarning(config_.info_log.get(),
             "[" + family->name() + "] " + DescribeStall(decision, triggers, inputs, controller_.rate()));
}

void WriteStalls::NotifyListeners() {
  if (listeners_.empty()) return;
  std::vector<rocksdb::WriteStallInfo> changes;
  {
    MutexLock lock(mu_);
    changes.swap(changes_);
  }
  for (const rocksdb::WriteStallInfo& info : changes) listeners_.StallChanged(info);
}

}  // namespace compassdb
