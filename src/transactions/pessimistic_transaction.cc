// SPDX-License-Identifier: Apache-2.0
#include "transactions/pessimistic_transaction.h"

#include <set>
#include <utility>

#include "batch/write_batch_internal.h"
#include "util/coding.h"

namespace compassdb {
namespace {

// The keys of a batch, in the same order for every locker of a batch.
class KeyCollector final : public rocksdb::WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice&) override {
    return Note(family, key);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice&) override {
    return Note(family, key);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override { return Note(family, key); }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override { return Note(family, key); }
  Status MarkNoop(bool) override { return Status::OK(); }

  std::map<uint32_t, std::set<std::string>> keys;

 private:
  Status Note(uint32_t family, const Slice& key) {
    keys[family].insert(key.ToString());
    return Status::OK();
  }
};

std::string Encoded(rocksdb::TxnTimestamp ts) {
  std::string bytes;
  PutFixed64(&bytes, ts);
  return bytes;
}

// A time that overflows becomes the longest one.
int64_t MicrosOf(int64_t milliseconds) {
  return milliseconds > INT64_MAX / 1000 ? INT64_MAX : milliseconds * 1000;
}

Status NoCommitTimestamp() { return Status::InvalidArgument("Must assign a commit timestamp"); }

bool HasTimestampsOrNone(ColumnFamilyHandle* family) {
  const size_t size = FamilyOf(family)->timestamp_size();
  return size == 0 || size == sizeof(rocksdb::TxnTimestamp);
}

}  // namespace

PessimisticTransaction::PessimisticTransaction(rocksdb::DB* db, ExtendedDB* engine,
                                               TransactionRegistry* registry,
                                               TimestampedSnapshots* snapshots, const WriteOptions& write_options,
                                               const TransactionOptions& options)
    : TransactionBase(db, engine, write_options, db->DefaultColumnFamily()->GetComparator()),
      registry_(registry),
      snapshots_(snapshots) {
  Start(options);
}

PessimisticTransaction::~PessimisticTransaction() { End(); }

void PessimisticTransaction::Reuse(const WriteOptions& write_options,
                                   const TransactionOptions& options) {
  End();
  Restart(write_options);
  Start(options);
}

void PessimisticTransaction::Start(const TransactionOptions& options) {
  options_ = options;
  transaction_id_ = registry_->NewId();
  txn_state_ = STARTED;
  SetLockTimeout(options.lock_timeout >= 0 ? options.lock_timeout
                                           : registry_->options().transaction_lock_timeout);
  expires_micros_ = options.expiration >= 0
                        ? start_micros_ + static_cast<uint64_t>(MicrosOf(options.expiration))
                        : 0;
  skip_locks_ = options.skip_concurrency_control;
  read_timestamp_ = commit_timestamp_ = rocksdb::kMaxTxnTimestamp;
  batch_.SetMaxBytes(options.max_write_batch_size);
  if (options.set_snapshot) SetSnapshot();
  if (expires_micros_ > 0) {
    expirable_ = true;
    registry_->AddExpirable(transaction_id_, this);
  }
}

void PessimisticTransaction::End() {
  registry_->locks()->Unlock(transaction_id_, tracked_);
  if (expirable_) registry_->RemoveExpirable(transaction_id_);
  expirable_ = false;
  if (!name_.empty()) registry_->Unregister(name_, this);
}

void PessimisticTransaction::Clear() {
  registry_->locks()->Unlock(transaction_id_, tracked_);
  section_.reset();
  TransactionBase::Clear();
}

// Its keys are not locked. As in RocksDB, the program that opens the database resolves
// prepared transactions before other writes.
Status PessimisticTransaction::Recover(const std::string& name,
                                       const RecoveredTransaction& recovered) {
  if (Status s = SetName(name); !s.ok()) return s;
  if (Status s = RebuildFromLog(recovered.batch); !s.ok()) return s;
  section_ = recovered.section;
  prepared_bytes_ = batch_.GetWriteBatch()->GetDataSize();
  txn_state_ = PREPARED;
  return Status::OK();
}

void PessimisticTransaction::SetLockTimeout(int64_t milliseconds) {
  lock_timeout_micros_ = milliseconds < 0 ? -1 : MicrosOf(milliseconds);
}

