// SPDX-License-Identifier: Apache-2.0
#include "table/block/block.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>

#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr int kTypeBits = 5;

uint64_t TrailerOf(const Block::Record& r) { return PackTrailer(r.sequence, r.type); }

}  // namespace

// --- BlockBuilder ---

void BlockBuilder::Add(const Slice& user_key, uint8_t fingerprint, SequenceNumber seq,
                       ValueType type, const Slice& value) {
  if (records_.empty()) {
    prefix_ = share_prefix_ ? user_key.size() : 0;
    min_seq_ = max_seq_ = seq;
  } else {
    if (prefix_ > 0) {
      prefix_ = std::min(prefix_, CommonPrefixLength(KeyOf(records_[0]), user_key));
    }
    min_seq_ = std::min(min_seq_, seq);
    max_seq_ = std::max(max_seq_, seq);
  }
  records_.push_back({bytes_.size(), user_key.size(), value.size(), seq, type, fingerprint});
  bytes_.append(user_key.data(), user_key.size());
  bytes_.append(value.data(), value.size());
  key_bytes_ += user_key.size();
}

size_t BlockBuilder::Estimate(size_t count, size_t key_bytes, size_t value_bytes, size_t prefix,
                              SequenceNumber spread) const {
  const size_t suffixes = key_bytes - count * prefix;
  const size_t average_suffix = count == 0 ? 0 : suffixes / count;
  const size_t average_value = count == 0 ? 0 : value_bytes / count;
  const size_t overhead = (with_fingerprints_ ? 3 : 2) +
                          static_cast<size_t>(VarintLength(average_suffix * 2) +
                                                  VarintLength(average_value * 2) +
                                                  VarintLength(spread << kTypeBits | 31));
  return 16 + prefix + suffixes + value_bytes + count * overhead;
}

size_t BlockBuilder::EstimatedSize() const {
  return Estimate(records_.size(), key_bytes_, bytes_.size() - key_bytes_, prefix_,
                  max_seq_ - min_seq_);
}

size_t BlockBuilder::EstimatedSizeWith(const Slice& user_key, SequenceNumber seq,
                                       const Slice& value) const {
  size_t prefix = prefix_;
  SequenceNumber low = seq, high = seq;
  if (records_.empty()) {
    prefix = share_prefix_ ? user_key.size() : 0;
  } else {
    if (prefix > 0) prefix = std::min(prefix, CommonPrefixLength(KeyOf(records_[0]), user_key));
    low = std::min(seq, min_seq_);
    high = std::max(seq, max_seq_);
  }
  return Estimate(records_.size() + 1, key_bytes_ + user_key.size(),
                  bytes_.size() - key_bytes_ + value.size(), prefix, high - low);
}

Slice BlockBuilder::LastUserKey() const { return KeyOf(records_.back()); }

void BlockBuilder::Finish(std::string* payload) {
  std::string body;
  body.reserve(bytes_.size() + records_.size() * 12);
  std::vector<size_t> offsets;
  offsets.reserve(records_.size());
  for (const Pending& r : records_) {
    offsets.push_back(body.size());
    PutVarint32(&body, static_cast<uint32_t>(r.key_length - prefix_));
    PutVarint32(&body, static_cast<uint32_t>(r.value_length));
    PutVarint64(&body, (r.sequence - min_seq_) << kTypeBits | r.type);
    body.append(bytes_, r.key_begin + prefix_, r.key_length - prefix_ + r.value_length);
  }
  const bool wide = !offsets.empty() && offsets.back() > UINT16_MAX;
  payload->clear();
  PutVarint32(payload, count());
  payload->push_back(static_cast<char>((wide ? kBlockWideOffsets : 0) |
                                       (with_fingerprints_ ? kBlockFingerprints : 0)));
  PutVarint32(payload, static_cast<uint32_t>(prefix_));
  if (prefix_ > 0) payload->append(bytes_, 0, prefix_);  // the first key starts at 0
  PutVarint64(payload, min_seq_);
  if (with_fingerprints_) {
    for (const Pending& r : records_) payload->push_back(static_cast<char>(r.fingerprint));
  }
  for (size_t offset : offsets) {
    if (wide) {
      PutFixed32(payload, static_cast<uint32_t>(offset));
    } else {
      PutFixed16(payload, static_cast<uint16_t>(offset));
    }
  }
  ClearBuffer(&bytes_);  // before the last copy, which may be one large record
  payload->append(body);
  records_.clear();
  key_bytes_ = prefix_ = 0;
  min_seq_ = max_seq_ = 0;
}

