// SPDX-License-Identifier: Apache-2.0
#include "tableless/flush/page_writer.h"

#include <cstring>

namespace compassdb {

namespace {

constexpr size_t kBatchBytes = 2 << 20;

}  // namespace

Status PageWriter::Add(uint64_t page, const Slice& image) {
  if (buffer_.data() == nullptr && buffer_.Reserve(kPageWriteAlignment, kBatchBytes) == nullptr) {
    return Status::MemoryLimit("pages to be written in place");
  }
  Status s;
  if (used_ + page_bytes_ > kBatchBytes) s = Flush();
  if (!s.ok()) return s;
  char* const to = buffer_.data() + used_;
  memcpy(to, image.data(), image.size());
  memset(to + image.size(), 0, page_bytes_ - image.size());
  const uint64_t offset = page * page_bytes_;
  if (!requests_.empty() && requests_.back().offset + requests_.back().data.size() == offset) {
    requests_.back().data = Slice(requests_.back().data.data(), requests_.back().data.size() + page_bytes_);
  } else {
    WriteRequest& request = requests_.emplace_back();
    request.offset = offset;
    request.data = Slice(to, page_bytes_);
  }
  used_ += page_bytes_;
  ++pages_;
  return s;
}

Status PageWriter::Flush() {
  if (requests_.empty()) return Status::OK();
  if (file_ == nullptr) {
    Status s = context_->fs->NewPageFile(path_, context_->write_options, /*create=*/false, &file_);
    if (!s.ok()) return s;
  }
  if (in_flight_ != nullptr) in_flight_->Add(file_number_, page_bytes_, &requests_);
  file_->MultiWrite(requests_.data(), requests_.size());
  // A failed write may have changed the page.
  for (const WriteRequest& request : requests_) {
    for (uint64_t at = 0; at < request.data.size(); at += page_bytes_) {
      const uint64_t page = (request.offset + at) / page_bytes_;
      if (cache_ != nullptr && cache_->enabled()) cache_->Erase(file_number_, page);
      if (tried_) tried_(page);
    }
  }
  if (in_flight_ != nullptr) in_flight_->Remove(&requests_);
  Status s;
  for (const WriteRequest& request : requests_) {
    if (s.ok()) s = request.status;
  }
  if (s.ok() && context_->throttle) context_->throttle(used_, false);
  requests_.clear();
  used_ = 0;
  return s;
}

Status PageWriter::Finish() {
  Status s = Flush();
  if (file_ == nullptr) return s;
  if (s.ok()) s = file_->Sync();
  Status closed = file_->Close();
  return s.ok() ? closed : s;
}

}  // namespace compassdb
