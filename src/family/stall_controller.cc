// SPDX-License-Identifier: Apache-2.0
#include "family/stall_controller.h"

#include <algorithm>

namespace compassdb {

namespace {

constexpr uint64_t kRefillMicros = 1000;
constexpr uint64_t kMostSavedMicros = 100 * 1000;
constexpr double kSlower = 0.8;
constexpr double kMuchSlower = 0.6;
constexpr double kFaster = 1.25;
constexpr double kReward = 1.4;

bool NearStop(const StallTriggers& t, const StallInputs& in) {
  if (in.level0_runs + 2 >= t.level0_stop_writes_trigger) return true;
  const uint64_t soft = t.soft_pending_compaction_bytes, hard = t.hard_pending_compaction_bytes;
  return hard > 0 && soft < hard && in.pending_compaction_bytes >= soft &&
         in.pending_compaction_bytes - soft > (hard - soft) / 4 * 3;
}

}  // namespace

StallDecision ChooseStall(const StallTriggers& t, const StallInputs& in) {
  const auto stop = [](StallReason reason) {
    return StallDecision{StallState::kStopped, reason, true};
  };
  const bool compacts = !t.disable_auto_compactions;
  if (in.immutable_memtables >= t.max_write_buffer_number) return stop(StallReason::kMemtableLimit);
  if (compacts && in.level0_runs >= t.level0_stop_writes_trigger) return stop(StallReason::kL0Files);
  if (compacts && t.hard_pending_compaction_bytes > 0 &&
      in.pending_compaction_bytes >= t.hard_pending_compaction_bytes) {
    return stop(StallReason::kPendingCompactionBytes);
  }
  const auto delay = [&](StallReason reason) {
    return StallDecision{StallState::kDelayed, reason, compacts && NearStop(t, in)};
  };
  // With three memtables or fewer a delay would set in during normal work.
  if (t.max_write_buffer_number > 3 && in.immutable_memtables >= t.max_write_buffer_number - 1 &&
      in.immutable_memtables - 1 >= t.min_write_buffer_number_to_merge) {
    return delay(StallReason::kMemtableLimit);
  }
  if (compacts && t.level0_slowdown_writes_trigger >= 0 &&
      in.level0_runs >= t.level0_slowdown_writes_trigger) {
    return delay(StallReason::kL0Files);
  }
  if (compacts && t.soft_pending_compaction_bytes > 0 &&
      in.pending_compaction_bytes >= t.soft_pending_compaction_bytes) {
    return delay(StallReason::kPendingCompactionBytes);
  }
  return StallDecision();
}

const char* StallStateName(StallState state) {
  switch (state) {
    case StallState::kNormal: return "normal";
    case StallState::kDelayed: return "delayed";
    case StallState::kStopped: return "stopped";
  }
  return "unknown";
}

const char* StallReasonName(StallReason reason) {
  switch (reason) {
    case StallReason::kNone: return "none";
    case StallReason::kMemtableLimit: return "memtables waiting for flush";
    case StallReason::kL0Files: return "tables in level 0";
    case StallReason::kPendingCompactionBytes: return "bytes waiting for compaction";
  }
  return "unknown";
}

std::string DescribeStall(const StallDecision& decision, const StallTriggers& t,
                          const StallInputs& in, uint64_t rate) {
  if (decision.state == StallState::kNormal) return "Writes are not stalled";
  const bool stopped = decision.state == StallState::kStopped;
  std::string text = stopped ? "Stopping writes: "
                             : "Delaying writes to " + std::to_string(rate) + " bytes/s: ";
  text += StallReasonName(decision.reason);
  switch (decision.reason) {
    case StallReason::kMemtableLimit:
      text += ": " + std::to_string(in.immutable_memtables) + " (max_write_buffer_number " +
              std::to_string(t.max_write_buffer_number) + ")";
      break;
    case StallReason::kL0Files:
      text += ": " + std::to_string(in.level0_runs) + " (trigger " +
              std::to_string(stopped ? t.level0_stop_writes_trigger
                                     : t.level0_slowdown_writes_trigger) + ")";
      break;
    case StallReason::kPendingCompactionBytes:
      text += ": " + std::to_string(in.pending_compaction_bytes) + " (limit " +
              std::to_string(stopped ? t.hard_pending_compaction_bytes
                                     : t.soft_pending_compaction_bytes) + ")";
      break;
    case StallReason::kNone:
      break;
  }
  return text;
}

StallController::StallController(uint64_t max_rate)
    : max_rate_(std::max(max_rate, kMinRate)), rate_(max_rate_) {}

uint64_t StallController::Clamp(double rate) const {
  if (rate <= static_cast<double>(kMinRate)) return kMinRate;
  if (rate >= static_cast<double>(max_rate_)) return max_rate_;
  return static_cast<uint64_t>(rate);
}

uint64_t StallController::Update(const StallDecision& decision, uint64_t backlog) {
  const StallState before = decision_.state;
  const auto rate = static_cast<double>(rate_);
  if (decision.state == StallState::kDelayed) {
    if (before == StallState::kStopped || decision.near_stop) {
      // Even if the backlog does not grow: a stop is worse than a low rate.
      if (backlog >= backlog_ || before == StallState::kStopped) rate_ = Clamp(rate * kMuchSlower);
    } else if (before == StallState::kDelayed) {
      if (backlog > backlog_) rate_ = Clamp(rate * kSlower);
      if (backlog < backlog_) rate_ = Clamp(rate * kFaster);
    }
  } else if (decision.state == StallState::kNormal && before != StallState::kNormal) {
    rate_ = Clamp(rate * kReward);
  }
  decision_ = decision;
  backlog_ = backlog;
  return rate_;
}

void StallController::SetMaxRate(uint64_t max_rate) {
  max_rate_ = std::max(max_rate, kMinRate);
  rate_ = max_rate_;
}

bool DelayBucket::Passes(uint64_t bytes, uint64_t rate, uint64_t now_micros) {
  if (credit_ < bytes) {
    if (next_refill_micros_ == 0) next_refill_micros_ = now_micros;
    if (next_refill_micros_ > now_micros) return false;
    // Only a little unused time is saved, or a pause would allow a burst.
    const uint64_t elapsed =
        std::min(now_micros - next_refill_micros_ + kRefillMicros, kMostSavedMicros);
    const double earned = static_cast<double>(elapsed) * static_cast<double>(std::max<uint64_t>(rate, 1)) / 1e6;
    credit_ += static_cast<uint64_t>(earned + 0.999999);
    next_refill_micros_ = now_micros + kRefillMicros;
    if (credit_ < bytes) return false;
  }
  credit_ -= bytes;
  return true;
}

uint64_t DelayBucket::PauseMicros(uint64_t bytes, uint64_t rate, uint64_t now_micros) {
  rate = std::max<uint64_t>(rate, 1);
  if (Passes(bytes, rate, now_micros)) return 0;
  // Borrow from the intervals to come: later writers queue up behind this one.
  const double missing = static_cast<double>(bytes - credit_);
  credit_ = 0;
  const auto needed = static_cast<uint64_t>(missing * 1e6 / static_cast<double>(rate));
  next_refill_micros_ += needed;
  return std::max(next_refill_micros_ - now_micros, kRefillMicros);
}

}  // namespace compassdb
