// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_load.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace compassdb {

namespace {

constexpr double kNegligible = 1e-18;  // against the most probable case
constexpr uint64_t kMaxPagesPerPair = 64;

}  // namespace

PairsPerPage::PairsPerPage(uint64_t pairs, uint64_t pages)
    : mean_(static_cast<double>(pairs) / static_cast<double>(pages)) {
  if (pages == 1) {
    first_ = pairs;
    probability_ = {1};
    return;
  }
  const double others = static_cast<double>(pages - 1);
  Spread(std::min(pairs, (pairs + 1) / pages), [=](uint64_t m) {
    return static_cast<double>(pairs - m) / (static_cast<double>(m + 1) * others);
  });
}

PairsPerPage::PairsPerPage(double pairs_per_page) : mean_(pairs_per_page) {
  Spread(static_cast<uint64_t>(pairs_per_page),
         [=](uint64_t m) { return pairs_per_page / static_cast<double>(m + 1); });
}

void PairsPerPage::Spread(uint64_t mode, const std::function<double(uint64_t)>& ratio_to_next) {
  std::vector<double> down;  // from below the mode
  double weight = 1;
  for (uint64_t m = mode; m > 0; --m) {
    weight /= ratio_to_next(m - 1);
    if (weight < kNegligible) break;
    down.push_back(weight);
  }
  first_ = mode - down.size();
  probability_.assign(down.rbegin(), down.rend());
  weight = 1;
  for (uint64_t m = mode; weight >= kNegligible; ++m) {
    probability_.push_back(weight);
    weight *= ratio_to_next(m);
  }
  double total = 0;
  for (double p : probability_) total += p;
  for (double& p : probability_) p /= total;
}

PageOverflow::PageOverflow(const SizeDistribution& sizes, uint64_t usable)
    : sizes_(sizes),
      usable_(static_cast<double>(usable)),
      pages_(1) {
  if (sizes.constant() || sizes.normal()) return;
  lattice_.emplace(sizes, usable);
  sum_.emplace(lattice_->cells);
}

PageOverflow::Page PageOverflow::At(uint64_t pairs) {
  const double m = static_cast<double>(pairs);
  const double excess = m * sizes_.mean() - usable_;
  if (sizes_.constant()) return excess > 0 ? Page{1, excess} : Page{0, 0};
  if (sizes_.normal()) return NormalAt(m);
  while (pages_.size() <= pairs && sum_->fits()) AddPair();
  return pairs < pages_.size() ? pages_[pairs] : Page{1, excess};
}

// The sum of m sizes is normal, and E[(x - c)+] = s * density(z) + (mean - c) * above(z), z = (c - mean) / s.
PageOverflow::Page PageOverflow::NormalAt(double pairs) const {
  if (pairs == 0) return {0, 0};
  const double mean = pairs * sizes_.mean();
  const double sigma = std::sqrt(pairs) * sizes_.sigma();
  const double z = (usable_ - mean) / sigma;
  const double above = std::erfc(z / std::numbers::sqrt2) / 2;
  const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {above, std::max(0.0, sigma * density + (mean - usable_) * above)};
}

// What is above the page follows from what is missing within: E[(x - c)+] = E[x] - c + E[(c - x)+].
void PageOverflow::AddPair() {
  sum_->AddSize(*lattice_);
  double within = 0;
  double room = 0;
  for (uint32_t s = sum_->cells().begin; s < sum_->cells().end; ++s) {
    within += sum_->cells().at[s];
    room += sum_->cells().at[s] * (lattice_->cells - s);
  }
  const double mean = static_cast<double>(pages_.size()) * sizes_.mean();
  pages_.push_back({std::max(0.0, 1 - within), std::max(0.0, mean - usable_ + room * lattice_->unit)});
}

