// SPDX-License-Identifier: Apache-2.0
// Calls the user's merge operator: shared by reads, iterators and compaction.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "rocksdb/merge_operator.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

// What a merge needs in addition to its data. The pointers are borrowed; all but the
// operator may be null, and a null operator makes every merge fail.
struct MergeEnv {
  const rocksdb::MergeOperator* op = nullptr;
  rocksdb::Logger* logger = nullptr;
  rocksdb::Statistics* statistics = nullptr;
};

// The error of a merge record without a configured operator.
Status MissingMergeOperator();
// The error of merge operands above an entity of wide columns.
Status MergeOntoEntity();

// The error of a reference to a value that is not in the value store.
Status SeparatedValueIsGone(const Slice& user_key);

// Applies `operands` (oldest first) to `base`, null if there is none.
// Corruption if the operator refuses. `result` may own what `base` points at.
Status FullMerge(const MergeEnv& env, const Slice& key, const Slice* base,
                 const std::vector<Slice>& operands, std::string* result);
// The same for operands in the order of reads, newest first.
Status FullMergeNewestFirst(const MergeEnv& env, const Slice& key, const Slice* base,
                            const std::vector<std::string>& operands, std::string* result);

// Combines `operands` (oldest first) into one operand. False if there are too
// few of them or the operator declines; `result` is then undefined.
bool PartialMerge(const MergeEnv& env, const Slice& key, const std::deque<Slice>& operands,
                  std::string* result);

}  // namespace compassdb
