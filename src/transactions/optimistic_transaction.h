// SPDX-License-Identifier: Apache-2.0
// Optimistic transactions: keys are remembered, and checked at the commit,
// against memtables and, for what is older than those, tables. So a commit
// need not answer TryAgain because a memtable was flushed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "transactions/key_latches.h"
#include "transactions/transaction_base.h"
#include "util/process.h"

namespace compassdb {

class OptimisticTransactionDBImpl;

class OptimisticTransaction final : public TransactionBase {
 public:
  OptimisticTransaction(OptimisticTransactionDBImpl* db, const WriteOptions& write_options,
                        const rocksdb::OptimisticTransactionOptions& options);

  COMPASSDB_DELETED_BY_ITS_PROCESS(OptimisticTransaction, process_)
  void Reuse(const WriteOptions& write_options,
             const rocksdb::OptimisticTransactionOptions& options);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  Status SetName(const rocksdb::TransactionName& name) override;

 protected:
  Status TryLock(ColumnFamilyHandle* family, const Slice& key, bool read_only, bool exclusive,
                 bool do_validate, bool assume_tracked) override;
  void Unlock(uint32_t /*family*/, const std::string& /*key*/) override {}
  void Clear() override;

 private:
  Status CommitInOrder();
  Status CommitWithLatches();

  OptimisticTransactionDBImpl* const optimistic_db_;
  // Not above any tracked key's sequence. While it lives, compactions keep the
  // sequences of what is newer, and conflicts show in tables, too.
  std::shared_ptr<const Snapshot> boundary_;
};

// Writes outside of transactions take the latches, too, where commits rely on them.
class OptimisticTransactionDBImpl final : public rocksdb::OptimisticTransactionDB {
 public:
  // Takes over `db`, whose engine is `engine`.
  OptimisticTransactionDBImpl(rocksdb::DB* db, ExtendedDB* engine,
                              const rocksdb::OptimisticTransactionDBOptions& options);

  COMPASSDB_DELETED_BY_ITS_PROCESS(OptimisticTransactionDBImpl, engine_->process())
  rocksdb::Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const rocksdb::OptimisticTransactionOptions& options,
      rocksdb::Transaction* old) override;

  using OptimisticTransactionDB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& ts, const Slice& value) override;
  using OptimisticTransactionDB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                const Slice& ts) override;
  using OptimisticTransactionDB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) override;
  using OptimisticTransactionDB::PutEntity;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const rocksdb::WideColumns& columns) override;
  using OptimisticTransactionDB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& begin,
                     const Slice& end) override;
  using OptimisticTransactionDB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;

  // Adds those of all keys in the batch.
  Status LatchesOf(const WriteBatch& batch, std::vector<uint32_t>* latches) const;

  ExtendedDB* engine() const { return engine_; }
  // Null where commits validate in the write queue, and in a child of fork().
  KeyLatches* latches() const {
    return engine_->process().Inherited() ? nullptr : latches_.get();
  }

 private:
  std::vector<uint32_t> LatchOf(ColumnFamilyHandle* family, const Slice& key) const;

  ExtendedDB* const engine_;
  const std::unique_ptr<KeyLatches> latches_;
};

}  // namespace compassdb