PageLoad PageOverflow::Load(const PairsPerPage& pairs_per_page) {
  PageLoad load;
  load.overflow_probability = pairs_per_page.Average([&](uint64_t m) { return At(m).probability; });
  load.overflow_bytes = pairs_per_page.Average([&](uint64_t m) { return At(m).bytes; });
  const double bytes = pairs_per_page.mean() * sizes_.mean();
  load.overflow_ratio = load.overflow_bytes / bytes;
  load.fill_factor = bytes / usable_;
  return load;
}

double PageOverflow::NormalAtMost(double bytes, double pairs) const {
  if (pairs == 0) return 1;
  const double z = (bytes - pairs * sizes_.mean()) / (std::sqrt(pairs) * sizes_.sigma());
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

std::vector<double> PageOverflow::Fill(const PairsPerPage& pairs_per_page) const {
  std::vector<double> fill(kFillParts + 1);
  if (lattice_) {
    AddFillBySums(pairs_per_page, &fill);
  } else {
    for (uint64_t m = pairs_per_page.first(); m < pairs_per_page.end(); ++m) {
      AddFill(m, pairs_per_page.Probability(m), &fill);
    }
  }
  fill[kFillParts] += std::max(0.0, 1 - std::accumulate(fill.begin(), fill.end(), 0.0));
  return fill;
}

void PageOverflow::AddFill(uint64_t pairs, double share, std::vector<double>* fill) const {
  if (sizes_.constant()) {
    const auto size = static_cast<uint64_t>(sizes_.mean());
    (*fill)[FillPart(pairs * size, static_cast<uint64_t>(usable_))] += share;
    return;
  }
  double below = 0;
  for (uint64_t part = 0; part < kFillParts; ++part) {
    const double end = usable_ * static_cast<double>(part + 1) / kFillParts;
    const double at_most = NormalAtMost(end, static_cast<double>(pairs));
    (*fill)[part] += share * (at_most - below);
    below = at_most;
  }
}

void PageOverflow::AddFillBySums(const PairsPerPage& pairs_per_page,
                                 std::vector<double>* fill) const {
  LatticeSum sum(lattice_->cells);
  for (uint64_t m = 0; m < pairs_per_page.end() && sum.fits(); ++m) {
    const double share = m < pairs_per_page.first() ? 0 : pairs_per_page.Probability(m);
    const CellProbabilities& cells = sum.cells();
    for (uint32_t s = cells.begin; s < cells.end; ++s) {
      (*fill)[FillPart(s, lattice_->cells)] += share * cells.at[s];
    }
    sum.AddSize(*lattice_);
  }
}

uint64_t PageOverflow::PagesForFill(uint64_t pairs, double fill) const {
  const double pages = std::ceil(static_cast<double>(pairs) * sizes_.mean() / (usable_ * fill));
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::min(pages, 1e18)));
}

std::optional<uint64_t> PageOverflow::PagesForProbability(uint64_t pairs, double bound) {
  return FewestPages(pairs, PagesForFill(pairs, 1),
                     [&](const PairsPerPage& load) { return Load(load).overflow_probability <= bound; });
}

std::optional<uint64_t> PageOverflow::PagesForRatio(uint64_t pairs, double bound) {
  return FewestPages(pairs, PagesForFill(pairs, 1),
                     [&](const PairsPerPage& load) { return Load(load).overflow_ratio <= bound; });
}

std::optional<uint64_t> FewestPages(uint64_t pairs, uint64_t about,
                                    const std::function<bool(const PairsPerPage&)>& within) {
  const auto enough_are = [&](uint64_t pages) { return within(PairsPerPage(pairs, pages)); };
  uint64_t enough = about;
  uint64_t too_few = enough;
  if (enough_are(enough)) {
    while (too_few > 0 && enough_are(too_few)) {
      enough = too_few;
      too_few /= 2;
    }
  } else {
    while (!enough_are(enough)) {
      if (enough / kMaxPagesPerPair >= pairs) return std::nullopt;
      too_few = enough;
      enough *= 2;
    }
  }
  while (enough - too_few > 1) {
    const uint64_t middle = too_few + (enough - too_few) / 2;
    (enough_are(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace compassdb
