// SPDX-License-Identifier: Apache-2.0
#include "tableless/flush/record_spill.h"

#include <algorithm>
#include <cmath>

namespace compassdb {

RecordSpill::RecordSpill(const SizeDistribution& sizes, uint64_t usable, double max_work)
    : sizes_(sizes),
      usable_(static_cast<double>(usable)),
      spills_(1),
      filled_(0),
      next_(0) {
  if (sizes.constant()) return;
  lattice_.emplace(sizes, usable, max_work);
  next_ = filled_ = CellProbabilities(lattice_->cells);
  filled_.at[0] = 1;
  filled_.end = 1;
  fits_.resize(lattice_->cells + 1);
  fits_bytes_.resize(lattice_->cells + 1);
  for (const SizeLattice::Step& step : lattice_->steps) {
    fits_[step.cells] = step.weight;
    fits_bytes_[step.cells] = step.weight * step.cells * lattice_->unit;
  }
  for (uint32_t free = 1; free <= lattice_->cells; ++free) {
    fits_[free] += fits_[free - 1];
    fits_bytes_[free] += fits_bytes_[free - 1];
  }
}

RecordSpill::Spill RecordSpill::At(uint64_t pairs) {
  if (sizes_.constant()) {
    const double fit = std::floor(usable_ / sizes_.mean());
    const double spilled = std::max(0.0, static_cast<double>(pairs) - fit);
    return {spilled, spilled * sizes_.mean()};
  }
  while (spills_.size() <= pairs) AddPair();
  return spills_[pairs];
}

void RecordSpill::AddPair() {
  lattice_->Convolve(filled_, &next_);
  Spill spill = spills_.back();
  for (uint32_t s = filled_.begin; s < filled_.end; ++s) {
    const uint32_t free = lattice_->cells - s;
    const double refused = filled_.at[s] * std::max(0.0, 1 - fits_[free]);
    next_.at[s] += refused;
    spill.records += refused;
    spill.bytes += filled_.at[s] * std::max(0.0, sizes_.mean() - fits_bytes_[free]);
  }
  next_.Trim();
  filled_.Clear();
  std::swap(filled_, next_);
  spills_.push_back(spill);
}

RecordSpill::Spill RecordSpill::Load(const PairsPerPage& pairs_per_page) {
  Spill spill;
  spill.records = pairs_per_page.Average([&](uint64_t m) { return At(m).records; });
  spill.bytes = pairs_per_page.Average([&](uint64_t m) { return At(m).bytes; });
  return spill;
}

std::optional<uint64_t> RecordSpill::PagesForRatio(uint64_t pairs, double bound) {
  const double full = std::ceil(static_cast<double>(pairs) * sizes_.mean() / usable_);
  return FewestPages(pairs, static_cast<uint64_t>(full),
                     [&](const PairsPerPage& load) { return Ratio(load) <= bound; });
}

}  // namespace compassdb
