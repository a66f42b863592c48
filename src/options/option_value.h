// SPDX-License-Identifier: Apache-2.0
// Text forms of single option values. Parse functions answer false for text
// that is no value of the type. What they accept and what Format prints is what
// RocksDB 7.8.3 accepts and prints. Bool, integers and double are as in
// api/option_string.h, enums the names of the enumerators. A double is printed with
// six decimals, or with as many as it takes to read the same value back.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compassdb/table.h"
#include "options/option_text.h"
#include "compassdb/data_order.h"
#include "rocksdb/advanced_options.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/universal_compaction.h"

namespace compassdb {

std::string FormatDouble(double value);

// Names of the enumerators of E, specialised in option_value.cc.
template <class E>
using EnumNames = std::vector<std::pair<const char*, E>>;
const EnumNames<Partition>& NamesOf(Partition);
const EnumNames<StoreKind>& NamesOf(StoreKind);
const EnumNames<PointIndex>& NamesOf(PointIndex);
const EnumNames<rocksdb::CompressionType>& NamesOf(rocksdb::CompressionType);
const EnumNames<rocksdb::CompactionStyle>& NamesOf(rocksdb::CompactionStyle);
const EnumNames<rocksdb::CompactionPri>& NamesOf(rocksdb::CompactionPri);
const EnumNames<rocksdb::CompactionStopStyle>& NamesOf(rocksdb::CompactionStopStyle);
const EnumNames<rocksdb::Temperature>& NamesOf(rocksdb::Temperature);
const EnumNames<rocksdb::CacheTier>& NamesOf(rocksdb::CacheTier);
const EnumNames<rocksdb::PrepopulateBlobCache>& NamesOf(rocksdb::PrepopulateBlobCache);
const EnumNames<rocksdb::WALRecoveryMode>& NamesOf(rocksdb::WALRecoveryMode);
const EnumNames<rocksdb::InfoLogLevel>& NamesOf(rocksdb::InfoLogLevel);
const EnumNames<rocksdb::DBOptions::AccessHint>& NamesOf(rocksdb::DBOptions::AccessHint);
const EnumNames<rocksdb::ChecksumType>& NamesOf(rocksdb::ChecksumType);
const EnumNames<rocksdb::EncodingType>& NamesOf(rocksdb::EncodingType);
const EnumNames<rocksdb::PinningTier>& NamesOf(rocksdb::PinningTier);
const EnumNames<rocksdb::BlockBasedTableOptions::IndexType>& NamesOf(
    rocksdb::BlockBasedTableOptions::IndexType);
const EnumNames<rocksdb::BlockBasedTableOptions::DataBlockIndexType>& NamesOf(
    rocksdb::BlockBasedTableOptions::DataBlockIndexType);
const EnumNames<rocksdb::BlockBasedTableOptions::IndexShorteningMode>& NamesOf(
    rocksdb::BlockBasedTableOptions::IndexShorteningMode);
const EnumNames<rocksdb::BlockBasedTableOptions::BlockSearchType>& NamesOf(
    rocksdb::BlockBasedTableOptions::BlockSearchType);
const EnumNames<rocksdb::BlockBasedTableOptions::PrepopulateBlockCache>& NamesOf(
    rocksdb::BlockBasedTableOptions::PrepopulateBlockCache);
const EnumNames<DataOrder>& NamesOf(DataOrder);

const EnumNames<PerfectHash>& NamesOf(PerfectHash);
const EnumNames<ValueGcPolicy>& NamesOf(ValueGcPolicy);

template <class T>
bool ParseValue(const std::string& text, T* value) {
  if constexpr (std::is_same_v<T, bool>) {
    return ParseBool(text, value);
  } else if constexpr (std::is_enum_v<T>) {
    for (const auto& [name, number] : NamesOf(T())) {
      if (text == name) {
        *value = number;
        return true;
      }
    }
    return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    return ParseDouble(text, value);
  } else if constexpr (std::is_same_v<T, int>) {
    return ParseInt(text, value);
  } else if constexpr (std::is_signed_v<T>) {
    int64_t wide = 0;
    if (!ParseSigned(text, &wide) || wide < std::numeric_limits<T>::min() ||
        wide > std::numeric_limits<T>::max()) {
      return false;
    }
    *value = static_cast<T>(wide);
    return true;
  } else {
    uint64_t wide = 0;
    if (!ParseUnsigned(text, &wide) || wide > std::numeric_limits<T>::max()) return false;
    *value = static_cast<T>(wide);
    return true;
  }
}

template <class T>
std::string FormatValue(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    for (const auto& [name, number] : NamesOf(T())) {
      if (number == value) return name;
    }
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return FormatDouble(value);
  } else {
    return std::to_string(value);
  }
}

// As in RocksDB, the elements before an invalid one stay.
template <class T>
bool ParseList(const std::string& text, std::vector<T>* values) {
  values->clear();
  for (size_t pos = 0; pos < text.size();) {
    std::string element;
    T value{};
    if (!TakeToken(text, ':', &pos, &element).ok() || !ParseValue(element, &value)) return false;
    values->push_back(value);
  }
  return true;
}

template <class T>
std::string FormatList(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) {
    if (!out.empty()) out += ':';
    out += FormatValue(value);
  }
  return out;
}

// For the documentation: "bool", "uint64", "enum", ...
template <class T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_enum_v<T>) {
    return "enum";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "double";
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 8 ? "int64" : "int";
  } else {
    return sizeof(T) == 8 ? "uint64" : "uint32";
  }
}

}  // namespace compassdb
