// SPDX-License-Identifier: Apache-2.0
#include "format/number_limits.h"

#include "format/file_names.h"

namespace compassdb {

uint64_t NumberBehind(const std::string& name) {
  uint64_t number = 0;
  FileType type;
  const bool counts =
      ParseFileName(name, &number, &type) && type != FileType::kInfoLog && number < kMaxStrayNumber;
  return counts ? number + 1 : 0;
}

}  // namespace compassdb
