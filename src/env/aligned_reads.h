// SPDX-License-Identifier: Apache-2.0
// Turns reads at any offset into reads on a grid, as direct I/O needs them.
//
// Requests whose grid cells touch become one span, so that neighbours cost one
// read; requests that are on the grid already are read into their own memory.
// A grid of 1 leaves every request as it is.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "env/file_system.h"

namespace compassdb {

// Aligned memory. The thread that frees it keeps it for its next use.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  // Null if there is no memory. Releases memory that was reserved before.
  char* Reserve(size_t alignment, size_t bytes);
  char* data() const { return data_; }
  void Release();

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
  size_t alignment_ = 0;
};

class AlignedReads {
 public:
  struct Span {
    uint64_t offset = 0;
    size_t length = 0;
    char* buffer = nullptr;
    // Set by the reader:
    size_t got = 0;  // less than length: end of file
    Status status;
  };

  // `grid` is a power of two; `path` is for messages.
  AlignedReads(const std::string& path, size_t grid, ReadRequest* requests, size_t n);
  // False: no memory; the requests say so.
  bool ok() const { return ok_; }
  // Ascending by offset.
  std::vector<Span>& spans() { return spans_; }
  // Sets result and status of every request.
  void Deliver();

 private:
  ReadRequest* const requests_;
  const size_t n_;
  bool ok_ = true;
  std::vector<Span> spans_;
  std::vector<uint32_t> span_of_;  // per request
  AlignedBuffer buffer_;
};

}  // namespace compassdb
