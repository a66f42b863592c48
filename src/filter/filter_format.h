// SPDX-License-Identifier: Apache-2.0
// The bytes of filters (docs/formats/filter.md); the same as in RocksDB from format version 5 on:
//
//   bloom  := line{n} 0xff 0 probes:u8 0 0                   lines of 64 bytes
//   ribbon := segment* 0xfe seed:u8 blocks:u24le             segments of 16 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rocksdb/slice.h"

namespace compassdb {

inline constexpr size_t kFilterTrailer = 5;
inline constexpr uint8_t kBloomMarker = 0xff;
inline constexpr uint8_t kRibbonMarker = 0xfe;

// --- Bloom (bloom.cc) ---

inline constexpr size_t kBloomLine = 64;

int BloomProbes(int millibits_per_key);
// The whole filter.
size_t BloomBytes(size_t keys, int millibits_per_key);
std::string BuildBloom(std::span<const uint64_t> hashes, int millibits_per_key);
double BloomFalsePositives(double bits_per_key, int probes);

class BloomView {
 public:
  // False if this is no Bloom filter that can be read.
  static bool Open(const rocksdb::Slice& bits, BloomView* view);
  bool MayMatch(uint64_t hash) const;

 private:
  const char* data_ = nullptr;
  uint32_t lines_ = 0;
  int probes_ = 0;
};

// --- Ribbon (ribbon_builder.cc, ribbon.cc) ---

using RibbonRow = unsigned __int128;  // coefficients, the first in the lowest bit
inline constexpr uint32_t kRibbonWidth = 128;
inline constexpr size_t kRibbonSegment = sizeof(RibbonRow);
inline constexpr uint32_t kMaxRibbonColumns = 32;

// A key's equation, from its hash.
class RibbonHasher {
 public:
  explicit RibbonHasher(uint8_t seed);
  uint64_t Rehash(uint64_t hash) const { return (hash ^ raw_seed_) * 0x6193d459236a3a0d; }
  // The following take the result of Rehash.
  static uint32_t Start(uint64_t h, uint32_t starts) {
    return static_cast<uint32_t>((static_cast<unsigned __int128>(h) * starts) >> 64);
  }
  static RibbonRow Coefficients(uint64_t h) {
    const uint64_t mixed = h * kMixer;
    return (RibbonRow{mixed} << 64 ^ (mixed ^ 0xc367844a6e52731d)) | 1;
  }
  static uint32_t Result(uint64_t h) {
    return static_cast<uint32_t>(__builtin_bswap64(h * kMixer));
  }

 private:
  static constexpr uint64_t kMixer = 0xc28f82822b650bed;
  uint32_t raw_seed_;
};

// Slots come in blocks of kRibbonWidth; a block has a segment for each column of the result.
// Blocks before `upper_start` have one column less than the rest.
struct RibbonShape {
  uint32_t blocks = 0;
  uint32_t columns = 0;
  uint32_t upper_start = 0;

  static RibbonShape Of(uint32_t blocks, size_t segments);
  uint32_t slots() const { return blocks * kRibbonWidth; }
  uint32_t starts() const { return slots() - kRibbonWidth + 1; }
  uint32_t ColumnsOf(uint32_t block) const { return columns - (block < upper_start ? 1 : 0); }
  // The block's first segment.
  size_t SegmentOf(uint32_t block) const {
    return size_t{block} * columns - (block < upper_start ? block : upper_start);
  }
};

// Empty if it cannot be built, or would be larger than the Bloom filter.
std::string BuildRibbon(std::span<const uint64_t> hashes, int bloom_millibits_per_key);

class RibbonView {
 public:
  static bool Open(const rocksdb::Slice& bits, RibbonView* view);
  bool MayMatch(uint64_t hash) const;

 private:
  RibbonRow Segment(size_t i) const;

  const char* data_ = nullptr;
  RibbonShape shape_;
  RibbonHasher hasher_{0};
};

}  // namespace compassdb
