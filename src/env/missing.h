// SPDX-License-Identifier: Apache-2.0
// Whether a call failed because there is no such file or directory: file systems say so in two ways.
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

inline bool IsMissing(const rocksdb::Status& s) { return s.IsNotFound() || s.IsPathNotFound(); }

}  // namespace compassdb
