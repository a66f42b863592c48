// SPDX-License-Identifier: Apache-2.0
// The merge operands of one key that an iterator collects.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "db/report/statistics_util.h"
#include "format/internal_key.h"
#include "iter/merge_helper.h"

namespace compassdb {

// Invariant: sequences_ are those of operands_, newest first except during a walk backward.
class MergeOperands {
 public:
  explicit MergeOperands(const MergeEnv& env) : env_(env) {}

  void Clear() {
    operands_.clear();
    sequences_.clear();
  }
  // Adds the next older one; backward the next newer one, until Reverse.
  void Add(const Slice& operand, SequenceNumber sequence) {
    operands_.push_back(operand.ToString());
    sequences_.push_back(sequence);
  }
  void Reverse() {
    std::reverse(operands_.begin(), operands_.end());
    std::reverse(sequences_.begin(), sequences_.end());
  }
  // The base includes them already.
  void DropUpTo(SequenceNumber sequence) {
    while (!sequences_.empty() && sequences_.back() <= sequence) {
      sequences_.pop_back();
      operands_.pop_back();
    }
  }
  bool empty() const { return operands_.empty(); }
  bool has_operator() const { return env_.op != nullptr; }

  // Applies them to `base` (null: there is none), which `result` may own.
  Status Apply(const Slice& key, const Slice* base, std::string* result) {
    Record(env_.statistics, rocksdb::READ_NUM_MERGE_OPERANDS, operands_.size());
    Status s = FullMergeNewestFirst(env_, key, base, operands_, result);
    Clear();
    return s;
  }

 private:
  const MergeEnv env_;
  std::vector<std::string> operands_;
  std::vector<SequenceNumber> sequences_;
};

}  // namespace compassdb
