// SPDX-License-Identifier: Apache-2.0
// The transactions of a database that others may ask for: by name, or because they have expired; and their locks.
//
// Thread safety: all methods. Lock order: mu_ is a leaf. In a child of fork() nothing changes.
// Invariants: a transaction with a name is in by_name_ until it ends; one that may expire is in expirable_ until it
// ends.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "transactions/point_locks.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

// One whose locks others may take once it has expired.
class ExpirableTransaction {
 public:
  // Any thread: releases the locks, unless the transaction is being committed or rolled back.
  virtual bool StealLocks() = 0;

 protected:
  ~ExpirableTransaction() = default;
};

class TransactionRegistry {
 public:
  // `process`: that opened the database.
  TransactionRegistry(const rocksdb::TransactionDBOptions& options, rocksdb::Env* env, const ProcessMark& process);

  const rocksdb::TransactionDBOptions& options() const { return options_; }
  PointLocks* locks() { return &locks_; }
  TransactionID NewId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // False if the name is in use.
  bool Register(const std::string& name, rocksdb::Transaction* transaction);
  void Unregister(const std::string& name, const rocksdb::Transaction* transaction);
  rocksdb::Transaction* Find(const std::string& name) const;  // null: there is none
  // Any of those with names; null: there is none.
  rocksdb::Transaction* First() const;
  void GetPrepared(std::vector<rocksdb::Transaction*>* transactions) const;

  void AddExpirable(TransactionID id, ExpirableTransaction* transaction);
  void RemoveExpirable(TransactionID id);

 private:
  bool StealLocks(TransactionID id);

  const rocksdb::TransactionDBOptions options_;
  const ProcessMark& process_;
  PointLocks locks_;
  std::atomic<TransactionID> next_id_{1};
  mutable Mutex mu_;
  std::map<std::string, rocksdb::Transaction*> by_name_ GUARDED_BY(mu_);
  std::unordered_map<TransactionID, ExpirableTransaction*> expirable_ GUARDED_BY(mu_);
};

}  // namespace compassdb
