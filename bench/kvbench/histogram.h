// SPDX-License-Identifier: Apache-2.0
// Latencies in nanoseconds, in buckets at most 1/64 wide (1.6 % error).
//
// Thread safety: none; every client thread has its own, merged at the end.
#pragma once

#include <array>
#include <cstddef>
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

// A client's own time counts against the fastest engine most: latencies are collected here, and the
// histogram's buckets, each a cache miss, visited together.
class LatencyBuffer {
 public:
  void Add(uint64_t nanos, Histogram* to) {
    nanos_[count_++] = nanos;
    if (count_ == nanos_.size()) Flush(to);
  }
  void Flush(Histogram* to) {
    for (size_t i = 0; i < count_; ++i) to->Add(nanos_[i]);
    count_ = 0;
  }

 private:
  size_t count_ = 0;
  std::array<uint64_t, 63> nanos_;
};

}  // namespace kvbench
