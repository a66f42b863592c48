// SPDX-License-Identifier: Apache-2.0
// The framing of write-ahead logs and manifests (docs/formats/log.md).
//
//   file  := block*            blocks of 32 KiB, the last may be shorter
//   block := fragment* pad     pad: fewer than 11 zero bytes
//
//   fragment  0        4        6      7           11
//             +--------+--------+------+-----------+---------...
//             |checksum| length | type | log number| payload
//             +--------+--------+------+-----------+---------...
//              fixed32  fixed16  byte   fixed32     `length` bytes
//
// The checksum covers everything after itself; its context is made of the
// log's number and the fragment's offset in the file, so that a block of
// another log, or of another place, does not verify.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/hash.h"

namespace compassdb {

inline constexpr size_t kLogBlockSize = 32 << 10;
inline constexpr size_t kLogHeaderSize = 4 + 2 + 1 + 4;

// A record is one kFull fragment, or kFirst, any number of kMiddle, and kLast.
// 0 is what space that was never written reads as.
enum class LogFragmentType : uint8_t { kNone = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// Where byte `at` of the payload of a record is in the file. The record was added when the file
// ended at `end`.
inline uint64_t PlaceInLog(uint64_t end, uint64_t at) {
  constexpr uint64_t kPayload = kLogBlockSize - kLogHeaderSize;
  uint64_t room = kLogBlockSize - end % kLogBlockSize;
  if (room < kLogHeaderSize) {
    end += room;
    room = kLogBlockSize;
  }
  const uint64_t first = room - kLogHeaderSize;
  if (at < first) return end + kLogHeaderSize + at;
  at -= first;
  return end + room + at / kPayload * kLogBlockSize + kLogHeaderSize + at % kPayload;
}

// The bytes of the file that n bytes of a record take from `place` on, with the headers between.
inline uint64_t SpanInLog(uint64_t place, uint64_t n) {
  constexpr uint64_t kPayload = kLogBlockSize - kLogHeaderSize;
  const uint64_t first = kLogBlockSize - place % kLogBlockSize;
  return n <= first ? n : n + (n - first + kPayload - 1) / kPayload * kLogHeaderSize;
}

inline uint64_t LogChecksumContext(uint64_t log_number, uint64_t offset) {
  return MixContext(log_number & 0xffffffffu, offset);
}

}  // namespace compassdb
