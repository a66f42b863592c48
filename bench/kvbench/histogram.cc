// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kvbench {
namespace {

// Values below 128 have a bucket each; above, every power of two is cut in 64.
constexpr int kSubBits = 6;
constexpr size_t kBuckets = (64 - kSubBits) << kSubBits;

size_t BucketOf(uint64_t v) {
  if (v < (2u << kSubBits)) return v;
  const int shift = std::bit_width(v) - 1 - kSubBits;
  return (static_cast<size_t>(shift) << kSubBits) + (v >> shift);
}

// The largest value of a bucket.
uint64_t UpperBound(size_t bucket) {
  if (bucket < (2u << kSubBits)) return bucket;
  const int shift = static_cast<int>(bucket >> kSubBits) - 1;
  const uint64_t top = (bucket & ((1u << kSubBits) - 1)) | (1u << kSubBits);
  return ((top + 1) << shift) - 1;
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

void Histogram::Add(uint64_t nanos) {
  ++buckets_[BucketOf(nanos)];
  ++count_;
  sum_ += nanos;
  max_ = std::max(max_, nanos);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::AverageMicros() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_) / 1000.0;
}

double Histogram::PercentileMicros(double share) const {
  if (count_ == 0) return 0;
  const auto wanted =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return static_cast<double>(std::min(UpperBound(i), max_)) / 1000.0;
  }
  return MaxMicros();
}

}  // namespace kvbench
