// SPDX-License-Identifier: Apache-2.0
#include "memtable/entries.h"

#include <algorithm>
#include <cstring>

namespace compassdb {

Slice PlainEntries::Value(const char* entry) {
  const Slice key = Key(entry);
  const Slice value = ReadSlice(key.data() + key.size());
  if (value.size() < kApartFrom) return value;
  const char* apart = nullptr;
  memcpy(&apart, value.data(), sizeof(apart));
  return Slice(apart, value.size());
}

size_t PlainEntries::SizeOf(const Slice& user_key, const Slice& value) {
  const auto key_bytes = static_cast<uint32_t>(user_key.size() + 8);
  const auto value_bytes = static_cast<uint32_t>(value.size());
  return static_cast<size_t>(VarintLength(key_bytes)) + key_bytes +
         static_cast<size_t>(VarintLength(value_bytes)) +
         (value_bytes < kApartFrom ? value_bytes : sizeof(char*));
}

void PlainEntries::Encode(SequenceNumber sequence, ValueType type, const Slice& user_key,
                          const Slice& value, const char* apart, char* to) {
  char* p = EncodeVarint32(to, static_cast<uint32_t>(user_key.size() + 8));
  if (!user_key.empty()) memcpy(p, user_key.data(), user_key.size());
  p += user_key.size();
  EncodeFixed64(p, PackTrailer(sequence, type));
  p = EncodeVarint32(p + 8, static_cast<uint32_t>(value.size()));
  if (value.size() >= kApartFrom) {
    memcpy(p, &apart, sizeof(apart));
  } else if (!value.empty()) {
    memcpy(p, value.data(), value.size());
  }
}

int IndexEntries::Compare(const char* a, const char* b) const {
  if (const int r = comparator_->CompareUserKey(UserKey(a), UserKey(b)); r != 0) return r;
  return comparator_->CompareTrailers(Trailer(a), Trailer(b));
}

int IndexEntries::Compare(const char* a, const Slice& internal_key) const {
  const Slice key = ExtractUserKey(internal_key);
  if (const int r = comparator_->CompareUserKey(UserKey(a), key); r != 0) return r;
  return comparator_->CompareTrailers(Trailer(a), ExtractTrailer(internal_key));
}

uint64_t IndexEntries::Trailer(const char* entry) const {
  if (entry[0] == 0) return PlainEntries::Trailer(entry + 1);
  const Slice key = PlainEntries::ReadSlice(entry + 1);
  return PackTrailer(base_.load(std::memory_order_acquire) + DecodeFixed32(key.data() + key.size()),
                     kTypeBlobIndex);
}

Slice IndexEntries::Key(const char* entry, std::string* room) const {
  if (entry[0] == 0) return PlainEntries::Key(entry + 1);
  const Slice key = UserKey(entry);
  room->assign(key.data(), key.size());
  PutFixed64(room, Trailer(entry));
  return *room;
}

Slice IndexEntries::Value(const char* entry, std::string* room) const {
  if (entry[0] == 0) return PlainEntries::Value(entry + 1);
  const Slice key = UserKey(entry);
  const char* const p = key.data() + key.size() + 4;
  LogRef ref;
  ref.log = logs_[static_cast<uint8_t>(entry[0]) - 1];
  ref.offset = DecodeFixed32(p);
  ref.size = DecodeFixed16(p + 4);
  ref.checksum = DecodeFixed32(p + 6);
  ref.EncodeTo(room);
  return *room;
}

uint32_t IndexEntries::AddLog(uint64_t number) {
  const uint32_t count = log_count_.load(std::memory_order_relaxed);
  if (count == kMostLogs) return 0;
  logs_[count] = number;
  log_count_.store(count + 1, std::memory_order_release);
  return count + 1;
}

size_t IndexEntries::SizeOf(SequenceNumber sequence, uint32_t log, const Slice& user_key,
                            const LogRef& ref) {
  const size_t longest = std::max<size_t>(user_key.size(), ref.size);
  if (log == 0 || longest > UINT16_MAX || ref.offset > UINT32_MAX) return 0;
  // Concurrent ones may be older than the first.
  constexpr uint64_t kBefore = uint64_t{1} << 31;
  SequenceNumber base = base_.load(std::memory_order_acquire);
  if (base == kMaxSequenceNumber) {
    const SequenceNumber first = sequence - std::min(sequence, kBefore);
    if (base_.compare_exchange_strong(base, first, std::memory_order_acq_rel)) base = first;
  }
  if (sequence < base || sequence - base > UINT32_MAX) return 0;
  const auto key_bytes = static_cast<uint32_t>(user_key.size());
  return 1 + static_cast<size_t>(VarintLength(key_bytes)) + key_bytes + kAddressBytes;
}

void IndexEntries::Encode(SequenceNumber sequence, uint32_t log, const Slice& user_key,
                          const LogRef& ref, char* to) const {
  *to = static_cast<char>(log);
  char* p = EncodeVarint32(to + 1, static_cast<uint32_t>(user_key.size()));
  if (!user_key.empty()) memcpy(p, user_key.data(), user_key.size());
  p += user_key.size();
  EncodeFixed32(p, static_cast<uint32_t>(sequence - base_.load(std::memory_order_acquire)));
  EncodeFixed32(p + 4, static_cast<uint32_t>(ref.offset));
  const auto value_size = static_cast<uint16_t>(ref.size);
  memcpy(p + 8, &value_size, sizeof(value_size));
  EncodeFixed32(p + 10, ref.checksum);
}

}  // namespace compassdb
