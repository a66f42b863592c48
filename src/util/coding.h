// SPDX-License-Identifier: Apache-2.0
// Little-endian fixed-width integers and base-128 varints, the alphabet of
// every format of ours. Decoders that take a limit never read at or past it
// and say by a null pointer or `false` that the input is malformed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

static_assert(std::endian::native == std::endian::little,
              "formats are little-endian and are read by plain loads");

inline constexpr int kMaxVarint32Bytes = 5;
inline constexpr int kMaxVarint64Bytes = 10;

inline void EncodeFixed32(char* dst, uint32_t v) { memcpy(dst, &v, sizeof(v)); }
inline void EncodeFixed64(char* dst, uint64_t v) { memcpy(dst, &v, sizeof(v)); }

inline uint16_t DecodeFixed16(const char* p) {
  uint16_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline uint32_t DecodeFixed32(const char* p) {
  uint32_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline uint64_t DecodeFixed64(const char* p) {
  uint64_t v;
  memcpy(&v, p, sizeof(v));
  return v;
}

inline void PutFixed16(std::string* dst, uint16_t v) {
  dst->append(reinterpret_cast<const char*>(&v), sizeof(v));
}
inline void PutFixed32(std::string* dst, uint32_t v) {
  dst->append(reinterpret_cast<const char*>(&v), sizeof(v));
}
inline void PutFixed64(std::string* dst, uint64_t v) {
  dst->append(reinterpret_cast<const char*>(&v), sizeof(v));
}

// Write at dst and return the first byte after what was written.
inline char* EncodeVarint64(char* dst, uint64_t v) {
  auto* p = reinterpret_cast<unsigned char*>(dst);
  while (v >= 0x80) {
    *p++ = static_cast<unsigned char>(v | 0x80);
    v >>= 7;
  }
  *p++ = static_cast<unsigned char>(v);
  return reinterpret_cast<char*>(p);
}
inline char* EncodeVarint32(char* dst, uint32_t v) { return EncodeVarint64(dst, v); }

inline void PutVarint64(std::string* dst, uint64_t v) {
  char buf[kMaxVarint64Bytes];
  dst->append(buf, static_cast<size_t>(EncodeVarint64(buf, v) - buf));
}
inline void PutVarint32(std::string* dst, uint32_t v) { PutVarint64(dst, v); }

// Bytes that the varint of v takes.
inline int VarintLength(uint64_t v) { return (std::bit_width(v | 1) + 6) / 7; }

// Out-of-line halves of the decoders below; handle two bytes and more.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* v);
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* v);

// Return the byte after the varint, or null if it runs into `limit` or
// overflows its type.
inline const char* GetVarint32Ptr(const char* p, const char* limit, uint32_t* v) {
  if (p < limit && static_cast<unsigned char>(*p) < 0x80) {
    *v = static_cast<unsigned char>(*p);
    return p + 1;
  }
  if (limit - p >= 2 && static_cast<unsigned char>(p[1]) < 0x80) {
    *v = (static_cast<unsigned char>(p[0]) & 0x7fu) | uint32_t{static_cast<unsigned char>(p[1])} << 7;
    return p + 2;
  }
  return GetVarint32PtrSlow(p, limit, v);
}
inline const char* GetVarint64Ptr(const char* p, const char* limit, uint64_t* v) {
  if (p < limit && static_cast<unsigned char>(*p) < 0x80) {
    *v = static_cast<unsigned char>(*p);
    return p + 1;
  }
  return GetVarint64PtrSlow(p, limit, v);
}

// The Get functions consume from the front of `input`; on false it is unchanged.
inline bool GetVarint32(Slice* input, uint32_t* v) {
  const char* limit = input->data() + input->size();
  const char* q = GetVarint32Ptr(input->data(), limit, v);
  if (q == nullptr) return false;
  *input = Slice(q, static_cast<size_t>(limit - q));
  return true;
}
inline bool GetVarint64(Slice* input, uint64_t* v) {
  const char* limit = input->data() + input->size();
  const char* q = GetVarint64Ptr(input->data(), limit, v);
  if (q == nullptr) return false;
  *input = Slice(q, static_cast<size_t>(limit - q));
  return true;
}
inline bool GetFixed16(Slice* input, uint16_t* v) {
  if (input->size() < sizeof(*v)) return false;
  *v = DecodeFixed16(input->data());
  input->remove_prefix(sizeof(*v));
  return true;
}
inline bool GetFixed32(Slice* input, uint32_t* v) {
  if (input->size() < sizeof(*v)) return false;
  *v = DecodeFixed32(input->data());
  input->remove_prefix(sizeof(*v));
  return true;
}
inline bool GetFixed64(Slice* input, uint64_t* v) {
  if (input->size() < sizeof(*v)) return false;
  *v = DecodeFixed64(input->data());
  input->remove_prefix(sizeof(*v));
  return true;
}

// A varint32 length and the bytes. `value` is at most 4 GiB - 1 long.
void PutLengthPrefixedSlice(std::string* dst, const Slice& value);
bool GetLengthPrefixedSlice(Slice* input, Slice* result);
// As above on raw memory; null if malformed.
inline const char* GetLengthPrefixedSlicePtr(const char* p, const char* limit, Slice* result) {
  uint32_t len;
  p = GetVarint32Ptr(p, limit, &len);
  if (p == nullptr || static_cast<size_t>(limit - p) < len) return nullptr;
  *result = Slice(p, len);
  return p + len;
}

// Maps small magnitudes of either sign to small unsigned numbers.
inline uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t UnZigZag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

}  // namespace compassdb
