// SPDX-License-Identifier: Apache-2.0
// The common part of optimistic and pessimistic transactions: the indexed batch
// with reads on top of the database, tracked keys, save points, the snapshot.
// They differ in TryLock and in the commit.
//
// Thread safety: one thread at a time, as rocksdb::Transaction says.
// Invariants: the batch begins with a Noop, which a preparation turns into its
// begin mark; the keys tracked since a save point are a part of those tracked. In families with
// user-defined timestamps keys are locked and tracked without them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/extended_db.h"
#include "db/families/column_family_handle.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "transactions/tracked_keys.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::Iterator;
using rocksdb::SliceParts;
using rocksdb::Snapshot;
using rocksdb::TransactionNotifier;
using rocksdb::WriteBatchWithIndex;

// Busy if a tracked key has a record above its sequence.
Status CheckForConflicts(ExtendedDB* engine, const TrackedKeys& keys);

class TransactionBase : public rocksdb::Transaction {
 public:
  // Both databases are borrowed; `db` is the one that users see.
  TransactionBase(rocksdb::DB* db, ExtendedDB* engine, const WriteOptions& write_options,
                  const Comparator* comparator);
  ~TransactionBase() override;

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) override;
  const Snapshot* GetSnapshot() const override { return snapshot_.get(); }
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const override { return snapshot_; }
  void ClearSnapshot() override;

  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  using Transaction::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  using Transaction::GetForUpdate;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      std::string* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      PinnableSlice* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                      bool exclusive, bool do_validate) override;
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                        const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override;
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override;
  Iterator* GetIterator(const ReadOptions& options) override;
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;

  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
             bool assume_tracked) override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value,
             bool assume_tracked) override;
  Status Put(const SliceParts& key, const SliceParts& value) override;
  Status Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
               bool assume_tracked) override;
  Status Merge(const Slice& key, const Slice& value) override;
  Status Delete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override;
  Status Delete(const Slice& key) override;
  Status Delete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked) override;
  Status Delete(const SliceParts& key) override;
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override;
  Status SingleDelete(const Slice& key) override;
  Status SingleDelete(ColumnFamilyHandle* family, const SliceParts& key,
                      bool assume_tracked) override;
  Status SingleDelete(const SliceParts& key) override;

  Status PutUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status PutUntracked(const Slice& key, const Slice& value) override;
  Status PutUntracked(ColumnFamilyHandle* family, const SliceParts& key,
                      const SliceParts& value) override;
  Status PutUntracked(const SliceParts& key, const SliceParts& value) override;
  Status MergeUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status MergeUntracked(const Slice& key, const Slice& value) override;
  Status DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override;
  Status DeleteUntracked(const Slice& key) override;
  Status DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) override;
  Status DeleteUntracked(const SliceParts& key) override;
  Status SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override;
  Status SingleDeleteUntracked(const Slice& key) override;
  void PutLogData(const Slice& blob) override;

  void DisableIndexing() override { indexing_ = false; }
  void EnableIndexing() override { indexing_ = true; }
  uint64_t GetNumKeys() const override { return tracked_.count(); }
  uint64_t GetNumPuts() const override { return counts_.puts; }
  uint64_t GetNumDeletes() const override { return counts_.deletes; }
  uint64_t GetNumMerges() const override { return counts_.merges; }
  uint64_t GetElapsedTime() const override;
  WriteBatchWithIndex* GetWriteBatch() override { return &batch_; }
  void SetLockTimeout(int64_t /*timeout*/) override {}
  WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) override { write_options_ = options; }
  void UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) override;
  void UndoGetForUpdate(const Slice& key) override { UndoGetForUpdate(nullptr, key); }
  Status RebuildFromWriteBatch(rocksdb::WriteBatch* source) override;
  rocksdb::WriteBatch* GetCommitTimeWriteBatch() override { return &commit_time_batch_; }

 protected:
  // Takes the key for a read or a write. do_validate: the snapshot counts.
  virtual Status TryLock(ColumnFamilyHandle* family, const Slice& key, bool read_only,
                         bool exclusive, bool do_validate, bool assume_tracked) = 0;
  // The last GetForUpdate of the key was undone.
  virtual void Unlock(uint32_t family, const std::string& key) = 0;

  // Nothing written, tracked or saved; the snapshot stays.
  virtual void Clear();
  // As new, except for the databases.
  void Restart(const WriteOptions& write_options);
  void DropSavePoints();
  // The writes of a batch of the log, including those of dropped families: a
  // commit numbers them as recovery will.
  Status RebuildFromLog(const rocksdb::WriteBatch& source);
  std::shared_ptr<const Snapshot> NewSnapshot() const;  // released with its last user
  void SetSnapshotIfNeeded();
  void Track(uint32_t family, const std::string& key, SequenceNumber sequence, bool read_only,
             bool exclusive);
  // By a child of fork(): nothing is locked, read or written.
  bool Inherited() const { return process_.Inherited(); }
  ColumnFamilyHandle* HandleOf(ColumnFamilyHandle* family) const {
    return family != nullptr ? family : db_->DefaultColumnFamily();
  }
  // What was tracked since the newest save point; null without one.
  const TrackedKeys* TrackedSinceSavePoint() const {
    return save_points_.empty() ? nullptr : &save_points_.back().tracked;
  }
  uint64_t NowMicros() const;

  const ProcessMark process_;
  rocksdb::DB* const db_;
  ExtendedDB* const engine_;
  WriteOptions write_options_;
  WriteBatchWithIndex batch_;
  rocksdb::WriteBatch commit_time_batch_;
  TrackedKeys tracked_;
  uint64_t start_micros_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
  bool snapshot_needed_ = false;  // at the next operation
  std::shared_ptr<TransactionNotifier> notifier_;

 private:
  struct Counts {
    uint64_t puts = 0;
    uint64_t deletes = 0;
    uint64_t merges = 0;
  };
  struct SavePoint {
    std::shared_ptr<const Snapshot> snapshot;
    bool snapshot_needed = false;
    std::shared_ptr<TransactionNotifier> notifier;
    Counts counts;
    TrackedKeys tracked;  // since
  };
  // Whether and how the key of a write is taken.
  enum class Taking { kTracked, kAssumed, kUntracked };

  template <typename Add>
  Status Write(ColumnFamilyHandle* family, const Slice& key, Taking taking, uint64_t* count,
               const Add& add);
  Status AddPut(ColumnFamilyHandle* family, const Slice& key, const Slice& value, Taking taking);
  Status AddMerge(ColumnFamilyHandle* family, const Slice& key, const Slice& value, Taking taking);
  Status AddDelete(ColumnFamilyHandle* family, const Slice& key, Taking taking);
  Status AddSingleDelete(ColumnFamilyHandle* family, const Slice& key, Taking taking);
  static Taking AssumedIf(bool assume) { return assume ? Taking::kAssumed : Taking::kTracked; }

  Counts counts_;
  std::vector<SavePoint> save_points_;
  bool indexing_ = true;
};

}  // namespace compassdb
