// SPDX-License-Identifier: Apache-2.0
//
// Filters answer "is this key certainly not here?" in memory. A table with a perfect-hash directory
// needs none; the policies hold for sorted tables.

#pragma once

#include <stdlib.h>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/customizable.h"
#include "rocksdb/status.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

class Slice;
struct BlockBasedTableOptions;
struct ConfigOptions;
class FilterBitsBuilder;
class FilterBitsReader;

// What a policy may choose by.
struct FilterBuildingContext {
  FilterBuildingContext(const BlockBasedTableOptions& table_options);

  // Properties of the column family and of the table; -1 if unknown.
  const BlockBasedTableOptions& table_options;
  CompactionStyle compaction_style = kCompactionStyleLevel;
  int num_levels = -1;
  Logger* info_log = nullptr;
  std::string column_family_name;
  int level_at_creation = -1;
  bool is_bottommost = false;
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

// Thread safety: called from many threads at once.
class FilterPolicy : public Customizable {
 public:
  virtual ~FilterPolicy();
  static const char* Type() { return "FilterPolicy"; }

  // Stored with filters: those of the same name can be read.
  virtual const char* CompatibilityName() const = 0;

  // From "bloomfilter:BITS[:false]", "ribbonfilter:BITS[:LEVEL]", or a registered name.
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& value,
                                 std::shared_ptr<const FilterPolicy>* result);

  // Internal to the engine.
  virtual FilterBitsBuilder* GetBuilderWithContext(
      const FilterBuildingContext&) const = 0;
  virtual FilterBitsReader* GetFilterBitsReader(
      const Slice& /*contents*/) const = 0;
};

// Bits per key: 10 let about 1 % of missing keys through. The caller owns the result.
extern const FilterPolicy* NewBloomFilterPolicy(
    double bits_per_key, bool IGNORED_use_block_based_builder = false);

// As many false positives as a Bloom filter of that many bits, in about 30 % less memory and more
// time for building; in levels before bloom_before_level a Bloom filter. The caller owns the
// result.
extern const FilterPolicy* NewRibbonFilterPolicy(
    double bloom_equivalent_bits_per_key, int bloom_before_level = 0);

}  // namespace ROCKSDB_NAMESPACE
