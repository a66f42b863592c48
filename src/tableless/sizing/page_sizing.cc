// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/page_sizing.h"

#include <algorithm>
#include <cmath>

#include "tableless/flush/record_spill.h"

namespace compassdb {

namespace {

constexpr double kRoom = 0.5;           // expected overflow after a rehash, by max_overflow
constexpr double kAboveMinFill = 4.0 / 3;
constexpr double kEmptiest = 0.01;  // independent of min_fill
constexpr double kLeastGrowth = 1.25;
// Multiplications for one answer: about ten milliseconds. For the loss of precision see size_lattice.h.
constexpr double kWork = 3e7;

uint64_t PagesFor(uint64_t bytes, uint64_t usable, double fill) {
  const double pages = std::ceil(static_cast<double>(bytes) / (static_cast<double>(usable) * fill));
  return std::max(kLeastSectionPages, static_cast<uint64_t>(pages));
}

// The most pages that growth may lead to.
uint64_t MostPages(const SizingRule& rule, uint64_t bytes, uint64_t usable) {
  return PagesFor(bytes, usable, std::clamp(rule.min_fill * kAboveMinFill, kEmptiest, rule.fill));
}

uint64_t LeastGrown(uint64_t pages) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(pages) * kLeastGrowth));
}

// The fewest pages in [least, most] that keep the overflow at or below `bound`; `most` if none do.
uint64_t FewestPages(const SizeDistribution& sizes, uint64_t bytes, uint64_t usable, double bound,
                     uint64_t least, uint64_t most) {
  const auto pairs = static_cast<uint64_t>(std::llround(static_cast<double>(bytes) / sizes.mean()));
  if (pairs == 0) return least;
  RecordSpill spill(sizes, usable, kWork);
  const auto within = [&](uint64_t pages) { return spill.Ratio(PairsPerPage(pairs, pages)) <= bound; };
  if (least >= most || within(least)) return least;
  uint64_t too_few = least;
  uint64_t enough = most;
  while (enough - too_few > 1) {
    const uint64_t middle = too_few + (enough - too_few) / 2;
    (within(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

SizingRule::SizingRule(const PageOptions& options)
    : fill(options.fill_percent / 100.0),
      min_fill(options.min_fill_percent / 100.0),
      max_overflow(options.max_overflow_percent / 100.0) {}

Resize ResizeOf(const SizingRule& rule, const SectionLoad& load) {
  const auto bytes = static_cast<double>(load.bytes);
  const uint64_t most = MostPages(rule, load.bytes, load.usable);
  if (static_cast<double>(load.overflow_bytes) > rule.max_overflow * bytes && most >= LeastGrown(load.pages)) {
    return Resize::kGrow;
  }
  const bool empty = bytes < rule.min_fill * static_cast<double>(load.pages * load.usable);
  return empty && load.pages > 4 * kLeastSectionPages && most < load.pages ? Resize::kShrink : Resize::kNone;
}

uint64_t SizedPages(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes, uint64_t usable) {
  return FewestPages(sizes, bytes, usable, rule.max_overflow * kRoom, PagesFor(bytes, usable, rule.fill),
                     MostPages(rule, bytes, usable));
}

uint64_t ResizedPages(const SizingRule& rule, Resize resize, const SectionLoad& load,
                      const SizeDistribution& sizes) {
  const uint64_t sized = SizedPages(rule, sizes, load.bytes, load.usable);
  return resize == Resize::kGrow ? std::max(sized, LeastGrown(load.pages)) : sized;
}

uint64_t PagesBeforeGrowth(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes,
                           uint64_t usable) {
  constexpr double kOverfull = 2;
  const auto most = static_cast<uint64_t>(static_cast<double>(MostPages(rule, bytes, usable)) / kLeastGrowth);
  const uint64_t least = std::min(most, PagesFor(bytes, usable, kOverfull));
  return std::max(kLeastSectionPages, FewestPages(sizes, bytes, usable, rule.max_overflow, least, most));
}

}  // namespace compassdb
