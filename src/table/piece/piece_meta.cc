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
