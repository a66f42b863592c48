// SPDX-License-Identifier: Apache-2.0
//
// Read-modify-write without the read: DB::Merge() records an operand, and the operator folds
// operands into a value when the key is read or compacted.
//
// Thread safety: called from many threads at once, without locks.
// Invariants: results depend on the arguments alone, because operands are folded at times of the
// engine's choice, and possibly several times. Errors are reported by returning false: a read then
// fails with Corruption, a compaction keeps the operands.

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

class Slice;
class Logger;

// The general form: the operands may be of another type than the value.
class MergeOperator : public Customizable {
 public:
  virtual ~MergeOperator() {}
  static const char* Type() { return "MergeOperator"; }

  // Makes a built-in or registered operator by name, such as "uint64add", "put", "max",
  // "stringappend".
  static Status CreateFromString(const ConfigOptions& opts,
                                 const std::string& id,
                                 std::shared_ptr<MergeOperator>* result);

  // The first interface, kept for old operators; FullMergeV2() calls it unless overridden.
  virtual bool FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                         const std::deque<std::string>& /*operand_list*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const {
    assert(false);
    return false;
  }

  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                                 const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    // The value below all operands; null if the key did not exist or was deleted.
    const Slice* existing_value;
    // Oldest first.
    const std::vector<Slice>& operand_list;
    // For the reasons of a failure. May be null.
    Logger* logger;
  };

  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}

    // The result; empty when the call is made.
    std::string& new_value;
    // Instead of a copy: set this to the operand, or the existing value, that is the result.
    Slice& existing_operand;
  };

  // Folds all operands onto the value. False means that they cannot be folded: the data is corrupt.
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  // Folds two neighbouring operands into one, the left being older. False if that cannot be done;
  // both then stay.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/,
                            std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }

  // The same for two or more operands, oldest first. By default PartialMerge() from the left, one
  // after another.
  virtual bool PartialMergeMulti(const Slice& key,
                                 const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  // Stored with the data. Change it only together with the format of the operands.
  virtual const char* Name() const override = 0;

  // Whether PartialMergeMulti() may be called with one operand only, for instance to normalise it.
  virtual bool AllowSingleOperand() const { return false; }

  // For reads: whether the operands found so far, newest first, are enough to fold, so that the
  // search can stop.
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const {
    return false;
  }
};

// For operands of the same type as the value, and an associative operation, such as addition.
class AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override {}
  virtual bool Merge(const Slice& key, const Slice* existing_value,
                     const Slice& value, std::string* new_value,
                     Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand,
                    const Slice& right_operand, std::string* new_value,
                    Logger* logger) const override;
};

}  // namespace ROCKSDB_NAMESPACE
