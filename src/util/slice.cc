// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/slice.h"

#include <utility>

#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {

Slice::Slice(const SliceParts& parts, std::string* buf) {
  size_t bytes = 0;
  for (int i = 0; i < parts.num_parts; ++i) bytes += parts.parts[i].size();
  buf->clear();
  buf->reserve(bytes);
  for (int i = 0; i < parts.num_parts; ++i) {
    buf->append(parts.parts[i].data(), parts.parts[i].size());
  }
  data_ = buf->data();
  size_ = buf->size();
}

std::string Slice::ToString(bool hex) const {
  return hex ? compassdb::HexEncode(*this) : std::string(data_, size_);
}

bool Slice::DecodeHex(std::string* result) const {
  return result != nullptr && compassdb::HexDecode(*this, result);
}

PinnableSlice::PinnableSlice(PinnableSlice&& other) : buf_(&self_space_) {
  *this = std::move(other);
}

// A copy in the other's own string moves as a string, and its bytes may change their place. A copy in a
// string of the caller still refers to that string.
PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) {
  if (this == &other) return *this;
  Cleanable::Reset();
  size_ = other.size_;
  pinned_ = other.pinned_;
  if (pinned_) {
    data_ = other.data_;
    Cleanable::operator=(std::move(other));
  } else if (other.buf_ == &other.self_space_) {
    self_space_ = std::move(other.self_space_);
    buf_ = &self_space_;
    data_ = buf_->data();
  } else {
    buf_ = other.buf_;
    data_ = other.data_;
  }
  other.self_space_.clear();
  other.buf_ = &other.self_space_;
  other.pinned_ = false;
  other.clear();
  return *this;
}

}  // namespace ROCKSDB_NAMESPACE
