// SPDX-License-Identifier: Apache-2.0
// Reads a file ahead of a walk through it: one window is in memory while the next
// is being read.
//
//   ahead.Start(file, begin, end);              // returns at once
//   ...
//   if (ahead.Covers(offset, n)) s = ahead.Get(offset, n, &bytes);  // waits if it must
//   ahead.Start(file, end, further);            // the window after
//
// A request must be inside one window: windows end where blocks end. They are
// widened to ranges that the file reads without a copy.
//
// Thread safety: one thread at a time. Files must stay valid until the object is
// destroyed or Drop was called; both wait for running reads.
#pragma once

#include <cstdint>

#include "env/aligned_reads.h"
#include "env/file_system.h"
#include "env/read_batch.h"

namespace compassdb {

class ReadAhead {
 public:
  ReadAhead() = default;
  ~ReadAhead() = default;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Begins to read [begin, end), the window after the one in memory. A window that
  // was begun and not used yet is dropped. With `batch` the read is a part of that
  // batch, which must be waited for before any other call of this object.
  void Start(const RandomAccessFile* file, uint64_t begin, uint64_t end,
             ReadBatch* batch = nullptr);
  // Reads [begin, end) at once; it is then the only window.
  Status Read(const RandomAccessFile* file, uint64_t begin, uint64_t end);
  // [offset, offset + n) is inside the window in memory or the one being read.
  bool Covers(uint64_t offset, size_t n) const;
  // Requires Covers. `bytes` is shorter than n only at the end of the file, and valid
  // until the next window replaces the one in memory, or Drop.
  Status Get(uint64_t offset, size_t n, Slice* bytes);
  bool under_way() const { return next_->end > next_->begin; }
  void Drop();

 private:
  struct Window {
    uint64_t begin = 0;
    uint64_t end = 0;
    AlignedBuffer buffer;
    size_t capacity = 0;
    ReadRequest request;
    bool Holds(uint64_t offset, size_t n) const {
      return offset >= begin && offset + n <= end;
    }
    // False: no memory; the request says so.
    bool Prepare(const RandomAccessFile* file, uint64_t from, uint64_t to);
    void Forget() { begin = end = 0; }
  };
  Window windows_[2];
  Window* current_ = &windows_[0];
  Window* next_ = &windows_[1];
  ReadBatch batch_;  // next_'s; after the windows, since it waits when destroyed
};

}  // namespace compassdb
