// SPDX-License-Identifier: Apache-2.0
//
// A write batch whose records can be looked up and iterated by key before it is written, alone or
// on top of a database.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/iterator.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/write_batch_base.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;
class Comparator;
class DB;
struct ReadOptions;
struct DBOptions;

// What a record does.
enum WriteType {
  kPutRecord,
  kMergeRecord,
  kDeleteRecord,
  kSingleDeleteRecord,
  kDeleteRangeRecord,
  kLogDataRecord,
  kXIDRecord,
  kUnknownRecord,
};

// One record of a batch. `value` is empty for deletions.
struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;
};

// A cursor over the records of one column family, by key; records of one key in the order in which
// they were written. Starts invalid. Stays usable while records are added, not after a rollback or
// Clear().
class WBWIIterator {
 public:
  virtual ~WBWIIterator() {}

  virtual bool Valid() const = 0;

  virtual void SeekToFirst() = 0;

  virtual void SeekToLast() = 0;

  // To the first record of the first key at or after `key`.
  virtual void Seek(const Slice& key) = 0;

  // To the last record of the last key at or before `key`.
  virtual void SeekForPrev(const Slice& key) = 0;

  virtual void Next() = 0;

  virtual void Prev() = 0;

  // The slices end with the next change of the batch. REQUIRES: Valid().
  virtual WriteEntry Entry() const = 0;

  virtual Status status() const = 0;
};

// Each write is added to the batch of GetWriteBatch(), and to the index.
//
// Thread safety: as WriteBatch: const functions, lookups and iterators concurrently; everything
// else needs one thread at a time.
class WriteBatchWithIndex : public WriteBatchBase {
 public:
  // backup_index_comparator: orders the keys of families that no handle has named.
  // reserved_bytes, max_bytes, protection_bytes_per_key: as for WriteBatch.
  // overwrite_key: a record takes the place of the newest one of its key in the index (merge
  // operands aside, which join it); the batch itself still has all.
  explicit WriteBatchWithIndex(
      const Comparator* backup_index_comparator = BytewiseComparator(),
      size_t reserved_bytes = 0, bool overwrite_key = false,
      size_t max_bytes = 0, size_t protection_bytes_per_key = 0);

  ~WriteBatchWithIndex() override;
  WriteBatchWithIndex(WriteBatchWithIndex&&);
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&);

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override;

  Status Put(const Slice& key, const Slice& value) override;

  // Timestamps: NotSupported, or InvalidArgument without a handle.
  Status Put(ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& ts, const Slice& value) override;

  // NotSupported, or InvalidArgument without a handle.
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& /* key */,
                   const WideColumns& /* columns */) override {
    if (!column_family) {
      return Status::InvalidArgument(
          "Cannot call this method without a column family handle");
    }
    return Status::NotSupported("PutEntity not supported by WriteBatchWithIndex");
  }

  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override;

  Status Merge(const Slice& key, const Slice& value) override;
  Status Merge(ColumnFamilyHandle* /*column_family*/, const Slice& /*key*/,
               const Slice& /*ts*/, const Slice& /*value*/) override {
    return Status::NotSupported("WriteBatchWithIndex: Merge with a timestamp");
  }

  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                const Slice& ts) override;

  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family,
                      const Slice& key) override;
  Status SingleDelete(const Slice& key) override;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;

  // Ranges cannot be looked up by key: NotSupported.
  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* /* column_family */,
                     const Slice& /* begin_key */,
                     const Slice& /* end_key */) override {
    return Status::NotSupported("WriteBatchWithIndex: DeleteRange");
  }
  Status DeleteRange(const Slice& /* begin_key */,
                     const Slice& /* end_key */) override {
    return Status::NotSupported("WriteBatchWithIndex: DeleteRange");
  }
  Status DeleteRange(ColumnFamilyHandle* /*column_family*/,
                     const Slice& /*begin_key*/, const Slice& /*end_key*/,
                     const Slice& /*ts*/) override {
    return Status::NotSupported("WriteBatchWithIndex: DeleteRange");
  }

  using WriteBatchBase::PutLogData;
  Status PutLogData(const Slice& blob) override;

  using WriteBatchBase::Clear;
  void Clear() override;

  // For DB::Write(). Do not change it: the index would not know.
  using WriteBatchBase::GetWriteBatch;
  WriteBatch* GetWriteBatch() override;

  // The caller deletes it. Without handle: the default family.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator();

  // What the database would show after this batch: `base_iterator`, an iterator of the database,
  // with the batch's records on top, within the bounds of `opts`. Owns base_iterator. The caller
  // deletes the result. Writing the key that it is at makes key() and value() undefined until
  // it moves.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family,
                                Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  // For the default family.
  Iterator* NewIteratorWithBase(Iterator* base_iterator);

  // Looks only at the batch. NotFound: no record, or deleted. MergeInProgress: there are operands,
  // and what they apply to is not in the batch. Merging needs a handle: InvalidArgument.
  Status GetFromBatch(ColumnFamilyHandle* column_family,
                      const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key,
                      std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }

  // As DB::Get() after the batch. A snapshot of read_options says what is read of the database; the
  // batch is read whole.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           const Slice& key, std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           const Slice& key, PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           PinnableSlice* value);

  // The same for many keys of one family. `values` and `statuses` have num_keys elements.
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                              ColumnFamilyHandle* column_family,
                              const size_t num_keys, const Slice* keys,
                              PinnableSlice* values, Status* statuses,
                              bool sorted_input);

  // As for WriteBatch; a rollback ends the iterators of this batch.
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  void SetMaxBytes(size_t max_bytes) override;
  size_t GetDataSize() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep;
};

}  // namespace ROCKSDB_NAMESPACE