// --- Block ---

bool Block::Parse(const Slice& payload, Block* out) {
  *out = Block();
  const char* p = payload.data();
  const char* const limit = p + payload.size();
  uint32_t count = 0, prefix_length = 0;
  uint64_t min_seq = 0;
  p = GetVarint32Ptr(p, limit, &count);
  if (p == nullptr || p == limit || count == 0) return false;
  const uint8_t flags = static_cast<uint8_t>(*p++);
  if ((flags & ~(kBlockWideOffsets | kBlockFingerprints)) != 0) return false;
  p = GetVarint32Ptr(p, limit, &prefix_length);
  if (p == nullptr || static_cast<size_t>(limit - p) < prefix_length) return false;
  const Slice prefix(p, prefix_length);
  p = GetVarint64Ptr(p + prefix_length, limit, &min_seq);
  if (p == nullptr || min_seq > kMaxSequenceNumber) return false;
  const bool wide = (flags & kBlockWideOffsets) != 0;
  if ((flags & kBlockFingerprints) != 0) {
    if (static_cast<uint64_t>(limit - p) < count) return false;
    out->fingerprints_ = p;
    p += count;
  }
  const uint64_t offset_bytes = uint64_t{count} * (wide ? 4 : 2);
  if (static_cast<uint64_t>(limit - p) < offset_bytes) return false;
  out->offsets_ = p;
  out->records_ = p + offset_bytes;
  out->limit_ = limit;
  out->prefix_ = prefix;
  out->count_ = count;
  out->wide_ = wide;
  out->min_seq_ = min_seq;
  return true;
}

bool Block::Get(uint32_t i, Record* record) const {
  const uint32_t offset = OffsetOf(i);
  if (offset >= static_cast<size_t>(limit_ - records_)) return false;
  const char* p = records_ + offset;
  uint32_t suffix_length, value_length;
  uint64_t tag;
  if ((p = GetVarint32Ptr(p, limit_, &suffix_length)) == nullptr ||
      (p = GetVarint32Ptr(p, limit_, &value_length)) == nullptr ||
      (p = GetVarint64Ptr(p, limit_, &tag)) == nullptr) {
    return false;
  }
  if (uint64_t{suffix_length} + value_length > static_cast<uint64_t>(limit_ - p)) return false;
  const uint64_t type = tag & ((1u << kTypeBits) - 1);
  const uint64_t sequence = min_seq_ + (tag >> kTypeBits);
  if (!IsPointType(static_cast<uint8_t>(type)) || sequence > kMaxSequenceNumber) return false;
  record->suffix = Slice(p, suffix_length);
  record->value = Slice(p + suffix_length, value_length);
  record->sequence = sequence;
  record->type = static_cast<ValueType>(type);
  return true;
}

int Block::StripPrefix(const Slice& user_key, Slice* suffix) const {
  const size_t n = prefix_.size();
  if (n == 0) {
    *suffix = user_key;
    return 0;
  }
  const int r = memcmp(user_key.data(), prefix_.data(), std::min(n, user_key.size()));
  if (r != 0) return r;
  if (user_key.size() < n) return -1;
  *suffix = Slice(user_key.data() + n, user_key.size() - n);
  return 0;
}

template <bool kBytewise>
bool Block::LowerBoundOfSuffix(const Comparator* comparator, const Slice& suffix,
                               uint64_t trailer, uint32_t* index) const {
  uint32_t low = 0, high = count_;
  Record r;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (!Get(mid, &r)) return false;
    int c;
    if constexpr (kBytewise) {
      c = CompareBytes(r.suffix, suffix);
    } else {
      c = comparator->Compare(r.suffix, suffix);
    }
    if (c == 0) c = TrailerOf(r) > trailer ? -1 : 1;
    if (c < 0) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  *index = low;
  return true;
}

bool Block::LowerBound(const KeyOrder& order, const Slice& user_key, uint64_t trailer,
                       uint32_t* index) const {
  if (!order.bytewise()) {
    if (!prefix_.empty()) return false;
    return LowerBoundOfSuffix<false>(order.comparator(), user_key, trailer, index);
  }
  Slice suffix;
  const int side = StripPrefix(user_key, &suffix);
  if (side != 0) {
    *index = side < 0 ? 0 : count_;
    return true;
  }
  return LowerBoundOfSuffix<true>(nullptr, suffix, trailer, index);
}

