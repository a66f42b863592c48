// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/page_sizing.h"

#include <gtest/gtest.h>

#include "tableless/flush/record_spill.h"
#include "tableless/page/section.h"

namespace compassdb {
namespace {

constexpr uint64_t kUsable = 4080;
constexpr uint64_t kBytes = 50'000'000;

double RatioOf(const SizeDistribution& sizes, uint64_t pages) {
  const auto pairs = static_cast<uint64_t>(static_cast<double>(kBytes) / sizes.mean());
  return RecordSpill(sizes, kUsable).Ratio(PairsPerPage(pairs, pages));
}

double FillOf(uint64_t pages) { return static_cast<double>(kBytes) / static_cast<double>(pages * kUsable); }

SizeDistribution Mixed() { return SizeDistribution::Histogram({{124, 6}, {424, 3}, {1424, 1}}); }

// Counts of a manifest may be anything: a hostile one does not make a rehash fill the disk.
TEST(PageSizingTest, ASectionHoldsNoMoreThanItHasRoomFor) {
  Section section;
  section.overflow = std::make_shared<OverflowIndex>(
      std::vector<OverflowIndex::Entry>{{1, 1, {0, 500}}, {2, 1, {500, 100}}}, std::vector<OverflowRunRef>());
  section.meta.pages = 10;
  section.meta.bytes = uint64_t{1} << 45;
  section.meta.overflow_bytes = uint64_t{1} << 44;
  const PageGeometry geometry{1, 4096};
  const uint64_t overflow = 600 + 2 * kOverflowSlotBytes;
  EXPECT_EQ(section.overflow->run_bytes(), overflow);
  EXPECT_EQ(section.Load(geometry).overflow_bytes, overflow);
  EXPECT_EQ(section.Load(geometry).bytes, 10 * (4096 - kPageHeaderBytes) + overflow);
  section.meta.bytes = 7000;
  section.meta.overflow_bytes = 560;
  section.large_bytes = 60;
  EXPECT_EQ(section.Load(geometry).overflow_bytes, 500u);
  EXPECT_EQ(section.Load(geometry).bytes, 6940u);
}

// Half of what makes them grow is what is expected to overflow; fuller they are not made.
TEST(PageSizingTest, AsFullAsTheOverflowAllows) {
  const SizingRule rule((PageOptions()));
  for (const SizeDistribution& sizes : {SizeDistribution::Constant(824), SizeDistribution::Constant(1024), Mixed(),
                                        SizeDistribution::Uniform(300, 1400), SizeDistribution::Normal(900, 80)}) {
    const uint64_t pages = SizedPages(rule, sizes, kBytes, kUsable);
    EXPECT_LT(FillOf(pages), 0.5) << sizes.mean();
    EXPECT_GT(FillOf(pages), 0.2) << sizes.mean();
    EXPECT_NEAR(RatioOf(sizes, pages), 0.015, 0.0004) << sizes.mean();
  }
}

TEST(PageSizingTest, SmallRecordsFillHalf) {
  PageOptions options;
  const auto small = SizeDistribution::Constant(124);
  EXPECT_NEAR(FillOf(SizedPages(SizingRule(options), small, kBytes, kUsable)), 0.5, 1e-3);
  options.fill_percent = 95;
  const uint64_t pages = SizedPages(SizingRule(options), small, kBytes, kUsable);
  EXPECT_NEAR(RatioOf(small, pages), 0.015, 1e-4);
  EXPECT_GT(FillOf(pages), 0.75);
}

// However many pages there are, those overflow: a third above min_fill ends it.
TEST(PageSizingTest, RecordsThatAreLargeForAPage) {
  PageOptions options;
  for (const uint64_t size : {1424u, 3000u, 4080u}) {
    const uint64_t pages = SizedPages(SizingRule(options), SizeDistribution::Constant(size), kBytes, kUsable);
    EXPECT_NEAR(FillOf(pages), 0.2, 1e-3) << size;
  }
  options.min_fill_percent = 0;
  options.max_overflow_percent = 0;
  EXPECT_NEAR(FillOf(SizedPages(SizingRule(options), SizeDistribution::Constant(1424), kBytes, kUsable)), 0.01, 1e-3);
}

TEST(PageSizingTest, FewRecords) {
  const SizingRule rule((PageOptions()));
  EXPECT_EQ(SizedPages(rule, SizeDistribution::Constant(400), 0, kUsable), kLeastSectionPages);
  EXPECT_EQ(SizedPages(rule, SizeDistribution::Constant(400), 1200, kUsable), kLeastSectionPages);
  EXPECT_EQ(ResizeOf(rule, {16, kUsable, 0, 0}), Resize::kNone);
  EXPECT_EQ(ResizeOf(rule, {16, kUsable, 1200, 1200}), Resize::kNone);
}

// The result of a resize needs no other resize, at any overflow, and is far from the limit where it shrinks.
TEST(PageSizingTest, OneResizeIsEnough) {
  for (const uint32_t min_fill : {0u, 5u, 15u, 40u, 50u, 80u}) {
    for (const uint32_t fill : {5u, 20u, 50u, 95u}) {
      PageOptions options;
      options.min_fill_percent = min_fill;
      options.fill_percent = fill;
      const SizingRule rule(options);
      for (const uint64_t size : {40u, 124u, 424u, 824u, 1424u, 3000u}) {
        const auto sizes = SizeDistribution::Constant(size);
        for (uint64_t pages : {17u, 100u, 3000u, 30000u, 3'000'000u}) {
          int resizes = 0;
          for (;; ++resizes) {
            const double ratio = RatioOf(sizes, pages);
            const SectionLoad load{pages, kUsable, kBytes, static_cast<uint64_t>(ratio * kBytes)};
            const Resize resize = ResizeOf(rule, load);
            if (resize == Resize::kNone) break;
            const uint64_t next = ResizedPages(rule, resize, load, sizes);
            ASSERT_EQ(next > pages, resize == Resize::kGrow);
            pages = next;
            ASSERT_LT(resizes, 3);
          }
          EXPECT_LE(resizes, 1) << min_fill << " " << fill << " " << size;
        }
      }
    }
  }
}

// Growth makes progress where more overflows than the sizes predict: up to the emptiest pages.
TEST(PageSizingTest, GrowthByAQuarterAtLeast) {
  const SizingRule rule((PageOptions()));
  const auto sizes = SizeDistribution::Constant(424);
  SectionLoad load{SizedPages(rule, sizes, kBytes, kUsable), kUsable, kBytes, kBytes / 10};
  int grown = 0;
  while (ResizeOf(rule, load) == Resize::kGrow) {
    const uint64_t next = ResizedPages(rule, Resize::kGrow, load, sizes);
    ASSERT_GE(static_cast<double>(next), 1.25 * static_cast<double>(load.pages));
    load.pages = next;
    ++grown;
  }
  EXPECT_EQ(grown, 4);
  EXPECT_GE(FillOf(load.pages), 0.2 - 1e-3);
}

TEST(PageSizingTest, BeforeGrowth) {
  const SizingRule rule((PageOptions()));
  for (const auto& sizes : {SizeDistribution::Constant(124), SizeDistribution::Constant(424), Mixed()}) {
    const uint64_t pages = PagesBeforeGrowth(rule, sizes, kBytes, kUsable);
    EXPECT_NEAR(RatioOf(sizes, pages), 0.03, 2e-4);
    EXPECT_LT(pages, SizedPages(rule, sizes, kBytes, kUsable));
  }
  const uint64_t of_large = PagesBeforeGrowth(rule, SizeDistribution::Constant(2000), kBytes, kUsable);
  EXPECT_NEAR(FillOf(of_large), 0.25, 1e-3);
}

}  // namespace
}  // namespace compassdb
