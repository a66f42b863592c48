// SPDX-License-Identifier: Apache-2.0
// What the manifest says about a table-less store (tableless/, docs/formats/tableless.md).
#pragma once

#include <cstdint>

#include "table/piece/piece_meta.h"

namespace compassdb {

// Chosen when the first memtable is flushed, and never changed.
struct PageGeometry {
  uint32_t sections = 0;
  uint32_t page_bytes = 0;
  friend bool operator==(const PageGeometry&, const PageGeometry&) = default;
};

// One file of pages: the keys whose master hash is in the section's share of the hash space. A rehash
// replaces the file by one with another number of pages.
struct PageSectionMeta {
  uint32_t section = 0;
  uint64_t file_number = 0;
  uint64_t pages = 0;
  // The records in pages and in the overflow store.
  uint64_t records = 0;
  uint64_t bytes = 0;  // encoded
  uint64_t overflow_records = 0;
  uint64_t overflow_bytes = 0;
  // Overflow runs with a smaller id have no records of this section.
  uint64_t overflow_from = 0;
};

// A listed run of the overflow store has a list of its entries at its end; older ones do not.
enum class PageRunKind : uint32_t { kJournal = 0, kOverflow = 1, kListedOverflow = 2 };

// An immutable extent of a compaction file: page images that are not written in place yet, or
// records that did not fit their pages.
struct PageRunMeta {
  uint64_t run_id = 0;
  PageRunKind kind = PageRunKind::kJournal;
  Extent extent;
  uint64_t file_id = 0;  // of the file, part of every checksum
  uint64_t count = 0;    // of images or records
};

inline constexpr uint32_t kMaxPageSections = 1024;
inline constexpr uint32_t kMinPageBytes = 4096;
inline constexpr uint32_t kMaxPageBytes = 1 << 20;
inline constexpr uint64_t kMaxSectionPages = uint64_t{1} << 36;

}  // namespace compassdb
