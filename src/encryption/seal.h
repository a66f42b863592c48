// SPDX-License-Identifier: Apache-2.0
// Encryption of one file: key derivation and the seals of chunks (docs/formats/sealed_file.md).
//
// Thread safety: const functions may be called by several threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

inline constexpr size_t kSealKeyBytes = 32;
inline constexpr size_t kSealFileIdBytes = 16;
inline constexpr size_t kSealNonceBytes = 12;
inline constexpr size_t kSealTagBytes = 16;
inline constexpr size_t kSealChunkBytes = 4096;      // of plain text, but the last of a segment
inline constexpr size_t kMaxSegmentBytes = 1 << 20;  // of plain text
inline constexpr size_t kSealFileHeaderBytes = 64;
inline constexpr size_t kSegmentHeaderBytes = 4 + kSealNonceBytes + 4;  // length, nonce, CRC32C

using SealKey = std::array<unsigned char, kSealKeyBytes>;

// The eight bytes by which files name the key that they need.
uint64_t SealKeyId(const SealKey& key);

// Bytes that a segment with this many plain bytes takes in the file.
inline uint64_t StoredSegmentBytes(uint64_t plain) {
  return kSegmentHeaderBytes + plain + (plain + kSealChunkBytes - 1) / kSealChunkBytes * kSealTagBytes;
}
// The offset of chunk i from the beginning of its segment.
inline uint64_t StoredChunkOffset(uint64_t i) {
  return kSegmentHeaderBytes + i * (kSealChunkBytes + kSealTagBytes);
}

// Fills with unpredictable bytes.
rocksdb::Status RandomBytes(unsigned char* bytes, size_t n);

class FileSeal {
 public:
  // IOError if OpenSSL fails.
  static rocksdb::Status Derive(const SealKey& master, const rocksdb::Slice& file_id,
                                FileSeal* seal);

  // Appends the segment of `plain` (1 to kMaxSegmentBytes), which begins at `offset` of the plain
  // file, under a fresh nonce.
  rocksdb::Status SealSegment(uint64_t offset, const rocksdb::Slice& plain, std::string* out) const;

  // Opens chunk `index` of the segment of `segment_bytes` at `segment_offset`: `stored` is the
  // chunk with its tag, `plain` has room for stored.size() - kSealTagBytes. Corruption, without
  // more words, if the seal is broken.
  rocksdb::Status OpenChunk(const unsigned char* nonce, uint64_t segment_offset,
                            uint32_t segment_bytes, uint32_t index, const rocksdb::Slice& stored,
                            char* plain) const;

 private:
  SealKey key_{};
  std::array<unsigned char, kSealFileIdBytes> file_id_{};
};

}  // namespace compassdb