bool PessimisticTransaction::Expired() const {
  const uint64_t expires = expires_micros_;
  return expires > 0 && NowMicros() >= expires;
}

bool PessimisticTransaction::StealLocks() {
  TransactionState expected = STARTED;
  return txn_state_.compare_exchange_strong(expected, LOCKS_STOLEN) || expected == LOCKS_STOLEN;
}

bool PessimisticTransaction::Leave(TransactionState next) {
  TransactionState expected = STARTED;
  return txn_state_.compare_exchange_strong(expected, next);
}

Status PessimisticTransaction::WrongState(const char* otherwise) const {
  switch (GetState()) {
    case LOCKS_STOLEN:
      return Status::Expired();
    case PREPARED:
      return Status::InvalidArgument("Transaction has already been prepared.");
    case COMMITTED:
      return Status::InvalidArgument("Transaction has already been committed.");
    case ROLLEDBACK:
      return Status::InvalidArgument("Transaction has already been rolledback.");
    default:
      return Status::InvalidArgument(otherwise);
  }
}

Status PessimisticTransaction::SetName(const rocksdb::TransactionName& name) {
  if (Inherited()) return InheritedStatus();
  if (GetState() != STARTED) {
    return Status::InvalidArgument("Transaction is beyond state for naming.");
  }
  if (!name_.empty()) return Status::InvalidArgument("Transaction has already been named.");
  if (name.empty() || name.size() > 512) {
    return Status::InvalidArgument(
        "Transaction name length must be between 1 and 512 chars.");
  }
  if (!registry_->Register(name, this)) {
    return Status::InvalidArgument("Transaction name must be unique.");
  }
  name_ = name;
  return Status::OK();
}

Status PessimisticTransaction::SetReadTimestampForValidation(rocksdb::TxnTimestamp ts) {
  if (read_timestamp_ < rocksdb::kMaxTxnTimestamp && ts < read_timestamp_) {
    return Status::InvalidArgument("Cannot decrease read timestamp for validation");
  }
  read_timestamp_ = ts;
  return Status::OK();
}

Status PessimisticTransaction::SetCommitTimestamp(rocksdb::TxnTimestamp ts) {
  if (read_timestamp_ < rocksdb::kMaxTxnTimestamp && ts <= read_timestamp_) {
    return Status::InvalidArgument(
        "Cannot commit at timestamp smaller than or equal to read timestamp");
  }
  commit_timestamp_ = ts;
  return Status::OK();
}

Status PessimisticTransaction::Prepare() {
  if (Inherited()) return InheritedStatus();
  if (name_.empty()) {
    return Status::InvalidArgument("Cannot prepare a transaction that has not been named.");
  }
  if (Expired()) return Status::Expired();
  if (!Leave(AWAITING_PREPARE)) {
    return WrongState("Transaction is not in state for commit.");
  }
  const uint64_t expires = expires_micros_.exchange(0);  // from now on it cannot expire
  if (Status s = LogPrepared(); !s.ok()) {
    expires_micros_ = expires;
    txn_state_ = STARTED;
    return s;
  }
  DropSavePoints();
  txn_state_ = PREPARED;
  return Status::OK();
}

Status PessimisticTransaction::LogPrepared() {
  const auto section = std::make_shared<PreparedSection>(name_);
  section->batch = *batch_.GetWriteBatch();
  if (Status s = WriteBatchInternal::MarkEndPrepare(&section->batch, name_); !s.ok()) return s;
  WriteOptions options = write_options_;
  options.disableWAL = false;
  Status s = engine_->LogSection(options, section);
  if (!s.ok()) return s;
  section_ = section;
  log_number_ = section->log_number;
  prepared_bytes_ = batch_.GetWriteBatch()->GetDataSize();
  return s;
}

// Writes since the preparation are not in the log. So the whole transaction is prepared again,
// and replaces the first section under the same name.
Status PessimisticTransaction::LogLateWrites() {
  return batch_.GetWriteBatch()->GetDataSize() == prepared_bytes_ ? Status::OK() : LogPrepared();
}

