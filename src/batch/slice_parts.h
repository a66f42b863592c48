// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rocksdb/slice.h"

namespace compassdb {

inline std::string Join(const rocksdb::SliceParts& parts) {
  std::string joined;
  for (int i = 0; i < parts.num_parts; ++i) joined.append(parts.parts[i].data(), parts.parts[i].size());
  return joined;
}

}  // namespace compassdb
