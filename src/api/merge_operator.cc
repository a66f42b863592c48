// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/merge_operator.h"

#include <utility>
#include <vector>

namespace ROCKSDB_NAMESPACE {

namespace {

// From this number on, operands are combined in runs.
constexpr size_t kManyOperands = 16;

// Combines the operands from `begin` on (oldest first) into one, always two neighbours of which
// the older has at most as many operands in it. So n operands of b bytes that are appended to
// each other cost n log n copies of b bytes, not n * n. False without operands, and if `combine`
// refuses; each operand but the very first is its right side at least once, as when all are combined
// from left to right.
template <typename Operands, typename Combine>
bool CombineInRuns(const Operands& operands, size_t begin, const Combine& combine,
                   std::string* result) {
  struct Run {
    std::string value;
    size_t operands;
  };
  std::vector<Run> runs;
  const auto combine_last_two = [&] {
    const Run last = std::move(runs.back());
    runs.pop_back();
    std::string combined;
    if (!combine(runs.back().value, last.value, &combined)) return false;
    runs.back().value = std::move(combined);
    runs.back().operands += last.operands;
    return true;
  };
  for (size_t i = begin; i < operands.size(); ++i) {
    const bool is_left = (i - begin) % 2 == 0;
    std::string not_needed;
    if (is_left && i > 0 && !combine(operands[i - 1], operands[i], &not_needed)) return false;
    runs.push_back({operands[i].ToString(), 1});
    while (runs.size() > 1 && runs[runs.size() - 2].operands <= runs.back().operands) {
      if (!combine_last_two()) return false;
    }
  }
  if (runs.empty()) return false;
  while (runs.size() > 1) {
    if (!combine_last_two()) return false;
  }
  *result = std::move(runs.back().value);
  return true;
}

}  // namespace

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
  const auto combine = [&](const Slice& left, const Slice& right, std::string* combined) {
    return PartialMerge(key, left, right, combined, logger);
  };
  if (operand_list.size() >= kManyOperands && CombineInRuns(operand_list, 0, combine, new_value)) {
    return true;
  }
  std::string left = operand_list.front().ToString();
  for (size_t i = 1; i < operand_list.size(); ++i) {
    std::string folded;
    if (!combine(left, operand_list[i], &folded)) return false;
    left.swap(folded);
  }
  new_value->swap(left);
  return true;
}

bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  const std::vector<Slice>& operands = merge_in.operand_list;
  const auto merge = [&](const Slice* existing, const Slice& operand, std::string* merged) {
    return Merge(merge_in.key, existing, operand, merged, merge_in.logger);
  };
  if (operands.size() >= kManyOperands) {
    // The others are combined first, so that a large value is copied twice only.
    std::string first;
    if (!merge(merge_in.existing_value, operands[0], &first)) return false;
    const auto combine = [&](const Slice& left, const Slice& right, std::string* combined) {
      return merge(&left, right, combined);
    };
    std::string others;
    const Slice existing = first;
    if (CombineInRuns(operands, 1, combine, &others) &&
        merge(&existing, others, &merge_out->new_value)) {
      return true;
    }
  }
  std::string value;
  Slice value_so_far;
  const Slice* existing = merge_in.existing_value;
  for (const Slice& operand : operands) {
    std::string folded;
    if (!merge(existing, operand, &folded)) return false;
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
