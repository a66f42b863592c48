// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "format/internal_key.h"

namespace compassdb {

// A record of a memtable; the caller owns the bytes of slices.
struct NewVersion {
  SequenceNumber sequence = 0;
  ValueType type = kTypeDeletion;
  Slice value;
};

}  // namespace compassdb
