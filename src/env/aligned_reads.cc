// SPDX-License-Identifier: Apache-2.0
#include "env/aligned_reads.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

namespace compassdb {

namespace {

constexpr size_t kMaxSpan = 1 << 20;    // merged reads grow to this
constexpr size_t kMaxCached = 4 << 20;  // larger buffers are not kept

struct CachedBuffer {
  char* data = nullptr;
  size_t capacity = 0;
  size_t alignment = 0;
  ~CachedBuffer() {
    free(data);
    data = nullptr;
    capacity = 0;
  }
};
thread_local CachedBuffer cached;

}  // namespace

AlignedBuffer::~AlignedBuffer() { Release(); }

void AlignedBuffer::Release() {
  if (data_ == nullptr) return;
  if (capacity_ <= kMaxCached && capacity_ > cached.capacity) {
    std::swap(data_, cached.data);
    std::swap(capacity_, cached.capacity);
    std::swap(alignment_, cached.alignment);
  }
  free(data_);
  data_ = nullptr;
  capacity_ = 0;
}

char* AlignedBuffer::Reserve(size_t alignment, size_t bytes) {
  Release();
  if (cached.capacity >= bytes && cached.alignment >= alignment) {
    data_ = std::exchange(cached.data, nullptr);
    capacity_ = std::exchange(cached.capacity, 0);
    alignment_ = cached.alignment;
    return data_;
  }
  const size_t capacity = bytes > kMaxCached ? bytes : std::bit_ceil(std::max<size_t>(bytes, 16 << 10));
  void* p = nullptr;
  if (posix_memalign(&p, std::max(alignment, sizeof(void*)), capacity) != 0) return nullptr;
  data_ = static_cast<char*>(p);
  capacity_ = capacity;
  alignment_ = alignment;
  return data_;
}

AlignedReads::AlignedReads(const std::string& path, size_t grid, ReadRequest* requests, size_t n)
    : requests_(requests), n_(n), span_of_(n) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto by_offset = [requests](uint32_t a, uint32_t b) {
    return requests[a].offset < requests[b].offset;
  };
  if (!std::is_sorted(order.begin(), order.end(), by_offset)) {
    std::stable_sort(order.begin(), order.end(), by_offset);
  }
  const uint64_t mask = grid - 1;
  spans_.reserve(n);
  size_t bytes = 0;  // of spans that need a buffer
  for (uint32_t i : order) {
    const ReadRequest& r = requests[i];
    Span span;
    if (((r.offset | r.length | reinterpret_cast<uintptr_t>(r.scratch)) & mask) == 0) {
      span.offset = r.offset;
      span.length = r.length;
      span.buffer = r.scratch;
    } else {
      span.offset = r.offset & ~mask;
      span.length = static_cast<size_t>(((r.offset + r.length + mask) & ~mask) - span.offset);
      if (!spans_.empty() && spans_.back().buffer == nullptr) {
        Span& last = spans_.back();
        const uint64_t end = std::max(last.offset + last.length, span.offset + span.length);
        if (span.offset <= last.offset + last.length && end - last.offset <= kMaxSpan) {
          bytes += end - last.offset - last.length;
          last.length = end - last.offset;
          span_of_[i] = static_cast<uint32_t>(spans_.size() - 1);
          continue;
        }
      }
      bytes += span.length;
    }
    span_of_[i] = static_cast<uint32_t>(spans_.size());
    spans_.push_back(std::move(span));
  }
  if (bytes == 0) return;
  char* at = buffer_.Reserve(grid, bytes);
  if (at == nullptr) {
    ok_ = false;
    for (size_t i = 0; i < n; ++i) {
      requests[i].result = Slice(requests[i].scratch, 0);
      requests[i].status = Status::MemoryLimit(
          "While pread: " + path, "no aligned buffer of " + std::to_string(bytes) + " bytes");
    }
    return;
  }
  for (Span& span : spans_) {
    if (span.buffer != nullptr) continue;
    span.buffer = at;
    at += span.length;
  }
}

void AlignedReads::Deliver() {
  for (size_t i = 0; i < n_; ++i) {
    ReadRequest& r = requests_[i];
    const Span& span = spans_[span_of_[i]];
    r.status = span.status;
    r.result = Slice(r.scratch, 0);
    if (!span.status.ok()) continue;
    const uint64_t skip = r.offset - span.offset;
    if (span.got <= skip) continue;
    const size_t usable = std::min<size_t>(r.length, span.got - skip);
    if (span.buffer != r.scratch) memcpy(r.scratch, span.buffer + skip, usable);
    r.result = Slice(r.scratch, usable);
  }
}

}  // namespace compassdb
