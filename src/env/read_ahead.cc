// SPDX-License-Identifier: Apache-2.0
#include "env/read_ahead.h"

#include <algorithm>
#include <utility>

namespace compassdb {

void ReadAhead::Start(const RandomAccessFile* file, uint64_t begin, uint64_t end) {
  batch_.Abandon();
  next_.begin = begin;
  next_.end = std::max(begin, end);
  const size_t length = next_.end - begin;
  if (next_.capacity < length) {
    next_.buffer.reset(new char[length]);
    next_.capacity = length;
  }
  next_.request = ReadRequest{begin, length, next_.buffer.get(), Slice(), Status()};
  if (length == 0) return;
  file->AddReads(&next_.request, 1, &batch_);
  batch_.Submit();
}

bool ReadAhead::Covers(uint64_t offset, size_t n) const {
  return n > 0 && (current_.Holds(offset, n) || next_.Holds(offset, n));
}

Status ReadAhead::Get(uint64_t offset, size_t n, Slice* bytes) {
  *bytes = Slice();
  if (!current_.Holds(offset, n)) {
    batch_.Wait();
    std::swap(current_, next_);
    next_.begin = next_.end = 0;
  }
  const ReadRequest& r = current_.request;
  if (!r.status.ok()) {
    const Status s = r.status;
    current_.begin = current_.end = 0;  // the next attempt reads again
    return s;
  }
  const size_t skip = std::min<size_t>(offset - current_.begin, r.result.size());
  *bytes = Slice(r.result.data() + skip, std::min(n, r.result.size() - skip));
  return Status::OK();
}

void ReadAhead::Drop() {
  batch_.Abandon();
  current_ = Window();
  next_ = Window();
}

}  // namespace compassdb
