// SPDX-License-Identifier: Apache-2.0
// A reference to the index of a piece, which keeps it in memory.
#pragma once

#include "table/directory/index_part.h"

namespace compassdb {

class PieceReader;
using PieceRef = PartRef<PieceReader>;

IndexMemory MemoryOf(const PieceReader& reader);

}  // namespace compassdb
