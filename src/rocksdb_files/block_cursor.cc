// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/block_cursor.h"

#include "util/coding.h"

namespace compassdb::rocksdb_files {

namespace {

// Bits of the last number of a block, above the number of its restart points.
constexpr uint32_t kHasHashIndex = 1u << 31;
constexpr uint32_t kIsUniform = 1u << 29;
constexpr uint32_t kValuesApart = 1u << 28;
constexpr uint32_t kMostRestarts = kValuesApart - 1;

// A hash index: a byte for each bucket, and the number of buckets.
bool DropHashIndex(Slice* in) {
  if (in->size() < 2) return false;
  const size_t buckets = DecodeFixed16(in->data() + in->size() - 2);
  if (in->size() < 2 + buckets) return false;
  in->remove_suffix(2 + buckets);
  return true;
}

bool TakeFixed32FromEnd(Slice* in, uint32_t* number) {
  if (in->size() < 4) return false;
  *number = DecodeFixed32(in->data() + in->size() - 4);
  in->remove_suffix(4);
  return true;
}

}  // namespace

bool BlockCursor::DecodeEnd(const Slice& block) {
  Slice rest = block;
  uint32_t last;
  uint32_t values_begin = 0;
  if (!TakeFixed32FromEnd(&rest, &last)) return false;
  apart_ = (last & kValuesApart) != 0;
  const bool hashed = (last & kHasHashIndex) != 0;
  const uint32_t restarts = last & ~(kHasHashIndex | kIsUniform | kValuesApart);
  if (restarts > kMostRestarts) {
    status_ = Status::NotSupported("a block with a feature of a newer RocksDB");
    return false;
  }
  if (apart_ && !TakeFixed32FromEnd(&rest, &values_begin)) return false;
  if (hashed && !DropHashIndex(&rest)) return false;
  if (rest.size() / 4 < restarts) return false;
  restarts_ = Slice(rest.data() + rest.size() - 4 * size_t{restarts}, 4 * size_t{restarts});
  rest.remove_suffix(restarts_.size());
  keys_ = rest;
  values_ = Slice();
  if (!apart_) return true;
  if (values_begin > rest.size() || layout_ != BlockLayout::kEntries) return false;
  keys_ = Slice(rest.data(), values_begin);
  values_ = Slice(rest.data() + values_begin, rest.size() - values_begin);
  return true;
}

void BlockCursor::Start(const Slice& block, BlockLayout layout, IndexExtra extra) {
  layout_ = layout;
  extra_ = extra;
  next_ = 0;
  next_restart_ = 0;
  value_end_ = 0;
  valid_ = false;
  status_ = Status::OK();
  key_.clear();
  place_ = {};
  if (!DecodeEnd(block)) {
    Damaged();
    return;
  }
  Next();
}

uint32_t BlockCursor::RestartAt(uint32_t i) const { return DecodeFixed32(restarts_.data() + 4 * size_t{i}); }

bool BlockCursor::AtRestart() {
  if (4 * size_t{next_restart_} >= restarts_.size() || RestartAt(next_restart_) != next_) return false;
  ++next_restart_;
  return true;
}

bool BlockCursor::Damaged() {
  valid_ = false;
  if (status_.ok()) status_ = Status::Corruption("a block of the table is damaged");
  return false;
}

void BlockCursor::Next() {
  valid_ = false;
  if (!status_.ok()) return;
  if (next_ == keys_.size()) {
    // The restart points were entries. An empty block has one, at its beginning.
    const bool all = 4 * size_t{next_restart_} == restarts_.size() || next_ == 0;
    if (!all || value_end_ != values_.size()) Damaged();
    return;
  }
  valid_ = DecodeEntry() || Damaged();
}

bool BlockCursor::DecodeEntry() {
  const bool restart = AtRestart();
  Slice in(keys_.data() + next_, keys_.size() - next_);
  uint32_t shared, own, value_size = 0, value_begin = 0;
  if (!GetVarint32(&in, &shared) || !GetVarint32(&in, &own)) return false;
  if (layout_ != BlockLayout::kDeltaIndex && !GetVarint32(&in, &value_size)) return false;
  if (apart_ && restart && (!GetVarint32(&in, &value_begin) || value_begin != value_end_)) return false;
  if (shared > key_.size() || (restart && shared != 0) || own > in.size()) return false;
  key_.resize(shared);
  key_.append(in.data(), own);
  in.remove_prefix(own);
  if (layout_ == BlockLayout::kDeltaIndex) {
    const char* begin = in.data();
    if (!DecodePlace(&in, shared == 0)) return false;
    value_ = Slice(begin, static_cast<size_t>(in.data() - begin));
  } else if (apart_) {
    if (value_size > values_.size() - value_end_) return false;
    value_ = Slice(values_.data() + value_end_, value_size);
    value_end_ += value_size;
  } else {
    if (value_size > in.size()) return false;
    value_ = Slice(in.data(), value_size);
    in.remove_prefix(value_size);
    Slice value = value_;
    if (layout_ == BlockLayout::kIndex && !DecodePlace(&value, true)) return false;
  }
  next_ = keys_.size() - in.size();
  return true;
}

bool BlockCursor::DecodePlace(Slice* in, bool whole) {
  if (whole) {
    if (!GetBlockPlace(in, &place_)) return false;
  } else {
    uint64_t difference;
    if (!GetVarint64(in, &difference)) return false;
    place_.offset += place_.size + kTrailerSize;
    place_.size += static_cast<uint64_t>(UnZigZag(difference));
  }
  first_key_ = Slice();
  return extra_ == IndexExtra::kNothing || GetLengthPrefixedSlice(in, &first_key_);
}

}  // namespace compassdb::rocksdb_files
