// SPDX-License-Identifier: Apache-2.0
#include "util/coding.h"

#include <cassert>

namespace compassdb {

const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* v) {
  uint64_t wide;
  const char* q = GetVarint64PtrSlow(p, limit, &wide);
  if (q == nullptr || wide > UINT32_MAX) return nullptr;
  *v = static_cast<uint32_t>(wide);
  return q;
}

const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* v) {
  uint64_t result = 0;
  for (int shift = 0; shift <= 63 && p < limit; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*p++);
    if (shift == 63 && byte > 1) return nullptr;  // more than 64 bits
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = result;
      return p;
    }
  }
  return nullptr;
}

void PutLengthPrefixedSlice(std::string* dst, const Slice& value) {
  assert(value.size() <= UINT32_MAX);
  PutVarint32(dst, static_cast<uint32_t>(value.size()));
  dst->append(value.data(), value.size());
}

bool GetLengthPrefixedSlice(Slice* input, Slice* result) {
  const char* limit = input->data() + input->size();
  const char* q = GetLengthPrefixedSlicePtr(input->data(), limit, result);
  if (q == nullptr) return false;
  *input = Slice(q, static_cast<size_t>(limit - q));
  return true;
}

}  // namespace compassdb
