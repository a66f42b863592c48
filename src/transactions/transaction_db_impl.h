// SPDX-License-Identifier: Apache-2.0
// rocksdb::TransactionDB with pessimistic transactions.
//
// Thread safety: all methods. Lock order: mu_ and timestamps_mu_ are leaves.
// Invariants: a transaction with a name is in by_name_ until it ends; one that
// may expire is in expirable_ until it ends.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "transactions/pessimistic_transaction.h"
#include "transactions/point_locks.h"
#include "util/process.h"

namespace compassdb {

class TransactionDBImpl final : public rocksdb::TransactionDB {
 public:
  // Takes over `db`, whose engine is `engine`. Init must follow.
  TransactionDBImpl(rocksdb::DB* db, DBImpl* engine, const rocksdb::TransactionDBOptions& options);
  ~TransactionDBImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(TransactionDBImpl, engine_->process())

  // Locks for the families; what recovery found becomes transactions; compactions begin.
  Status Init(const std::vector<size_t>& compaction_enabled,
              const std::vector<ColumnFamilyHandle*>& handles);
  static Status CheckOptions(const rocksdb::TransactionDBOptions& options);

  rocksdb::Transaction* BeginTransaction(const WriteOptions& write_options,
                                         const TransactionOptions& options,
                                         rocksdb::Transaction* old) override;
  rocksdb::Transaction* GetTransactionByName(const rocksdb::TransactionName& name) override;
  void GetAllPreparedTransactions(std::vector<rocksdb::Transaction*>* transactions) override;
  std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() override;
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override;
  void SetDeadlockInfoBufferSize(uint32_t target_size) override;

  std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      rocksdb::TxnTimestamp ts) override;
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot(rocksdb::TxnTimestamp ts) const override;
  void ReleaseTimestampedSnapshotsOlderThan(rocksdb::TxnTimestamp ts) override;
  Status GetTimestampedSnapshots(
      rocksdb::TxnTimestamp from, rocksdb::TxnTimestamp to,
      std::vector<std::shared_ptr<const Snapshot>>& snapshots) const override;

  // Each is a transaction of its own.
  using TransactionDB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override;
  using TransactionDB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                const Slice& key) override;
  using TransactionDB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) override;
  using TransactionDB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Write(const WriteOptions& options,
               const rocksdb::TransactionDBWriteOptimizations& optimizations,
               WriteBatch* batch) override;

  using TransactionDB::CreateColumnFamily;
  Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  using TransactionDB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                      const rocksdb::ImportColumnFamilyOptions& import,
                                      const rocksdb::ExportImportFilesMetaData& exported,
                                      ColumnFamilyHandle** handle) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) override;

  // For transactions.
  const rocksdb::TransactionDBOptions& options() const { return options_; }
  DBImpl* engine() const { return engine_; }
  PointLocks* locks() { return &locks_; }
  TransactionID NewId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // False if the name is in use.
  bool Register(const std::string& name, PessimisticTransaction* transaction);
  void Unregister(const std::string& name, const PessimisticTransaction* transaction);
  void SetExpirable(PessimisticTransaction* transaction, bool expirable);

 private:
  bool Inherited() const { return engine_->process().Inherited(); }
  bool StealLocks(TransactionID id);
  std::unique_ptr<PessimisticTransaction> BeginOutside(const WriteOptions& options);
  template <typename Add>
  Status WriteOutside(const WriteOptions& options, const Add& add);

  const rocksdb::TransactionDBOptions options_;
  DBImpl* const engine_;
  PointLocks locks_;
  std::atomic<TransactionID> next_id_{1};

  mutable Mutex mu_;
  std::map<std::string, PessimisticTransaction*> by_name_ GUARDED_BY(mu_);
  std::unordered_map<TransactionID, PessimisticTransaction*> expirable_ GUARDED_BY(mu_);

  mutable Mutex timestamps_mu_;
  std::map<rocksdb::TxnTimestamp, std::shared_ptr<const Snapshot>> timestamped_
      GUARDED_BY(timestamps_mu_);
};

}  // namespace compassdb
