// SPDX-License-Identifier: Apache-2.0
//
// Wide columns: an entry whose value is a sorted list of (column name, column value). A plain value
// is the same as an entity with one column of the empty name.

#pragma once

#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// One column. Owns nothing: both slices refer to bytes of another owner.
class WideColumn {
 public:
  WideColumn() = default;

  // Name and value of anything a Slice is made from.
  template <typename N, typename V>
  WideColumn(N&& name, V&& value) : name_(std::forward<N>(name)), value_(std::forward<V>(value)) {}

  // Name and value each from a tuple of a Slice's constructor arguments.
  template <typename NTuple, typename VTuple>
  WideColumn(std::piecewise_construct_t, NTuple&& name_tuple, VTuple&& value_tuple)
      : name_(std::make_from_tuple<Slice>(std::forward<NTuple>(name_tuple))),
        value_(std::make_from_tuple<Slice>(std::forward<VTuple>(value_tuple))) {}

  const Slice& name() const { return name_; }
  const Slice& value() const { return value_; }

  Slice& name() { return name_; }
  Slice& value() { return value_; }

 private:
  Slice name_;
  Slice value_;
};

inline bool operator==(const WideColumn& lhs, const WideColumn& rhs) {
  return lhs.name() == rhs.name() && lhs.value() == rhs.value();
}

inline bool operator!=(const WideColumn& lhs, const WideColumn& rhs) { return !(lhs == rhs); }

// "name:value", in hexadecimal if the stream is set to std::hex.
inline std::ostream& operator<<(std::ostream& os, const WideColumn& column) {
  const bool hex = (os.flags() & std::ios_base::hex) != 0;
  return os << column.name().ToString(hex) << ':' << column.value().ToString(hex);
}

using WideColumns = std::vector<WideColumn>;

// The name of the column that stands for a plain value: empty.
extern const Slice kDefaultWideColumnName;

// No columns.
extern const WideColumns kNoWideColumns;

// The columns of one entry together with the bytes they refer to. Filled by DB::GetEntity().
//
// Thread safety: none; one thread at a time.
class PinnableWideColumns {
 public:
  PinnableWideColumns() = default;
  // The columns move along; the source is left without any.
  PinnableWideColumns(PinnableWideColumns&& other) noexcept;
  PinnableWideColumns& operator=(PinnableWideColumns&& other) noexcept;

  const WideColumns& columns() const { return columns_; }

  // Bytes of the stored form.
  size_t serialized_size() const { return value_.size(); }

  // One default column with a copy of `value`, or with the bytes pinned by `cleanable` if not null.
  void SetPlainValue(const Slice& value);
  void SetPlainValue(const Slice& value, Cleanable* cleanable);

  // The columns of a stored entity. Corruption if it does not parse; there are then no columns.
  Status SetWideColumnValue(const Slice& value);
  Status SetWideColumnValue(const Slice& value, Cleanable* cleanable);

  void Reset();

 private:
  void Hold(const Slice& value, Cleanable* cleanable);
  Status ParseColumns();

  PinnableSlice value_;
  WideColumns columns_;
};

inline bool operator==(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return lhs.columns() == rhs.columns();
}

inline bool operator!=(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return !(lhs == rhs);
}

}  // namespace ROCKSDB_NAMESPACE
