// SPDX-License-Identifier: Apache-2.0
// The largest numbers of a database that can be opened. Counters continue from them and must never wrap, or names and
// sequences would be used twice. Undamaged databases are far below.
#pragma once

#include <cstdint>

#include "format/internal_key.h"

namespace compassdb {

// For files, pieces and tables: a file whose name has a larger one is foreign.
inline constexpr uint64_t kMaxFileNumber = (uint64_t{1} << 44) - 1;
// The limit in a manifest. Above it there are numbers for the database's later work.
inline constexpr uint64_t kMaxKnownNumber = kMaxFileNumber / 2;
// How far the name of a file that no manifest names may raise the counter: the next manifest will have it.
inline constexpr uint64_t kMaxStrayNumber = kMaxKnownNumber / 2;
inline constexpr SequenceNumber kMaxKnownSequence = kMaxSequenceNumber / 2;
// How far imported tables may raise the sequence: above it there are sequences for all later writes.
inline constexpr SequenceNumber kMaxStraySequence = kMaxKnownSequence / 2;
// The end of writes, with sequences for what is written at once.
inline constexpr SequenceNumber kMaxWritableSequence = kMaxKnownSequence - (uint64_t{1} << 33);

}  // namespace compassdb
