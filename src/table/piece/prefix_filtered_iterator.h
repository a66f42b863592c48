// SPDX-License-Identifier: Apache-2.0
// A piece's iterator that checks the piece's filter before seeks for a prefix (filter/prefix_seek.h): if
// there is no such key, it is at its end, and reads no block.
#pragma once

#include "iter/internal_iterator.h"
#include "table/piece/piece.h"
#include "table/read_options.h"

namespace compassdb {

// Requires read.prefix_seek. It and the piece must outlive the iterator.
InternalIteratorPtr NewPrefixFilteredIterator(const Piece& piece, const BlockReadOptions& read);

}  // namespace compassdb
