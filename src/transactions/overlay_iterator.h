// SPDX-License-Identifier: Apache-2.0
// An iterator of a database with the records of an indexed batch on top.
#pragma once

#include <cstdint>

#include "rocksdb/iterator.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "transactions/batch_index.h"

namespace compassdb {

struct OverlaySource {
  const BatchIndex* index = nullptr;  // borrowed
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  bool has_handle = false;  // without one nothing can be merged
  const rocksdb::MergeOperator* merge_operator = nullptr;
  // As in ReadOptions: borrowed.
  const Slice* lower_bound = nullptr;
  const Slice* upper_bound = nullptr;
};

// Owns `base`; the caller owns the result. Records may be added to the batch
// while it lives; those before its place are met when it turns.
rocksdb::Iterator* NewOverlayIterator(const OverlaySource& source, rocksdb::Iterator* base);

// Applies the operands of `update` to its base, or if that is not known to
// `below` (null: nothing), which a database has.
Status MergeUpdate(bool has_handle, const rocksdb::MergeOperator* merge_operator, const Slice& key,
                   const BatchIndex::Update& update, const Slice* below, std::string* result);

}  // namespace compassdb
