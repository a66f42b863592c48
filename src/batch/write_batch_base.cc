// SPDX-License-Identifier: Apache-2.0
// The SliceParts forms of WriteBatchBase: join the parts, call the plain form.
#include "rocksdb/write_batch_base.h"

#include "batch/slice_parts.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

using compassdb::Join;

Status WriteBatchBase::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                           const SliceParts& value) {
  return Put(column_family, Slice(Join(key)), Slice(Join(value)));
}
Status WriteBatchBase::Put(const SliceParts& key, const SliceParts& value) {
  return Put(Slice(Join(key)), Slice(Join(value)));
}
Status WriteBatchBase::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                             const SliceParts& value) {
  return Merge(column_family, Slice(Join(key)), Slice(Join(value)));
}
Status WriteBatchBase::Merge(const SliceParts& key, const SliceParts& value) {
  return Merge(Slice(Join(key)), Slice(Join(value)));
}
Status WriteBatchBase::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return Delete(column_family, Slice(Join(key)));
}
Status WriteBatchBase::Delete(const SliceParts& key) { return Delete(Slice(Join(key))); }
Status WriteBatchBase::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return SingleDelete(column_family, Slice(Join(key)));
}
Status WriteBatchBase::SingleDelete(const SliceParts& key) {
  return SingleDelete(Slice(Join(key)));
}
Status WriteBatchBase::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                                   const SliceParts& end_key) {
  return DeleteRange(column_family, Slice(Join(begin_key)), Slice(Join(end_key)));
}
Status WriteBatchBase::DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) {
  return DeleteRange(Slice(Join(begin_key)), Slice(Join(end_key)));
}

}  // namespace ROCKSDB_NAMESPACE