Status PessimisticTransaction::Commit() {
  if (Inherited()) return InheritedStatus();
  if (Expired()) return Status::Expired();
  if (GetState() == PREPARED) return CommitPrepared();
  if (GetState() == STARTED && !options_.skip_prepare) return Status::TxnNotPrepared();
  if (GetState() == STARTED && commit_time_batch_.Count() > 0) {
    return Status::InvalidArgument(
        "Commit-time batch contains values that will not be committed.");
  }
  if (!Leave(AWAITING_COMMIT)) return WrongState("Transaction is not in state for commit.");
  Status s = CommitUnprepared();
  if (!name_.empty()) registry_->Unregister(name_, this);
  Clear();
  if (s.ok()) txn_state_ = COMMITTED;
  return s;
}

Status PessimisticTransaction::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                            const Slice& key, PinnableSlice* value, bool exclusive,
                                            bool do_validate) {
  if (Inherited()) return InheritedStatus();
  const ColumnFamily& of = *FamilyOf(HandleOf(family));
  if (options.timestamp == nullptr && of.timestamp_size() == 0) {
    return TransactionBase::GetForUpdate(options, family, key, value, exclusive, do_validate);
  }
  if (of.timestamp_size() == 0) return TimestampsDisabled(of);
  if (options.timestamp != nullptr && options.timestamp->size() != of.timestamp_size()) {
    return Status::InvalidArgument("Timestamp sizes mismatch, column family", of.name());
  }
  if (!do_validate) {
    return Status::InvalidArgument(
        "If do_validate is false then GetForUpdate with read_timestamp is not defined.");
  }
  if (read_timestamp_ == rocksdb::kMaxTxnTimestamp) {
    return Status::InvalidArgument("read_timestamp must be set for validation");
  }
  const std::string bytes = Encoded(read_timestamp_);
  if (options.timestamp != nullptr && *options.timestamp != Slice(bytes)) {
    return Status::InvalidArgument("Must read from the same read_timestamp");
  }
  const Slice timestamp(bytes);
  ReadOptions at = options;
  at.timestamp = &timestamp;
  return TransactionBase::GetForUpdate(at, family, key, value, exclusive, do_validate);
}

Status PessimisticTransaction::SetTimestamps(WriteBatch* batch) {
  return batch->UpdateTimestamps(Encoded(commit_timestamp_), [this](uint32_t id) {
    const std::shared_ptr<ColumnFamily> family = engine_->FamilyById(id);
    return family == nullptr ? size_t{0} : family->timestamp_size();  // of a dropped one: unused
  });
}

Status PessimisticTransaction::CommitUnprepared() {
  WriteBatch* const batch = batch_.GetWriteBatch();
  if (WriteBatchInternal::NeedsTimestamps(batch)) {
    if (commit_timestamp_ == rocksdb::kMaxTxnTimestamp) return NoCommitTimestamp();
    if (Status s = SetTimestamps(batch); !s.ok()) return s;
  }
  return WriteCommitted(batch, write_options_, TransactionWrite());
}

Status PessimisticTransaction::CommitPrepared() {
  if (Status s = LogLateWrites(); !s.ok()) return s;
  txn_state_ = AWAITING_COMMIT;
  // The log has the data. The commit adds the mark, and the writes made together with it.
  WriteBatch working(commit_time_batch_);
  const bool timed = WriteBatchInternal::NeedsTimestamps(batch_.GetWriteBatch()) ||
                     WriteBatchInternal::NeedsTimestamps(&commit_time_batch_);
  Status s;
  if (!timed) {
    s = WriteBatchInternal::MarkCommit(&working, name_);
  } else if (commit_timestamp_ == rocksdb::kMaxTxnTimestamp) {
    s = NoCommitTimestamp();
  } else {
    s = WriteBatchInternal::MarkCommitWithTimestamp(&working, name_, Encoded(commit_timestamp_));
  }
  if (s.ok()) {
    working.MarkWalTerminationPoint();
    s = WriteBatchInternal::Append(&working, batch_.GetWriteBatch());
  }
  if (s.ok() && timed) s = SetTimestamps(&working);  // the prepared batch stays as it is, for another try
  if (s.ok()) {
    WriteOptions options = write_options_;
    options.disableWAL = false;
    options.ignore_missing_column_families = true;  // a family may have been dropped
    TransactionWrite write;
    write.ends = &name_;
    s = WriteCommitted(&working, options, write);
  }
  if (!s.ok()) {
    txn_state_ = PREPARED;
    return s;
  }
  registry_->Unregister(name_, this);
  Clear();
  txn_state_ = COMMITTED;
  return Status::OK();
}

