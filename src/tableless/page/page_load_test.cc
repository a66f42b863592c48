// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tableless/flush/record_spill.h"
#include "util/random.h"

namespace compassdb {
namespace {

using Share = SizeDistribution::Share;

constexpr uint64_t kPage = 4096;

PageLoad LoadOf(const SizeDistribution& sizes, double pairs_per_page, uint64_t usable = kPage) {
  return PageOverflow(sizes, usable).Load(PairsPerPage(pairs_per_page));
}

// The paper's numbers: values only, pages without a header.

TEST(PaperNumbersTest, ConstantSizes) {
  struct Row {
    double pairs_per_page;
    uint64_t size;
    double probability, ratio;  // per cent; ratio 0: not printed
  };
  // 4.2 and table 3 with 400 B, 4.3 with 800 B.
  for (const Row& row : {Row{5, 400, 1.37, 0.38}, Row{6, 400, 4.26, 0}, Row{7, 400, 9.85, 0},
                         Row{8, 400, 18.4, 0}, Row{2, 800, 1.66, 1.03}}) {
    const PageLoad load = LoadOf(SizeDistribution::Constant(row.size), row.pairs_per_page);
    EXPECT_NEAR(load.overflow_probability * 100, row.probability, row.probability > 18 ? 0.05 : 0.005);
    if (row.ratio > 0) {
      EXPECT_NEAR(load.overflow_ratio * 100, row.ratio, 0.005);
    }
    EXPECT_NEAR(load.fill_factor, row.pairs_per_page * static_cast<double>(row.size) / kPage, 1e-12);
  }
}

// 3.3.1 prints 1.9 % and 0.4 %. Its formulas say:
TEST(PaperNumbersTest, NormalSizes) {
  const PageLoad load = LoadOf(SizeDistribution::Normal(400, 25), 5);
  EXPECT_NEAR(load.overflow_probability * 100, 1.57, 0.005);
  EXPECT_NEAR(load.overflow_ratio * 100, 0.38, 0.005);
}

// 4.3 prints 4.0 % and 0.31 %. Its formulas say, for the values and for values with their keys of 16 B:
TEST(PaperNumbersTest, SmallSizes) {
  const PageLoad values = LoadOf(SizeDistribution::Constant(100), 25);
  EXPECT_NEAR(values.overflow_probability * 100, 0.20, 0.005);
  EXPECT_NEAR(values.overflow_ratio * 100, 0.011, 0.0005);
  const PageLoad pairs = LoadOf(SizeDistribution::Constant(116), 25);
  EXPECT_NEAR(pairs.overflow_probability * 100, 2.25, 0.005);
  EXPECT_NEAR(pairs.overflow_ratio * 100, 0.21, 0.005);
}

// Ten pairs of 400 B fit a page of 4000 B: full is not overflow. The spill counts from the page's end.
TEST(PageOverflowTest, FullPageDoesNotOverflow) {
  PageOverflow overflow(SizeDistribution::Constant(400), 4000);
  EXPECT_EQ(overflow.At(10).probability, 0);
  EXPECT_EQ(overflow.At(10).bytes, 0);
  EXPECT_EQ(overflow.At(11).probability, 1);
  EXPECT_EQ(overflow.At(11).bytes, 400);
  EXPECT_NEAR(LoadOf(SizeDistribution::Constant(400), 5, 4000).overflow_ratio * 100, 0.444, 0.0005);
}

TEST(PairsPerPageTest, MomentsOfBinomial) {
  struct Case {
    uint64_t pairs, pages;
  };
  for (const Case& c : {Case{1, 1}, Case{7, 1}, Case{1, 1000}, Case{20, 2}, Case{1000, 300},
                        Case{10'000'000'000, 2'000'000'000}, Case{3'000'000'000, 1'000'000}}) {
    const PairsPerPage pairs(c.pairs, c.pages);
    const double mean = static_cast<double>(c.pairs) / static_cast<double>(c.pages);
    const double variance = mean * (1 - 1 / static_cast<double>(c.pages));
    EXPECT_NEAR(pairs.Average([](uint64_t) { return 1.0; }), 1, 1e-12);
    EXPECT_NEAR(pairs.Average([](uint64_t m) { return static_cast<double>(m); }), mean, 1e-9 * mean);
    const double second = pairs.Average([&](uint64_t m) {
      const double off = static_cast<double>(m) - mean;
      return off * off;
    });
    EXPECT_NEAR(second, variance, 1e-9 * variance) << c.pairs << " in " << c.pages;
  }
}

TEST(PairsPerPageTest, EachProbability) {
  const PairsPerPage pairs(20, 3);
  const PairsPerPage limit(4.5);
  for (uint64_t want = 0; want <= 20; ++want) {
    const auto is = [&](uint64_t m) { return m == want ? 1.0 : 0.0; };
    const double m = static_cast<double>(want);
    const double choose = std::lgamma(21) - std::lgamma(m + 1) - std::lgamma(21 - m);
    const double binomial = std::exp(choose + m * std::log(1 / 3.0) + (20 - m) * std::log(2 / 3.0));
    EXPECT_NEAR(pairs.Average(is), binomial, 1e-12);
    EXPECT_NEAR(limit.Average(is), std::exp(m * std::log(4.5) - 4.5 - std::lgamma(m + 1)), 1e-12);
  }
}

// Where e to the power of minus the mean is below what a double holds.
TEST(PairsPerPageTest, ManyPairsDoNotUnderflow) {
  const PageLoad load = LoadOf(SizeDistribution::Constant(100), 10000, 1'000'000 + 99);
  EXPECT_NEAR(load.overflow_probability, 0.4973, 0.0005);  // about P(m > 10000), by Poisson's law
  EXPECT_NEAR(load.fill_factor, 1, 1e-3);
}

// All sequences of three sizes, one by one.
TEST(PageOverflowTest, SmallCasesByEnumeration) {
  const std::vector<Share> shares = {{5, 0.2}, {1, 0.5}, {3, 0.3}};
  for (uint64_t usable = 1; usable <= 12; ++usable) {
    PageOverflow overflow(SizeDistribution::Histogram(shares), usable);
    RecordSpill spill(SizeDistribution::Histogram(shares), usable);
    for (uint32_t m = 0; m <= 6; ++m) {
      double probability = 0, excess = 0, records = 0, bytes = 0;
      for (uint32_t code = 0; code < std::pow(3, m); ++code) {
        double p = 1;
        uint64_t sum = 0, kept = 0, refused = 0;
        for (uint32_t i = 0, rest = code; i < m; ++i, rest /= 3) {
          const Share& share = shares[rest % 3];
          p *= share.weight;
          sum += share.bytes;
          if (kept + share.bytes <= usable) {
            kept += share.bytes;
          } else {
            ++refused;
          }
        }
        if (sum > usable) {
          probability += p;
          excess += p * static_cast<double>(sum - usable);
        }
        records += p * static_cast<double>(refused);
        bytes += p * static_cast<double>(sum - kept);
      }
      EXPECT_NEAR(overflow.At(m).probability, probability, 1e-12) << usable << " bytes, " << m << " pairs";
      EXPECT_NEAR(overflow.At(m).bytes, excess, 1e-12) << usable << " bytes, " << m << " pairs";
      EXPECT_NEAR(spill.At(m).records, records, 1e-12) << usable << " bytes, " << m << " pairs";
      EXPECT_NEAR(spill.At(m).bytes, bytes, 1e-12) << usable << " bytes, " << m << " pairs";
    }
  }
}

// All sequences of five pairs, each hashed to one of three pages.
TEST(PageFillTest, FewPairsByEnumeration) {
  constexpr int kPairs = 5, kPages = 3;
  const std::vector<Share> shares = {{1, 0.5}, {3, 0.3}, {5, 0.2}};
  for (uint64_t usable = 1; usable <= 26; ++usable) {
    std::vector<double> want(kFillParts + 1);
    for (uint32_t code = 0; code < std::pow(4, kPairs); ++code) {
      double p = 1;
      uint64_t sum = 0;
      for (uint32_t i = 0, rest = code; i < kPairs; ++i, rest /= 4) {
        const uint32_t kind = rest % 4;
        p *= kind == 3 ? 1 - 1.0 / kPages : shares[kind].weight / kPages;
        sum += kind == 3 ? 0 : shares[kind].bytes;
      }
      uint64_t part = 0;
      while (part < kFillParts && sum * kFillParts > (part + 1) * usable) ++part;
      want[part] += p;
    }
    PageOverflow overflow(SizeDistribution::Histogram(shares), usable);
    const std::vector<double> fill = overflow.Fill(PairsPerPage(kPairs, kPages));
    ASSERT_EQ(fill.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(fill[i], want[i], 1e-12) << usable << " bytes, part " << i;
    }
  }
}

// One size is a histogram of one size, and a normal law one of its whole bytes.
TEST(PageFillTest, ClosedFormsAgreeWithConvolution) {
  const auto fill = [](const SizeDistribution& sizes) {
    return PageOverflow(sizes, kPage).Fill(PairsPerPage(1000, 190));
  };
  const SizeDistribution normal = SizeDistribution::Normal(400, 25);
  const std::vector<double> constant = fill(SizeDistribution::Constant(400));
  const std::vector<double> of_one = fill(SizeDistribution::Histogram({{400, 1}, {401, 1e-13}}));
  const std::vector<double> closed = fill(normal);
  const std::vector<double> summed = fill(SizeDistribution::Histogram(normal.Shares(kPage)));
  for (uint64_t i = 0; i <= kFillParts; ++i) {
    EXPECT_NEAR(constant[i], of_one[i], 1e-9) << i;
    EXPECT_NEAR(closed[i], summed[i], 1e-3) << i;  // a part ends within a byte
  }
}

TEST(PageFillTest, PairsLargerThanAPage) {
  const PageOverflow overflow(SizeDistribution::Uniform(5000, 7000), kPage);
  const std::vector<double> fill = overflow.Fill(PairsPerPage(4, 4));
  EXPECT_NEAR(fill[0], std::pow(0.75, 4), 1e-12);
  EXPECT_NEAR(fill[kFillParts], 1 - std::pow(0.75, 4), 1e-12);
}

// The closed form of the normal law against sums of its whole bytes.
TEST(PageOverflowTest, ClosedFormAgreesWithConvolution) {
  const SizeDistribution normal = SizeDistribution::Normal(400, 25);
  PageOverflow closed(normal, kPage);
  PageOverflow summed(SizeDistribution::Histogram(normal.Shares(kPage)), kPage);
  for (uint64_t m = 0; m <= 20; ++m) {
    // The closed form lets a page overflow by less than a byte.
    EXPECT_NEAR(closed.At(m).probability, summed.At(m).probability, 0.003) << m;
    EXPECT_NEAR(closed.At(m).bytes, summed.At(m).bytes, 0.5) << m;
  }
}

TEST(PageOverflowTest, PairsLargerThanAPage) {
  PageOverflow overflow(SizeDistribution::Uniform(5000, 7000), kPage);
  EXPECT_EQ(overflow.At(0).probability, 0);
  EXPECT_EQ(overflow.At(1).probability, 1);
  EXPECT_NEAR(overflow.At(1).bytes, 6000 - 4096, 1e-9);
  EXPECT_NEAR(overflow.At(1'000'000).bytes, 6e9 - 4096, 1e-3);
  RecordSpill spill(SizeDistribution::Uniform(5000, 7000), kPage);
  EXPECT_NEAR(spill.At(3).records, 3, 1e-12);
  EXPECT_NEAR(spill.At(3).bytes, 18000, 1e-9);
}

// Simulation: pairs thrown into pages.

struct Sample {
  double sum = 0, squares = 0;
  void Add(double x) {
    sum += x;
    squares += x * x;
  }
  // Four standard errors.
  void Expect(double want, double n, const char* what) const {
    const double mean = sum / n;
    const double error = std::sqrt((squares / n - mean * mean) / n);
    EXPECT_GT(error, 0) << what;
    EXPECT_NEAR(mean, want, 4 * error) << what << ": the simulation says " << mean;
  }
};

template <typename Draw>
void Simulate(const SizeDistribution& sizes, uint64_t usable, uint64_t pairs, uint64_t pages, Draw draw) {
  Random random(pairs + pages);
  struct Page {
    uint64_t hashed = 0, kept = 0, spilled = 0;
  };
  std::vector<Page> all(pages);
  for (uint64_t i = 0; i < pairs; ++i) {
    Page& page = all[random.Uniform(pages)];
    const uint64_t size = draw(&random);
    page.hashed += size;
    if (page.kept + size <= usable) {
      page.kept += size;
    } else {
      ++page.spilled;
    }
  }
  Sample overflows, excess, records, bytes, hashed;
  std::vector<double> fill(kFillParts + 1);
  for (const Page& page : all) {
    ++fill[FillPart(page.hashed, usable)];
    overflows.Add(page.hashed > usable ? 1 : 0);
    excess.Add(page.hashed > usable ? static_cast<double>(page.hashed - usable) : 0);
    records.Add(static_cast<double>(page.spilled));
    bytes.Add(static_cast<double>(page.hashed - page.kept));
    hashed.Add(static_cast<double>(page.hashed));
  }
  const double n = static_cast<double>(pages);
  const PairsPerPage pairs_per_page(pairs, pages);
  const PageLoad load = PageOverflow(sizes, usable).Load(pairs_per_page);
  const std::vector<double> shares = PageOverflow(sizes, usable).Fill(pairs_per_page);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
  EXPECT_NEAR(shares[kFillParts], load.overflow_probability, 1e-9);
  for (uint64_t i = 0; i <= kFillParts; ++i) {
    EXPECT_NEAR(fill[i], shares[i] * n, 5 * std::sqrt(shares[i] * n) + 3) << i << " %";
  }
  overflows.Expect(load.overflow_probability, n, "overflow probability");
  excess.Expect(load.overflow_bytes, n, "overflow bytes");
  excess.Expect(load.overflow_ratio * static_cast<double>(pairs) * sizes.mean() / n, n, "overflow ratio");
  hashed.Expect(load.fill_factor * static_cast<double>(usable), n, "fill factor");
  const RecordSpill::Spill spill = RecordSpill(sizes, usable).Load(pairs_per_page);
  records.Expect(spill.records, n, "spilled records");
  bytes.Expect(spill.bytes, n, "spilled bytes");
}

TEST(PageSimulationTest, Constant) {
  Simulate(SizeDistribution::Constant(400), kPage, 1'200'000, 200'000, [](Random*) { return 400; });
}

// Few pages: the binomial, not its limit.
TEST(PageSimulationTest, FewPages) {
  double probability = 0;
  constexpr int kRounds = 40000;
  Random random(3);
  for (int round = 0; round < kRounds; ++round) {
    int first = 0;
    for (int i = 0; i < 20; ++i) first += random.Uniform(3) == 0 ? 1 : 0;
    probability += first > 10 ? 1.0 / kRounds : 0;
  }
  const PageLoad load = PageOverflow(SizeDistribution::Constant(400), kPage).Load(PairsPerPage(20, 3));
  EXPECT_NEAR(load.overflow_probability, probability, 4 * std::sqrt(probability / kRounds));
  EXPECT_GT(LoadOf(SizeDistribution::Constant(400), 20 / 3.0).overflow_probability, 1.5 * probability);
}

TEST(PageSimulationTest, Normal) {
  Simulate(SizeDistribution::Normal(400, 60), kPage, 1'200'000, 200'000, [](Random* random) {
    double x = -6;  // about normal: the sum of twelve
    for (int i = 0; i < 12; ++i) x += random->NextDouble();
    return static_cast<uint64_t>(std::llround(400 + 60 * x));
  });
}

TEST(PageSimulationTest, Uniform) {
  Simulate(SizeDistribution::Uniform(30, 900), kPage, 1'000'000, 150'000,
           [](Random* random) { return random->Between(30, 900); });
}

// Most are small, a few have pages of their own, and some no page at all.
TEST(PageSimulationTest, Histogram) {
  Simulate(SizeDistribution::Histogram({{5000, 1}, {50, 70}, {90, 20}, {1500, 9}}), 4080, 2'000'000, 130'000,
           [](Random* random) -> uint64_t {
             const uint64_t x = random->Uniform(100);
             return x < 70 ? 50 : x < 90 ? 90 : x < 99 ? 1500 : 5000;
           });
}

// A large page of many sizes: cells of several bytes.
TEST(PageSimulationTest, CoarseCells) {
  const SizeDistribution sizes = SizeDistribution::Uniform(16, 816);
  const uint64_t usable = 128 * 1024 - 16;
  ASSERT_GT(SizeLattice(sizes, usable).unit, 2);
  Simulate(sizes, usable, 3'000'000, 10'000, [](Random* random) { return random->Between(16, 816); });
}

// The same with a heavy tail, and pages that are so full that only small records find room.
TEST(PageSimulationTest, CoarseCellsOfAHeavyTail) {
  constexpr int kSizes = 3000;
  std::vector<uint64_t> sizes;
  std::vector<Share> shares;
  for (int i = 0; i < kSizes; ++i) {
    sizes.push_back(28 + static_cast<uint64_t>(std::min(50000.0, 30 * std::pow((i + 0.5) / kSizes, -1.1))));
    shares.push_back({sizes.back(), 1});
  }
  const SizeDistribution tail = SizeDistribution::Histogram(shares);
  const uint64_t usable = 128 * 1024 - 16;
  ASSERT_GT(SizeLattice(tail, usable).unit, 8);
  Simulate(tail, usable, 1'600'000, 4'000, [&](Random* random) { return sizes[random->Uniform(kSizes)]; });
}

// The inverse.

TEST(FewestPagesTest, KeepTheBoundAndNoneLess) {
  constexpr uint64_t kPairs = 1'000'000;
  for (const SizeDistribution& sizes :
       {SizeDistribution::Constant(424), SizeDistribution::Constant(1300), SizeDistribution::Constant(9),
        SizeDistribution::Normal(424, 50), SizeDistribution::Uniform(20, 900)}) {
    PageOverflow overflow(sizes, 4080);
    for (double bound : {1e-3, 0.0137, 0.5}) {
      const std::optional<uint64_t> p = overflow.PagesForProbability(kPairs, bound);
      ASSERT_TRUE(p.has_value());
      EXPECT_LE(overflow.Load(PairsPerPage(kPairs, *p)).overflow_probability, bound);
      EXPECT_GT(overflow.Load(PairsPerPage(kPairs, *p - 1)).overflow_probability, bound);
      const std::optional<uint64_t> r = overflow.PagesForRatio(kPairs, bound);
      ASSERT_TRUE(r.has_value());
      EXPECT_LE(overflow.Load(PairsPerPage(kPairs, *r)).overflow_ratio, bound);
      EXPECT_GT(overflow.Load(PairsPerPage(kPairs, *r - 1)).overflow_ratio, bound);
    }
    const uint64_t filled = overflow.PagesForFill(kPairs, 0.7);
    EXPECT_LE(overflow.Load(PairsPerPage(kPairs, filled)).fill_factor, 0.7);
    EXPECT_GT(overflow.Load(PairsPerPage(kPairs, filled - 1)).fill_factor, 0.7);
  }
}

TEST(FewestPagesTest, PaperAtItsOwnBound) {
  PageOverflow overflow(SizeDistribution::Constant(400), kPage);
  const std::optional<uint64_t> pages = overflow.PagesForProbability(1'000'000'000, 0.0137);
  ASSERT_TRUE(pages.has_value());
  EXPECT_NEAR(static_cast<double>(*pages), 2e8, 2e5);
}

TEST(FewestPagesTest, EdgesAndImpossibleBounds) {
  PageOverflow small(SizeDistribution::Constant(400), kPage);
  EXPECT_EQ(small.PagesForProbability(10, 0.01), 1u);
  EXPECT_EQ(small.PagesForRatio(1, 0.5), 1u);
  EXPECT_EQ(small.PagesForFill(1, 1), 1u);
  // The part of each pair above a page is spilled in any case: a fifth.
  PageOverflow large(SizeDistribution::Constant(5120), kPage);
  EXPECT_FALSE(large.PagesForRatio(1000, 0.19).has_value());
  EXPECT_TRUE(large.PagesForRatio(1000, 0.21).has_value());
  EXPECT_FALSE(large.PagesForProbability(1000, 1e-3).has_value());
}

}  // namespace
}  // namespace compassdb
