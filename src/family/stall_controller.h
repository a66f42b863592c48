// SPDX-License-Identifier: Apache-2.0
// Write stalls: when flushes and compactions fall behind, writers are first
// slowed down and only then stopped.
//
// ChooseStall is a pure function of the state of one column family.
// StallController keeps the rate of delayed writes for a whole database, and
// DelayBucket turns the rate into pauses.
//
// Thread safety: none inside; the database's mutex guards all of it.
#pragma once

#include <cstdint>
#include <string>

namespace compassdb {

enum class StallState : uint8_t { kNormal = 0, kDelayed = 1, kStopped = 2 };
enum class StallReason : uint8_t { kNone, kMemtableLimit, kL0Files, kPendingCompactionBytes };
inline constexpr size_t kStallReasons = 4;

// The options of a column family that affect stalls.
struct StallTriggers {
  int max_write_buffer_number = 2;
  int min_write_buffer_number_to_merge = 1;
  int level0_slowdown_writes_trigger = 20;  // negative: never
  int level0_stop_writes_trigger = 36;
  uint64_t soft_pending_compaction_bytes = uint64_t{64} << 30;   // 0: never
  uint64_t hard_pending_compaction_bytes = uint64_t{256} << 30;  // 0: never
  bool disable_auto_compactions = false;  // only memtables count then
};

struct StallInputs {
  int immutable_memtables = 0;  // not yet flushed
  int level0_runs = 0;
  uint64_t pending_compaction_bytes = 0;
};

struct StallDecision {
  StallState state = StallState::kNormal;
  StallReason reason = StallReason::kNone;
  // Delayed, and close enough to a stop that the rate should fall fast.
  bool near_stop = false;
};

StallDecision ChooseStall(const StallTriggers& triggers, const StallInputs& inputs);
const char* StallStateName(StallState state);
const char* StallReasonName(StallReason reason);
// One line for the info log: what, why, and the figures that led to it.
std::string DescribeStall(const StallDecision& decision, const StallTriggers& triggers,
                          const StallInputs& inputs, uint64_t rate);

// The rate of delayed writes. It starts at the configured one,
// falls by a fifth while the backlog grows (by two fifths near a stop), rises
// by a quarter while it shrinks, and is raised again at the end of the delay, so
// that the next delay starts from a rate that worked.
class StallController {
 public:
  explicit StallController(uint64_t max_rate);
  static constexpr uint64_t kMinRate = 16 << 10;

  // Reports the worst decision over all families and its backlog (pending
  // compaction bytes, or L0 runs where those lead). Returns the new rate; only
  // meaningful while delayed.
  uint64_t Update(const StallDecision& decision, uint64_t backlog);
  void SetMaxRate(uint64_t max_rate);

  StallState state() const { return decision_.state; }
  StallReason reason() const { return decision_.reason; }
  uint64_t rate() const { return rate_; }
  uint64_t max_rate() const { return max_rate_; }

 private:
  uint64_t Clamp(double rate) const;

  uint64_t max_rate_;
  uint64_t rate_;
  StallDecision decision_;
  uint64_t backlog_ = 0;
};

// A token bucket that is refilled once per millisecond.
class DelayBucket {
 public:
  // How long a writer of `bytes` must pause before it continues; its bytes are
  // charged. `now_micros` comes from one monotonic clock.
  uint64_t PauseMicros(uint64_t bytes, uint64_t rate, uint64_t now_micros);
  // Whether it need not pause; only then are its bytes charged.
  bool Passes(uint64_t bytes, uint64_t rate, uint64_t now_micros);
  void Reset() { next_refill_micros_ = 0, credit_ = 0; }

 private:
  uint64_t next_refill_micros_ = 0;  // 0: not started
  uint64_t credit_ = 0;
};

}  // namespace compassdb
