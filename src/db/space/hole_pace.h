// SPDX-License-Identifier: Apache-2.0
// How fast holes are punched, and when they no longer wait for that. Pure: time comes from the caller.
//
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "manifest/extent_ledger.h"

namespace compassdb {

class HolePace {
 public:
  // A pass punches at most what the rate gives in a quarter of a second, and at least kLeastPass.
  static constexpr uint64_t kLeastPass = 64 << 10;

  // How many bytes may be punched now at `rate` bytes per second (0: any number); 0: none yet.
  uint64_t Due(uint64_t now_nanos, uint64_t rate) {
    if (rate == 0) return UINT64_MAX;
    const auto most = static_cast<double>(std::max(rate / 4, kLeastPass));
    if (last_nanos_) {
      const uint64_t passed = now_nanos - std::min(now_nanos, *last_nanos_);
      budget_ = std::min(budget_ + static_cast<double>(passed) / 1e9 * static_cast<double>(rate), most);
    }
    last_nanos_ = now_nanos;
    return budget_ >= static_cast<double>(kLeastPass) ? static_cast<uint64_t>(budget_) : 0;
  }
  // Punched bytes. If that is more than was due, later passes wait longer.
  void Took(uint64_t bytes) { budget_ -= static_cast<double>(bytes); }

 private:
  std::optional<uint64_t> last_nanos_;
  double budget_ = 0;
};

// The bytes to punch, and their limits.
struct HoleLoad {
  uint64_t waiting_bytes = 0;
  uint64_t held_bytes = 0;  // dead, too, but they cannot be punched
  uint64_t live_bytes = 0;
  uint32_t percent = 0;  // of live bytes, that may be dead; 0: any number
};

// With the held bytes, more bytes wait than the percentage allows.
inline bool OverShare(const HoleLoad& load) {
  if (load.percent == 0) return false;
  const uint64_t held = std::min(load.held_bytes, HeldBytesAllowed(load.live_bytes, load.percent));
  return load.waiting_bytes > DeadBytesAllowed(load.live_bytes, load.percent) - held;
}

// The disk is nearly full, and the pending holes would help.
inline bool ShortOfSpace(const HoleLoad& load, uint64_t free_bytes) {
  constexpr uint64_t kEnough = 256 << 20;
  return load.waiting_bytes > 0 && free_bytes < std::max(kEnough, load.waiting_bytes);
}

}  // namespace compassdb
