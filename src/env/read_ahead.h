// SPDX-License-Identifier: Apache-2.0
// Reads a file ahead of a walk through it: one window is at hand while the next
// is on its way.
//
//   ahead.Start(file, begin, end);              // returns at once
//   ...
//   if (ahead.Covers(offset, n)) s = ahead.Get(offset, n, &bytes);  // waits if it must
//   ahead.Start(file, end, further);            // the window after
//
// What is asked for must lie in one window: windows end where blocks end. They
// are widened to what the file reads without copying.
//
// Thread safety: one thread at a time. Files must stay until the object is
// destroyed or Drop was called; both wait for what is under way.
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

  // Begins to read [begin, end), the window after the one at hand. A window that
  // was begun and not asked for yet is given up. With `batch` the read goes on with
  // that batch, which has to be waited for before anything else is asked of this object.
  void Start(const RandomAccessFile* file, uint64_t begin, uint64_t end,
             ReadBatch* batch = nullptr);
  // Reads [begin, end) at once; it is the window at hand then, and the only one.
  Status Read(const RandomAccessFile* file, uint64_t begin, uint64_t end);
  // [offset, offset + n) lies in the window at hand or in the one under way.
  bool Covers(uint64_t offset, size_t n) const;
  // Requires Covers. `bytes` is shorter than n only at the end of the file, and valid
  // until the window under way becomes the one at hand, or Drop.
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