Status PessimisticTransaction::WriteCommitted(WriteBatch* batch, const WriteOptions& options,
                                              const TransactionWrite& write) {
  if (snapshot_needed_ && commit_timestamp_ == rocksdb::kMaxTxnTimestamp) {
    return Status::InvalidArgument("Must set transaction commit timestamp");
  }
  Status s = engine_->WriteForTransaction(options, batch, write);
  if (!s.ok() || !snapshot_needed_) return s;
  const std::shared_ptr<TransactionNotifier> notifier = notifier_;
  ClearSnapshot();
  // If that fails, the commit remains.
  snapshot_ = snapshots_->Create(commit_timestamp_).second;
  if (notifier != nullptr && snapshot_ != nullptr) notifier->SnapshotCreated(snapshot_.get());
  return s;
}

Status PessimisticTransaction::Rollback() {
  if (Inherited()) return InheritedStatus();
  switch (GetState()) {
    case PREPARED: {
      txn_state_ = AWAITING_ROLLBACK;
      WriteBatch mark;
      Status s = WriteBatchInternal::MarkRollback(&mark, name_);
      WriteOptions options = write_options_;
      options.disableWAL = false;
      TransactionWrite write;
      write.ends = &name_;
      if (s.ok()) s = engine_->WriteForTransaction(options, &mark, write);
      if (!s.ok()) {
        txn_state_ = PREPARED;
        return s;
      }
      Clear();
      txn_state_ = ROLLEDBACK;
      return s;
    }
    case STARTED:
      Clear();
      return Status::OK();
    case COMMITTED:
      return Status::InvalidArgument("This transaction has already been committed.");
    default:
      return Status::InvalidArgument("Two phase transaction is not in state for rollback.");
  }
}

Status PessimisticTransaction::RollbackToSavePoint() {
  if (Inherited()) return InheritedStatus();
  if (GetState() != STARTED) {
    return Status::InvalidArgument("Transaction is beyond state for rollback.");
  }
  if (const TrackedKeys* since = TrackedSinceSavePoint(); since != nullptr) {
    registry_->locks()->Unlock(transaction_id_, tracked_.TakenOnlyIn(*since));
  }
  return TransactionBase::RollbackToSavePoint();
}

Status PessimisticTransaction::CommitBatch(WriteBatch* batch) {
  if (Inherited()) return InheritedStatus();
  TrackedKeys locked;
  Status s = LockBatch(batch, &locked);
  if (!s.ok()) return s;
  if (Expired()) {
    s = Status::Expired();
  } else if (!Leave(AWAITING_COMMIT)) {
    s = GetState() == LOCKS_STOLEN
            ? Status::Expired()
            : Status::InvalidArgument("Transaction is not in state for commit.");
  } else {
    s = engine_->Write(write_options_, batch);
    if (s.ok()) txn_state_ = COMMITTED;
  }
  registry_->locks()->Unlock(transaction_id_, locked);
  return s;
}

Status PessimisticTransaction::LockBatch(const WriteBatch* batch, TrackedKeys* locked) {
  if (skip_locks_) return Status::OK();
  KeyCollector collector;
  Status s = batch->Iterate(&collector);
  for (const auto& [family, keys] : collector.keys) {
    for (const std::string& key : keys) {
      if (!s.ok()) break;
      s = Lock(family, key, /*exclusive=*/true);
      if (s.ok()) locked->Track(family, key, 0, /*read_only=*/false, /*exclusive=*/true);
    }
  }
  if (!s.ok()) registry_->locks()->Unlock(transaction_id_, *locked);
  return s;
}

Status PessimisticTransaction::Lock(uint32_t family, const std::string& key, bool exclusive) {
  LockRequest request;
  request.owner = transaction_id_;
  request.exclusive = exclusive;
  request.expires_micros = expires_micros_;
  request.timeout_micros = lock_timeout_micros_;
  request.detect_deadlock = options_.deadlock_detect;
  request.max_depth = options_.deadlock_detect_depth;
  request.waiter = this;
  return registry_->locks()->Lock(request, family, key);
}

