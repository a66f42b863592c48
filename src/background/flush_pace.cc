// SPDX-License-Identifier: Apache-2.0
#include "background/flush_pace.h"

#include <algorithm>

namespace compassdb {

namespace {

constexpr int kCalm = 4;
// Of what is written, this part may be written once more.
constexpr uint64_t kCreditShare = 8;
constexpr double kTolerable = 20e6;  // nanoseconds that nobody minds
// Writing a run takes this part of the time of merging the same records.
constexpr double kRunCost = 1.0 / 3;

}  // namespace

void FlushPace::Sealed(uint64_t now, uint64_t bytes) {
  if (!stopped_ && sealed_at_ != 0) fill_nanos_ = now - sealed_at_;
  sealed_at_ = now;
  stopped_ = false;
  ++calm_;
  if (!any_) credit_ = bytes / 2;
  any_ = true;
  if (calm_ > kCalm) credit_ = std::min(credit_ + bytes / kCreditShare, 2 * bytes);
}

void FlushPace::Stopped() {
  stopped_ = true;
  calm_ = 0;
}

void FlushPace::MergeBegun(uint64_t now) { begun_at_ = asked_at_ = now; }

bool FlushPace::CutShort(uint64_t now, double done, double room, uint64_t rest_bytes) {
  const auto step = static_cast<double>(now - asked_at_);
  asked_at_ = now;
  if (done <= 0 || done >= 1 || fill_nanos_ == 0 || rest_bytes > credit_) return false;
  const double left = static_cast<double>(now - begun_at_) * (1 - done) / done;
  const double until_stop = std::max(room, 0.0) * static_cast<double>(fill_nanos_);
  if (left <= until_stop + kTolerable) return false;
  if (until_stop > left * kRunCost + step) return false;  // it can be decided later
  credit_ -= rest_bytes;
  return true;
}

}  // namespace compassdb
