// SPDX-License-Identifier: Apache-2.0
// How many pages a section should have, by the formulas of KallaxDB 3.3 for whole records (record_spill.h).
// The store and `PlanTableless` size by these functions. Pure: no I/O.
//
// The counts of a section decide when:
//   - It grows if more of its bytes than `max_overflow` are in the overflow store.
//   - It shrinks once its pages are less full than `min_fill`.
// The distribution of its record sizes decides the new number: the fewest pages that are at most `fill` full
// and whose expected overflow is half of the limit. Both limits stay apart: growth is by at least a quarter and
// leaves pages at least a third above `min_fill`. Records that are large for a page overflow more than
// `max_overflow` anyway, and their sections follow that bound alone.
//
// Records that fit no page do not count here.
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

// The counts of a section.
struct SectionLoad {
  uint64_t pages = 0;
  uint64_t usable = 1;          // bytes of a page for records
  uint64_t bytes = 0;           // of records, encoded, those in the overflow store too
  uint64_t overflow_bytes = 0;  // of records in the overflow store
};

enum class Resize { kNone, kGrow, kShrink };

Resize ResizeOf(const SizingRule& rule, const SectionLoad& load);

// For `bytes` of records of these sizes, which all fit a page.
uint64_t SizedPages(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes, uint64_t usable);

// The new number of pages of a section.
uint64_t ResizedPages(const SizingRule& rule, Resize resize, const SectionLoad& load,
                      const SizeDistribution& sizes);

// The fewest pages of such a section before it grows.
uint64_t PagesBeforeGrowth(const SizingRule& rule, const SizeDistribution& sizes, uint64_t bytes,
                           uint64_t usable);

}  // namespace compassdb
