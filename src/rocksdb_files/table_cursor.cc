// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/internal_key.h"
#include "rocksdb_files/blob_reference.h"
#include "rocksdb_files/table_file.h"
#include "rocksdb_files/table_properties.h"
#include "util/coding.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr uint64_t kWindow = 1 << 20;
constexpr size_t kTimeSize = 8;

}  // namespace

bool TableCursor::Fail(const Status& s) {
  valid_ = false;
  if (status_.ok()) status_ = table_->Name(s);
  return false;
}

void TableCursor::SeekToFirst() {
  started_ = false;
  has_separator_ = false;
  valid_ = false;
  status_ = Status::OK();
  stored_key_.clear();
  count_ = 0;
  const Status s = table_->ReadBlock(table_->footer_.index, &top_block_);
  if (!s.ok()) {
    Fail(s);
    return;
  }
  top_.Start(top_block_, table_->index_layout_, table_->two_levels_ ? IndexExtra::kNothing : table_->index_extra_);
  if (NextBlock()) Next();
}

// To the next data block that is not empty; false at the end.
bool TableCursor::NextBlock() {
  BlockCursor* const lowest = table_->two_levels_ ? &index_ : &top_;
  for (;;) {
    if (!started_) {
      started_ = true;
      if (table_->two_levels_ && !OpenIndexPart()) return false;
    } else {
      if (!CheckAgainstIndex()) return false;
      lowest->Next();
    }
    while (table_->two_levels_ && !index_.Valid()) {
      if (!index_.status().ok()) return Fail(index_.status());
      top_.Next();
      if (!OpenIndexPart()) return false;
    }
    if (!lowest->Valid()) return lowest->status().ok() ? CheckCount() : Fail(lowest->status());
    if (!OpenDataBlock(lowest->place())) return false;
    if (data_.Valid()) return true;
    if (!data_.status().ok()) return Fail(data_.status());
  }
}

bool TableCursor::OpenIndexPart() {
  if (!top_.Valid()) return top_.status().ok() ? CheckCount() : Fail(top_.status());
  const Status s = table_->ReadBlock(top_.place(), &index_block_);
  if (!s.ok()) return Fail(s);
  index_.Start(index_block_, table_->index_layout_, table_->index_extra_);
  return true;
}

bool TableCursor::OpenDataBlock(const BlockPlace& place) {
  Status s = table_->CheckPlace(place);
  Slice raw;
  if (s.ok() && !ReadAhead(place, &raw)) return false;
  if (s.ok()) s = table_->CheckRaw(place, raw);
  if (s.ok()) s = table_->Unpack(raw, table_->dictionary_, &data_block_);
  if (!s.ok()) return Fail(s);
  data_.Start(data_block_, BlockLayout::kEntries);
  return true;
}

bool TableCursor::ReadAhead(const BlockPlace& place, Slice* raw) {
  const uint64_t n = place.size + kTrailerSize;
  if (place.offset < window_begin_ || place.offset + n > window_begin_ + window_.size()) {
    const size_t length = static_cast<size_t>(std::min(table_->size_ - place.offset, std::max(n, kWindow)));
    window_.resize(length);
    window_begin_ = place.offset;
    Slice result;
    const Status s = table_->file_->Read(place.offset, length, &result, window_.data());
    if (!s.ok()) return Fail(s);
    if (result.size() != length) return Fail(Status::Corruption("the file is shorter than its size"));
    if (result.data() != window_.data()) window_.assign(result.data(), length);
  }
  *raw = Slice(window_.data() + (place.offset - window_begin_), static_cast<size_t>(n));
  return true;
}

void TableCursor::Next() {
  if (valid_) data_.Next();
  valid_ = false;
  if (!status_.ok()) return;
  if (!data_.Valid()) {
    if (!data_.status().ok()) {
      Fail(data_.status());
      return;
    }
    if (!NextBlock()) return;
  }
  valid_ = TakeEntry();
}

