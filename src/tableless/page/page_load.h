// SPDX-License-Identifier: Apache-2.0
// The load of pages when pairs are hashed to them: the formulas of KallaxDB 3.3. Pure: no I/O.
//
// Conventions, which give the paper's own numbers:
//   - A page overflows when the pairs that are hashed to it are larger, together, than its usable bytes; one
//     that is exactly full does not.
//   - The bytes above that are spilled, as if a pair could be cut (RecordSpill counts whole records).
//   - The fill factor counts all pairs that are hashed to pages, spilled ones too, and may exceed 1.
//
// All is exact except for SizeLattice: constant sizes trivially, normal sizes in closed form, others by
// convolution. No step uses a factorial or a power, so nothing underflows for large pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tableless/sizing/size_distribution.h"
#include "tableless/sizing/size_lattice.h"

namespace compassdb {

// The bytes that the store adds to key and value.
inline constexpr uint64_t kPageOverhead = 16;   // per page
inline constexpr uint64_t kRecordOverhead = 8;  // per record, at most: two lengths, sequence, type

// The number of pairs that are hashed to one page (eq. 4), without nearly impossible ones. Immutable, any
// thread.
class PairsPerPage {
 public:
  // Binomial; both at least 1.
  PairsPerPage(uint64_t pairs, uint64_t pages);
  // Its limit for many pages (eq. 5): Poisson's law. `pairs_per_page` > 0.
  explicit PairsPerPage(double pairs_per_page);

  double mean() const { return mean_; }
  // The numbers that are possible: from first() on, below end().
  uint64_t first() const { return first_; }
  uint64_t end() const { return first_ + probability_.size(); }
  // Of a possible number.
  double Probability(uint64_t m) const { return probability_[m - first_]; }

  // The mean of f(m) over pages, for m pairs in a page.
  template <typename F>
  double Average(F f) const {
    double sum = 0;
    for (size_t i = 0; i < probability_.size(); ++i) sum += probability_[i] * f(first_ + i);
    return sum;
  }

 private:
  // From the most probable number on, by the ratio of one probability to the next.
  void Spread(uint64_t mode, const std::function<double(uint64_t m)>& ratio_to_next);

  double mean_;
  uint64_t first_ = 0;  // number of pairs that probability_[0] is of
  std::vector<double> probability_;
};

// The fewest pages for which `within` is true; it is then true for more. The search begins at `about`.
// None if 64 pages per pair are too few.
std::optional<uint64_t> FewestPages(uint64_t pairs, uint64_t about,
                                    const std::function<bool(const PairsPerPage&)>& within);

// The part of a page to which it is filled: 0 for at most 1 % and for an empty page, 1 for more than
// that and at most 2 %, and so on; kFillParts for a page that overflows.
inline constexpr uint64_t kFillParts = 100;
inline uint64_t FillPart(uint64_t filled, uint64_t usable) {
  return filled == 0 ? 0 : std::min(kFillParts, (filled * kFillParts - 1) / usable);
}

struct PageLoad {
  double overflow_probability = 0;  // that a page overflows (eq. 2)
  double overflow_bytes = 0;        // spilled per page, on average (eq. 2)
  double overflow_ratio = 0;        // of the bytes of all pairs (eq. 3)
  double fill_factor = 0;           // bytes of all pairs by usable bytes of all pages (eq. 7)
};

// Overflow by number of pairs (eq. 1), and its results. One thread at a time: it caches what it
// computed.
class PageOverflow {
 public:
  // `usable`: bytes that a page has for pairs, at least 1.
  PageOverflow(const SizeDistribution& sizes, uint64_t usable);

  struct Page {
    double probability;  // that it overflows
    double bytes;        // spilled, on average over all pages with this number of pairs
  };
  // A page of `pairs` pairs (eq. 1).
  Page At(uint64_t pairs);

  PageLoad Load(const PairsPerPage& pairs_per_page);
  // The distribution of the fill (eq. 6): the shares of pages by FillPart. As in the fill factor,
  // all pairs that are hashed to a page count.
  std::vector<double> Fill(const PairsPerPage& pairs_per_page) const;

  // The fewest pages that keep the overflow at or below a bound in (0, 1). None if 64 pages per pair do not.
  std::optional<uint64_t> PagesForProbability(uint64_t pairs, double bound);
  std::optional<uint64_t> PagesForRatio(uint64_t pairs, double bound);
  // The fewest pages that are filled to at most `fill` > 0.
  uint64_t PagesForFill(uint64_t pairs, double fill) const;

 private:
  Page NormalAt(double pairs) const;
  double NormalAtMost(double bytes, double pairs) const;  // the probability
  void AddPair();
  void AddFill(uint64_t pairs, double share, std::vector<double>* fill) const;
  void AddFillBySums(const PairsPerPage& pairs_per_page, std::vector<double>* fill) const;

  const SizeDistribution sizes_;
  const double usable_;
  std::optional<SizeLattice> lattice_;  // for sizes without a closed form
  std::vector<Page> pages_;         // by number of pairs, as far as needed
  std::optional<LatticeSum> sum_;   // of pages_.size() - 1 pairs
};

}  // namespace compassdb
