// SPDX-License-Identifier: Apache-2.0
// Data blocks: records found by their keys' fingerprints, or by a binary search
// over an array of offsets (docs/formats/block.md).
//
//   payload := count:varint32 flags:u8 prefix_length:varint32 prefix
//              min_sequence:varint64 fingerprint:u8{count, if flags has bit 1 set}
//              offset{count} record{count}
//   offset  := u16le, or u32le if flags has bit 0 set; from the first record
//   record  := suffix_length:varint32 value_length:varint32
//              tag:varint64 = (sequence - min_sequence) << 5 | type
//              suffix value
//
// A user key is prefix + suffix. The prefix is empty unless user keys are
// ordered bytewise.
//
// Thread safety: a Block never changes; iterators and builders belong to one
// thread at a time.
// Invariants: for any bytes, nothing outside of the payload is read. Damage is
// reported as `false` or as a Corruption, never as an assertion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "format/key_hash.h"
#include "iter/internal_iterator.h"
#include "table/piece/key_order.h"

namespace compassdb {

inline constexpr uint8_t kBlockWideOffsets = 1;
inline constexpr uint8_t kBlockFingerprints = 2;

// What a block stores of a key's hash: bits that directories do not use.
inline uint8_t BlockFingerprint(const KeyHash& hash) {
  return static_cast<uint8_t>(StoredH2(hash.h2));
}

class BlockBuilder {
 public:
  // `fingerprints`: only if equal keys have equal hashes.
  BlockBuilder(bool share_prefix, bool fingerprints)
      : share_prefix_(share_prefix), with_fingerprints_(fingerprints) {}

  // In internal-key order.
  void Add(const Slice& user_key, uint8_t fingerprint, SequenceNumber seq, ValueType type,
           const Slice& value);
  bool empty() const { return records_.empty(); }
  uint32_t count() const { return static_cast<uint32_t>(records_.size()); }
  // Payload size if it were finished now; perhaps slightly too high.
  size_t EstimatedSize() const;
  // The same with this record added.
  size_t EstimatedSizeWith(const Slice& user_key, SequenceNumber seq, const Slice& value) const;
  Slice LastUserKey() const;  // requires !empty()
  // Replaces *payload and starts over.
  void Finish(std::string* payload);

 private:
  struct Pending {
    size_t key_begin;
    size_t key_length;
    size_t value_length;
    SequenceNumber sequence;
    ValueType type;
    uint8_t fingerprint;
  };
  size_t Estimate(size_t count, size_t key_bytes, size_t value_bytes, size_t prefix,
                  SequenceNumber spread) const;
  Slice KeyOf(const Pending& r) const { return Slice(bytes_.data() + r.key_begin, r.key_length); }

  const bool share_prefix_;
  const bool with_fingerprints_;
  std::string bytes_;  // key, value, key, value, ...
  std::vector<Pending> records_;
  size_t key_bytes_ = 0;
  size_t prefix_ = 0;
  SequenceNumber min_seq_ = 0;
  SequenceNumber max_seq_ = 0;
};

// A parsed view of a payload that outlives it.
class Block {
 public:
  struct Record {
    Slice suffix;
    Slice value;
    SequenceNumber sequence = 0;
    ValueType type = kTypeDeletion;
  };

  Block() = default;
  // False if the header is malformed or the block is empty.
  static bool Parse(const Slice& payload, Block* out);

  uint32_t count() const { return count_; }
  Slice prefix() const { return prefix_; }
  const char* limit() const { return limit_; }  // of the payload
  // False if record i (i < count) is not inside the payload.
  bool Get(uint32_t i, Record* record) const;
  // Record i will be needed soon, if there is one.
  void Prefetch(uint32_t i) const {
    if (i >= count_) return;
    const uint32_t offset = OffsetOf(i);
    if (offset < static_cast<size_t>(limit_ - records_)) __builtin_prefetch(records_ + offset);
  }

