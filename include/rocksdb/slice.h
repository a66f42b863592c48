// SPDX-License-Identifier: Apache-2.0
//
// A Slice refers to bytes of another owner. It is two words, meant to be passed by value.
//
// Thread safety: a Slice is a plain value; concurrent reads of one object are safe, as long as the
// bytes behind it stay in place and unchanged.

#pragma once

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "rocksdb/cleanable.h"

namespace ROCKSDB_NAMESPACE {

class Slice {
 public:
  // Empty, and never null: data() of an empty slice may be passed to memcpy and friends.
  Slice() : data_(""), size_(0) {}

  Slice(const char* d, size_t n) : data_(d), size_(n) {}

  // The conversions below are implicit on purpose: keys and values are given as any kind of string.
  // A temporary string must outlive the slice.
  Slice(const std::string& s) : Slice(s.data(), s.size()) {}

  Slice(const std::string_view& sv) : Slice(sv.data(), sv.size()) {}

  // Up to, not including, the terminating NUL. A null pointer gives size 0.
  Slice(const char* s) : Slice(s, s != nullptr ? std::strlen(s) : 0) {}

  // Concatenates the parts into *buf and refers to *buf.
  Slice(const struct SliceParts& parts, std::string* buf);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // REQUIRES: n < size().
  char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }

  void clear() { *this = Slice(); }

  // Drop n bytes at the front or at the back. REQUIRES: n <= size().
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  // A copy of the bytes, or their upper-case hexadecimal form.
  std::string ToString(bool hex = false) const;

  std::string_view ToStringView() const { return {data_, size_}; }

  // Reads hexadecimal digits (either case) into *result. False, with *result cleared of meaning, if
  // the length is odd or a character is not a digit.
  bool DecodeHex(std::string* result) const;

  // <0, 0 or >0, comparing bytes as unsigned, the shorter of two equal beginnings first.
  int compare(const Slice& b) const;

  bool starts_with(const Slice& x) const {
    return x.size_ <= size_ && std::memcmp(data_, x.data_, x.size_) == 0;
  }
  bool ends_with(const Slice& x) const {
    return x.size_ <= size_ && std::memcmp(data_ + (size_ - x.size_), x.data_, x.size_) == 0;
  }

  // Index of the first byte in which the two differ; the shorter length if one begins the other.
  size_t difference_offset(const Slice& b) const;

  // Public because the C interface fills them in place.
  const char* data_;
  size_t size_;
};

// A slice that keeps what it points at alive: either bytes pinned in a block of the engine,
// released by a registered cleanup, or a copy in a string (its own, or one given by the caller).
//
// Thread safety: none; one thread at a time. Must not outlive the DB that filled it.
class PinnableSlice : public Slice, public Cleanable {
 public:
  PinnableSlice() : buf_(&self_space_) {}

  // Copies go to *buf, which must outlive this object.
  explicit PinnableSlice(std::string* buf) : buf_(buf) {}

  PinnableSlice(PinnableSlice&& other);
  PinnableSlice& operator=(PinnableSlice&& other);

  PinnableSlice(PinnableSlice&) = delete;
  PinnableSlice& operator=(PinnableSlice&) = delete;

  // Refer to bytes that stay until f(arg1, arg2) is called. REQUIRES: !IsPinned().
  void PinSlice(const Slice& s, CleanupFunction f, void* arg1, void* arg2) {
    Pin(s);
    RegisterCleanup(f, arg1, arg2);
  }

  // The same, taking over the cleanups of `cleanable`; null means that the bytes are never freed.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    Pin(s);
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }

  // Copy into the string buffer. REQUIRES: !IsPinned().
  void PinSelf(const Slice& slice) {
    buf_->assign(slice.data(), slice.size());
    PinSelf();
  }

  // Refer to what the caller wrote into *GetSelf().
  void PinSelf() {
    assert(!pinned_);
    data_ = buf_->data();
    size_ = buf_->size();
  }

  // Shorten the value; a copy is shortened in its string too. REQUIRES: n <= size().
  void remove_suffix(size_t n) {
    assert(n <= size());
    if (!pinned_) buf_->resize(size() - n);
    size_ -= n;
  }
  void remove_prefix(size_t n) {
    assert(n <= size());
    if (pinned_) {
      Slice::remove_prefix(n);
    } else {
      buf_->erase(0, n);
      PinSelf();
    }
  }

  // Releases what is pinned. A buffer that was given stays as it is.
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    size_ = 0;
  }

  std::string* GetSelf() { return buf_; }

  bool IsPinned() const { return pinned_; }

 private:
  void Pin(const Slice& s) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
  }

  std::string self_space_;
  std::string* buf_;
  bool pinned_ = false;
};

// Several slices that together make up one key or value, in order. Owns nothing.
struct SliceParts {
  SliceParts(const Slice* _parts, int _num_parts) : parts(_parts), num_parts(_num_parts) {}
  SliceParts() : parts(nullptr), num_parts(0) {}

  const Slice* parts;
  int num_parts;
};

inline bool operator==(const Slice& x, const Slice& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

inline bool operator!=(const Slice& x, const Slice& y) { return !(x == y); }

inline int Slice::compare(const Slice& b) const {
  assert(data_ != nullptr && b.data_ != nullptr);
  const int order = std::memcmp(data_, b.data_, size_ < b.size_ ? size_ : b.size_);
  if (order != 0) return order;
  return size_ == b.size_ ? 0 : (size_ < b.size_ ? -1 : 1);
}

inline size_t Slice::difference_offset(const Slice& b) const {
  const size_t common = size_ < b.size_ ? size_ : b.size_;
  size_t i = 0;
  while (i < common && data_[i] == b.data_[i]) ++i;
  return i;
}

}  // namespace ROCKSDB_NAMESPACE
