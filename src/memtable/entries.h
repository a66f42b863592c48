// SPDX-License-Identifier: Apache-2.0
// How a memtable's records are stored in the nodes of its lists.
//
// Thread safety: all functions. An entry does not change once it is in a list.
#pragma once

#include <atomic>
#include <string>

#include "format/internal_key.h"
#include "log/log_ref.h"

namespace compassdb {

//   entry := varint32 internal key length, internal key, varint32 value length, value
//
// A value that is not short is stored separately, and the entry has a pointer: a search then touches
// a few megabytes of keys, and not the whole memtable.
class PlainEntries {
 public:
  // Values from this size on are not in their entries.
  static constexpr uint32_t kApartFrom = 128;

  explicit PlainEntries(const InternalKeyComparator* comparator) : comparator_(comparator) {}
  int operator()(const char* a, const char* b) const {
    return comparator_->Compare(Key(a), Key(b));
  }
  int operator()(const char* a, const Slice& internal_key) const {
    return comparator_->Compare(Key(a), internal_key);
  }

  static Slice Key(const char* entry) { return ReadSlice(entry); }
  static Slice Value(const char* entry);
  // Everything but a value that is apart.
  static size_t SizeOf(const Slice& user_key, const Slice& value);
  // `apart`: where the value is, if it is not short.
  static void Encode(SequenceNumber sequence, ValueType type, const Slice& user_key,
                     const Slice& value, const char* apart, char* to);

  static Slice UserKey(const char* entry) { return ExtractUserKey(Key(entry)); }
  static uint64_t Trailer(const char* entry) { return ExtractTrailer(Key(entry)); }
  static Slice Key(const char* entry, std::string* /*room*/) { return Key(entry); }
  static Slice Value(const char* entry, std::string* /*room*/) { return Value(entry); }

  // A length as varint32, and as many bytes. Entries are always whole: lengths need no checks.
  static Slice ReadSlice(const char* p) {
    uint32_t size = 0;
    p = GetVarint32Ptr(p, p + kMaxVarint32Bytes, &size);
    return Slice(p, size);
  }

 private:
  const InternalKeyComparator* const comparator_;
};

// Those of a memtable that indexes the log.
//
//   entry := 0:u8 plain entry
//          | log:u8 varint32 key length, user key,
//            sequence:fixed32 offset:fixed32 size:fixed16 checksum:fixed32
//
// The second kind is a record of type kTypeBlobIndex with the address of its value. Logs are numbered
// from 1 on, in the order in which the memtable got them; sequences count from near the first one.
class IndexEntries {
 public:
  static constexpr uint32_t kMostLogs = 255;

  explicit IndexEntries(const InternalKeyComparator* comparator) : comparator_(comparator) {}
  IndexEntries(const IndexEntries&) = delete;
  IndexEntries& operator=(const IndexEntries&) = delete;

  int Compare(const char* a, const char* b) const;
  int Compare(const char* a, const Slice& internal_key) const;

  Slice UserKey(const char* entry) const {
    return entry[0] == 0 ? PlainEntries::UserKey(entry + 1) : PlainEntries::ReadSlice(entry + 1);
  }
  uint64_t Trailer(const char* entry) const;
  // The results are in the entry or in *room.
  Slice Key(const char* entry, std::string* room) const;
  Slice Value(const char* entry, std::string* room) const;

  // One log at a time. 0: it has no number, as there are too many.
  uint32_t AddLog(uint64_t number);
  // The newest one, or 0 if that is another log.
  uint32_t FindLog(uint64_t number) const {
    const uint32_t count = log_count_.load(std::memory_order_acquire);
    return count != 0 && logs_[count - 1] == number ? count : 0;
  }

  // 0 if the record takes a plain entry.
  size_t SizeOf(SequenceNumber sequence, uint32_t log, const Slice& user_key, const LogRef& ref);
  void Encode(SequenceNumber sequence, uint32_t log, const Slice& user_key, const LogRef& ref,
              char* to) const;

 private:
  static constexpr size_t kAddressBytes = 4 + 4 + 2 + 4;

  const InternalKeyComparator* const comparator_;
  std::atomic<SequenceNumber> base_{kMaxSequenceNumber};  // until the first address
  std::atomic<uint32_t> log_count_{0};
  uint64_t logs_[kMostLogs];
};

// Of a SkipList, which copies it.
struct IndexOrder {
  const IndexEntries* entries;
  int operator()(const char* a, const char* b) const { return entries->Compare(a, b); }
  int operator()(const char* a, const Slice& internal_key) const {
    return entries->Compare(a, internal_key);
  }
};

}  // namespace compassdb
