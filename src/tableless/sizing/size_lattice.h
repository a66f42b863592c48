// SPDX-License-Identifier: Apache-2.0
// Sizes of pairs on a lattice of the bytes of a page, for sums of them by convolution.
//
// One cell is one byte, and the sums are exact, if that costs less than a bound, by default about a second.
// Large pages with many different sizes get cells of several bytes, at most a quarter of the mean size: a size
// between two cells is shared between them so that its mean stays. A pair adds its mean square to
// the variance of a page's bytes (Poisson's law), and the sharing at most a quarter of a squared cell, 2 % of
// that.
#pragma once

#include <vector>

#include "tableless/sizing/size_distribution.h"

namespace compassdb {

// Probabilities by number of cells.
struct CellProbabilities {
  explicit CellProbabilities(uint32_t cells) : at(cells + 1) {}

  std::vector<double> at;  // 0 outside of [begin, end)
  uint32_t begin = 0, end = 0;

  void Clear();
  // Cuts off the ends that are nearly impossible.
  void Trim();
};

struct SizeLattice {
  struct Step {
    uint32_t cells;
    double weight;
  };

  static constexpr double kMaxWork = 1e9;  // multiplications

  // `max_work`: for all sums that matter, about.
  SizeLattice(const SizeDistribution& sizes, uint64_t usable, double max_work = kMaxWork);

  uint32_t cells;           // of a page
  double unit;              // bytes per cell
  std::vector<Step> steps;  // sizes that fit a page, ascending; the rest to 1 is larger

  // Sets *to, which is empty, to `from` plus one size, as far as it fits the page. Not trimmed.
  void Convolve(const CellProbabilities& from, CellProbabilities* to) const;
};

// The sum of more and more sizes, at first of none, as far as it fits the page.
class LatticeSum {
 public:
  explicit LatticeSum(uint32_t cells);

  const CellProbabilities& cells() const { return sum_; }
  bool fits() const { return sum_.begin < sum_.end; }
  // `lattice` has as many cells.
  void AddSize(const SizeLattice& lattice);

 private:
  CellProbabilities sum_, next_;
};

}  // namespace compassdb