bool Block::HasKey(const KeyOrder& order, uint32_t i, const Slice& user_key, Record* record,
                   bool* ok) const {
  *ok = Get(i, record);
  if (!*ok) return false;
  if (!order.bytewise()) return order.comparator()->Compare(record->suffix, user_key) == 0;
  return user_key.size() == prefix_.size() + record->suffix.size() &&
         user_key.starts_with(prefix_) && user_key.ends_with(record->suffix);
}

uint32_t Block::NextMatch(uint32_t begin, uint8_t fingerprint) const {
  uint32_t i = begin;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(fingerprint));
  // Offsets and records follow: only in the smallest blocks would a load pass the end.
  while (i < count_ && limit_ - (fingerprints_ + i) >= 16) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(fingerprints_ + i));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)));
    if (mask != 0) return std::min(count_, i + static_cast<uint32_t>(std::countr_zero(mask)));
    i += 16;
  }
#endif
  while (i < count_ && static_cast<uint8_t>(fingerprints_[i]) != fingerprint) ++i;
  return std::min(i, count_);
}

// Versions of a key are adjacent and share its fingerprint: the first match
// with the key is its newest version here.
bool Block::FirstOfKey(const KeyOrder& order, const Slice& user_key, uint8_t fingerprint,
                       uint32_t* index) const {
  uint32_t i = NextMatch(0, fingerprint);
  for (; i < count_; i = NextMatch(i + 1, fingerprint)) {
    bool ok;
    Record record;
    if (HasKey(order, i, user_key, &record, &ok)) break;
    if (!ok) return false;
  }
  *index = i;
  return true;
}

bool Block::Find(const KeyOrder& order, const Slice& user_key, const KeyHash* hash,
                 SequenceNumber snapshot, FindResult* result) const {
  *result = FindResult();
  uint32_t i;
  if (hash != nullptr && fingerprints_ != nullptr) {
    if (!FirstOfKey(order, user_key, BlockFingerprint(*hash), &i)) return false;
    if (i == count_) return true;
  } else if (!LowerBound(order, user_key, UINT64_MAX, &i)) {
    return false;
  }
  for (bool first = true; i < count_; ++i, first = false) {
    bool ok;
    if (!HasKey(order, i, user_key, &result->record, &ok)) return ok;
    result->key_present = true;
    if (result->record.sequence <= snapshot) {
      result->found = true;
      result->first = first;
      result->index = i;
      return true;
    }
  }
  result->reaches_end = true;
  return true;
}

// --- BlockIter ---

void BlockIter::Reset(const Block& block, const KeyOrder& order) {
  block_ = block;
  order_ = order;
  index_ = kNowhere;
  damaged_ = false;
  key_.assign(block.prefix().data(), block.prefix().size());
}

void BlockIter::Clear() {
  block_ = Block();
  index_ = kNowhere;
  damaged_ = false;
}

void BlockIter::Damaged() {
  damaged_ = true;
  index_ = kNowhere;
}

void BlockIter::MoveTo(uint32_t index) {
  if (index >= block_.count()) {
    index_ = kNowhere;
    return;
  }
  if (!block_.Get(index, &record_)) return Damaged();
  block_.Prefetch(index_ == kNowhere || index > index_ ? index + 1 : index - 1);
  index_ = index;
  key_.resize(block_.prefix().size());
  key_.append(record_.suffix.data(), record_.suffix.size());
  PutFixed64(&key_, TrailerOf(record_));
}

void BlockIter::Seek(const Slice& internal_key) {
  if (block_.count() == 0) return;
  block_.PrefetchSearch();
  uint32_t index;
  if (internal_key.size() < 8 ||
      !block_.LowerBound(order_, ExtractUserKey(internal_key), ExtractTrailer(internal_key),
                         &index)) {
    return Damaged();
  }
  MoveTo(index);
}

void BlockIter::SeekForPrev(const Slice& internal_key) {
  Seek(internal_key);
  if (damaged_ || block_.count() == 0) return;
  if (!Valid()) {
    SeekToLast();
  } else if (ExtractTrailer(internal_key) != TrailerOf(record_) ||
             order_.Compare(user_key(), ExtractUserKey(internal_key)) != 0) {
    MoveTo(index_ - 1);
  }
}

Status BlockIter::status() const {
  return damaged_ ? Status::Corruption("data block", "malformed record") : Status::OK();
}

}  // namespace compassdb
