// SPDX-License-Identifier: Apache-2.0
// Versions of a key whose merge operands cannot be folded (the operator refuses, or there is an entity below
// them): they stay together as one record of the overflow store, and who reads the key is told.
//
//   value := version*
//   version := type:u8 sequence:varint64 size:varint32 value
#pragma once

#include <string>
#include <vector>

#include "tableless/page/key_fold.h"

namespace compassdb {

// Newest first.
void EncodeUnfolded(const std::vector<NewVersion>& versions, std::string* value);
// What the slices point to is `value`. Corruption if it is not such a value.
Status DecodeUnfolded(const Slice& value, std::vector<NewVersion>* versions);

}  // namespace compassdb
