// SPDX-License-Identifier: Apache-2.0
// How large the numbers of a database may be that is opened. Counters go on from them and must never wrap: a name or
// a sequence would be given twice. Honest databases come nowhere near.
#pragma once

#include <cstdint>

#include "base/internal_key.h"

namespace compassdb {

// Of files, pieces and tables: a file whose name has a larger one is nobody's.
inline constexpr uint64_t kMaxFileNumber = (uint64_t{1} << 44) - 1;
// What a manifest, or the name of a file that nobody names, may raise the counter to; there is as much room above.
inline constexpr uint64_t kMaxKnownNumber = kMaxFileNumber / 2;
inline constexpr SequenceNumber kMaxKnownSequence = kMaxSequenceNumber / 2;

}  // namespace compassdb
