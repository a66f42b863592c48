// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/size_distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace compassdb {
namespace {

using Share = SizeDistribution::Share;

// Mean and sigma are those of the shares.
void ExpectMoments(const SizeDistribution& sizes, double tolerance) {
  double total = 0, mean = 0, square = 0;
  uint64_t last = 0;
  for (const Share& share : sizes.Shares(1 << 20)) {
    EXPECT_GT(share.bytes, last);
    last = share.bytes;
    const double bytes = static_cast<double>(share.bytes);
    total += share.weight;
    mean += share.weight * bytes;
    square += share.weight * bytes * bytes;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_NEAR(sizes.mean(), mean, tolerance);
  EXPECT_NEAR(sizes.sigma(), std::sqrt(std::max(0.0, square - mean * mean)), tolerance);
}

TEST(SizeDistributionTest, Moments) {
  ExpectMoments(SizeDistribution::Constant(17), 1e-9);
  ExpectMoments(SizeDistribution::Uniform(3, 4), 1e-9);
  ExpectMoments(SizeDistribution::Uniform(100, 900), 1e-6);
  ExpectMoments(SizeDistribution::Histogram({{9, 2}, {4, 1}, {9, 3}, {700, 4}}), 1e-6);
  // Rounding to whole bytes adds a twelfth to the variance.
  ExpectMoments(SizeDistribution::Normal(400, 25), 0.01);
}

TEST(SizeDistributionTest, NormalHasNoSizesBelowOne) {
  const std::vector<Share> shares = SizeDistribution::Normal(10, 4).Shares(1000);
  EXPECT_EQ(shares.front().bytes, 1u);
  double total = 0;
  for (const Share& share : shares) total += share.weight;
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(SizeDistributionTest, EqualSizesAreConstant) {
  EXPECT_TRUE(SizeDistribution::Uniform(5, 5).constant());
  EXPECT_TRUE(SizeDistribution::Normal(5, 0).constant());
  EXPECT_TRUE(SizeDistribution::Histogram({{5, 1}, {5, 7}}).constant());
  EXPECT_FALSE(SizeDistribution::Histogram({{5, 1}, {6, 7}}).constant());
}

TEST(SizeDistributionTest, SharesEndAtTheLimit) {
  const std::vector<Share> shares = SizeDistribution::Histogram({{8, 1}, {7, 1}, {9, 2}}).Shares(8);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].bytes, 7u);
  EXPECT_EQ(shares[1].bytes, 8u);
  EXPECT_EQ(shares[1].weight, 0.25);
  EXPECT_EQ(SizeDistribution::Uniform(10, 19).Shares(12).size(), 3u);
  EXPECT_TRUE(SizeDistribution::Constant(10).Shares(9).empty());
}

}  // namespace
}  // namespace compassdb
