// SPDX-License-Identifier: Apache-2.0
// The page of a key: page = floor(master_hash(key) / Rs) (KallaxDB 3.2), in the section with the key's
// share of the hash space. A rehash changes only the divisor, so the records of consecutive pages
// move to consecutive pages.
#pragma once

#include <cstdint>

#include "format/key_hash.h"

namespace compassdb {

inline constexpr int kMasterBits = 40;  // of the master hash within a section

struct MasterHash {
  uint32_t section = 0;
  uint64_t value = 0;  // below 2^kMasterBits
};

inline MasterHash MasterHashOf(const KeyHash& hash, uint32_t sections) {
  const auto product = static_cast<unsigned __int128>(hash.h1) * sections;
  return {static_cast<uint32_t>(product >> 64),
          static_cast<uint64_t>(product) >> (64 - kMasterBits)};
}

// Rs for this number of pages per section.
inline uint64_t PageDivisor(uint64_t pages) {
  return ((uint64_t{1} << kMasterBits) + pages - 1) / pages;
}

// The number of pages that has a divisor of its own, near `wanted`; maps its results to themselves.
inline uint64_t NormalPages(uint64_t wanted) {
  const uint64_t divisor = PageDivisor(wanted);
  return ((uint64_t{1} << kMasterBits) + divisor - 1) / divisor;
}

// One of several parts of a family: of each section its share of consecutive pages, parts in their order.
struct PagePart {
  uint32_t part = 0;
  uint32_t parts = 1;

  // In a section with `pages` pages: from First on, below End.
  uint64_t First(uint64_t pages) const { return (pages * part + parts - 1) / parts; }
  uint64_t End(uint64_t pages) const { return (pages * (part + 1) + parts - 1) / parts; }
  bool Has(uint64_t page, uint64_t pages) const { return page >= First(pages) && page < End(pages); }
};

// A page of a family, as a number that sorts by section and page.
inline uint64_t PageKey(uint32_t section, uint64_t page) {
  return uint64_t{section} << 48 | page;
}
inline uint32_t SectionOfKey(uint64_t key) { return static_cast<uint32_t>(key >> 48); }
inline uint64_t PageOfKey(uint64_t key) { return key & ((uint64_t{1} << 48) - 1); }

}  // namespace compassdb
