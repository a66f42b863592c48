// SPDX-License-Identifier: Apache-2.0
// A run of the value store, in bytes (docs/formats/value_run.md).
//
//   run     := records keys places footer
//   record  := checksum:u32 compression:u8 key_size:varint32 number:varint64 key stored_value
//   keys    := values:varint64 superseded:varint64 dead:varint64 value* notice* death* checksum:u32
//   value   := h1:u64 h2:u32 sequence:varint64 number_delta:varint64 record_size:varint32
//   notice  := h1:u64 h2:u32 sequence:varint64           older values of the key are superseded
//   death   := number_delta:varint64                     no table names that value any more
//   places  := values:u32 samples:u32 sample* entry* checksum:u32
//   sample  := number:u64 record_offset:u32 entry_offset:u32     of every 32nd value
//   entry   := number_delta:varint64 record_size:varint32        the delta of a sampled value is left out
//   footer  := magic:u64 keys_size:u64 places_size:u64 checksum:u32
//
// The context of each checksum is the file id and the place in the file, so a run or record in another
// place does not verify. Values are in the order of their numbers.
#pragma once

#include <cstdint>

#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

inline constexpr uint64_t kValueRunMagic = 0x31766E7572706D63;  // "cmprunv1"
inline constexpr size_t kValueFooterBytes = 28;
inline constexpr size_t kPlaceSampleBytes = 16;
inline constexpr uint32_t kPlacesPerSample = 32;
inline constexpr size_t kRecordChecksumBytes = 4;
// What a value takes in the key table and in the places, and what a notice takes, about.
inline constexpr uint32_t kValueTableBytes = 22;
inline constexpr uint32_t kNoticeBytes = 17;
// Checksum, type, and the sizes at their smallest.
inline constexpr size_t kMinRecordBytes = kRecordChecksumBytes + 3;

inline uint64_t ValueContextOf(uint64_t file_id, uint64_t offset) {
  return MixContext(MixContext(file_id, offset), kValueRunMagic);
}

}  // namespace compassdb
