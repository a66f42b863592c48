// SPDX-License-Identifier: Apache-2.0
#include "batch/write_batch_internal.h"
#include "rocksdb/column_family_handle.h"
#include "rocksdb/comparator.h"

namespace compassdb {

uint32_t ColumnFamilyId(rocksdb::ColumnFamilyHandle* column_family) {
  return column_family == nullptr ? 0 : column_family->GetID();
}

size_t ColumnFamilyTimestampSize(rocksdb::ColumnFamilyHandle* column_family) {
  if (column_family == nullptr) return 0;
  const Comparator* comparator = column_family->GetComparator();
  return comparator == nullptr ? 0 : comparator->timestamp_size();
}

}  // namespace compassdb
