// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/merge_operator.h"

namespace ROCKSDB_NAMESPACE {

// Serves operators that know only the first interface.
bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list) {
    operands.emplace_back(operand.data(), operand.size());
  }
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

bool MergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                      std::string* new_value, Logger* logger) const {
  assert(operand_list.size() >= 2);
  std::string left = operand_list.front().ToString();
  for (size_t i = 1; i < operand_list.size(); ++i) {
    std::string folded;
    if (!PartialMerge(key, left, operand_list[i], &folded, logger)) return false;
    left.swap(folded);
  }
  new_value->swap(left);
  return true;
}

bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  std::string value;
  Slice value_so_far;
  const Slice* existing = merge_in.existing_value;
  for (const Slice& operand : merge_in.operand_list) {
    std::string folded;
    if (!Merge(merge_in.key, existing, operand, &folded, merge_in.logger)) return false;
    value.swap(folded);
    value_so_far = value;
    existing = &value_so_far;
  }
  merge_out->new_value.swap(value);
  return true;
}

bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace ROCKSDB_NAMESPACE
