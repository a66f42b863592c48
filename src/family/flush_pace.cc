// SPDX-License-Identifier: Apache-2.0
#include "family/flush_pace.h"

#include <algorithm>
#include <bit>

namespace compassdb {

namespace {

constexpr unsigned kRemembered = 0xf;  // four memtables
// This fraction (1/8) of written bytes may be written again.
constexpr uint64_t kCreditShare = 8;
constexpr double kTolerable = 20e6;  // nanoseconds that users do not notice
// Writing a run takes this part of the time of merging the same records.
constexpr double kRunCost = 1.0 / 3;
// A merge of two memtables may take at most this part of the time in which writers fill one.
constexpr double kAmple = 0.6;

}  // namespace

void FlushPace::Sealed(uint64_t now, uint64_t bytes) {
  if (!stopped_ && sealed_at_ != 0) fill_nanos_ = now - sealed_at_;
  sealed_at_ = now;
  stops_ = (stops_ << 1 | unsigned{stopped_}) & kRemembered;
  stopped_ = false;
  if (!any_) credit_ = bytes / 2;
  any_ = true;
  if (stops_ == 0) credit_ = std::min(credit_ + bytes / kCreditShare, 2 * bytes);
}

void FlushPace::Stopped() { stopped_ = true; }

void FlushPace::MergeBegun(uint64_t now) { begun_at_ = asked_at_ = now; }

void FlushPace::MergeEnded(uint64_t now, size_t memtables) {
  if (memtables > 0) merge_nanos_ = (now - begun_at_) / memtables;
}

bool FlushPace::AwaitSecond() const {
  if (fill_nanos_ == 0 || merge_nanos_ == 0) return false;
  if (std::popcount(stops_) >= 2) return true;
  return 2.0 * static_cast<double>(merge_nanos_) < kAmple * static_cast<double>(fill_nanos_);
}

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
