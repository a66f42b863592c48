// SPDX-License-Identifier: Apache-2.0
// Ways to open a TransactionDB.
#include <memory>

#include "rocksdb/utilities/transaction_db.h"
#include "transactions/transaction_db_impl.h"

namespace ROCKSDB_NAMESPACE {
namespace {

// After a failure the database is deleted if this owns it, and with
// owns_handles the handles before it.
Status Wrap(DB* db, const TransactionDBOptions& options,
            const std::vector<size_t>& compaction_enabled,
            const std::vector<ColumnFamilyHandle*>& handles, TransactionDB** result,
            bool owns_handles = false) {
  *result = nullptr;
  if (Status s = compassdb::TransactionDBImpl::CheckOptions(options); !s.ok()) return s;
  compassdb::ExtendedDB* const engine = compassdb::ExtendedDB::Of(db);
  if (engine == nullptr) {
    return Status::InvalidArgument("TransactionDB: not a database of this library");
  }
  auto wrapped = std::make_unique<compassdb::TransactionDBImpl>(db, engine, options);
  if (Status s = wrapped->Init(compaction_enabled, handles); !s.ok()) {
    if (owns_handles) {
      for (ColumnFamilyHandle* handle : handles) delete handle;
    }
    return s;
  }
  *result = wrapped.release();
  return Status::OK();
}

// A handle that only requests range locks.
class NoRangeLocks final : public RangeLockManagerHandle {
 public:
  LockManager* getLockManager() override { return nullptr; }
  int SetMaxLockMemory(size_t max_lock_memory) override {
    max_lock_memory_ = max_lock_memory;
    return 0;
  }
  size_t GetMaxLockMemory() override { return max_lock_memory_; }
  void SetEscalationBarrierFunc(EscalationBarrierFunc /*func*/) override {}
  RangeLockStatus GetRangeLockStatusData() override { return {}; }
  Counters GetStatus() override { return {0, 0, 0}; }
  std::vector<RangeDeadlockPath> GetRangeDeadlockInfoBuffer() override { return {}; }
  void SetRangeDeadlockInfoBufferSize(uint32_t /*target_size*/) override {}

 private:
  size_t max_lock_memory_ = 0;
};

}  // namespace

RangeLockManagerHandle* NewRangeLockManager(
    std::shared_ptr<TransactionDBMutexFactory> /*mutex_factory*/) {
  return new NoRangeLocks;
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname, TransactionDB** dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), txn_db_options, dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr);
  // The database has a handle of its own for the default family.
  if (s.ok()) delete handles[0];
  return s;
}

Status TransactionDB::Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr) {
  *dbptr = nullptr;
  if (Status s = compassdb::TransactionDBImpl::CheckOptions(txn_db_options); !s.ok()) return s;
  if (db_options.unordered_write) {
    return Status::NotSupported("WRITE_COMMITTED is incompatible with unordered_writes");
  }
  DBOptions options = db_options;
  std::vector<ColumnFamilyDescriptor> families = column_families;
  std::vector<size_t> compaction_enabled;
  PrepareWrap(&options, &families, &compaction_enabled);
  DB* db = nullptr;
  Status s = DB::Open(options, dbname, families, handles, &db);
  if (!s.ok()) return s;
  s = Wrap(db, txn_db_options, compaction_enabled, *handles, dbptr, /*owns_handles=*/true);
  if (!s.ok()) handles->clear();
  return s;
}

void TransactionDB::PrepareWrap(DBOptions* db_options,
                                std::vector<ColumnFamilyDescriptor>* column_families,
                                std::vector<size_t>* compaction_enabled_cf_indices) {
  compaction_enabled_cf_indices->clear();
  for (size_t i = 0; i < column_families->size(); ++i) {
    ColumnFamilyOptions* const options = &(*column_families)[i].options;
    if (options->disable_auto_compactions) continue;
    options->disable_auto_compactions = true;
    compaction_enabled_cf_indices->push_back(i);
  }
  db_options->allow_2pc = true;
}

Status TransactionDB::WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                             const std::vector<size_t>& compaction_enabled_cf_indices,
                             const std::vector<ColumnFamilyHandle*>& handles,
                             TransactionDB** dbptr) {
  return Wrap(db, txn_db_options, compaction_enabled_cf_indices, handles, dbptr);
}

Status TransactionDB::WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                      const std::vector<size_t>& compaction_enabled_cf_indices,
                                      const std::vector<ColumnFamilyHandle*>& handles,
                                      TransactionDB** dbptr) {
  return Wrap(db, txn_db_options, compaction_enabled_cf_indices, handles, dbptr);
}

}  // namespace ROCKSDB_NAMESPACE
