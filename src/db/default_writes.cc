// SPDX-License-Identifier: Apache-2.0
// What rocksdb::DB's pure functions do for a class that calls them by name: each makes a batch of one.
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace ROCKSDB_NAMESPACE {

Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) {
  WriteBatch batch;
  const Status s = batch.Put(family, key, value);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& ts, const Slice& value) {
  WriteBatch batch;
  const Status s = batch.Put(family, key, ts, value);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  WriteBatch batch;
  const Status s = batch.Delete(family, key);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  const Slice& ts) {
  WriteBatch batch;
  const Status s = batch.Delete(family, key, ts);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                        const Slice& key) {
  WriteBatch batch;
  const Status s = batch.SingleDelete(family, key);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        const Slice& ts) {
  WriteBatch batch;
  const Status s = batch.SingleDelete(family, key, ts);
  return s.ok() ? Write(options, &batch) : s;
}

Status DB::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                 const Slice& value) {
  WriteBatch batch;
  const Status s = batch.Merge(family, key, value);
  return s.ok() ? Write(options, &batch) : s;
}

}  // namespace ROCKSDB_NAMESPACE
