// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/size_lattice.h"

#include <algorithm>
#include <cmath>

namespace compassdb {

namespace {

constexpr double kImpossible = 1e-25;

// Multiplications for all sums that matter, in cells of `unit` bytes.
double Work(double unit, double usable, const SizeDistribution& sizes,
            const std::vector<SizeDistribution::Share>& shares) {
  const double range = static_cast<double>(shares.back().bytes - shares.front().bytes);
  const double steps = std::min(static_cast<double>(shares.size()) * 2, range / unit + 2);
  const double sums = 2 * usable / sizes.mean() + 20;
  const double width = std::min(usable, 18 * sizes.sigma() * std::sqrt(sums) + range);
  return width / unit * steps * sums;
}

}  // namespace

void CellProbabilities::Clear() {
  std::fill(at.begin() + begin, at.begin() + end, 0);
  begin = end = 0;
}

void CellProbabilities::Trim() {
  while (begin < end && at[begin] < kImpossible) at[begin++] = 0;
  while (begin < end && at[end - 1] < kImpossible) at[--end] = 0;
}

SizeLattice::SizeLattice(const SizeDistribution& sizes, uint64_t usable, double max_work) {
  const std::vector<SizeDistribution::Share> shares = sizes.Shares(usable);
  const double page = static_cast<double>(usable);
  double coarse = 1;
  if (!shares.empty()) {
    while (coarse * 2 <= sizes.mean() / 4 && Work(coarse, page, sizes, shares) > max_work) coarse *= 2;
  }
  cells = static_cast<uint32_t>(std::ceil(page / coarse));
  unit = page / cells;
  std::vector<double> weights(cells + 2);
  for (const SizeDistribution::Share& share : shares) {
    const double place = static_cast<double>(share.bytes) / unit;
    const uint32_t below = static_cast<uint32_t>(place);
    const double rest = place - below;
    weights[below] += share.weight * (1 - rest);
    weights[below + 1] += share.weight * rest;
  }
  for (uint32_t i = 0; i <= cells; ++i) {
    if (weights[i] > 0) steps.push_back({i, weights[i]});
  }
}

void SizeLattice::Convolve(const CellProbabilities& from, CellProbabilities* to) const {
  to->begin = from.begin;
  to->end = from.end;
  for (const Step& step : steps) {
    if (from.begin + step.cells > cells) break;
    double* out = to->at.data() + step.cells;
    const uint32_t end = std::min(from.end, cells + 1 - step.cells);
    for (uint32_t s = from.begin; s < end; ++s) out[s] += from.at[s] * step.weight;
    to->end = std::max(to->end, end + step.cells);
  }
}

LatticeSum::LatticeSum(uint32_t cells) : sum_(cells), next_(cells) {
  sum_.at[0] = 1;
  sum_.end = 1;
}

void LatticeSum::AddSize(const SizeLattice& lattice) {
  lattice.Convolve(sum_, &next_);
  next_.Trim();
  sum_.Clear();
  std::swap(sum_, next_);
}

}  // namespace compassdb
