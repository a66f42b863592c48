// SPDX-License-Identifier: Apache-2.0
#include "env/read_ahead.h"

#include <algorithm>
#include <utility>

namespace compassdb {

bool ReadAhead::Window::Prepare(const RandomAccessFile* file, uint64_t from, uint64_t to) {
  const uint64_t mask = file->ReadAlignment() - 1;
  begin = from & ~mask;
  end = std::max(begin, (to + mask) & ~mask);
  const size_t length = end - begin;
  if (capacity < length) {
    const bool ok = buffer.Reserve(mask + 1, length) != nullptr;
    capacity = ok ? length : 0;
  }
  request = ReadRequest{begin, length, buffer.data(), Slice(), Status()};
  if (capacity >= length) return true;
  request.status = Status::MemoryLimit("no buffer of " + std::to_string(length) +
                                       " bytes to read ahead into");
  return false;
}

void ReadAhead::Start(const RandomAccessFile* file, uint64_t begin, uint64_t end,
                      ReadBatch* batch) {
  batch_.Abandon();
  if (!next_->Prepare(file, begin, end) || next_->request.length == 0) return;
  file->AddReads(&next_->request, 1, batch != nullptr ? batch : &batch_);
  batch_.Submit();
}

Status ReadAhead::Read(const RandomAccessFile* file, uint64_t begin, uint64_t end) {
  batch_.Abandon();
  next_->Forget();
  ReadRequest& r = current_->request;
  if (current_->Prepare(file, begin, end)) {
    r.status = file->Read(r.offset, r.length, &r.result, r.scratch);
  }
  if (r.status.ok()) return Status::OK();
  current_->Forget();
  return r.status;
}

bool ReadAhead::Covers(uint64_t offset, size_t n) const {
  return n > 0 && (current_->Holds(offset, n) || next_->Holds(offset, n));
}

Status ReadAhead::Get(uint64_t offset, size_t n, Slice* bytes) {
  *bytes = Slice();
  if (!current_->Holds(offset, n)) {
    batch_.Wait();
    std::swap(current_, next_);
    next_->Forget();
  }
  const ReadRequest& r = current_->request;
  if (!r.status.ok()) {
    current_->Forget();  // the next attempt reads again
    return r.status;
  }
  const size_t skip = std::min<size_t>(offset - current_->begin, r.result.size());
  *bytes = Slice(r.result.data() + skip, std::min(n, r.result.size() - skip));
  return Status::OK();
}

void ReadAhead::Drop() {
  batch_.Abandon();
  for (Window& w : windows_) {
    w.Forget();
    w.buffer.Release();
    w.capacity = 0;
  }
}

}  // namespace compassdb
