// SPDX-License-Identifier: Apache-2.0
// The built-in comparators for keys that end in a timestamp: 8 bytes, little endian, the newer of two
// versions of one key first. They are public by name only (Comparator::CreateFromString).
#pragma once

#include "rocksdb/comparator.h"

namespace compassdb {

const rocksdb::Comparator* BytewiseComparatorWithU64Ts();
const rocksdb::Comparator* ReverseBytewiseComparatorWithU64Ts();

}  // namespace compassdb
