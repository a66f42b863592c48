// SPDX-License-Identifier: Apache-2.0
// A piece's iterator that asks the piece's filter before seeks for a prefix (filter/prefix_seek.h): where
// there is no such key, it is as at its end, and no block is read.
#pragma once

#include "iter/internal_iterator.h"
#include "table/piece/piece.h"
#include "table/read_options.h"

namespace compassdb {

// Requires read.prefix_seek. Neither it nor the piece may go before the iterator.
InternalIteratorPtr NewPrefixFilteredIterator(const Piece& piece, const BlockReadOptions& read);

}  // namespace compassdb
