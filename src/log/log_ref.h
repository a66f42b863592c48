// SPDX-License-Identifier: Apache-2.0
// The address of a value in a write-ahead log: in memtables, the value of a record of type
// kTypeBlobIndex. It is never written to a file.
//
//   ref := 'L'  log number:varint64  offset:varint64  size:varint32  checksum:fixed32
//
// The offset is that of the value's first byte in the file. The checksum is the value's: those of
// the log cover whole fragments, which are larger.
#pragma once

#include <cstdint>
#include <string>

#include "log/log_format.h"
#include "util/coding.h"

namespace compassdb {

struct LogRef {
  uint64_t log = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t checksum = 0;

  static bool IsLogRef(const Slice& ref) { return !ref.empty() && ref[0] == 'L'; }
  static uint32_t ChecksumOf(uint64_t log, uint64_t offset, const Slice& value) {
    return Checksum32(value, LogChecksumContext(log, offset));
  }

  void EncodeTo(std::string* dst) const {
    dst->assign(1, 'L');
    PutVarint64(dst, log);
    PutVarint64(dst, offset);
    PutVarint32(dst, size);
    PutFixed32(dst, checksum);
  }
  // False if these are not the bytes of a reference.
  bool Parse(Slice src) {
    if (!IsLogRef(src)) return false;
    src.remove_prefix(1);
    const bool whole = GetVarint64(&src, &log) && GetVarint64(&src, &offset) &&
                       GetVarint32(&src, &size) && src.size() == 4;
    if (!whole) return false;
    checksum = DecodeFixed32(src.data());
    return true;
  }
};

}  // namespace compassdb
