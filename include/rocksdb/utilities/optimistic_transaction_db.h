// SPDX-License-Identifier: Apache-2.0
//
// Transactions that lock nothing: whether anybody else wrote their keys is found out at commit.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"

namespace ROCKSDB_NAMESPACE {

class Transaction;

struct OptimisticTransactionOptions {
  // As if Transaction::SetSnapshot() were called first.
  bool set_snapshot = false;

  // The comparator of the default family, if it is another one.
  const Comparator* cmp = BytewiseComparator();
};

// When a commit looks for conflicts.
enum class OccValidationPolicy {
  // At the front of the write queue: one after the other.
  kValidateSerial = 0,
  // Before it joins the write queue, with locks on hashes of its keys that keep other commits of
  // the same keys away until it is written.
  kValidateParallel = 1
};

struct OptimisticTransactionDBOptions {
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;

  // The number of those locks.
  uint32_t occ_lock_buckets = (1 << 20);
};

// A database with optimistic transactions. Writes of its own are not checked, but transactions see
// them as conflicts. DeleteRange answers NotSupported, also in a batch given to Write().
class OptimisticTransactionDB : public StackableDB {
 public:
  // As DB::Open().
  static Status Open(const Options& options, const std::string& dbname,
                     OptimisticTransactionDB** dbptr);

  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles,
                     OptimisticTransactionDB** dbptr);

  static Status Open(const DBOptions& db_options,
                     const OptimisticTransactionDBOptions& occ_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles,
                     OptimisticTransactionDB** dbptr);

  virtual ~OptimisticTransactionDB() {}

  // The caller deletes the transaction, before the database. An old one, no longer in use, is
  // made new instead if it is given.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options =
          OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

  OptimisticTransactionDB(const OptimisticTransactionDB&) = delete;
  void operator=(const OptimisticTransactionDB&) = delete;

 protected:
  explicit OptimisticTransactionDB(DB* db) : StackableDB(db) {}
};

}  // namespace ROCKSDB_NAMESPACE
