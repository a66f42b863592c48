// SPDX-License-Identifier: Apache-2.0
// The base of a merge: a table into which a delta is merged.
//
// The pieces that are not victims stay as they are. Their keys are known from
// their hash lists; their data is not read (docs/design/table.md, "record hash
// list"). The old directory says which of their entries are live.
//
// Invariants (CompactionJob rewrites other tables whole): pieces stay only if no
// two keys of the table share a 64-bit hash, so that the directory's answers are
// exact here. There are both victims and pieces that stay only if no piece has
// merge operands, nor, with snapshots, the delta.
//
// One thread.
#pragma once

#include <vector>

#include "format/key_hash.h"
#include "lsm/version/table_handle.h"
#include "store/store.h"

namespace compassdb {

class BaseTable {
 public:
  // `whole`: every piece is a victim.
  BaseTable(TableRef table, bool whole, const std::vector<size_t>& victims,
            const std::vector<SequenceNumber>* snapshots);

  // Reads the directory, and the hash lists of the pieces that stay.
  Status Load();
  uint64_t bytes_read() const { return bytes_read_; }

  const TableRef& table() const { return table_; }
  const TphMeta& meta() const { return table_->meta(); }
  bool is_victim(size_t piece) const { return victim_[piece]; }
  bool whole() const { return staying_ == 0; }

  // The key's newest record in this table may be in a piece that stays.
  bool NewestStays(const KeyHash& hash) const;
  // A record of the key, live or dead, may be in a piece that stays (rule 4).
  bool StayingMayHold(const KeyHash& hash) const;
  // A victim's record of the key is older than the newest one, which stays. True
  // if no reader needs it: no snapshot sees it.
  bool Shadowed(const KeyHash& hash, SequenceNumber sequence) const;
  // True if a staying piece has point records in [start, end).
  bool StayingOverlaps(const Comparator* cmp, const Slice& start, const Slice& end) const;

  // The new table: pieces that stay (except those that are empty now), then
  // the head, if any. Fills meta->pieces with live counts, and the directory's
  // entries, sorted and distinct.
  void Assemble(const PieceMeta* head, const PieceHashes* head_hashes, TphMeta* meta,
                std::vector<DirectoryEntry>* entries) const;

 private:
  // The first of known_ whose h1 is not less.
  std::vector<DirectoryEntry>::const_iterator FindKnown(uint64_t h1) const;
  // A piece without live keys may be dropped: no reader sees its versions
  // (tombstones and merge bases keep it).
  bool MayDrop(const TphPiece& piece, const PieceMeta* head) const;

  const TableRef table_;
  DirectoryRef directory_;
  const std::vector<SequenceNumber>* const snapshots_;
  std::vector<bool> victim_;
  size_t staying_ = 0;
  bool staying_merges_ = false;
  uint64_t bytes_read_ = 0;
  std::vector<DirectoryEntry> known_;  // of the pieces that stay, as SortEntries has it
};

}  // namespace compassdb
