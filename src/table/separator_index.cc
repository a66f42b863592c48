// SPDX-License-Identifier: Apache-2.0
#include "table/separator_index.h"

#include "util/coding.h"

namespace compassdb {

void SeparatorIndexBuilder::Add(uint64_t stored_length, const Slice& separator) {
  const size_t shared = CommonPrefixLength(last_, separator);
  PutVarint64(&out_, stored_length);
  PutVarint32(&out_, static_cast<uint32_t>(shared));
  PutVarint32(&out_, static_cast<uint32_t>(separator.size() - shared));
  out_.append(separator.data() + shared, separator.size() - shared);
  last_.assign(separator.data(), separator.size());
}

Status SeparatorIndex::Parse(const Slice& section, uint64_t num_blocks, uint64_t data_bytes,
                             const std::string& what, SeparatorIndex* out) {
  *out = SeparatorIndex();
  const auto damaged = [&](const char* why) { return Status::Corruption(what, why); };
  // A block takes at least three bytes here, which bounds what is allocated.
  if (num_blocks > section.size() / 3 || num_blocks >= UINT32_MAX) {
    return damaged("separators: more blocks than the section can hold");
  }
  const char* p = section.data();
  const char* const limit = p + section.size();
  const bool small = data_bytes <= UINT32_MAX;
  if (small) {
    out->small_.reserve(num_blocks + 1);
  } else {
    out->large_.reserve(num_blocks + 1);
  }
  const auto push = [&](uint64_t offset) {
    if (small) {
      out->small_.push_back(static_cast<uint32_t>(offset));
    } else {
      out->large_.push_back(offset);
    }
  };
  out->key_offsets_.reserve(num_blocks + 1);
  out->key_offsets_.push_back(0);
  push(0);
  uint64_t offset = 0;
  size_t last = 0;  // where the previous separator starts
  for (uint64_t i = 0; i < num_blocks; ++i) {
    uint64_t length;
    uint32_t shared, rest;
    if ((p = GetVarint64Ptr(p, limit, &length)) == nullptr ||
        (p = GetVarint32Ptr(p, limit, &shared)) == nullptr ||
        (p = GetVarint32Ptr(p, limit, &rest)) == nullptr ||
        static_cast<size_t>(limit - p) < rest || shared > out->keys_.size() - last) {
      return damaged("separators: malformed entry");
    }
    if (length == 0 || length > data_bytes - offset) {
      return damaged("separators: a block lies outside of the data");
    }
    if (uint64_t{out->keys_.size()} + shared + rest > UINT32_MAX) {
      return damaged("separators: more than 4 GiB of keys");
    }
    const size_t start = out->keys_.size();
    out->keys_.append(out->keys_, last, shared);
    out->keys_.append(p, rest);
    p += rest;
    last = start;
    offset += length;
    push(offset);
    out->key_offsets_.push_back(static_cast<uint32_t>(out->keys_.size()));
  }
  if (p != limit) return damaged("separators: bytes behind the last entry");
  if (offset != data_bytes) return damaged("separators: blocks do not add up to the data");
  out->num_blocks_ = static_cast<uint32_t>(num_blocks);
  out->keys_.shrink_to_fit();
  return Status::OK();
}

uint32_t SeparatorIndex::LowerBound(const KeyOrder& order, const Slice& user_key) const {
  uint32_t low = 0, high = num_blocks_;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (order.Compare(separator(mid), user_key) < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

size_t SeparatorIndex::MemoryBytes() const {
  return sizeof(*this) + keys_.capacity() + key_offsets_.capacity() * sizeof(uint32_t) +
         small_.capacity() * sizeof(uint32_t) + large_.capacity() * sizeof(uint64_t);
}

}  // namespace compassdb
