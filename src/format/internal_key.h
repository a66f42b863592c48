// SPDX-License-Identifier: Apache-2.0
// Internal keys: a user key followed by a fixed64 trailer, sequence << 8 | type.
// Order: user key ascending (by the user's comparator), then sequence
// descending, then type descending, so that the newest version comes first.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb/slice.h"
#include "rocksdb/types.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

using rocksdb::Comparator;
using rocksdb::SequenceNumber;
using rocksdb::Slice;

// Values are RocksDB's record tags, so that write batches can be exchanged.
enum ValueType : uint8_t {
  kTypeDeletion = 0x0,
  kTypeValue = 0x1,
  kTypeMerge = 0x2,
  kTypeLogData = 0x3,
  kTypeColumnFamilyDeletion = 0x4,
  kTypeColumnFamilyValue = 0x5,
  kTypeColumnFamilyMerge = 0x6,
  kTypeSingleDeletion = 0x7,
  kTypeColumnFamilySingleDeletion = 0x8,
  kTypeBeginPrepareXID = 0x9,
  kTypeEndPrepareXID = 0xA,
  kTypeCommitXID = 0xB,
  kTypeRollbackXID = 0xC,
  kTypeNoop = 0xD,
  kTypeColumnFamilyRangeDeletion = 0xE,
  kTypeRangeDeletion = 0xF,
  kTypeBlobIndex = 0x11,  // the value is elsewhere (iter/value_resolver.h)
  kTypeDeletionWithTimestamp = 0x14,  // only as iterators over histories show deletions
  kTypeWideColumnEntity = 0x16,
  kTypeColumnFamilyWideColumnEntity = 0x17,
  kTypeMaxValid = 0x1F,
  kMaxValue = 0x7F,
};

inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;
// The type with which a seek key is built: sorts before every record of the same sequence.
inline constexpr ValueType kValueTypeForSeek = kMaxValue;

inline uint64_t PackTrailer(SequenceNumber seq, ValueType type) { return (seq << 8) | type; }

// True for the types of point records in memtables and pieces.
inline bool IsPointType(uint8_t t) {
  constexpr uint32_t kPointTypes = 1u << kTypeDeletion | 1u << kTypeValue | 1u << kTypeMerge |
                                   1u << kTypeSingleDeletion | 1u << kTypeWideColumnEntity |
                                   1u << kTypeBlobIndex;
  return t < 32 && (kPointTypes >> t & 1) != 0;
}

// True for the types with a value to read.
inline bool IsValueType(ValueType t) {
  return t == kTypeValue || t == kTypeWideColumnEntity || t == kTypeBlobIndex;
}

struct ParsedInternalKey {
  Slice user_key;
  SequenceNumber sequence = 0;
  ValueType type = kTypeDeletion;
};

inline Slice ExtractUserKey(const Slice& internal_key) {
  return Slice(internal_key.data(), internal_key.size() - 8);
}
inline uint64_t ExtractTrailer(const Slice& internal_key) {
  return DecodeFixed64(internal_key.data() + internal_key.size() - 8);
}
inline SequenceNumber ExtractSequence(const Slice& ik) { return ExtractTrailer(ik) >> 8; }
inline ValueType ExtractType(const Slice& ik) {
  return static_cast<ValueType>(ExtractTrailer(ik) & 0xff);
}
// False if the key is too short.
inline bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* out) {
  if (internal_key.size() < 8) return false;
  const uint64_t trailer = ExtractTrailer(internal_key);
  out->user_key = ExtractUserKey(internal_key);
  out->sequence = trailer >> 8;
  out->type = static_cast<ValueType>(trailer & 0xff);
  return true;
}
inline void AppendInternalKey(std::string* dst, const Slice& user_key, SequenceNumber seq,
                              ValueType type) {
  dst->append(user_key.data(), user_key.size());
  PutFixed64(dst, PackTrailer(seq, type));
}

// Not a rocksdb::Comparator: the engine compares internal keys through this.
class InternalKeyComparator {
 public:
  explicit InternalKeyComparator(const Comparator* user)
      : user_(user), bytewise_(user == rocksdb::BytewiseComparator()) {}
  const Comparator* user_comparator() const { return user_; }
  int Compare(const Slice& a, const Slice& b) const {
    const int r = CompareUserKey(ExtractUserKey(a), ExtractUserKey(b));
    if (r != 0) return r;
    return CompareTrailers(ExtractTrailer(a), ExtractTrailer(b));
  }
  // Of equal user keys: the newer record is first.
  static int CompareTrailers(uint64_t a, uint64_t b) { return a > b ? -1 : (a < b ? 1 : 0); }
  // The usual order without a virtual call.
  int CompareUserKey(const Slice& a, const Slice& b) const {
    return bytewise_ ? a.compare(b) : user_->Compare(a, b);
  }

 private:
  const Comparator* user_;
  bool bytewise_;
};

// A seek target that owns its bytes: on the stack, unless the key is long.
class LookupKey {
 public:
  LookupKey(const Slice& user_key, SequenceNumber seq) : size_(user_key.size() + 8) {
    if (size_ > sizeof(inline_)) {
      heap_.reset(new char[size_]);
      data_ = heap_.get();
    }
    if (!user_key.empty()) memcpy(data_, user_key.data(), user_key.size());
    EncodeFixed64(data_ + user_key.size(), PackTrailer(seq, kValueTypeForSeek));
  }
  LookupKey(const LookupKey&) = delete;
  LookupKey& operator=(const LookupKey&) = delete;
  Slice internal_key() const { return Slice(data_, size_); }
  Slice user_key() const { return Slice(data_, size_ - 8); }
  // Hash64 of the user key, for all memtables of a read.
  uint64_t hash() const {
    if (!hashed_) {
      hash_ = Hash64(user_key());
      hashed_ = true;
    }
    return hash_;
  }

 private:
  const size_t size_;
  mutable uint64_t hash_ = 0;
  mutable bool hashed_ = false;
  char* data_ = inline_;
  std::unique_ptr<char[]> heap_;
  char inline_[136];
};

}  // namespace compassdb
