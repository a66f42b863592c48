// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

class PieceReader;

// Piece::Verify for pieces in slot or hash order: every section and block, each record in the block
// that its hash names, the hash list, and the reverse index, which names every key once, in order.
rocksdb::Status VerifyHashedPiece(const PieceReader& piece);

}  // namespace compassdb
