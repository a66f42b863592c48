// SPDX-License-Identifier: Apache-2.0
// How many pages a section should have, by the formulas of KallaxDB 3.3 for whole records (record_spill.h).
// The store and `PlanTableless` size by these functions. Pure: no I/O.
//
// When is told by what the section holds, as it was counted:
//   - It grows once more of its bytes lie in the overflow store than `max_overflow`.
//   - It shrinks once its pages are less full than `min_fill`.
// To what, by the distribution of its records' sizes: the fewest pages of which at most `fill` is used and
// whose overflow is expected to be half of what would make it grow. Both ends keep apart: growth is by a
// quarter at least and leaves pages no emptier than a third above `min_fill`. Records that are large for a
// page overflow more than `max_overflow` even so, and their sections follow that bound alone.
//
// Records that no page can hold count for nothing here.
#pragma once

#include <cstdint>

#include "store/page_options.h"
#include "tableless/sizing/size_distribution.h"

namespace compassdb {

inline constexpr uint64_t kLeastSectionPages = 16;

struct SizingRule {
  explicit SizingRule(const PageOptions& options);

  double fill;          // after a rehash, at most
  double min_fill;      // below, fewer pages
  double max_overflow;  // above, more; of the bytes
};

// What a section holds, as counted.
struct SectionLoad {
  uint64_t pages = 0;
  uint64_t usable = 1;          // bytes of a page for records
  uint64_t bytes = 0;           // of records, encoded, those in the overflow store too
  uint64_t overflow_bytes = 0;  // of records in the overflow store
};

enum class Resize { kNone, kGrow, kShrink };

Resize ResizeOf(const SizingRule& rule, const SectionLoad& load);

// For `bytes` of records of such sizes, all of which a page can hold.
uint64_t SizedPages(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes, uint64_t usable);

// What a section gets that is to be resized.
uint64_t ResizedPages(const SizingRule& rule, Resize resize, const SectionLoad& load,
                      const SizeDistribution& sizes);

// The fewest pages that such a section has before it grows.
uint64_t PagesBeforeGrowth(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes,
                           uint64_t usable);

}  // namespace compassdb
