// SPDX-License-Identifier: Apache-2.0
//
// A database whose transactions lock the keys that they write, or read for update.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/utilities/transaction.h"

namespace ROCKSDB_NAMESPACE {

class TransactionDBMutexFactory;

// When the data of a transaction is written to the database. Only WRITE_COMMITTED is offered.
enum TxnDBWritePolicy {
  WRITE_COMMITTED = 0,  // at the commit
  WRITE_PREPARED,       // when it is prepared
  WRITE_UNPREPARED      // before that
};

constexpr uint32_t kInitialMaxDeadlocks = 5;

class LockManager;
struct RangeLockInfo;

// Opaque; the way to bring another lock manager.
class LockManagerHandle {
 public:
  virtual LockManager* getLockManager() = 0;

  virtual ~LockManagerHandle() {}
};

// Endpoint that owns its bytes.
struct EndpointWithString {
  std::string slice;
  bool inf_suffix;
};

struct RangeDeadlockInfo {
  TransactionID m_txn_id;
  uint32_t m_cf_id;
  bool m_exclusive;

  EndpointWithString m_start;
  EndpointWithString m_end;
};

struct RangeDeadlockPath {
  std::vector<RangeDeadlockInfo> path;
  bool limit_exceeded;
  int64_t deadlock_time;

  explicit RangeDeadlockPath(std::vector<RangeDeadlockInfo> path_entry,
                             const int64_t& dl_time)
      : path(path_entry), limit_exceeded(false), deadlock_time(dl_time) {}

  explicit RangeDeadlockPath(const int64_t& dl_time = 0, bool limit = false)
      : path(0), limit_exceeded(limit), deadlock_time(dl_time) {}

  bool empty() { return path.empty() && !limit_exceeded; }
};

// Controls a lock manager that locks ranges.
class RangeLockManagerHandle : public LockManagerHandle {
 public:
  // Bytes; 0, or EDOM if more are in use.
  virtual int SetMaxLockMemory(size_t max_lock_memory) = 0;
  virtual size_t GetMaxLockMemory() = 0;

  using RangeLockStatus =
      std::unordered_multimap<ColumnFamilyId, RangeLockInfo>;

  // Whether locks may not grow together over the place between a and b.
  using EscalationBarrierFunc =
      std::function<bool(const Endpoint& a, const Endpoint& b)>;

  virtual void SetEscalationBarrierFunc(EscalationBarrierFunc func) = 0;

  virtual RangeLockStatus GetRangeLockStatusData() = 0;

  class Counters {
   public:
    uint64_t escalation_count;
    uint64_t lock_wait_count;
    uint64_t current_lock_memory;  // bytes
  };

  virtual Counters GetStatus() = 0;

  virtual std::vector<RangeDeadlockPath> GetRangeDeadlockInfoBuffer() = 0;
  virtual void SetRangeDeadlockInfoBufferSize(uint32_t target_size) = 0;

  virtual ~RangeLockManagerHandle() {}
};

// Ranges are not locked here: a TransactionDB refuses to open with what this gives.
RangeLockManagerHandle* NewRangeLockManager(
    std::shared_ptr<TransactionDBMutexFactory> mutex_factory);

struct TransactionDBOptions {
  // Keys locked at one time in one column family; more: Aborted(kLockLimit). Not positive: no
  // limit.
  int64_t max_num_locks = -1;

  // How many of the last deadlocks GetDeadlockInfoBuffer() gives.
  uint32_t max_num_deadlocks = kInitialMaxDeadlocks;

  // Parts of a family's table of locks, each with a mutex of its own.
  size_t num_stripes = 16;

  // Milliseconds that an operation of a transaction waits for a lock, where TransactionOptions says
  // nothing. 0: not at all. Negative: without end.
  int64_t transaction_lock_timeout = 1000;

  // The same for a write outside of any transaction.
  int64_t default_lock_timeout = 1000;

  // Null: those of the standard library.
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;

  TxnDBWritePolicy write_policy = TxnDBWritePolicy::WRITE_COMMITTED;

  // For write-prepared transactions.
  bool rollback_merge_operands = false;

  // Null: keys are locked.
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;

  // Writes outside of transactions need no locks. Transactions have an option of their own.
  bool skip_concurrency_control = false;

  // For write-unprepared transactions: bytes.
  int64_t default_write_batch_flush_threshold = 0;

  // For write-prepared and write-unprepared transactions: whether a rollback deletes the key with
  // SingleDelete.
  std::function<bool(TransactionDB* /*db*/,
                     ColumnFamilyHandle* /*column_family*/,
                     const Slice& /*key*/)>
      rollback_deletion_type_callback;

 private:
  // RocksDB's, of write-prepared transactions; for the layout.
  [[maybe_unused]] size_t wp_snapshot_cache_bits = 7;
  [[maybe_unused]] size_t wp_commit_cache_bits = 23;
  [[maybe_unused]] bool autogenerate_name = false;
};

struct TransactionOptions {
  // As if SetSnapshot() were called first.
  bool set_snapshot = false;

  // Before it waits for a lock, look whether its owner waits for this transaction: Busy(kDeadlock).
  bool deadlock_detect = false;

  // For write-prepared transactions.
  bool use_only_the_last_commit_time_batch_for_recovery = false;

  // Milliseconds to wait for a lock; negative: transaction_lock_timeout of the database.
  int64_t lock_timeout = -1;

