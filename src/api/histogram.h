// SPDX-License-Identifier: Apache-2.0
// Distribution of 64-bit values in buckets that grow by half each: 1, 2, 3, 4, 6, 10, 15, 22, ... A value
// belongs to the first bucket whose bound is not below it; those beyond the last bound to the last.
//
// Thread safety: Histogram may be added to and read concurrently (relaxed atomics: a reader may see a
// value in one of count, sum and buckets before the others). HistogramSummary is a plain value.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "rocksdb/statistics.h"

namespace compassdb {

inline constexpr size_t kHistogramBuckets = 109;

// Upper bound of bucket i, rounded down to two digits.
uint64_t HistogramBucketLimit(size_t i);
size_t HistogramBucketOf(uint64_t value);

struct HistogramSummary {
  uint64_t count = 0;
  uint64_t sum = 0;
  double sum_of_squares = 0;
  uint64_t min = std::numeric_limits<uint64_t>::max();
  uint64_t max = 0;
  std::array<uint64_t, kHistogramBuckets> buckets{};

  // Interpolates within the bucket; p in [0, 100]. 0 if there are no values.
  double Percentile(double p) const;
  double Average() const;
  double StandardDeviation() const;
  void Fill(rocksdb::HistogramData* data) const;
  // A table for people.
  std::string ToString() const;
};

class Histogram {
 public:
  void Add(uint64_t value);
  void MergeInto(HistogramSummary* summary) const;
  void Clear();

 private:
  std::atomic<uint64_t> sum_{0};
  std::atomic<double> sum_of_squares_{0};
  std::atomic<uint64_t> min_{std::numeric_limits<uint64_t>::max()};
  std::atomic<uint64_t> max_{0};
  std::array<std::atomic<uint64_t>, kHistogramBuckets> buckets_{};
};

}  // namespace compassdb
