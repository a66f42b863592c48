// SPDX-License-Identifier: Apache-2.0
//
// Drops or changes entries while a compaction reads them.
//
// Thread safety: a filter that is given directly is called from all compaction threads at once; one
// that a factory made belongs to one thread.

#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

class Slice;
class SliceTransform;

// Sees the newest version of each key. Dropped records are lost for every reader, snapshots too.
class CompactionFilter : public Customizable {
 public:
  // What the filter is shown.
  enum ValueType {
    kValue,
    kMergeOperand,
    // The place of a separated value.
    kBlobIndex,
  };

  enum class Decision {
    kKeep,
    // A deletion takes the entry's place, or nothing if there is nothing older.
    kRemove,
    // *new_value takes the value's place.
    kChangeValue,
    // Drops this key and all up to *skip_until, without leaving deletions: older versions in deeper
    // levels may come back to light. Ignored (kKeep) if *skip_until is not after the key.
    kRemoveAndSkipUntil,
    // Both internal to stacked stores of separated values.
    kChangeBlobIndex,
    kIOError,
    // Drops the entry as a SingleDelete would.
    kPurge,
    // FilterBlobByKey() only: the value is needed to decide.
    kUndetermined,
  };

  // Outcome of PrepareBlobOutput().
  enum class BlobDecision { kKeep, kChangeValue, kCorruption, kIOError };

  // What a factory knows of the job that it makes a filter for.
  struct Context {
    // Every file of the column family takes part.
    bool is_full_compaction;
    // Asked for by CompactRange() and the like.
    bool is_manual_compaction;
    uint32_t column_family_id;
    TableFileCreationReason reason;
  };
  virtual ~CompactionFilter() {}
  static const char* Type() { return "CompactionFilter"; }

  // Makes a built-in or registered filter by name. The caller owns *result.
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& name,
                                 const CompactionFilter** result);

  // The simple form: true drops the entry. To change it, set *new_value and *value_changed and
  // return false. `level` is where the entry comes from.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }

  // The same for a merge operand; true drops it.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  // The full form. By default it asks the two functions above, and keeps separated values.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* /*skip_until*/) const {
    if (value_type == ValueType::kMergeOperand) {
      return FilterMergeOperand(level, key, existing_value) ? Decision::kRemove : Decision::kKeep;
    }
    if (value_type == ValueType::kBlobIndex) return Decision::kKeep;
    bool value_changed = false;
    if (Filter(level, key, existing_value, new_value, &value_changed)) return Decision::kRemove;
    return value_changed ? Decision::kChangeValue : Decision::kKeep;
  }

  // Internal to stacked stores: a chance to move a separated value.
  virtual BlobDecision PrepareBlobOutput(const Slice& /*key*/,
                                         const Slice& /*existing_value*/,
                                         std::string* /*new_value*/) const {
    return BlobDecision::kKeep;
  }

  // Must be true: filters that respect snapshots are not supported.
  virtual bool IgnoreSnapshots() const { return true; }

  // Shown in the log.
  const char* Name() const override = 0;

  // Internal.
  virtual bool IsStackedBlobDbInternalCompactionFilter() const { return false; }

  // With separated values: decides by the key alone, so that the value need not be read.
  // kUndetermined asks FilterV2() with the value.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/,
                                   std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }
};

// Makes one filter per job.
class CompactionFilterFactory : public Customizable {
 public:
  virtual ~CompactionFilterFactory() {}
  static const char* Type() { return "CompactionFilterFactory"; }

  // Makes a registered factory by name.
  static Status CreateFromString(
      const ConfigOptions& config_options, const std::string& name,
      std::shared_ptr<CompactionFilterFactory>* result);

  // For which jobs a filter is made; by default compactions only.
  virtual bool ShouldFilterTableFileCreation(
      TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  // May return null: this job then runs without a filter.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;

  // Shown in the log and written into options files.
  virtual const char* Name() const override = 0;
};

}  // namespace ROCKSDB_NAMESPACE
