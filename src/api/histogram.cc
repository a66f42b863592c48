// SPDX-License-Identifier: Apache-2.0
#include "api/histogram.h"
#include "util/c_locale.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace compassdb {

namespace {

using Limits = std::array<uint64_t, kHistogramBuckets>;

constexpr uint64_t KeepTwoDigits(uint64_t value) {
  uint64_t scale = 1;
  for (; value / 10 > 10; value /= 10) scale *= 10;
  return value * scale;
}

// Growth continues from the exact numbers, so that rounding does not add up.
Limits MakeLimits() {
  Limits limits{1, 2};
  double exact = 2.0;
  for (size_t i = 2; i < limits.size(); ++i) {
    exact *= 1.5;
    limits[i] = KeepTwoDigits(static_cast<uint64_t>(exact));
  }
  return limits;
}

const Limits& BucketLimits() {
  static const Limits limits = MakeLimits();
  return limits;
}

}  // namespace

uint64_t HistogramBucketLimit(size_t i) { return BucketLimits()[i]; }

size_t HistogramBucketOf(uint64_t value) {
  const Limits& limits = BucketLimits();
  const auto bucket = std::lower_bound(limits.begin(), limits.end(), value);
  return bucket == limits.end() ? limits.size() - 1
                                : static_cast<size_t>(bucket - limits.begin());
}

double HistogramSummary::Percentile(double p) const {
  if (count == 0) return 0;
  const double wanted = static_cast<double>(count) * (p / 100.0);
  uint64_t before = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const uint64_t through = before + buckets[i];
    if (static_cast<double>(through) >= wanted) {
      const double low = i == 0 ? 0.0 : static_cast<double>(HistogramBucketLimit(i - 1));
      const double high = static_cast<double>(HistogramBucketLimit(i));
      const double share = buckets[i] == 0 ? 0.0
                                           : (wanted - static_cast<double>(before)) /
                                                 static_cast<double>(buckets[i]);
      return std::clamp(low + (high - low) * share, static_cast<double>(min),
                        static_cast<double>(std::max(min, max)));
    }
    before = through;
  }
  return static_cast<double>(max);
}

double HistogramSummary::Average() const {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

double HistogramSummary::StandardDeviation() const {
  if (count == 0) return 0;
  const double mean = Average();
  return std::sqrt(std::max(0.0, sum_of_squares / static_cast<double>(count) - mean * mean));
}

void HistogramSummary::Fill(rocksdb::HistogramData* data) const {
  data->median = Percentile(50);
  data->percentile95 = Percentile(95);
  data->percentile99 = Percentile(99);
  data->average = Average();
  data->standard_deviation = StandardDeviation();
  data->max = static_cast<double>(max);
  data->min = count == 0 ? 0 : static_cast<double>(min);
  data->count = count;
  data->sum = sum;
}

std::string HistogramSummary::ToString() const {
  char line[256];
  using ull = unsigned long long;
  std::string text;
  auto append = [&](int n) { text.append(line, static_cast<size_t>(n)); };
  append(CLocaleSnprintf(line, sizeof(line), "Count: %llu Average: %.4f  StdDev: %.2f\n", ull{count},
                  Average(), StandardDeviation()));
  append(CLocaleSnprintf(line, sizeof(line), "Min: %llu  Median: %.4f  Max: %llu\n",
                  ull{count == 0 ? 0 : min}, Percentile(50), ull{max}));
  append(CLocaleSnprintf(line, sizeof(line),
                  "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n",
                  Percentile(50), Percentile(75), Percentile(99), Percentile(99.9),
                  Percentile(99.99)));
  text += "------------------------------------------------------\n";
  const double per_cent = count == 0 ? 0 : 100.0 / static_cast<double>(count);
  uint64_t through = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0) continue;
    through += buckets[i];
    append(CLocaleSnprintf(line, sizeof(line), "%c %7llu, %7llu ] %8llu %7.3f%% %7.3f%% ",
                    i == 0 ? '[' : '(', ull{i == 0 ? 0 : HistogramBucketLimit(i - 1)},
                    ull{HistogramBucketLimit(i)}, ull{buckets[i]},
                    per_cent * static_cast<double>(buckets[i]),
                    per_cent * static_cast<double>(through)));
    // A bar of at most 20 marks.
    text.append(static_cast<size_t>(per_cent * static_cast<double>(buckets[i]) / 5.0 + 0.5), '#');
    text += '\n';
  }
  return text;
}

void Histogram::Add(uint64_t value) {
  buckets_[HistogramBucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  const double square = static_cast<double>(value) * static_cast<double>(value);
  sum_of_squares_.fetch_add(square, std::memory_order_relaxed);
  uint64_t seen = min_.load(std::memory_order_relaxed);
  while (value < seen && !min_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
  seen = max_.load(std::memory_order_relaxed);
  while (value > seen && !max_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// The count is that of the buckets, so that percentiles are right even while values are added.
void Histogram::MergeInto(HistogramSummary* summary) const {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const uint64_t n = buckets_[i].load(std::memory_order_relaxed);
    summary->buckets[i] += n;
    summary->count += n;
  }
  summary->sum += sum_.load(std::memory_order_relaxed);
  summary->sum_of_squares += sum_of_squares_.load(std::memory_order_relaxed);
  summary->min = std::min(summary->min, min_.load(std::memory_order_relaxed));
  summary->max = std::max(summary->max, max_.load(std::memory_order_relaxed));
}

void Histogram::Clear() {
  for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  sum_of_squares_.store(0, std::memory_order_relaxed);
  min_.store(std::numeric_limits<uint64_t>::max(), std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
}

}  // namespace compassdb
