// SPDX-License-Identifier: Apache-2.0
//
// Transactions of an OptimisticTransactionDB or a TransactionDB.

#pragma once

#include <atomic>
#include <cassert>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Iterator;
class TransactionDB;
class WriteBatchWithIndex;

using TransactionName = std::string;

using TransactionID = uint64_t;

using TxnTimestamp = uint64_t;

constexpr TxnTimestamp kMaxTxnTimestamp =
    std::numeric_limits<TxnTimestamp>::max();

// An end of a range of keys that is to be locked: a key, or, with inf_suffix, the place behind all
// keys that begin with it.
class Endpoint {
 public:
  Slice slice;
  bool inf_suffix;

  explicit Endpoint(const Slice& slice_arg, bool inf_suffix_arg = false)
      : slice(slice_arg), inf_suffix(inf_suffix_arg) {}

  explicit Endpoint(const char* s, bool inf_suffix_arg = false)
      : slice(s), inf_suffix(inf_suffix_arg) {}

  Endpoint(const char* s, size_t size, bool inf_suffix_arg = false)
      : slice(s, size), inf_suffix(inf_suffix_arg) {}

  Endpoint() : inf_suffix(false) {}
};

// Receives the snapshot that SetSnapshotOnNextOperation() announced.
class TransactionNotifier {
 public:
  virtual ~TransactionNotifier() {}

  // The snapshot belongs to the transaction.
  virtual void SnapshotCreated(const Snapshot* newSnapshot) = 0;
};

