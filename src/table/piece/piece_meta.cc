// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_meta.h"

#include <algorithm>

namespace compassdb {

uint64_t LiveBytes(const TphPiece& piece) {
  const PieceMeta& m = *piece.meta;
  if (m.num_keys == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(m.data_bytes) *
                               static_cast<double>(std::min(piece.live_keys, m.num_keys)) /
                               static_cast<double>(m.num_keys));
}

uint64_t SupersededBytes(const PieceMeta& meta) {
  const uint64_t needed = meta.num_keys + meta.num_merges;
  if (meta.num_records <= needed) return 0;
  return static_cast<uint64_t>(static_cast<double>(meta.data_bytes) *
                               static_cast<double>(meta.num_records - needed) /
                               static_cast<double>(meta.num_records));
}

namespace {

const char* BrokenInvariantOf(const TphPiece& piece) {
  const PieceMeta& m = *piece.meta;
  if (m.num_keys > m.num_records) return "a piece has no more keys than records";
  if (m.num_deletions > m.num_records) return "a piece has no more deletions than records";
  if (m.num_merges > m.num_records) return "a piece has no more merge operands than records";
  if (piece.live_keys > m.num_keys) return "a piece has no more live keys than keys";
  if (m.smallest_seq > m.largest_seq) return "the sequences of a piece are a range";
  return nullptr;
}

// The application's comparator is not asked about one key: a program may give one that it never
// expects to be called.
bool IsAfter(const rocksdb::Comparator& comparator, const Slice& a, const Slice& b) {
  return a != b && comparator.Compare(a, b) > 0;
}

}  // namespace

const char* TphMeta::BrokenInvariant(const rocksdb::Comparator* comparator) const {
  if (IsAfter(*comparator, smallest, largest)) return "the keys of a table are a range";
  if (hash_range && search.first > search.last) return "the search keys of a table are a range";
  if (smallest_seq > largest_seq) return "the sequences of a table are a range";
  for (size_t i = 0; i < pieces.size(); ++i) {
    const PieceMeta& m = *pieces[i].meta;
    if (const char* broken = BrokenInvariantOf(pieces[i])) return broken;
    if (m.smallest_seq < smallest_seq || m.largest_seq > largest_seq) {
      return "a piece has sequences of its table's range";
    }
    if (m.num_records > 0 && (IsAfter(*comparator, smallest, m.smallest) ||
                              IsAfter(*comparator, m.largest, largest))) {
      return "a piece has keys of its table's range";
    }
    for (size_t j = 0; j < i; ++j) {
      if (pieces[j].meta->piece_id == m.piece_id) return "a table has a piece once";
    }
  }
  return nullptr;
}

uint64_t TphMeta::TotalBytes() const {
  uint64_t sum = directory.length;
  for (const TphPiece& p : pieces) sum += p.meta->extent.length;
  return sum;
}

uint64_t TphMeta::DataBytes() const {
  uint64_t sum = 0;
  for (const TphPiece& p : pieces) sum += p.meta->data_bytes;
  return sum;
}

uint64_t TphMeta::LiveDataBytes() const {
  uint64_t sum = 0;
  for (const TphPiece& p : pieces) sum += LiveBytes(p);
  return sum;
}

uint64_t TphMeta::NumRecords() const {
  uint64_t sum = 0;
  for (const TphPiece& p : pieces) sum += p.meta->num_records;
  return sum;
}

}  // namespace compassdb