  // The first records that a binary search reads.
  void PrefetchSearch() const {
    if (count_ <= 8) {
      for (uint32_t i = 0; i < count_; ++i) Prefetch(i);
      return;
    }
    Prefetch(count_ / 2);
    Prefetch(count_ / 4);
    Prefetch(count_ / 4 + count_ / 2);
  }

  // The first record >= (user_key, trailer) in internal-key order; count() if
  // there is none. False if the block is damaged.
  bool LowerBound(const KeyOrder& order, const Slice& user_key, uint64_t trailer,
                  uint32_t* index) const;

  struct FindResult {
    bool key_present = false;  // the block has a version of the key
    bool found = false;        // one of them is visible: `record`
    bool first = false;        // ... and it is the first of the block's versions
    bool reaches_end = false;  // the last record looked at was the block's last, nothing found
    uint32_t index = 0;
    Record record;
  };
  // The newest version of user_key with sequence <= snapshot. `hash` is the key's;
  // it may be null. False: damaged.
  bool Find(const KeyOrder& order, const Slice& user_key, const KeyHash* hash,
            SequenceNumber snapshot, FindResult* result) const;
  // False if record i is of a key with another hash.
  bool MayHaveHash(uint32_t i, const KeyHash& hash) const {
    return fingerprints_ == nullptr ||
           static_cast<uint8_t>(fingerprints_[i]) == BlockFingerprint(hash);
  }
  // Whether record i is of user_key. False in `ok`: damaged.
  bool HasKey(const KeyOrder& order, uint32_t i, const Slice& user_key, Record* record,
              bool* ok) const;

 private:
  template <bool kBytewise>
  bool LowerBoundOfSuffix(const Comparator* comparator, const Slice& suffix, uint64_t trailer,
                          uint32_t* index) const;
  // The first record of user_key by fingerprint; count() if it has none.
  bool FirstOfKey(const KeyOrder& order, const Slice& user_key, uint8_t fingerprint,
                  uint32_t* index) const;
  // The first i >= begin whose fingerprint is that; count() if there is none.
  uint32_t NextMatch(uint32_t begin, uint8_t fingerprint) const;
  // Cuts the prefix off user_key. 0: done, *suffix is set; otherwise the sign
  // says on which side of all records user_key is.
  int StripPrefix(const Slice& user_key, Slice* suffix) const;
  uint32_t OffsetOf(uint32_t i) const {
    return wide_ ? DecodeFixed32(offsets_ + size_t{4} * i) : DecodeFixed16(offsets_ + size_t{2} * i);
  }

  const char* fingerprints_ = nullptr;  // null: none
  const char* offsets_ = nullptr;
  const char* records_ = nullptr;
  const char* limit_ = nullptr;
  Slice prefix_;
  uint32_t count_ = 0;
  bool wide_ = false;
  SequenceNumber min_seq_ = 0;
};

// Walks a block in both directions at the same cost. The block's bytes must outlive it.
class BlockIter final : public InternalIterator {
 public:
  BlockIter() = default;
  BlockIter(const Block& block, const KeyOrder& order) { Reset(block, order); }
  // Points at nothing afterwards.
  void Reset(const Block& block, const KeyOrder& order);
  void Clear();  // an empty block

  bool Valid() const override { return index_ < block_.count(); }
  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(block_.count() - 1); }  // of no records: 2^32 - 1
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void Next() override { MoveTo(index_ + 1); }
  void Prev() override { MoveTo(index_ - 1); }
  Slice key() const override { return key_; }
  Slice value() const override { return record_.value; }
  Status status() const override;

  Slice user_key() const { return Slice(key_.data(), key_.size() - 8); }
  const Block::Record& record() const { return record_; }
  uint32_t index() const { return index_; }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  void MoveTo(uint32_t index);
  void Damaged();

  Block block_;
  KeyOrder order_;
  uint32_t index_ = kNowhere;
  bool damaged_ = false;
  Block::Record record_;
  std::string key_;  // starts with the block's prefix
};

}  // namespace compassdb
