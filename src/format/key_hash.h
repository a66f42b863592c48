// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"

namespace compassdb {

// The 128-bit keyed hash of a user key (XXH3, with a seed per database, so that
// keys cannot be chosen to collide). h1 is the key in perfect hash functions. h2
// gives fingerprints and, with h1, identifies the key when a record is dropped
// as shadowed (docs/design/rules.md states the bound). Only the upper 32 bits of h2
// are in use, the others are 0: hash lists on disk have 96 bits for a key.
struct KeyHash {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  uint32_t search = 0;  // the remaining 32 bits
  friend bool operator==(const KeyHash&, const KeyHash&) = default;
};

// The part of h2 in files.
inline uint32_t StoredH2(uint64_t h2) { return static_cast<uint32_t>(h2 >> 32); }

// The key by which hash range cuts levels (paper 3.4), and ranges of it.
inline uint32_t SearchKey(const KeyHash& hash) { return hash.search; }

struct SearchRange {
  uint32_t first = 0;
  uint32_t last = UINT32_MAX;  // inclusive
  bool Contains(uint32_t key) const { return first <= key && key <= last; }
  bool Overlaps(const SearchRange& o) const { return first <= o.last && o.first <= last; }
  uint64_t width() const { return uint64_t{last} - first + 1; }
  friend bool operator==(const SearchRange&, const SearchRange&) = default;
};

class KeyHasher {
 public:
  explicit KeyHasher(uint64_t seed = 0) : seed_(seed) {}
  KeyHash operator()(const rocksdb::Slice& user_key) const;
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_;
};

// Tests only: every h1 is ANDed with this mask, to force collisions of 64-bit hashes.
void TEST_SetKeyHashMask(uint64_t mask);

}  // namespace compassdb
