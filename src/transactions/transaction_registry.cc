// SPDX-License-Identifier: Apache-2.0
#include "transactions/transaction_registry.h"

#include <utility>

namespace compassdb {

namespace {

PointLocks::Options LockOptions(const rocksdb::TransactionDBOptions& options, rocksdb::Env* env,
                                std::function<bool(TransactionID)> steal) {
  PointLocks::Options locks;
  locks.stripes = options.num_stripes;
  locks.max_locks = options.max_num_locks;
  locks.deadlocks_kept = options.max_num_deadlocks;
  locks.mutexes = options.custom_mutex_factory;
  locks.env = env;
  locks.steal = std::move(steal);
  return locks;
}

}  // namespace

TransactionRegistry::TransactionRegistry(const rocksdb::TransactionDBOptions& options, rocksdb::Env* env,
                                         const ProcessMark& process)
    : options_(options),
      process_(process),
      locks_(LockOptions(options, env, [this](TransactionID id) { return StealLocks(id); })) {}

bool TransactionRegistry::Register(const std::string& name, rocksdb::Transaction* transaction) {
  if (process_.Inherited()) return false;
  MutexLock lock(&mu_);
  return by_name_.emplace(name, transaction).second;
}

void TransactionRegistry::Unregister(const std::string& name, const rocksdb::Transaction* transaction) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  auto it = by_name_.find(name);
  if (it != by_name_.end() && it->second == transaction) by_name_.erase(it);
}

rocksdb::Transaction* TransactionRegistry::Find(const std::string& name) const {
  if (process_.Inherited()) return nullptr;
  MutexLock lock(&mu_);
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

rocksdb::Transaction* TransactionRegistry::First() const {
  MutexLock lock(&mu_);
  return by_name_.empty() ? nullptr : by_name_.begin()->second;
}

void TransactionRegistry::GetPrepared(std::vector<rocksdb::Transaction*>* transactions) const {
  transactions->clear();
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  for (const auto& [name, transaction] : by_name_) {
    if (transaction->GetState() == rocksdb::Transaction::PREPARED) transactions->push_back(transaction);
  }
}

void TransactionRegistry::AddExpirable(TransactionID id, ExpirableTransaction* transaction) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  expirable_[id] = transaction;
}

void TransactionRegistry::RemoveExpirable(TransactionID id) {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  expirable_.erase(id);
}

// Under the mutex the transaction cannot end.
bool TransactionRegistry::StealLocks(TransactionID id) {
  MutexLock lock(&mu_);
  auto it = expirable_.find(id);
  return it == expirable_.end() || it->second->StealLocks();
}

}  // namespace compassdb
