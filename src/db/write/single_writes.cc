// SPDX-License-Identifier: Apache-2.0
// Writes of one record, with and without timestamps: a batch each.
#include "db/families/column_family_handle.h"
#include "db/write/write_path.h"
#include "util/no_memory.h"

namespace compassdb {
namespace {

using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

// A batch of one record, with room for `bytes`.
template <typename Fill>
Status WriteOne(WritePath* path, const WriteOptions& options, size_t bytes, const Fill& fill) {
  return CatchOutOfMemory("Write", [&] {
    WriteBatch batch(bytes);
    const Status s = fill(&batch);
    return s.ok() ? path->Write(options, &batch) : s;
  });
}

Status CheckUntimed(ColumnFamilyHandle* handle) {
  const ColumnFamily& family = *FamilyOf(handle);
  return family.timestamp_size() == 0 ? Status::OK() : TimestampsEnabled(family);
}

Status CheckWriteTime(ColumnFamilyHandle* handle, const Slice& ts) {
  const ColumnFamily& family = *FamilyOf(handle);
  const size_t size = family.timestamp_size();
  if (size == 0) return TimestampsDisabled(family);
  return size == ts.size() ? Status::OK() : TimestampSizeMismatch(size, ts.size());
}

}  // namespace

Status WritePath::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& value) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOne(this, options, key.size() + value.size() + 32, [&](WriteBatch* batch) {
    return batch->Put(family, key, value);
  });
}

Status WritePath::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOne(this, options, key.size() + 32, [&](WriteBatch* batch) {
    return batch->Delete(family, key);
  });
}

Status WritePath::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                               const Slice& key) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOne(this, options, key.size() + 32, [&](WriteBatch* batch) {
    return batch->SingleDelete(family, key);
  });
}

Status WritePath::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                              const Slice& begin, const Slice& end) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOne(this, options, begin.size() + end.size() + 32, [&](WriteBatch* batch) {
    return batch->DeleteRange(family, begin, end);
  });
}

Status WritePath::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        const Slice& value) {
  if (Status s = config_.CheckWritable("Merge"); !s.ok()) return s;
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  if (FamilyOf(family)->merge_operator() == nullptr) {
    return Status::NotSupported("Provide a merge_operator when opening DB");
  }
  return WriteOne(this, options, key.size() + value.size() + 32, [&](WriteBatch* batch) {
    return batch->Merge(family, key, value);
  });
}

Status WritePath::PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                            const rocksdb::WideColumns& columns) {
  if (Status s = CheckUntimed(family); !s.ok()) return s;
  return WriteOne(this, options, 0, [&](WriteBatch* batch) {
    return batch->PutEntity(family, key, columns);
  });
}

// --- With timestamps

Status WritePath::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts, const Slice& value) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  return WriteOne(this, options, key.size() + ts.size() + value.size() + 32, [&](WriteBatch* batch) {
    return batch->Put(family, key, ts, value);
  });
}

Status WritePath::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                         const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  return WriteOne(this, options, key.size() + ts.size() + 32, [&](WriteBatch* batch) {
    return batch->Delete(family, key, ts);
  });
}

Status WritePath::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                               const Slice& key, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  return WriteOne(this, options, key.size() + ts.size() + 32, [&](WriteBatch* batch) {
    return batch->SingleDelete(family, key, ts);
  });
}

Status WritePath::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                              const Slice& begin, const Slice& end, const Slice& ts) {
  if (Status s = CheckWriteTime(family, ts); !s.ok()) return s;
  return WriteOne(this, options, begin.size() + end.size() + 2 * ts.size() + 32, [&](WriteBatch* batch) {
    return batch->DeleteRange(family, begin, end, ts);
  });
}

}  // namespace compassdb
