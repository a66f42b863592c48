// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/size_distribution.h"

#include <algorithm>
#include <cmath>

namespace compassdb {

SizeDistribution SizeDistribution::Constant(uint64_t bytes) {
  return SizeDistribution(Kind::kConstant, static_cast<double>(bytes), 0);
}

SizeDistribution SizeDistribution::Normal(double mean, double sigma) {
  return SizeDistribution(sigma > 0 ? Kind::kNormal : Kind::kConstant, mean, sigma);
}

SizeDistribution SizeDistribution::Uniform(uint64_t low, uint64_t high) {
  if (low == high) return Constant(low);
  const double a = static_cast<double>(low);
  const double b = static_cast<double>(high);
  SizeDistribution result(Kind::kUniform, (a + b) / 2, std::sqrt((b - a) * (b - a + 2) / 12));
  result.low_ = low;
  result.high_ = high;
  return result;
}

SizeDistribution SizeDistribution::Histogram(std::vector<Share> shares) {
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.bytes < b.bytes; });
  double total = 0;
  double sum = 0;
  for (const Share& share : shares) {
    total += share.weight;
    sum += share.weight * static_cast<double>(share.bytes);
  }
  const double mean = sum / total;
  double variance = 0;
  std::vector<Share> merged;
  for (const Share& share : shares) {
    const double weight = share.weight / total;
    const double off = static_cast<double>(share.bytes) - mean;
    variance += weight * off * off;
    if (!merged.empty() && merged.back().bytes == share.bytes) {
      merged.back().weight += weight;
    } else {
      merged.push_back({share.bytes, weight});
    }
  }
  if (merged.size() == 1) return Constant(merged[0].bytes);
  SizeDistribution result(Kind::kHistogram, mean, std::sqrt(variance));
  result.histogram_ = std::move(merged);
  return result;
}

std::vector<SizeDistribution::Share> SizeDistribution::Shares(uint64_t limit) const {
  std::vector<Share> shares;
  if (kind_ == Kind::kConstant) {
    const uint64_t bytes = static_cast<uint64_t>(std::llround(mean_));
    if (bytes <= limit) shares.push_back({bytes, 1});
  } else if (kind_ == Kind::kUniform) {
    const double weight = 1 / (static_cast<double>(high_ - low_) + 1);
    for (uint64_t bytes = low_; bytes <= std::min(high_, limit); ++bytes) shares.push_back({bytes, weight});
  } else if (kind_ == Kind::kHistogram) {
    for (const Share& share : histogram_) {
      if (share.bytes <= limit) shares.push_back(share);
    }
  } else {
    // Sizes that round to this number of bytes. Double precision ends at nine sigmas.
    const auto above = [&](double x) { return std::erfc((x - mean_) / (sigma_ * std::sqrt(2.0))) / 2; };
    const double first = std::max(1.0, std::floor(mean_ - 9 * sigma_));
    const double last = std::min(static_cast<double>(limit), std::ceil(mean_ + 9 * sigma_));
    const double all = above(first - 0.5);
    for (double x = first; x <= last; ++x) {
      shares.push_back({static_cast<uint64_t>(x), (above(x - 0.5) - above(x + 0.5)) / all});
    }
  }
  return shares;
}

}  // namespace compassdb
