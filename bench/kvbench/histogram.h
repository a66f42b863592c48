// SPDX-License-Identifier: Apache-2.0
// Latencies in nanoseconds, in buckets at most 1/64 wide (1.6 % error).
//
// Thread safety: none; every client thread has its own, merged at the end.
#pragma once

#include <cstdint>
#include <vector>

namespace kvbench {

class Histogram {
 public:
  Histogram();

  void Add(uint64_t nanos);
  void Merge(const Histogram& other);

  uint64_t Count() const { return count_; }
  double AverageMicros() const;
  double MaxMicros() const { return static_cast<double>(max_) / 1000.0; }
  // The latency that `share` (0..1) of the operations did not exceed.
  double PercentileMicros(double share) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace kvbench
