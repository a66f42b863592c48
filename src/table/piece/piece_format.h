// SPDX-License-Identifier: Apache-2.0
// The extent of a piece (docs/formats/piece.md):
//
//   extent   := data-block{num_blocks} order-page* section{5 or 6} footer
//   section  := bytes checksum:u32le
//   footer   := version-specific fields, then checksum:u32le version:u32le magic:u64le
//
// The sections are, in this order: hash list, hashed index, separators, range
// tombstones, properties, and the filter, if there is one. In slot and hash order there are pages of the reverse
// index (order_page.h) and a hashed index (hashed_index.h), and separators are
// those of groups of keys instead of blocks. The parts follow each other
// without gaps, so that every byte of the extent is under a checksum. A section's checksum
// context is (file id, offset in the file), plus its kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/range_tombstone.h"
#include "rocksdb/status.h"
#include "table/piece/piece_hashes.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

using rocksdb::Status;

enum class PieceSection : uint32_t {
  kHashes = 0,
  kHashedIndex = 1,
  kSeparators = 2,
  kTombstones = 3,
  kProperties = 4,
  kFilter = 5,
};
inline constexpr size_t kPieceSections = 6;

struct PieceFooter {
  // The length of each section, with checksum. They follow the data blocks. 0: there is no filter.
  uint64_t section_length[kPieceSections] = {};
  uint64_t piece_id = 0;
  uint64_t hash_seed = 0;
  uint64_t num_blocks = 0;
  uint64_t num_records = 0;
  uint64_t num_keys = 0;
  uint64_t num_range_tombstones = 0;
  uint64_t data_bytes = 0;
  uint64_t max_block_payload = 0;  // of the largest block, uncompressed
  uint64_t data_order = 0;         // a DataOrder
  uint64_t order_bytes = 0;        // pages of the reverse index, after the data blocks

  // Without a filter, and with one or without a hash list: else its length is left out.
  static constexpr size_t kLeastBytes = 8 * (kPieceSections + 9) + 16;
  static constexpr size_t kMostBytes = kLeastBytes + 8;
  bool has_filter() const { return SectionLength(PieceSection::kFilter) != 0; }
  // Keys, but no hash list: the piece is of a table that is indexed by filter and separators.
  bool without_hashes() const { return num_keys > 0 && SectionLength(PieceSection::kHashes) == 4; }
  size_t Bytes() const { return has_filter() || without_hashes() ? kMostBytes : kLeastBytes; }
  // From the start of the extent.
  uint64_t SectionOffset(PieceSection section) const {
    uint64_t offset = data_bytes + order_bytes;
    for (size_t i = 0; i < static_cast<size_t>(section); ++i) offset += section_length[i];
    return offset;
  }
  uint64_t ExtentLength() const {
    return SectionOffset(PieceSection::kFilter) + SectionLength(PieceSection::kFilter) + Bytes();
  }
  uint64_t SectionLength(PieceSection section) const {
    return section_length[static_cast<size_t>(section)];
  }
};

// The kinds of checksums in a piece (FillInChecksum in table/file/extent_writer.h); those of blocks are 0.
uint64_t SectionKind(PieceSection section);
uint64_t FooterKind();

// Without the checksum, four zeros, which covers all before the last kFooterTail bytes.
std::string EncodeFooter(const PieceFooter& footer);
inline constexpr size_t kFooterTail = 16;  // checksum, version, magic
// `bytes` are the last ones of the extent, at least kMostBytes or all of it, and `end` is the absolute offset
// after them. Checks magic, checksum, version, and that the parts fill extent_length
// exactly. `what` names the piece in messages. NotSupported, as far as the bytes go back (kMostFooterBytes are enough), for
// a footer of a later release; Corruption if only the version says so.
Status DecodeFooter(const Slice& bytes, uint64_t file_id, uint64_t end, uint64_t extent_length,
                    const std::string& what, PieceFooter* footer);

// The most bytes that a later release's footer may have.
inline constexpr size_t kMostFooterBytes = 1024;

// The context of a section's checksum, which follows its bytes. `place` is the absolute offset in the file.
uint64_t SectionContext(PieceSection section, uint64_t file_id, uint64_t place);
// Checks and removes it.
Status OpenSection(PieceSection section, uint64_t file_id, uint64_t place, Slice stored,
                   const std::string& what, Slice* bytes);
const char* SectionName(PieceSection section);

// hash list := h1:u64le{num_keys} (upper half of h2):u32le{num_keys}
//              flags (two bits per key, the first in the lowest bits of a byte)
std::string EncodeHashes(const PieceHashes& hashes);
Status DecodeHashes(const Slice& bytes, uint64_t num_keys, const std::string& what,
                    PieceHashes* hashes);

// tombstones := {start:length-prefixed end:length-prefixed sequence:varint64}
std::string EncodeTombstones(const std::vector<RangeTombstone>& tombstones);
Status DecodeTombstones(const Slice& bytes, uint64_t count, size_t timestamp_size,
                        const std::string& what, std::vector<RangeTombstone>* tombstones);

// properties := {tag:varint32 value:length-prefixed}; readers skip tags they do not know.
std::string EncodeProperties(const PieceMeta& meta, const std::string& comparator_name);
Status DecodeProperties(const Slice& bytes, const std::string& what, PieceMeta* meta,
                        std::string* comparator_name);

}  // namespace compassdb
