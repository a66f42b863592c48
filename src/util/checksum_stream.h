// SPDX-License-Identifier: Apache-2.0
// Checksum32 of all prefixes of some bytes, for a search for their end. One thread.
#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

class ChecksumStream {
 public:
  explicit ChecksumStream(uint64_t context);
  ~ChecksumStream();
  ChecksumStream(const ChecksumStream&) = delete;
  ChecksumStream& operator=(const ChecksumStream&) = delete;
  void Update(const Slice& data);
  // The checksum of all bytes so far.
  uint32_t Value() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace compassdb
