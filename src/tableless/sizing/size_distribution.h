// SPDX-License-Identifier: Apache-2.0
// The distribution of the encoded sizes of pairs, each independent of the others (KallaxDB 3.3).
// Immutable, any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace compassdb {

class SizeDistribution {
 public:
  // Bytes of a pair, and its probability or count.
  struct Share {
    uint64_t bytes;
    double weight;
  };

  static SizeDistribution Constant(uint64_t bytes);
  // The normal law fits sizes if sigma is small against the mean. Shares cuts off sizes below one
  // byte.
  static SizeDistribution Normal(double mean, double sigma);
  // The whole numbers from low to high, both included.
  static SizeDistribution Uniform(uint64_t low, uint64_t high);
  // Sizes as they were counted, in any order; the weights need not add up to 1. Not empty.
  static SizeDistribution Histogram(std::vector<Share> shares);

  double mean() const { return mean_; }
  double sigma() const { return sigma_; }
  bool constant() const { return kind_ == Kind::kConstant; }
  bool normal() const { return kind_ == Kind::kNormal; }

  // Whole sizes of at most `limit` with their probabilities, by size. The rest to 1 is larger.
  std::vector<Share> Shares(uint64_t limit) const;

 private:
  enum class Kind { kConstant, kNormal, kUniform, kHistogram };
  SizeDistribution(Kind kind, double mean, double sigma) : kind_(kind), mean_(mean), sigma_(sigma) {}

  Kind kind_;
  double mean_, sigma_;
  uint64_t low_ = 0, high_ = 0;   // kUniform
  std::vector<Share> histogram_;  // kHistogram, by size, weights add up to 1
};

}  // namespace compassdb
