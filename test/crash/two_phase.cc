// SPDX-License-Identifier: Apache-2.0
#include "crash/two_phase.h"

namespace compassdb_test {

using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

namespace {

constexpr char kBatch[] = "batch";
constexpr char kHeld[] = "held";
// Not a key of the history, and never visible.
constexpr char kHeldKey[] = "held by a transaction";

Status Fill(const std::vector<WriteItem>& items, const std::vector<rocksdb::ColumnFamilyHandle*>& families,
            Transaction* txn) {
  for (const WriteItem& item : items) {
    rocksdb::ColumnFamilyHandle* const family = families[static_cast<size_t>(item.family)];
    Status s;
    if (item.kind == WriteItem::Kind::kPut) s = txn->Put(family, item.key, item.value);
    if (item.kind == WriteItem::Kind::kDelete) s = txn->Delete(family, item.key);
    if (item.kind == WriteItem::Kind::kMerge) s = txn->Merge(family, item.key, item.value);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace

void TwoPhase::SetDb(rocksdb::TransactionDB* db) {
  held_handle_.reset();
  db_ = db;
}

Status TwoPhase::Write(const std::vector<WriteItem>& items, uint64_t number,
                       const std::vector<rocksdb::ColumnFamilyHandle*>& families, bool sync_prepare, bool sync,
                       const std::function<Status()>& between) {
  WriteOptions options;
  options.sync = sync_prepare;
  const std::unique_ptr<Transaction> txn(db_->BeginTransaction(options));
  Status s = txn->SetName(kBatch);
  if (s.ok()) s = Fill(items, families, txn.get());
  if (!s.ok()) return s;
  batch_ = State::kEither;
  batch_number_ = number;
  s = txn->Prepare();
  if (s.ok() && sync_prepare) batch_ = State::kPrepared;
  if (s.ok()) s = between();
  if (!s.ok()) return s;
  options.sync = sync;
  txn->SetWriteOptions(options);
  s = txn->Commit();
  // Without sync the mark may be lost, and the section not.
  if (s.ok()) batch_ = sync ? State::kNone : State::kEither;
  return s;
}

Status TwoPhase::HoldOrRollBack(bool sync_rollback) {
  WriteOptions options;
  options.sync = true;
  if (held_handle_ == nullptr) held_handle_.reset(db_->GetTransactionByName(kHeld));
  if (held_handle_ == nullptr) {
    held_handle_.reset(db_->BeginTransaction(options));
    Status s = held_handle_->SetName(kHeld);
    if (s.ok()) s = held_handle_->Put(kHeldKey, std::string(100, 'h'));
    if (!s.ok()) return s;
    held_ = State::kEither;
    s = held_handle_->Prepare();
    if (s.ok()) held_ = State::kPrepared;
    return s;
  }
  options.sync = sync_rollback;
  held_handle_->SetWriteOptions(options);
  held_ = State::kEither;
  Status s = held_handle_->Rollback();
  if (s.ok() && sync_rollback) held_ = State::kNone;
  held_handle_.reset();
  return s;
}

Status TwoPhase::RollBackBatch() {
  const std::unique_ptr<Transaction> txn(db_->GetTransactionByName(kBatch));
  if (txn == nullptr) return Status::OK();
  WriteOptions options;
  options.sync = true;
  txn->SetWriteOptions(options);
  batch_ = State::kEither;
  Status s = txn->Rollback();
  if (s.ok()) batch_ = State::kNone;
  return s;
}

std::optional<std::string> TwoPhase::Check(uint64_t batches) {
  std::vector<Transaction*> all;
  db_->GetAllPreparedTransactions(&all);
  bool batch = false, held = false;
  std::optional<std::string> wrong;
  for (const Transaction* txn : all) {
    (txn->GetName() == kBatch ? batch : held) = true;
    if (txn->GetName() != kBatch && txn->GetName() != kHeld) wrong = "a transaction named " + txn->GetName();
    delete txn;
  }
  found_ += batch || held ? 1 : 0;
  const bool committed = batch_number_ != 0 && batches >= batch_number_;
  if (batch && committed) wrong = "a batch is in the database, and prepared";
  if (batch && batch_ == State::kNone) wrong = "a batch is prepared again";
  if (!batch && !committed && batch_ == State::kPrepared) wrong = "a batch that was prepared is lost";
  if (held && held_ == State::kNone) wrong = "a transaction is prepared again";
  if (!held && held_ == State::kPrepared) wrong = "a transaction that was prepared is lost";
  // What was found stays.
  batch_ = batch ? State::kPrepared : State::kNone;
  batch_number_ = batch ? UINT64_MAX : 0;  // it is never committed
  held_ = held ? State::kPrepared : State::kNone;
  return wrong;
}

}  // namespace compassdb_test
