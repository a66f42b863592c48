// SPDX-License-Identifier: Apache-2.0
// The value of a record of type kTypeBlobIndex: the name of a value in the value store.
//
//   ref := version:u8 (1) number:varint64 size:varint32
//
// Numbers are unique in the database, and stay when garbage collection moves the value, so that it
// changes no table (docs/design/values.md).
#pragma once

#include <cstdint>
#include <string>

#include "log/log_ref.h"
#include "util/coding.h"

namespace compassdb {

struct ValueRef {
  uint64_t number = 0;
  uint32_t size = 0;  // of the value, uncompressed

  void AppendTo(std::string* dst) const {
    dst->push_back(1);
    PutVarint64(dst, number);
    PutVarint32(dst, size);
  }
  // False if these are not the bytes of a ref.
  bool Parse(Slice src) {
    if (src.empty() || src[0] != 1) return false;
    src.remove_prefix(1);
    return GetVarint64(&src, &number) && GetVarint32(&src, &size) && src.empty();
  }
};

// The size of the value that these bytes name, here or in a log; 0 if they name none.
inline uint32_t ReferredSize(const Slice& ref) {
  if (LogRef in_log; in_log.Parse(ref)) return in_log.size;
  ValueRef parsed;
  return parsed.Parse(ref) ? parsed.size : 0;
}

}  // namespace compassdb
