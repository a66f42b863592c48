// SPDX-License-Identifier: Apache-2.0
// Pessimistic transactions: each key is locked when it is first touched.
// Their data is written to the database at the commit (write-committed policy).
//
//   STARTED --Prepare--> AWAITING_PREPARE --> PREPARED --Commit--> AWAITING_COMMIT --> COMMITTED
//   STARTED --Commit--> AWAITING_COMMIT --> COMMITTED       PREPARED --Rollback--> ROLLEDBACK
//   STARTED --another takes the locks of one that expired--> LOCKS_STOLEN
//
// Thread safety: one thread at a time, but StealLocks and GetWaitingTxns are
// for all. A change of the state from STARTED, of a transaction that may expire,
// is made by compare-exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "transactions/timestamped_snapshots.h"
#include "transactions/transaction_base.h"
#include "transactions/transaction_registry.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::TransactionOptions;

class PessimisticTransaction final : public TransactionBase, private LockWaiter, private ExpirableTransaction {
 public:
  // Of `db`, whose engine, transactions and snapshots the others are.
  PessimisticTransaction(rocksdb::DB* db, ExtendedDB* engine, TransactionRegistry* registry,
                         TimestampedSnapshots* snapshots, const WriteOptions& write_options,
                         const TransactionOptions& options);
  ~PessimisticTransaction() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(PessimisticTransaction, process_)
  void Reuse(const WriteOptions& write_options, const TransactionOptions& options);

  // Makes one from a prepared section that recovery found.
  Status Recover(const std::string& name, const RecoveredTransaction& recovered);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  Status RollbackToSavePoint() override;
  Status SetName(const rocksdb::TransactionName& name) override;
  Status SetReadTimestampForValidation(rocksdb::TxnTimestamp ts) override;
  Status SetCommitTimestamp(rocksdb::TxnTimestamp ts) override;
  rocksdb::TxnTimestamp GetCommitTimestamp() const override { return commit_timestamp_; }

  // In a family with timestamps the key is read, and validated, at the transaction's read timestamp.
  using TransactionBase::GetForUpdate;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      PinnableSlice* value, bool exclusive, bool do_validate) override;

  // Writes a batch from outside of transactions, and locks its keys while it does.
  Status CommitBatch(WriteBatch* batch);

  TransactionID GetID() const override { return transaction_id_; }
  bool IsDeadlockDetect() const override { return options_.deadlock_detect; }
  std::vector<TransactionID> GetWaitingTxns(uint32_t* family, std::string* key) const override;
  void SetLockTimeout(int64_t milliseconds) override;
  uint64_t GetLogNumber() const override {
    return section_ == nullptr ? log_number_ : section_->log_number.load();
  }
  Status GetRangeLock(ColumnFamilyHandle* family, const rocksdb::Endpoint& start,
                      const rocksdb::Endpoint& end) override;

 protected:
  Status TryLock(ColumnFamilyHandle* family, const Slice& key, bool read_only, bool exclusive,
                 bool do_validate, bool assume_tracked) override;
  void Unlock(uint32_t family, const std::string& key) override;
  void Clear() override;

 private:
  void Start(const TransactionOptions& options);
  void End();
  bool Expired() const;
  // From STARTED to `next`, unless the locks are stolen.
  bool Leave(TransactionState next);
  Status WrongState(const char* otherwise) const;
  Status Lock(uint32_t family, const std::string& key, bool exclusive);
  Status LockBatch(const WriteBatch* batch, TrackedKeys* locked);
  bool MustValidate(ColumnFamilyHandle* family) const;
  Status Validate(ColumnFamilyHandle* family, const Slice& key, SequenceNumber* tracked);
  // Sets the commit timestamp of the batch's keys in families with timestamps.
  Status SetTimestamps(WriteBatch* batch);
  Status CommitUnprepared();
  Status CommitPrepared();
  Status LogPrepared();
  Status LogLateWrites();
  Status WriteCommitted(WriteBatch* batch, const WriteOptions& options,
                        const TransactionWrite& write);

  void WaitingFor(const std::vector<TransactionID>& owners, uint32_t family,
                  const std::string& key) override;
  void WaitingEnded() override;
  bool StealLocks() override;

  TransactionRegistry* const registry_;
  TimestampedSnapshots* const snapshots_;
  TransactionOptions options_;
  TransactionID transaction_id_ = 0;
  int64_t lock_timeout_micros_ = 0;
  std::atomic<uint64_t> expires_micros_{0};  // 0: never
  std::shared_ptr<PreparedSection> section_;  // what is prepared
  size_t prepared_bytes_ = 0;  // of the batch, in the log
  bool skip_locks_ = false;
  bool expirable_ = false;  // registered as such
  rocksdb::TxnTimestamp read_timestamp_ = rocksdb::kMaxTxnTimestamp;  // that: none
  rocksdb::TxnTimestamp commit_timestamp_ = rocksdb::kMaxTxnTimestamp;

  mutable Mutex waiting_mu_;  // a leaf
  std::vector<TransactionID> waiting_for_ GUARDED_BY(waiting_mu_);
  uint32_t waiting_family_ GUARDED_BY(waiting_mu_) = 0;
  std::string waiting_key_ GUARDED_BY(waiting_mu_);
};

}  // namespace compassdb
