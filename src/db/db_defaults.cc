// SPDX-License-Identifier: Apache-2.0
// The bodies that classes derived from rocksdb::DB may call by name: each operation as a batch.
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace rocksdb {
namespace {

template <typename Fill>
Status WriteBatchOf(DB* db, const WriteOptions& options, const Fill& fill) {
  WriteBatch batch;
  Status s = fill(&batch);
  return s.ok() ? db->Write(options, &batch) : s;
}

}  // namespace

Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->Put(family, key, value); });
}
Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& ts, const Slice& value) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->Put(family, key, ts, value); });
}
Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->Delete(family, key); });
}
Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  const Slice& ts) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->Delete(family, key, ts); });
}
Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                        const Slice& key) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->SingleDelete(family, key); });
}
Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        const Slice& ts) {
  return WriteBatchOf(this, options,
                      [&](WriteBatch* b) { return b->SingleDelete(family, key, ts); });
}
Status DB::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                 const Slice& value) {
  return WriteBatchOf(this, options, [&](WriteBatch* b) { return b->Merge(family, key, value); });
}

}  // namespace rocksdb
