// SPDX-License-Identifier: Apache-2.0
#include "transactions/optimistic_transaction.h"

#include <functional>

namespace compassdb {

using rocksdb::OptimisticTransactionOptions;

namespace {

// As in RocksDB, keys of the default family have its timestamps. The option does not matter.
const Comparator* ComparatorFor(OptimisticTransactionDBImpl* db,
                                const OptimisticTransactionOptions& options) {
  const Comparator* const own = db->DefaultColumnFamily()->GetComparator();
  if (options.cmp == nullptr || own->timestamp_size() != options.cmp->timestamp_size()) return own;
  return options.cmp;
}

}  // namespace

OptimisticTransaction::OptimisticTransaction(OptimisticTransactionDBImpl* db,
                                             const WriteOptions& write_options,
                                             const OptimisticTransactionOptions& options)
    : TransactionBase(db, db->engine(), write_options, ComparatorFor(db, options)),
      optimistic_db_(db) {
  if (options.set_snapshot) SetSnapshot();
}

void OptimisticTransaction::Reuse(const WriteOptions& write_options,
                                  const OptimisticTransactionOptions& options) {
  Restart(write_options);
  if (options.set_snapshot) SetSnapshot();
}

Status OptimisticTransaction::Prepare() {
  return Status::InvalidArgument("Two phase commit not supported for optimistic transactions.");
}

Status OptimisticTransaction::SetName(const rocksdb::TransactionName& /*name*/) {
  return Status::InvalidArgument("Optimistic transactions cannot be named.");
}

void OptimisticTransaction::Clear() {
  TransactionBase::Clear();
  boundary_.reset();
}

Status OptimisticTransaction::Rollback() {
  if (Inherited()) return InheritedStatus();
  Clear();
  return Status::OK();
}

Status OptimisticTransaction::Commit() {
  if (Inherited()) return InheritedStatus();
  Status s = optimistic_db_->latches() == nullptr ? CommitInOrder() : CommitWithLatches();
  if (s.ok()) Clear();
  return s;
}

Status OptimisticTransaction::CommitInOrder() {
  const std::function<Status()> check = [this] { return CheckForConflicts(engine_, tracked_); };
  TransactionWrite write;
  write.check = &check;
  return engine_->WriteForTransaction(write_options_, batch_.GetWriteBatch(), write);
}

Status OptimisticTransaction::CommitWithLatches() {
  const KeyLatches* const latches = optimistic_db_->latches();
  std::vector<uint32_t> wanted;
  // Untracked writes, too: they must not come between another commit's check and its write.
  if (Status s = optimistic_db_->LatchesOf(*batch_.GetWriteBatch(), &wanted); !s.ok()) return s;
  for (const auto& [family, keys] : tracked_.families()) {
    for (const auto& [key, info] : keys) wanted.push_back(latches->LatchOf(family, key));
  }
  const KeyLatches::Hold hold(optimistic_db_->latches(), std::move(wanted));
  if (Status s = CheckForConflicts(engine_, tracked_); !s.ok()) return s;
  return engine_->WriteForTransaction(write_options_, batch_.GetWriteBatch(), TransactionWrite());
}

Status OptimisticTransaction::TryLock(ColumnFamilyHandle* family, const Slice& key,
                                      bool read_only, bool exclusive, bool do_validate,
                                      bool /*assume_tracked*/) {
  if (!do_validate) return Status::OK();
  SetSnapshotIfNeeded();
  if (boundary_ == nullptr) boundary_ = snapshot_ != nullptr ? snapshot_ : NewSnapshot();
  SequenceNumber sequence = 0;
  if (snapshot_ != nullptr) {
    sequence = snapshot_->GetSequenceNumber();
    if (sequence < boundary_->GetSequenceNumber()) boundary_ = snapshot_;
  } else {
    sequence = db_->GetLatestSequenceNumber();
  }
  Track(family->GetID(), key.ToString(), sequence, read_only, exclusive);
  return Status::OK();
}

}  // namespace compassdb
