// SPDX-License-Identifier: Apache-2.0
// What the manifest says about a piece and a table of pieces (TPH).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "format/key_hash.h"
#include "util/compact_key.h"

namespace compassdb {

// A byte range of a compaction file.
struct Extent {
  uint64_t file_number = 0;
  uint64_t offset = 0;
  uint64_t length = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct CollectedProperties;  // table/piece/piece_collectors.h

// A piece: an immutable run of records in internal-key order.
struct PieceMeta {
  uint64_t piece_id = 0;
  Extent extent;
  uint64_t file_id = 0;  // random identity of the compaction file; part of every checksum
  uint64_t hash_seed = 0;
  uint64_t num_records = 0;       // point records, all versions
  uint64_t num_keys = 0;          // distinct user keys = entries of the hash list
  uint64_t num_blocks = 0;        // data blocks
  uint64_t data_bytes = 0;        // bytes of the data blocks as stored
  uint64_t raw_bytes = 0;         // user key + value bytes of all point records
  uint64_t num_deletions = 0;     // Delete and SingleDelete records
  uint64_t num_merges = 0;        // merge operands
  uint64_t num_range_tombstones = 0;
  SequenceNumber smallest_seq = 0;  // over point records and range tombstones
  SequenceNumber largest_seq = 0;
  CompactKey smallest;  // user keys of the point records; both empty if there are none
  CompactKey largest;
  uint64_t creation_time = 0;  // seconds since 1970; of the oldest input
  bool wants_compaction = false;  // a properties collector asked for it
  // Set when the piece is written; later Piece::ReadCollected reads it.
  std::shared_ptr<const CollectedProperties> collected;
};

struct TphPiece {
  // Shared by all tables with the piece; in open ones it is the piece's.
  std::shared_ptr<const PieceMeta> meta;
  uint64_t live_keys = 0;  // keys whose newest record in this TPH is here
};

// Live data bytes of one piece: its data scaled by the share of live keys.
uint64_t LiveBytes(const TphPiece& piece);

// Estimated data below a newer record of its key in the same piece. It exists for snapshots alone, as
// a job keeps one record between two snapshots. Merge operands are not counted: the records below
// them may be needed.
uint64_t SupersededBytes(const PieceMeta& meta);

// A table: pieces that together cover [smallest, largest], and the directory
// over all their keys. Pieces are listed oldest first; the last is the head.
struct TphMeta {
  uint64_t tph_id = 0;
  std::vector<TphPiece> pieces;
  Extent directory;
  uint64_t directory_file_id = 0;
  uint64_t num_keys = 0;  // directory entries
  // Bounds over point records and range tombstones (user keys).
  std::string smallest;
  std::string largest;
  bool largest_exclusive = false;  // largest is the end of a range tombstone
  SequenceNumber smallest_seq = 0;
  SequenceNumber largest_seq = 0;
  // Hash range (paper 3.4): the table has the keys of its level whose search key
  // is in `search`. Otherwise it is cut by user keys, and `search` is everything.
  bool hash_range = false;
  SearchRange search;

  // Which rule of what follows does not hold; null: all do. A recovered table is asked, too.
  const char* BrokenInvariant(const rocksdb::Comparator* comparator) const;

  uint64_t TotalBytes() const;     // all extents, directory included
  uint64_t DataBytes() const;      // of all data blocks
  uint64_t LiveDataBytes() const;  // data bytes scaled by each piece's live share
  uint64_t NumRecords() const;
};

}  // namespace compassdb
