// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/wide_columns.h"

#include <algorithm>
#include <limits>

#include "api/wide_column_codec.h"
#include "util/coding.h"
#include "util/string_util.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WideColumn;
using rocksdb::WideColumns;

namespace {

bool NameLess(const WideColumn& a, const WideColumn& b) { return a.name().compare(b.name()) < 0; }

bool TakeName(Slice* input, Slice* name) {
  uint32_t bytes = 0;
  if (!GetVarint32(input, &bytes) || bytes > input->size()) return false;
  *name = Slice(input->data(), bytes);
  input->remove_prefix(bytes);
  return true;
}

Status Malformed(const char* what, size_t column) {
  return Status::Corruption("wide columns: malformed " + std::string(what) + " of column",
                            std::to_string(column));
}

}  // namespace

Status EncodeWideColumns(const WideColumns& columns, std::string* out) {
  constexpr size_t kLimit = std::numeric_limits<uint32_t>::max();
  WideColumns sorted(columns);
  std::sort(sorted.begin(), sorted.end(), NameLess);
  if (sorted.size() > kLimit) return Status::InvalidArgument("wide columns: too many columns");
  for (size_t i = 0; i < sorted.size(); ++i) {
    const WideColumn& column = sorted[i];
    if (column.name().size() > kLimit || column.value().size() > kLimit) {
      return Status::InvalidArgument("wide columns: 4 GiB or more in column",
                                     EscapeKey(column.name()));
    }
    if (i > 0 && sorted[i - 1].name() == column.name()) {
      return Status::Corruption("wide columns: column given twice", EscapeKey(column.name()));
    }
  }
  PutVarint32(out, kWideColumnsVersion);
  PutVarint32(out, static_cast<uint32_t>(sorted.size()));
  for (const WideColumn& column : sorted) {
    PutVarint32(out, static_cast<uint32_t>(column.name().size()));
    out->append(column.name().data(), column.name().size());
    PutVarint32(out, static_cast<uint32_t>(column.value().size()));
  }
  for (const WideColumn& column : sorted) {
    out->append(column.value().data(), column.value().size());
  }
  return Status::OK();
}

Status DecodeWideColumns(Slice input, WideColumns* columns) {
  columns->clear();
  uint32_t version = 0;
  uint32_t count = 0;
  if (!GetVarint32(&input, &version)) return Status::Corruption("wide columns: no version");
  if (version > kWideColumnsVersion) {
    return Status::NotSupported("wide columns: unknown version", std::to_string(version));
  }
  if (!GetVarint32(&input, &count)) return Status::Corruption("wide columns: no column count");
  // A column takes at least two bytes, so a count beyond that is not worth an allocation.
  if (count > input.size() / 2) return Status::Corruption("wide columns: count exceeds the data");
  WideColumns found;
  std::vector<uint32_t> value_bytes(count);
  found.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    Slice name;
    if (!TakeName(&input, &name)) return Malformed("name", i);
    if (i > 0 && found.back().name().compare(name) >= 0) return Malformed("order", i);
    if (!GetVarint32(&input, &value_bytes[i])) return Malformed("value length", i);
    found.emplace_back(name, Slice());
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (value_bytes[i] > input.size()) return Malformed("value", i);
    found[i].value() = Slice(input.data(), value_bytes[i]);
    input.remove_prefix(value_bytes[i]);
  }
  if (!input.empty()) return Status::Corruption("wide columns: bytes after the last value");
  columns->swap(found);
  return Status::OK();
}

Status DefaultWideColumn(const Slice& input, Slice* value) {
  WideColumns columns;
  Status s = DecodeWideColumns(input, &columns);
  value->clear();
  // The empty name sorts first.
  if (s.ok() && !columns.empty() && columns.front().name().empty()) *value = columns.front().value();
  return s;
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

const Slice kDefaultWideColumnName;
const WideColumns kNoWideColumns;

PinnableWideColumns::PinnableWideColumns(PinnableWideColumns&& other) noexcept {
  *this = std::move(other);
}

// A short value lives inside the string object and so changes its place: the columns follow.
PinnableWideColumns& PinnableWideColumns::operator=(PinnableWideColumns&& other) noexcept {
  if (this == &other) return *this;
  const char* const before = other.value_.data();
  const size_t bytes = other.value_.size();
  value_ = std::move(other.value_);
  columns_ = std::move(other.columns_);
  const char* const after = value_.data();
  auto follow = [&](Slice* s) {
    if (s->data() >= before && s->data() <= before + bytes) {
      s->data_ = after + (s->data() - before);
    }
  };
  for (WideColumn& column : columns_) {
    follow(&column.name());
    follow(&column.value());
  }
  other.Reset();
  return *this;
}

void PinnableWideColumns::Hold(const Slice& value, Cleanable* cleanable) {
  Reset();
  if (cleanable != nullptr) {
    value_.PinSlice(value, cleanable);
  } else {
    value_.PinSelf(value);
  }
}

Status PinnableWideColumns::ParseColumns() {
  return compassdb::DecodeWideColumns(value_, &columns_);
}

void PinnableWideColumns::SetPlainValue(const Slice& value) { SetPlainValue(value, nullptr); }

void PinnableWideColumns::SetPlainValue(const Slice& value, Cleanable* cleanable) {
  Hold(value, cleanable);
  columns_.emplace_back(kDefaultWideColumnName, Slice(value_.data(), value_.size()));
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value) {
  return SetWideColumnValue(value, nullptr);
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value, Cleanable* cleanable) {
  Hold(value, cleanable);
  return ParseColumns();
}

void PinnableWideColumns::Reset() {
  value_.Reset();
  columns_.clear();
}

}  // namespace ROCKSDB_NAMESPACE