  // Milliseconds after which a commit fails with Expired, and others may take its locks. Negative:
  // never.
  int64_t expiration = -1;

  // The depth of the search for deadlocks.
  int64_t deadlock_detect_depth = 50;

  // As of WriteBatch; 0: no limit.
  size_t max_write_batch_size = 0;

  // The program knows that nothing conflicts: no locks, no checks.
  bool skip_concurrency_control = false;

  // Commit() may be called without Prepare(), also if the transaction has a name.
  bool skip_prepare = true;

  // For write-unprepared transactions: bytes.
  int64_t write_batch_flush_threshold = -1;
};

// What the program promises about a write outside of transactions.
struct TransactionDBWriteOptimizations {
  // Nothing conflicts with it: it needs no locks.
  bool skip_concurrency_control = false;
  // Its keys differ.
  bool skip_duplicate_key_check = false;
};

struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;
  bool exclusive;
};

struct RangeLockInfo {
  EndpointWithString start;
  EndpointWithString end;
  std::vector<TransactionID> ids;
  bool exclusive;
};

// One that waits in a deadlock, and for what.
struct DeadlockInfo {
  TransactionID m_txn_id;
  uint32_t m_cf_id;
  bool m_exclusive;
  std::string m_waiting_key;
};

struct DeadlockPath {
  std::vector<DeadlockInfo> path;
  bool limit_exceeded;    // the search ended at deadlock_detect_depth; the path is empty
  int64_t deadlock_time;  // seconds since 1970

  explicit DeadlockPath(std::vector<DeadlockInfo> path_entry,
                        const int64_t& dl_time)
      : path(path_entry), limit_exceeded(false), deadlock_time(dl_time) {}

  explicit DeadlockPath(const int64_t& dl_time = 0, bool limit = false)
      : path(0), limit_exceeded(limit), deadlock_time(dl_time) {}

  bool empty() { return path.empty() && !limit_exceeded; }
};

// Thread safety: all methods. Writes outside of transactions lock their keys, too, for as long as
// they take.
class TransactionDB : public StackableDB {
 public:
  using StackableDB::Write;
  virtual Status Write(const WriteOptions& opts,
                       const TransactionDBWriteOptimizations&,
                       WriteBatch* updates) {
    return Write(opts, updates);
  }
  // Ranges are not locked: NotSupported. A batch with ranges may be written with
  // skip_concurrency_control.
  using StackableDB::DeleteRange;
  virtual Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*,
                             const Slice&, const Slice&) override {
    return Status::NotSupported();
  }
  // As DB::Open(). Transactions that were prepared exist again.
  static Status Open(const Options& options,
                     const TransactionDBOptions& txn_db_options,
                     const std::string& dbname, TransactionDB** dbptr);

  static Status Open(const DBOptions& db_options,
                     const TransactionDBOptions& txn_db_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles,
                     TransactionDB** dbptr);
  // The two halves of Open(), for a database that is opened in between: first adapt the options,
  // then hand over the database. Compactions are off until the second; the indexes of the families
  // that had them on go from one to the other.
  static void PrepareWrap(DBOptions* db_options,
                          std::vector<ColumnFamilyDescriptor>* column_families,
                          std::vector<size_t>* compaction_enabled_cf_indices);
  static Status WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                       const std::vector<size_t>& compaction_enabled_cf_indices,
                       const std::vector<ColumnFamilyHandle*>& handles,
                       TransactionDB** dbptr);
  static Status WrapStackableDB(
      StackableDB* db, const TransactionDBOptions& txn_db_options,
      const std::vector<size_t>& compaction_enabled_cf_indices,
      const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** dbptr);
  ~TransactionDB() override {}

  // The caller deletes the transaction, before the database. An old one, no longer in use, is made
  // new instead if it is given.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const TransactionOptions& txn_options = TransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  // Null if there is none.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Those that were prepared and neither committed nor rolled back.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* trans) = 0;

  // All locks, by column family id.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo>
  GetLockStatusData() = 0;

  // The last deadlocks, newest first.
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(uint32_t target_size) = 0;

  // Snapshots with timestamps of the program's. They rise with the sequence: InvalidArgument
  // otherwise. No writes during the call. The database keeps them until they are released.
  virtual std::pair<Status, std::shared_ptr<const Snapshot>>
  CreateTimestampedSnapshot(TxnTimestamp ts) = 0;

  std::shared_ptr<const Snapshot> GetLatestTimestampedSnapshot() const {
    return GetTimestampedSnapshot(kMaxTxnTimestamp);
  }
  // That of `ts`, or null; kMaxTxnTimestamp: the newest.
  virtual std::shared_ptr<const Snapshot> GetTimestampedSnapshot(
      TxnTimestamp ts) const = 0;
  // Releases those before `ts`.
  virtual void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) = 0;

  Status GetAllTimestampedSnapshots(
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots)
      const {
    return GetTimestampedSnapshots(/*ts_lb=*/0, /*ts_ub=*/kMaxTxnTimestamp,
                                   timestamped_snapshots);
  }

  // Those in [ts_lb, ts_ub), oldest first.
  virtual Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots)
      const = 0;

 protected:
  explicit TransactionDB(DB* db) : StackableDB(db) {}
  TransactionDB(const TransactionDB&) = delete;
  void operator=(const TransactionDB&) = delete;
};

}  // namespace ROCKSDB_NAMESPACE
