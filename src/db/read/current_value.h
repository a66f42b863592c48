// SPDX-License-Identifier: Apache-2.0
// The value that an iterator is at, in the place where it is.
#pragma once

#include <string>

#include "api/wide_column_codec.h"
#include "iter/internal_iterator.h"
#include "rocksdb/slice.h"
#include "rocksdb/wide_columns.h"

namespace compassdb {

class CurrentValue {
 public:
  enum class Place : uint8_t {
    kEntry,      // the internal iterator's
    kCopied,     // *copied()
    kSeparated,  // *separated()
    kEntity,     // columns, whose bytes are in one of these three
  };

  void SetPlace(Place place) { place_ = place; }
  void Copy(const Slice& value) {
    copied_.assign(value.data(), value.size());
    place_ = Place::kCopied;
  }
  // The bytes do not move while the iterator does not.
  Status SetEntity(const Slice& stored) {
    place_ = Place::kEntity;
    return DecodeWideColumns(stored, &columns_);
  }

  Place place() const { return place_; }
  Slice Get(const InternalIterator& entry) const {
    if (place_ == Place::kEntry) return entry.value();
    return place_ == Place::kCopied ? Slice(copied_) : SeparatedOrDefault();
  }
  const rocksdb::WideColumns& Columns(const InternalIterator& entry) const {
    if (place_ != Place::kEntity) {
      columns_.assign(1, rocksdb::WideColumn(rocksdb::kDefaultWideColumnName, Get(entry)));
    }
    return columns_;
  }
  std::string* copied() { return &copied_; }
  rocksdb::PinnableSlice* separated() { return &separated_; }

 private:
  Slice SeparatedOrDefault() const {
    if (place_ == Place::kSeparated) return separated_;
    const bool has_default = !columns_.empty() && columns_.front().name().empty();
    return has_default ? columns_.front().value() : Slice();
  }

  Place place_ = Place::kEntry;
  std::string copied_;
  rocksdb::PinnableSlice separated_;
  mutable rocksdb::WideColumns columns_;  // of an entity, or made by Columns()
};

}  // namespace compassdb
