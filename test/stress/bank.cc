// SPDX-License-Identifier: Apache-2.0
#include "stress/bank.h"

#include <thread>

#include "rocksdb/utilities/transaction.h"
#include "stress/engine_options.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

std::string AccountKey(int account) {
  return std::string(1, Bank::kPrefix) + static_cast<char>('a' + account);
}

int64_t Balance(const std::string& value) { return strtoll(value.c_str(), nullptr, 10); }

}  // namespace

std::string Bank::Fill(const StressDb& db) {
  rocksdb::WriteBatch batch;
  Status s;
  for (int account = 0; account < kAccounts && s.ok(); account++) {
    s = batch.Put(AccountKey(account), std::to_string(kEach));
    balances_[account] = kEach;
  }
  if (s.ok()) s = db.db()->Write(rocksdb::WriteOptions(), &batch);
  return s.ok() ? "" : "accounts: " + s.ToString();
}

std::string Bank::Transfer(const StressDb& db, Random* random) {
  Order order;
  order.from = static_cast<int>(random->Uniform(kAccounts));
  order.to = (order.from + 1 + static_cast<int>(random->Uniform(kAccounts - 1))) % kAccounts;
  order.amount = static_cast<int64_t>(random->Uniform(100));
  return db.kind() == StressDb::Kind::kPlain ? TransferInBatch(db, order) : TransferInTransaction(db, order, random);
}

void Bank::Note(const Order& order) {
  balances_[order.from] -= order.amount;
  balances_[order.to] += order.amount;
}

std::string Bank::TransferInBatch(const StressDb& db, const Order& order) {
  std::lock_guard<std::mutex> lock(without_transactions_);
  std::string from, to;
  Status s = db.db()->Get(rocksdb::ReadOptions(), AccountKey(order.from), &from);
  if (s.ok()) s = db.db()->Get(rocksdb::ReadOptions(), AccountKey(order.to), &to);
  rocksdb::WriteBatch batch;
  if (s.ok()) s = batch.Put(AccountKey(order.from), std::to_string(Balance(from) - order.amount));
  if (s.ok()) s = batch.Put(AccountKey(order.to), std::to_string(Balance(to) + order.amount));
  if (s.ok()) s = db.db()->Write(rocksdb::WriteOptions(), &batch);
  if (!s.ok()) return "transfer in a batch: " + s.ToString();
  Note(order);
  return "";
}

Status Bank::Move(rocksdb::Transaction* transaction, const Order& order) {
  std::string from, to;
  Status s = transaction->GetForUpdate(rocksdb::ReadOptions(), AccountKey(order.from), &from);
  if (s.ok()) s = transaction->GetForUpdate(rocksdb::ReadOptions(), AccountKey(order.to), &to);
  if (s.ok()) s = transaction->Put(AccountKey(order.from), std::to_string(Balance(from) - order.amount));
  if (s.ok()) s = transaction->Put(AccountKey(order.to), std::to_string(Balance(to) + order.amount));
  return s;
}

std::string Bank::TransferInTransaction(const StressDb& db, const Order& order, Random* random) {
  const bool locking = db.kind() == StressDb::Kind::kLocking;
  std::unique_ptr<rocksdb::Transaction> transaction;
  if (locking) {
    rocksdb::TransactionOptions options;
    options.deadlock_detect = random->OneIn(2);
    options.lock_timeout = options.deadlock_detect ? 1000 : 2;
    transaction.reset(db.locking()->BeginTransaction(rocksdb::WriteOptions(), options));
  } else {
    transaction.reset(db.optimistic()->BeginTransaction(rocksdb::WriteOptions()));
  }
  Status s = Move(transaction.get(), order);
  std::this_thread::yield();  // let others conflict with it
  const bool waited_in_vain = locking && (s.IsBusy() || s.IsTimedOut());
  if (!s.ok() && !waited_in_vain) return "transfer: " + s.ToString();
  if (s.ok() && !random->OneIn(10)) {
    s = transaction->Commit();
    if (s.ok()) {
      Note(order);
      return "";
    }
    const bool conflict = !locking && (s.IsBusy() || (s.IsTryAgain() && !Limits().optimistic_always_knows));
    if (!conflict) return "commit of a transfer: " + s.ToString();
  }
  if (!s.ok()) conflicts_++;
  s = transaction->Rollback();
  return s.ok() ? "" : "rollback of a transfer: " + s.ToString();
}

std::string Bank::CheckSum(const StressDb& db, bool by_iterator) const {
  // A secondary has no snapshots, and moves only on request.
  const rocksdb::Snapshot* snapshot = db.secondary() ? nullptr : db.db()->GetSnapshot();
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  int64_t sum = 0;
  int seen = 0;
  Status s;
  if (by_iterator) {
    std::unique_ptr<rocksdb::Iterator> it(db.db()->NewIterator(read));
    for (it->Seek(AccountKey(0)); it->Valid(); it->Next()) {
      sum += Balance(it->value().ToString());
      seen++;
    }
    s = it->status();
  } else {
    std::vector<std::string> keys, values;
    for (int account = 0; account < kAccounts; account++) keys.push_back(AccountKey(account));
    for (const Status& each : db.db()->MultiGet(read, {keys.begin(), keys.end()}, &values)) {
      if (!each.ok()) s = each;
    }
    for (const std::string& value : values) sum += Balance(value);
    seen = kAccounts;
  }
  if (snapshot != nullptr) db.db()->ReleaseSnapshot(snapshot);
  if (!s.ok()) return "reading the accounts: " + s.ToString();
  if (seen == kAccounts && sum == kAccounts * kEach) return "";
  return std::to_string(seen) + " accounts hold " + std::to_string(sum) + " instead of " + std::to_string(kAccounts * kEach);
}

std::string Bank::CheckBalances(const StressDb& db) const {
  for (int account = 0; account < kAccounts; account++) {
    std::string value;
    Status s = db.db()->Get(rocksdb::ReadOptions(), AccountKey(account), &value);
    if (!s.ok()) return "account " + std::to_string(account) + ": " + s.ToString();
    if (Balance(value) != balances_[account]) {
      return "account " + std::to_string(account) + " holds " + value + " instead of " + std::to_string(balances_[account]);
    }
  }
  return "";
}

}  // namespace compassdb_test
