// SPDX-License-Identifier: Apache-2.0
// Accounts that all threads of a stress test move money between. They do so in transactions, which
// conflict with each other, or in batches under a lock where the database has no transactions.
//
// Thread safety: any number of threads; Fill and CheckBalances while no other runs.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "stress/stress_db.h"
#include "support/random.h"

namespace compassdb_test {

class Bank {
 public:
  static constexpr int kAccounts = 6;
  static constexpr int64_t kEach = 1000;
  // All its keys begin with it; they are in the default family.
  static constexpr char kPrefix = 'z';

  // Each of these says what is wrong, or nothing.
  std::string Fill(const StressDb& db);
  std::string Transfer(const StressDb& db, Random* random);
  // Checks the sum of all accounts, at one moment.
  std::string CheckSum(const StressDb& db, bool by_iterator) const;
  // Checks that each account has the result of the successful transfers.
  std::string CheckBalances(const StressDb& db) const;
  uint64_t conflicts() const { return conflicts_; }

 private:
  struct Order {
    int from, to;
    int64_t amount;
  };
  std::string TransferInBatch(const StressDb& db, const Order& order);
  std::string TransferInTransaction(const StressDb& db, const Order& order, Random* random);
  rocksdb::Status Move(rocksdb::Transaction* transaction, const Order& order);
  void Note(const Order& order);

  std::mutex without_transactions_;
  std::atomic<int64_t> balances_[kAccounts] = {};
  std::atomic<uint64_t> conflicts_ = 0;
};

}  // namespace compassdb_test
