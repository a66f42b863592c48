// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "compassdb/tableless_plan.h"
#include "tableless/page/page_load.h"

namespace compassdb {
namespace {

// Ten records of 408 B fill the 4080 usable bytes of a page.
TablelessWorkload TenToAPage() {
  TablelessWorkload w;
  w.pairs = 1'000'000'000;
  w.key_size = 16;
  w.value_size = 408 - 16 - kRecordOverhead;
  return w;
}

TablelessPlan PlanOf(const TablelessWorkload& w) {
  TablelessPlan plan;
  const rocksdb::Status s = PlanTableless(w, &plan);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return plan;
}

double Poisson(double mean, double m) { return std::exp(m * std::log(mean) - mean - std::lgamma(m + 1)); }

TEST(PlanTablelessTest, EachFigure) {
  TablelessWorkload w = TenToAPage();
  w.pages = 200'000'000;
  w.compression_ratio = 2;
  const TablelessPlan plan = PlanOf(w);
  double probability = 0, spilled = 0, kept_with_one_more = 0;
  for (int m = 0; m < 60; ++m) {
    if (m > 10) probability += Poisson(5, m);
    if (m > 10) spilled += Poisson(5, m) * (m - 10);
    kept_with_one_more += Poisson(5, m) * std::min(10, m + 1);
  }
  // Each of ten takes a tenth of a page.
  ASSERT_EQ(plan.page_fill.size(), 101u);
  EXPECT_NEAR(plan.page_fill[0], Poisson(5, 0), 1e-8);
  for (int m = 1; m <= 10; ++m) EXPECT_NEAR(plan.page_fill[10 * m - 1], Poisson(5, m), 1e-8) << m;
  EXPECT_NEAR(plan.page_fill[100], probability, 1e-8);
  ASSERT_GT(plan.pages_by_pairs.size(), 15u);
  for (uint64_t m = 0; m <= 15; ++m) {
    EXPECT_EQ(plan.pages_by_pairs[m].pairs, m);
    EXPECT_NEAR(plan.pages_by_pairs[m].share, Poisson(5, static_cast<double>(m)), 1e-8) << m;
    EXPECT_EQ(plan.pages_by_pairs[m].overflow_probability, m > 10 ? 1 : 0) << m;
  }
  EXPECT_EQ(plan.pages, w.pages);
  EXPECT_EQ(plan.page_size, 4096u);
  EXPECT_NEAR(plan.user_bytes, 400e9, 1);
  EXPECT_NEAR(plan.record_bytes, 408e9, 1);
  EXPECT_NEAR(plan.fill_factor, 0.5, 1e-12);
  EXPECT_NEAR(plan.overflow_probability, probability, 1e-8);
  EXPECT_NEAR(plan.overflow_ratio, spilled / 5, 1e-8);
  EXPECT_NEAR(plan.cut_overflow_ratio, spilled / 5, 1e-8);  // ten fill a page
  EXPECT_EQ(plan.pages_before_growth, plan.pages);
  EXPECT_NEAR(plan.overflow_records, spilled * 2e8, 10);
  EXPECT_NEAR(plan.overflow_bytes, spilled * 2e8 * 408, 4080);
  EXPECT_NEAR(plan.overflow_index_memory, plan.overflow_records * 24, 1);
  EXPECT_NEAR(plan.key_store_bytes, 21e9, 1);
  EXPECT_NEAR(plan.key_store_memory, 21e9 / 4096 * 9, 1);
  EXPECT_NEAR(plan.logical_bytes, 2e8 * 4096 + plan.overflow_bytes + 21e9, 1);
  EXPECT_NEAR(plan.used_bytes, 408e9 + 2e8 * 16 + 21e9, 1);
  EXPECT_NEAR(plan.physical_bytes, plan.used_bytes / 2, 1);
  EXPECT_EQ(plan.bytes_per_update, 8192);
  EXPECT_NEAR(plan.used_bytes_per_update, 2 * (16 + 408 * kept_with_one_more), 1e-4);
}

// For every page size of the store; the number of pairs per page grows with it.
TEST(PlanTablelessTest, LargePages) {
  TablelessWorkload w = TenToAPage();
  w.pairs = 10'000'000;
  for (uint64_t page_size = 4096; page_size <= 1 << 20; page_size *= 2) {
    w.page_size = page_size;
    const TablelessPlan plan = PlanOf(w);
    EXPECT_EQ(plan.page_size, page_size);
    EXPECT_LE(plan.fill_factor, 0.5);
    EXPECT_NEAR(plan.fill_factor, 0.5, 0.01);
    if (page_size > 4096) {
      EXPECT_LT(plan.overflow_probability, 0.01);
    }
  }
}

TEST(PlanTablelessTest, WithoutKeyStore) {
  TablelessWorkload w = TenToAPage();
  const TablelessPlan with = PlanOf(w);
  w.key_store = false;
  const TablelessPlan without = PlanOf(w);
  EXPECT_EQ(without.key_store_bytes, 0);
  EXPECT_EQ(without.key_store_memory, 0);
  EXPECT_EQ(without.pages, with.pages);
  EXPECT_EQ(without.overflow_records, with.overflow_records);
  EXPECT_NEAR(with.used_bytes - without.used_bytes, 21e9, 1);
  EXPECT_NEAR(with.logical_bytes - without.logical_bytes, 21e9, 1);
}

TEST(PlanTablelessTest, AsTheStoreSizesByDefault) {
  const TablelessPlan plan = PlanOf(TenToAPage());
  EXPECT_EQ(plan.pages, 200'000'000u);  // half full, which is few enough to spill little
  EXPECT_LT(plan.pages_before_growth, 150'000'000u);
  TablelessWorkload full = TenToAPage();
  full.pages = plan.pages_before_growth;
  EXPECT_NEAR(PlanOf(full).overflow_ratio, 0.03, 1e-4);  // what makes them grow
  TablelessWorkload large = TenToAPage();
  large.value_size = 800;
  const TablelessPlan of_large = PlanOf(large);
  EXPECT_NEAR(of_large.overflow_ratio, 0.015, 1e-4);
  EXPECT_GT(of_large.overflow_ratio, of_large.cut_overflow_ratio * 1.2);  // whole records, not cut ones
  EXPECT_LT(of_large.fill_factor, 0.4);
  TablelessWorkload w = TenToAPage();
  TablelessPlan refused;
  for (const double tiny : {1e-300, 1e-14}) {
    w.fill = tiny;
    const rocksdb::Status s = PlanTableless(w, &refused);
    EXPECT_TRUE(s.IsInvalidArgument()) << tiny;
    EXPECT_NE(s.ToString().find("10^15 pages"), std::string::npos) << s.ToString();
  }
  w.fill = 0.8;
  EXPECT_EQ(PlanOf(w).pages, 125'000'000u);
  w.fill = 0;
  w.max_overflow_probability = plan.overflow_probability;
  EXPECT_NEAR(static_cast<double>(PlanOf(w).pages), 2e8, 10);
  w.max_overflow_probability = 0;
  w.max_overflow_ratio = plan.overflow_ratio;
  EXPECT_NEAR(static_cast<double>(PlanOf(w).pages), 2e8, 10);
  w.value_size = 800;
  w.max_overflow_ratio = 0.02;
  EXPECT_NEAR(PlanOf(w).overflow_ratio, 0.02, 1e-6);
}

// They go to the overflow store and ask for no pages.
TEST(PlanTablelessTest, PairsThatNoPageHolds) {
  TablelessWorkload w;
  w.pairs = 1'000'000;
  w.sample = {{16, 400, 9}, {16, 50000, 1}};
  const TablelessPlan plan = PlanOf(w);
  TablelessWorkload small;
  small.pairs = 900'000;
  small.key_size = 16;
  small.value_size = 400;
  const TablelessPlan of_small = PlanOf(small);
  EXPECT_EQ(plan.pages, of_small.pages);
  EXPECT_NEAR(plan.fill_factor, of_small.fill_factor, 1e-9);
  EXPECT_NEAR(plan.overflow_ratio, of_small.overflow_ratio, 1e-9);
  EXPECT_NEAR(plan.overflow_records, of_small.overflow_records + 1e5, 1);
  EXPECT_NEAR(plan.overflow_bytes, of_small.overflow_bytes + 1e5 * 50024, 1e4);
  small.value_size = 50000;
  EXPECT_EQ(PlanOf(small).pages, 256u);
  EXPECT_EQ(PlanOf(small).overflow_records, 900'000);
  EXPECT_EQ(PlanOf(small).page_fill[0], 1);
  EXPECT_EQ(PlanOf(small).pages_by_pairs.size(), 1u);
}

// The same sizes, said in several ways.
TEST(PlanTablelessTest, Laws) {
  TablelessWorkload uniform;
  uniform.pairs = 1'000'000;
  uniform.key_size = 10;
  uniform.value_low = 99;
  uniform.value_high = 101;
  TablelessWorkload sample;
  sample.pairs = 1'000'000;
  sample.sample = {{10, 99, 5}, {10, 101, 5}, {10, 100, 5}};
  EXPECT_EQ(PlanOf(uniform).pages, PlanOf(sample).pages);
  EXPECT_NEAR(PlanOf(uniform).overflow_probability, PlanOf(sample).overflow_probability, 1e-12);
  EXPECT_NEAR(PlanOf(uniform).overflow_records, PlanOf(sample).overflow_records, 1e-6);
  EXPECT_EQ(PlanOf(uniform).key_store_bytes, PlanOf(sample).key_store_bytes);
  TablelessWorkload normal = uniform;
  normal.value_low = normal.value_high = 0;
  normal.value_size = 100;
  normal.value_sigma = std::sqrt(2 / 3.0);
  EXPECT_NEAR(PlanOf(normal).overflow_probability / PlanOf(uniform).overflow_probability, 1, 0.05);
}

TEST(PlanTablelessTest, LargerPagesOverflowLess) {
  TablelessWorkload w = TenToAPage();
  w.fill = 0.7;
  double last = 1;
  for (uint64_t page_size : {4096, 8192, 32768, 131072, 1 << 20}) {
    w.page_size = page_size;
    const TablelessPlan plan = PlanOf(w);
    EXPECT_LT(plan.overflow_probability, last);
    EXPECT_EQ(plan.bytes_per_update, 2.0 * static_cast<double>(page_size));
    last = plan.overflow_probability;
  }
}

TEST(PlanTablelessTest, RefusesWhatMakesNoSense) {
  struct Case {
    const char* says;
    std::function<void(TablelessWorkload*)> change;
  };
  using W = TablelessWorkload;
  const std::vector<Case> cases = {
      {"pairs: 0", [](W* w) { w->pairs = 0; }},
      {"pairs: 2000000000000000", [](W* w) { w->pairs = 2'000'000'000'000'000; }},
      {"page_size: 5000", [](W* w) { w->page_size = 5000; }},
      {"page_size: 0", [](W* w) { w->page_size = 0; }},
      {"page_size: 1052672", [](W* w) { w->page_size = 1028 << 10; }},
      {"value_sigma: 200 is", [](W* w) { w->value_sigma = 200; }},
      {"value_sigma: -1 is", [](W* w) { w->value_sigma = -1; }},
      {"value_sigma: nan", [](W* w) { w->value_sigma = std::nan(""); }},
      {"value_size or value_sigma", [](W* w) { w->value_high = 10; }},
      {"value_low: 5", [](W* w) { w->value_size = 0, w->value_low = 5, w->value_high = 4; }},
      {"above 4 GiB", [](W* w) { w->value_size = uint64_t{1} << 33; }},
      {"sample: it already", [](W* w) { w->sample = {{1, 1, 1}}; }},
      {"sample: no pairs", [](W* w) { w->key_size = w->value_size = 0, w->sample = {{1, 1, 0}}; }},
      {"more than one", [](W* w) { w->pages = 1'000'000'000, w->fill = 0.5; }},
      {"fill: 1.5", [](W* w) { w->fill = 1.5; }},
      {"fill: -0.5", [](W* w) { w->fill = -0.5; }},
      {"max_overflow_probability: 1", [](W* w) { w->max_overflow_probability = 1; }},
      {"max_overflow_ratio: 1", [](W* w) { w->max_overflow_ratio = 1; }},
      {"max_overflow_ratio: not kept", [](W* w) { w->value_size = 6000, w->max_overflow_ratio = 0.1; }},
      {"max_overflow_probability: not kept",
       [](W* w) { w->value_size = 6000, w->max_overflow_probability = 0.01; }},
      {"pages: 24999999 would be filled more than four times; at least 25000000",
       [](W* w) { w->pages = 24'999'999; }},
      {"value_size: 0, with", [](W* w) { w->key_size = w->value_size = 0, w->headers = false; }},
      {"value_low: 0, with", [](W* w) { w->key_size = w->value_size = 0, w->value_high = 9, w->headers = false; }},
      {"sample: a pair of 0", [](W* w) { w->key_size = w->value_size = 0, w->sample = {{0, 0, 1}}, w->headers = false; }},
      {"compression_ratio: 0.5", [](W* w) { w->compression_ratio = 0.5; }},
  };
  for (const Case& c : cases) {
    TablelessWorkload w = TenToAPage();
    c.change(&w);
    TablelessPlan plan;
    plan.pages = 77;
    const rocksdb::Status s = PlanTableless(w, &plan);
    EXPECT_TRUE(s.IsInvalidArgument()) << c.says;
    EXPECT_NE(s.ToString().find(c.says), std::string::npos) << c.says << ": " << s.ToString();
    EXPECT_EQ(plan.pages, 77u);
  }
}

// Table 3 and 4.2 of the paper: pages of 4096 B without a header, pairs that consist of their values.
TEST(PlanTablelessTest, PaperNumbers) {
  TablelessWorkload w;
  w.headers = w.key_store = false;
  w.pairs = 840'000'000;
  w.value_size = 400;
  const double probabilities[] = {0.0137, 0.0426, 0.0985, 0.184};
  for (uint64_t per_page = 5; per_page <= 8; ++per_page) {
    w.pages = w.pairs / per_page;
    const TablelessPlan plan = PlanOf(w);
    EXPECT_NEAR(plan.overflow_probability / probabilities[per_page - 5], 1, 0.005) << per_page;
    EXPECT_DOUBLE_EQ(plan.fill_factor, static_cast<double>(per_page) * 400 / 4096);
    EXPECT_EQ(plan.record_bytes, plan.user_bytes);
    EXPECT_EQ(plan.key_store_bytes, 0);
    if (per_page == 5) {
      EXPECT_NEAR(plan.cut_overflow_ratio, 0.0038, 0.00005);
    }
  }
}

// The largest numbers that are taken, and one pair.
TEST(PlanTablelessTest, Extremes) {
  TablelessWorkload w;
  w.pairs = 1'000'000'000'000'000;
  w.key_size = 1;
  w.pages = w.pairs;
  EXPECT_NEAR(PlanOf(w).fill_factor, 9.0 / 4080, 1e-12);
  w.pages = 0;
  w.page_size = 1 << 20;
  EXPECT_NEAR(PlanOf(w).fill_factor, 0.5, 1e-9);
  w.pairs = 1;
  const TablelessPlan one = PlanOf(w);
  EXPECT_EQ(one.pages, 256u);  // 16 in each section
  EXPECT_EQ(one.overflow_records, 0);
}

}  // namespace
}  // namespace compassdb