void PessimisticTransaction::Unlock(uint32_t family, const std::string& key) {
  registry_->locks()->Unlock(transaction_id_, family, key);
}

Status PessimisticTransaction::TryLock(ColumnFamilyHandle* family, const Slice& key,
                                       bool read_only, bool exclusive, bool do_validate,
                                       bool assume_tracked) {
  if (!HasTimestampsOrNone(family)) {
    return Status::NotSupported("transactions on a column family with timestamps of other than 8 bytes",
                                family->GetName());
  }
  if (skip_locks_) return Status::OK();
  const uint32_t id = family->GetID();
  const std::string name = key.ToString();
  const TrackedKey* const known = tracked_.Find(id, name);
  const bool locked = known != nullptr;
  const bool upgrade = locked && exclusive && !known->exclusive;
  SequenceNumber sequence = locked ? known->sequence : kMaxSequenceNumber;
  Status s;
  if (!locked || upgrade) s = Lock(id, name, exclusive);
  SetSnapshotIfNeeded();
  if (!s.ok()) return s;
  if (do_validate && MustValidate(family)) {
    // Only under the lock the key no longer changes.
    s = Validate(family, key, &sequence);
  } else {
    if (assume_tracked && !locked) {
      s = Status::InvalidArgument("assume_tracked is set but it is not tracked yet");
    }
    // Since the lock was taken there was no other write to the key.
    if (sequence == kMaxSequenceNumber) sequence = db_->GetLatestSequenceNumber();
  }
  if (!s.ok()) {
    if (upgrade) {
      Lock(id, name, /*exclusive=*/false).PermitUncheckedError();  // back to a shared lock
    } else if (!locked) {
      Unlock(id, name);
    }
    return s;
  }
  if (!assume_tracked) Track(id, name, sequence, read_only, exclusive);
  return s;
}

bool PessimisticTransaction::MustValidate(ColumnFamilyHandle* family) const {
  return snapshot_ != nullptr || (read_timestamp_ != rocksdb::kMaxTxnTimestamp &&
                                  FamilyOf(family)->timestamp_size() != 0);
}

// Whether there was a write to the key between the snapshot and the lock, or at a time behind the read
// timestamp. `tracked` becomes the sequence since which the key is known to be unchanged.
Status PessimisticTransaction::Validate(ColumnFamilyHandle* family, const Slice& key,
                                        SequenceNumber* tracked) {
  SequenceNumber since = 0;
  if (snapshot_ != nullptr) {
    since = snapshot_->GetSequenceNumber();
    if (*tracked <= since) return Status::OK();
  } else {
    since = db_->GetLatestSequenceNumber();
  }
  *tracked = since;
  SequenceNumber newest = 0;
  std::string time;
  Status s = engine_->NewestSequence(family, key, since, &newest, &time);
  if (!s.ok()) return s;
  if (newest > since) return Status::Busy();
  if (time.empty() || read_timestamp_ == rocksdb::kMaxTxnTimestamp) return s;
  const Comparator* const comparator = family->GetComparator();
  return comparator->CompareTimestamp(Encoded(read_timestamp_), time) < 0 ? Status::Busy() : s;
}

Status PessimisticTransaction::GetRangeLock(ColumnFamilyHandle*, const rocksdb::Endpoint&,
                                            const rocksdb::Endpoint&) {
  return Status::NotSupported("TransactionDB: range locking");
}

std::vector<TransactionID> PessimisticTransaction::GetWaitingTxns(uint32_t* family,
                                                                  std::string* key) const {
  if (Inherited()) return {};
  MutexLock lock(&waiting_mu_);
  if (family != nullptr) *family = waiting_family_;
  if (key != nullptr) *key = waiting_key_;
  return waiting_for_;
}

void PessimisticTransaction::WaitingFor(const std::vector<TransactionID>& owners, uint32_t family,
                                        const std::string& key) {
  MutexLock lock(&waiting_mu_);
  waiting_for_ = owners;
  waiting_family_ = family;
  waiting_key_ = key;
}

void PessimisticTransaction::WaitingEnded() {
  MutexLock lock(&waiting_mu_);
  waiting_for_.clear();
  waiting_family_ = 0;
  waiting_key_.clear();
}

}  // namespace compassdb