bool TableCursor::TakeEntry() {
  const std::string& stored = data_.key();
  if (stored.size() < 8) return Fail(Status::Corruption("a key of the table is too short"));
  if (!CheckOrder(stored)) return false;
  stored_key_ = stored;
  ++count_;
  const uint64_t trailer = ExtractTrailer(stored);
  key_.assign(stored.data(), stored.size() - 8);
  table_->AddTimestamp(&key_);
  if (table_->options_.comparator != nullptr && key_.size() < table_->options_.comparator->timestamp_size()) {
    return Fail(Status::Corruption("a key of the table has no timestamp"));
  }
  PutFixed64(&key_, PackTrailer(table_->sequence_.value_or(trailer >> 8), static_cast<ValueType>(trailer & 0xff)));
  return TakeValue(trailer & 0xff, data_.value());
}

bool TableCursor::TakeValue(uint8_t type, const Slice& value) {
  value_ = value;
  switch (type) {
    case kTypeDeletion:
    case kTypeValue:
    case kTypeMerge:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
    case kTypeWideColumnEntity:
      return true;
    case kTypeValueWithTime:
      if (value.size() < kTimeSize) return Fail(Status::Corruption("a value with a time is too short"));
      value_.remove_suffix(kTimeSize);
      key_[key_.size() - 8] = static_cast<char>(kTypeValue);
      return true;
    case kTypeBlobIndex: {
      BlobReference reference;
      if (!table_->values_inside_) return true;
      if (!DecodeBlobReference(value, &reference)) return Fail(Status::Corruption("a reference to a value is damaged"));
      if (reference.kind != BlobReference::kInFile || reference.file != 0) return true;
      const Status s = table_->ReadBlock({reference.offset, reference.size}, &value_inside_);
      if (!s.ok()) return Fail(s);
      value_ = value_inside_;
      key_[key_.size() - 8] = static_cast<char>(kTypeValue);
      return true;
    }
    default:
      return Fail(Status::NotSupported("a record of type " + std::to_string(type)));
  }
}

bool TableCursor::CheckOrder(const std::string& key) {
  // Stored keys without timestamps cannot be given to the comparator.
  if (table_->options_.comparator == nullptr || table_->stripped_timestamp_ != 0) return true;
  if (table_->options_.comparator->timestamp_size() > key.size() - 8) return true;  // reported by TakeEntry
  const InternalKeyComparator order(table_->options_.comparator);
  if (count_ > 0 && order.Compare(stored_key_, key) >= 0) {
    return Fail(Status::Corruption("the keys of the table are not in the order of its comparator"));
  }
  if (!has_separator_) return true;
  const bool above = table_->index_of_user_keys_
                         ? order.CompareUserKey(separator_, ExtractUserKey(key)) < 0
                         : separator_.size() >= 8 && order.Compare(separator_, key) < 0;
  if (!above) return Fail(Status::Corruption("a block of the table begins before the end of the one before"));
  has_separator_ = false;
  return true;
}

// The separator that the index has for the block that ends here.
bool TableCursor::CheckAgainstIndex() {
  if (table_->options_.comparator == nullptr || table_->stripped_timestamp_ != 0 || count_ == 0) return true;
  separator_ = table_->two_levels_ ? index_.key() : top_.key();
  const InternalKeyComparator order(table_->options_.comparator);
  const size_t least = table_->options_.comparator->timestamp_size() + (table_->index_of_user_keys_ ? 0 : 8);
  if (separator_.size() < least) return Fail(Status::Corruption("a key of the index is too short"));
  const bool within = table_->index_of_user_keys_ ? order.CompareUserKey(ExtractUserKey(stored_key_), separator_) <= 0
                                                  : order.Compare(stored_key_, separator_) <= 0;
  if (!within) return Fail(Status::Corruption("a block of the table goes beyond its key in the index"));
  has_separator_ = true;
  return true;
}

// False in any case: the end.
bool TableCursor::CheckCount() {
  const uint64_t deletions = table_->NumberProperty(kRangeDeletionsProperty, table_->range_tombstones_.size());
  const uint64_t all = table_->NumberProperty(kEntriesProperty, count_ + deletions);
  if (all != count_ + deletions) {
    return Fail(Status::Corruption("the table has " + std::to_string(count_) + " records, and its properties say " +
                                   std::to_string(all - deletions)));
  }
  return false;
}

}  // namespace compassdb::rocksdb_files
