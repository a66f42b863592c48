// SPDX-License-Identifier: Apache-2.0
// For RepairDB: what can still be read of a piece.
//
// What the manifest says of the piece is believed. The file's header is not needed. Blocks are found by the index, or where footer or
// index are damaged, by their checksums: one behind the other, up to the first that is damaged. Where the
// footer is damaged, range tombstones are found in the same way, by the checksums of the sections before them.
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

// Whether an error is of what a file holds, or of its being gone, and so stays.
bool IsDamage(const Status& s);

struct SalvagedPiece {
  std::vector<std::pair<std::string, std::string>> records;  // internal keys and values, in the order of blocks
  std::vector<RangeTombstone> tombstones;
  uint64_t read_bytes = 0;  // of the blocks that could be read, as stored
  bool tombstones_lost = false;
};

// Whether the piece is of a newer format: it says so, and its footer holds, but as one of no known format. Else the
// version is damaged.
Status IsOfNewerVersion(const TableContext& context, const PieceMeta& meta, bool* newer);

// Appends to *out. A newer format counts as damage. An error is one of reading, not of what is read.
Status SalvagePiece(const TableContext& context, const PieceMeta& meta, SalvagedPiece* out);

// From now on the cache gives the file, be its header damaged or not. *found: the file is there.
Status OpenInSpiteOfDamage(FileCache* files, uint64_t number, uint64_t file_id, bool* found);

}  // namespace compassdb
