// SPDX-License-Identifier: Apache-2.0
// Versions of a key whose merge operands cannot be folded (the operator fails, or there is an entity below
// them): they are one record of the overflow store, and a read of the key returns the error.
//
//   value := version*
//   version := type:u8 sequence:varint64 size:varint32 value
#pragma once

#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tableless/page/new_version.h"

namespace compassdb {

using rocksdb::Status;

// Newest first.
void EncodeUnfolded(const std::vector<NewVersion>& versions, std::string* value);
// The slices point into `value`. Corruption if it is not such a value.
Status DecodeUnfolded(const Slice& value, std::vector<NewVersion>* versions);

}  // namespace compassdb