// A list of writes that is applied as one, if no other writer wrote its keys since. Its keys are
// those that it wrote or read with GetForUpdate(), since it first did so or since its snapshot.
//
// Made by BeginTransaction() of the database, deleted by the caller. Thread safety: one thread at
// a time; the state may be read by others.
//
// In an optimistic transaction operations do not fail, Commit() does. In one of a TransactionDB
// each operation locks its key and may answer Busy (a conflict, or a deadlock), TimedOut (the lock
// is taken), Aborted (too many locks) or Expired.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  void operator=(const Transaction&) = delete;

  virtual ~Transaction() {}

  // From now on a key that is written or read for update must not have changed since this moment.
  // What Get() shows does not depend on it.
  virtual void SetSnapshot() = 0;

  // The same, at the next write or GetForUpdate(); of a write-committed transaction also at the
  // next commit.
  virtual void SetSnapshotOnNextOperation(
      std::shared_ptr<TransactionNotifier> notifier = nullptr) = 0;

  // Null if there is none. Ends with the next SetSnapshot(), with ClearSnapshot() and with the
  // transaction; the second form lives on.
  virtual const Snapshot* GetSnapshot() const = 0;
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const = 0;

  virtual void ClearSnapshot() = 0;

  // Two-phase commit: makes the writes durable, without applying them. The transaction has a name,
  // and survives the process until it is committed or rolled back.
  virtual Status Prepare() = 0;

  // Applies the writes. Busy: another writer wrote a key (optimistic). TryAgain: it is not known
  // whether one did. Expired: see TransactionOptions::expiration. TxnNotPrepared: Prepare() is
  // asked for and was not called.
  virtual Status Commit() = 0;

  // Commits, and then makes a snapshot of that moment with the timestamp `ts`, if one is given. If
  // that fails, the commit remains and `snapshot` is null. Write-committed transactions only.
  Status CommitAndTryCreateSnapshot(
      std::shared_ptr<TransactionNotifier> notifier =
          std::shared_ptr<TransactionNotifier>(),
      TxnTimestamp ts = kMaxTxnTimestamp,
      std::shared_ptr<const Snapshot>* snapshot = nullptr);

  // Forgets the writes.
  virtual Status Rollback() = 0;

  // As of a WriteBatch; returning also releases keys that were locked since. NotFound if there is
  // no save point.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // What the database would give after the writes so far. options.snapshot is about the database
  // only.
  virtual Status Get(const ReadOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     std::string* value) = 0;

  virtual Status Get(const ReadOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     PinnableSlice* pinnable_val) {
    assert(pinnable_val != nullptr);
    Status s = Get(options, column_family, key, pinnable_val->GetSelf());
    pinnable_val->PinSelf();
    return s;
  }

  virtual Status Get(const ReadOptions& options, const Slice& key,
                     std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key,
                     PinnableSlice* pinnable_val) {
    assert(pinnable_val != nullptr);
    Status s = Get(options, key, pinnable_val->GetSelf());
    pinnable_val->PinSelf();
    return s;
  }

  virtual std::vector<Status> MultiGet(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;

  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;

  virtual void MultiGet(const ReadOptions& options,
                        ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys,
                        PinnableSlice* values, Status* statuses,
                        const bool /*sorted_input*/ = false) {
    for (size_t i = 0; i < num_keys; ++i) {
      statuses[i] = Get(options, column_family, keys[i], &values[i]);
    }
  }

  // Get(), and the key is the transaction's from now on, whether it exists or not. `value` may be
  // null. exclusive = false shares the lock with others that only read. do_validate = false: the
  // snapshot of the transaction does not matter, and options.snapshot is null.
  virtual Status GetForUpdate(const ReadOptions& options,
                              ColumnFamilyHandle* column_family,
                              const Slice& key, std::string* value,
                              bool exclusive = true,
                              const bool do_validate = true) = 0;

  virtual Status GetForUpdate(const ReadOptions& options,
                              ColumnFamilyHandle* column_family,
                              const Slice& key, PinnableSlice* pinnable_val,
                              bool exclusive = true,
                              const bool do_validate = true) {
    if (pinnable_val == nullptr) {
      std::string* nothing = nullptr;
      return GetForUpdate(options, column_family, key, nothing, exclusive, do_validate);
    }
    Status s = GetForUpdate(options, column_family, key, pinnable_val->GetSelf(), exclusive,
                            do_validate);
    pinnable_val->PinSelf();
    return s;
  }

  // Locks [start, end], where the database locks ranges.
  virtual Status GetRangeLock(ColumnFamilyHandle*, const Endpoint&,
                              const Endpoint&) {
    return Status::NotSupported();
  }

  virtual Status GetForUpdate(const ReadOptions& options, const Slice& key,
                              std::string* value, bool exclusive = true,
                              const bool do_validate = true) = 0;

  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;

  virtual std::vector<Status> MultiGetForUpdate(
      const ReadOptions& options, const std::vector<Slice>& keys,
      std::vector<std::string>* values) = 0;

  // What the database would hold after the writes so far. The caller deletes it, before a commit,
  // rollback or return to a save point.
  virtual Iterator* GetIterator(const ReadOptions& read_options) = 0;

  virtual Iterator* GetIterator(const ReadOptions& read_options,
                                ColumnFamilyHandle* column_family) = 0;

  // Writes. assume_tracked: the transaction has the key already, from an operation after the same
  // save point; InvalidArgument if not.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key,
                     const Slice& value, const bool assume_tracked = false) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value,
                     const bool assume_tracked = false) = 0;
  virtual Status Put(const SliceParts& key, const SliceParts& value) = 0;

  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key,
                       const Slice& value,
                       const bool assume_tracked = false) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;

  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key,
                        const bool assume_tracked = false) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family,
                        const SliceParts& key,
                        const bool assume_tracked = false) = 0;
  virtual Status Delete(const SliceParts& key) = 0;

  virtual Status SingleDelete(ColumnFamilyHandle* column_family,
                              const Slice& key,
                              const bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family,
                              const SliceParts& key,
                              const bool assume_tracked = false) = 0;
  virtual Status SingleDelete(const SliceParts& key) = 0;

  // Writes that no earlier write of others conflicts with. In a TransactionDB they lock the key all
  // the same.
  virtual Status PutUntracked(ColumnFamilyHandle* column_family,
                              const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(const Slice& key, const Slice& value) = 0;
  virtual Status PutUntracked(ColumnFamilyHandle* column_family,
                              const SliceParts& key,
                              const SliceParts& value) = 0;
  virtual Status PutUntracked(const SliceParts& key,
                              const SliceParts& value) = 0;

  virtual Status MergeUntracked(ColumnFamilyHandle* column_family,
                                const Slice& key, const Slice& value) = 0;
  virtual Status MergeUntracked(const Slice& key, const Slice& value) = 0;

  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family,
                                 const Slice& key) = 0;

  virtual Status DeleteUntracked(const Slice& key) = 0;
  virtual Status DeleteUntracked(ColumnFamilyHandle* column_family,
                                 const SliceParts& key) = 0;
  virtual Status DeleteUntracked(const SliceParts& key) = 0;
  virtual Status SingleDeleteUntracked(ColumnFamilyHandle* column_family,
                                       const Slice& key) = 0;

  virtual Status SingleDeleteUntracked(const Slice& key) = 0;

  // As WriteBatch::PutLogData().
  virtual void PutLogData(const Slice& blob) = 0;

  // Writes between the two calls are not found by reads of this transaction, and are cheaper.
  virtual void DisableIndexing() = 0;
  virtual void EnableIndexing() = 0;

  // How many keys it locks, or will check; how many writes it has.
  virtual uint64_t GetNumKeys() const = 0;
  virtual uint64_t GetNumPuts() const = 0;
  virtual uint64_t GetNumDeletes() const = 0;
  virtual uint64_t GetNumMerges() const = 0;

  // Milliseconds since it began.
  virtual uint64_t GetElapsedTime() const = 0;

  // The writes, to look at.
  virtual WriteBatchWithIndex* GetWriteBatch() = 0;

  // Milliseconds; see TransactionOptions::lock_timeout.
  virtual void SetLockTimeout(int64_t timeout) = 0;

  // What Commit() writes with.
  virtual WriteOptions* GetWriteOptions() = 0;
  virtual void SetWriteOptions(const WriteOptions& write_options) = 0;

  // Takes one GetForUpdate() of the key back; with the last one the key is released, unless it was
  // written, or read before the newest save point.
  virtual void UndoGetForUpdate(ColumnFamilyHandle* column_family,
                                const Slice& key) = 0;
  virtual void UndoGetForUpdate(const Slice& key) = 0;

  // Does the writes of a batch in this transaction.
  virtual Status RebuildFromWriteBatch(WriteBatch* src_batch) = 0;

  // Writes that go along with the commit, without locks or checks.
  virtual WriteBatch* GetCommitTimeWriteBatch() = 0;

  // The log that the prepared writes are in.
  virtual void SetLogNumber(uint64_t log) { log_number_ = log; }

  virtual uint64_t GetLogNumber() const { return log_number_; }

  // For two-phase commit: 1 to 512 bytes, not in use, and only once.
  virtual Status SetName(const TransactionName& name) = 0;

  virtual TransactionName GetName() const { return name_; }

  virtual TransactionID GetID() const { return 0; }

  virtual bool IsDeadlockDetect() const { return false; }

  // Whose locks this transaction waits for, and on which key; none if it does not wait.
  virtual std::vector<TransactionID> GetWaitingTxns(
      uint32_t* /*column_family_id*/, std::string* /*key*/) const {
    assert(false);
    return std::vector<TransactionID>();
  }

  enum TransactionState {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };

  TransactionState GetState() const { return txn_state_; }
  void SetState(TransactionState state) { txn_state_ = state; }

  // An identity beyond this process, if there is one.
  uint64_t GetId() { return id_; }

  // User-defined timestamps.
  virtual Status SetReadTimestampForValidation(TxnTimestamp /*ts*/) {
    return Status::NotSupported("timestamp not supported");
  }

  virtual Status SetCommitTimestamp(TxnTimestamp /*ts*/) {
    return Status::NotSupported("timestamp not supported");
  }

  virtual TxnTimestamp GetCommitTimestamp() const { return kMaxTxnTimestamp; }

 protected:
  explicit Transaction(const TransactionDB* /*db*/) {}
  Transaction() {}

  uint64_t log_number_ = 0;
  TransactionName name_;
  std::atomic<TransactionState> txn_state_{STARTED};

  uint64_t id_ = 0;
  virtual void SetId(uint64_t id) {
    assert(id_ == 0);
    id_ = id;
  }

  virtual uint64_t GetLastLogNumber() const { return log_number_; }
};

}  // namespace ROCKSDB_NAMESPACE
