// SPDX-License-Identifier: Apache-2.0
// Hashes and the checksum of every format. All values are stable across
// platforms and releases: they are written to files.
#pragma once

#include <cstdint>

#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

// XXH3, 64 bits.
uint64_t Hash64(const Slice& data, uint64_t seed = 0);

// The checksum of every format: the low half of Hash64. `context` says what
// the bytes are and where they belong (formats mix file number and offset into
// it), so that a block copied or left over from elsewhere does not verify.
uint32_t Checksum32(const Slice& data, uint64_t context);
// The checksum of the concatenation of two parts (a block and its trailer, a
// header and its payload) without joining them.
uint32_t Checksum32(const Slice& first, const Slice& second, uint64_t context);

// Whether a checksum that was read is the one that was computed.
bool ChecksumsIgnored();
inline bool ChecksumHolds(uint32_t stored, uint32_t computed) {
  return stored == computed || ChecksumsIgnored();
}
// For fuzzing and its tests: from now on every checksum holds, so that mutated bytes reach the parsers
// behind it. In the whole process.
void TEST_IgnoreChecksums(bool ignore);

// Mixes two numbers into a checksum context or a hash seed; a bijection in
// each argument while the other is fixed.
inline uint64_t MixContext(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return x;
}

// Maps a 64-bit hash to [0, n) without a division.
inline uint64_t FastRange64(uint64_t hash, uint64_t n) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * n) >> 64);
}

}  // namespace compassdb
