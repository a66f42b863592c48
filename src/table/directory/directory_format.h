// SPDX-License-Identifier: Apache-2.0
// The serialised directory (docs/formats/directory.md):
//
//   extent := head checksum:u32le {page checksum:u32le}*
//   head   := magic:u64le version:u32le pieces:u32le keys:u64le slots:u64le
//             seed:u64le fingerprints:u64le slot_bits:u32le ambiguous:u32le
//             function_bytes:u64le page_slots:u64le
//             function h1:u64le{ambiguous}
//
// The slots are an array of bits, cut into pages of page_slots slots (the last
// has the rest). A slot is a number of slot_bits bits, the first in the lowest
// bits of the array's first byte. 0 is an empty slot, otherwise
//
//   slot = 1 + fingerprint * pieces + piece,   fingerprint < fingerprints
//
// fingerprints is the largest number that slot_bits allow: unused values of the
// mixed radix make fingerprints longer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "format/format_version.h"
#include "util/hash.h"

namespace compassdb {

inline constexpr uint64_t kDirectoryMagic = FormatMagic("CmpsDir1");
inline constexpr uint32_t kDirectoryVersion = 3;
inline constexpr size_t kDirectoryHeaderBytes = 8 + 4 + 4 + 8 * 4 + 4 + 4 + 8 * 2;
inline constexpr uint32_t kMaxDirectoryPieces = 1024;
inline constexpr uint32_t kMaxFingerprints = 1u << 20;
inline constexpr uint32_t kMaxSlotBits = 31;
// Padding after slots in memory, so that any slot is read by one 64-bit load.
inline constexpr size_t kSlotPadding = 8;
// For new directories: a page is read at once if directories are not resident.
inline constexpr uint64_t kPageSlots = 2048;
inline constexpr uint64_t kMaxPageSlots = 1 << 20;  // a multiple of 8, so that pages are whole bytes

inline uint32_t SlotBitsFor(uint64_t pieces, uint64_t fingerprints) {
  return static_cast<uint32_t>(std::bit_width(pieces * fingerprints));
}
inline uint64_t FingerprintsFor(uint64_t pieces, uint32_t slot_bits) {
  return pieces == 0 ? 0 : ((uint64_t{1} << slot_bits) - 1) / pieces;
}
inline uint64_t FingerprintOf(uint64_t h2, uint64_t fingerprints) {
  return FastRange64(h2, fingerprints);
}
inline uint64_t SlotArrayBytes(uint64_t slots, uint32_t slot_bits) {
  return (slots * slot_bits + 7) / 8;
}

}  // namespace compassdb
