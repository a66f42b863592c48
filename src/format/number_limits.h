// SPDX-License-Identifier: Apache-2.0
// How large the numbers of a database may be that is opened. Counters go on from them and must never wrap: a name or
// a sequence would be given twice. Honest databases come nowhere near.
#pragma once

#include <cstdint>
#include <string>

#include "format/internal_key.h"

namespace compassdb {

// Of files, pieces and tables: a file whose name has a larger one is nobody's.
inline constexpr uint64_t kMaxFileNumber = (uint64_t{1} << 44) - 1;
// What a manifest may say of them. There is room above for what a database does with the largest.
inline constexpr uint64_t kMaxKnownNumber = kMaxFileNumber / 2;
// What the name of a file that no manifest names may raise the counter to: the next manifest will tell of it.
inline constexpr uint64_t kMaxStrayNumber = kMaxKnownNumber / 2;
inline constexpr SequenceNumber kMaxKnownSequence = kMaxSequenceNumber / 2;
// What tables from elsewhere may raise the sequence to: there is room above for all that is written after them.
inline constexpr SequenceNumber kMaxStraySequence = kMaxKnownSequence / 2;
// Where writes end, with room for what is written at once.
inline constexpr SequenceNumber kMaxWritableSequence = kMaxKnownSequence - (uint64_t{1} << 33);

// What the counter must be at least where a file of this name lies, so that its number is not given out again; 0: the
// name says nothing. Of names that a user made up the counter knows nothing, nor does it come there.
uint64_t NumberBehind(const std::string& name);

}  // namespace compassdb
