// SPDX-License-Identifier: Apache-2.0
// The filter of one piece: the user keys, and their prefixes, that it may have
// (docs/formats/filter.md).
//
//   filter := flags:u8 extractor:length-prefixed bits
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "filter/filter_bits.h"
#include "rocksdb/slice.h"
#include "rocksdb/slice_transform.h"

namespace compassdb {

// For what a filter is built.
struct FilterPlace {
  int level = 0;
  bool bottommost = false;
  // From memtables alone, for any level; or from one table of level 0 that overlaps no other: RocksDB would have
  // moved it down as it is.
  bool flush = false;
  bool recovery = false;  // a flush of records from the log
};

// The filters of a family.
struct FilterOptions {
  // Creates the builder of one filter; may return null: no filter. Empty: the family has no filters, and
  // those of pieces are not checked.
  std::function<std::unique_ptr<rocksdb::FilterBitsBuilder>(const FilterPlace&)> new_bits;
  bool whole_keys = true;
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;  // null: no prefixes
  bool not_at_bottom = false;

  // But for new_bits, of which is known only whether there is one.
  bool operator==(const FilterOptions& o) const {
    return !new_bits == !o.new_bits && whole_keys == o.whole_keys && prefix_extractor == o.prefix_extractor &&
           not_at_bottom == o.not_at_bottom;
  }
};

// One thread.
class TableFilterBuilder {
 public:
  // Null if there is to be none.
  static std::unique_ptr<TableFilterBuilder> New(const FilterOptions& options,
                                                 const FilterPlace& place);

  // User keys without timestamps, equal ones one after the other.
  void Add(const rocksdb::Slice& key);
  // Once. Empty if there were no keys.
  std::string Finish();

 private:
  TableFilterBuilder(const FilterOptions& options, std::unique_ptr<rocksdb::FilterBitsBuilder> bits)
      : whole_keys_(options.whole_keys), extractor_(options.prefix_extractor), bits_(std::move(bits)) {}

  const bool whole_keys_;
  const std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> bits_;
  bool any_ = false;
  bool any_prefix_ = false;
  std::string last_key_;
  std::string last_prefix_;
};

enum class FilterAnswer : uint8_t {
  kNotAsked,  // it cannot decide
  kAbsent,
  kPerhaps,
};

// Thread safety: all methods.
class TableFilter {
 public:
  // False if the bytes are malformed. Lookups stay in bounds for any bytes.
  static bool Parse(const rocksdb::Slice& section, std::unique_ptr<const TableFilter>* filter);

  // Asks for a user key without timestamp: by itself, or else by the prefix that `extractor` (may be null) makes.
  FilterAnswer AskKey(const rocksdb::Slice& key, const rocksdb::SliceTransform* extractor) const;
  // Whether the prefixes that `extractor` (may be null) makes are in it.
  bool HasPrefixesOf(const rocksdb::SliceTransform* extractor) const;
  // Requires HasPrefixesOf the extractor that made it. False: no key has it.
  bool MayHavePrefix(const rocksdb::Slice& prefix) const { return reader_->MayMatch(prefix); }
  size_t MemoryBytes() const;  // without this object

 private:
  TableFilter() = default;

  bool whole_keys_ = false;
  bool prefixes_ = false;
  std::string extractor_name_;
  std::string bits_;
  std::unique_ptr<const rocksdb::FilterBitsReader> reader_;
  // The extractor whose name matched last. It belongs to a family, which outlives this.
  mutable std::atomic<const rocksdb::SliceTransform*> known_{nullptr};
};

}  // namespace compassdb
