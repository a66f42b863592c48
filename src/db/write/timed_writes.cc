// SPDX-License-Identifier: Apache-2.0
// Writes to families with user-defined timestamps.
#include "db/db_impl.h"

namespace compassdb {
namespace {

Status CheckWriteTime(ColumnFamilyHandle* handle, const Slice& ts) {
  if (handle == nullptr) return Status::InvalidArgument("column family handle cannot be null");
  const ColumnFamily& family = *FamilyOf(handle);
  const size_t size = family.timestamp_size();
  if (size == 0) return TimestampsDisabled(family);
  return size == ts.size() ? Status::OK() : TimestampSizeMismatch(size, ts.size());
}

}  // namespace

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const Slice& ts, const Slice& value) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + value.size() + 32);
  if (Status s = batch.Put(family, key, ts, value); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + 32);
  if (Status s = batch.Delete(family, key, ts); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(key.size() + ts.size() + 32);
  if (Status s = batch.SingleDelete(family, key, ts); !s.ok()) return s;
  return Write(options, &batch);
}

Status DBImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                           const Slice& begin, const Slice& end, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  WriteBatch batch(begin.size() + end.size() + 2 * ts.size() + 32);
  if (Status s = batch.DeleteRange(family, begin, end, ts); !s.ok()) return s;
  return Write(options, &batch);
}

}  // namespace compassdb
