// SPDX-License-Identifier: Apache-2.0
// For RepairDB: what can still be read of a piece.
//
// The manifest's data about the piece counts as right. The file's header is not needed. Blocks are found by the
// index or, if footer or index are damaged, by their checksums: one after the other, up to the first damaged one.
// If the footer is damaged, range tombstones are found in the same way, by the checksums of the sections before.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "format/range_tombstone.h"
#include "rocksdb/status.h"
#include "table/piece/piece_meta.h"
#include "table/table_context.h"

namespace compassdb {

using rocksdb::Status;

// Whether an error is about a file's contents, or a missing file, and so is permanent.
bool IsDamage(const Status& s);

struct SalvagedPiece {
  std::vector<std::pair<std::string, std::string>> records;  // internal keys and values, in the order of blocks
  std::vector<RangeTombstone> tombstones;
  uint64_t read_bytes = 0;  // of the blocks that could be read, as stored
  bool tombstones_lost = false;
};

// Whether the piece has a newer format: its version says so, and its footer's checksum is right in no known format.
// Otherwise the version is damaged.
Status IsOfNewerVersion(const TableContext& context, const PieceMeta& meta, bool* newer);

// Appends to *out. A newer format counts as damage. An error is one of reading, not of the contents.
Status SalvagePiece(const TableContext& context, const PieceMeta& meta, SalvagedPiece* out);

// From now on the cache returns the file even if its header is damaged. *found: the file exists.
Status OpenInSpiteOfDamage(FileCache* files, uint64_t number, uint64_t file_id, bool* found);

}  // namespace compassdb
