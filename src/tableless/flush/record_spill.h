// SPDX-License-Identifier: Apache-2.0
// What a store with whole records spills: a new record is put into its page if it fits, else into the
// overflow store; records in the page stay. Pure: no I/O.
//
// A page spills something exactly when it overflows (page_load.h), but more bytes than the formulas say,
// because space that is too small for a record stays empty. It computes the fill of a page record by record,
// as exactly as size_lattice.h says. One thread at a time: keeps what it computed.
#pragma once

#include <optional>
#include <vector>

#include "tableless/page/page_load.h"

namespace compassdb {

class RecordSpill {
 public:
  // `usable`: bytes that a page has for records, at least 1; `max_work` as in size_lattice.h.
  RecordSpill(const SizeDistribution& sizes, uint64_t usable, double max_work = SizeLattice::kMaxWork);

  // Records and bytes that are spilled from a page, on average.
  struct Spill {
    double records = 0;
    double bytes = 0;
  };
  // For a page with `pairs` pairs. Time grows with that number.
  Spill At(uint64_t pairs);
  Spill Load(const PairsPerPage& pairs_per_page);
  // Spilled bytes by the bytes of all records.
  double Ratio(const PairsPerPage& pairs_per_page) {
    return Load(pairs_per_page).bytes / (pairs_per_page.mean() * sizes_.mean());
  }

  // The fewest pages that keep the ratio at or below a bound in (0, 1). None if 64 pages per pair do not.
  std::optional<uint64_t> PagesForRatio(uint64_t pairs, double bound);

 private:
  void AddPair();

  const SizeDistribution sizes_;
  const double usable_;
  std::optional<SizeLattice> lattice_;  // for sizes that differ
  std::vector<double> fits_;            // by free cells: probability that the next record fits
  std::vector<double> fits_bytes_;      // by free cells: its bytes if it does, else 0, on average
  std::vector<Spill> spills_;           // by number of pairs, as far as needed
  CellProbabilities filled_;            // after spills_.size() - 1 pairs
  CellProbabilities next_;
};

}  // namespace compassdb
