// SPDX-License-Identifier: Apache-2.0
// rocksdb::TransactionDB with pessimistic transactions.
//
// Thread safety: all methods.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "transactions/pessimistic_transaction.h"
#include "transactions/timestamped_snapshots.h"
#include "transactions/transaction_registry.h"
#include "util/process.h"

namespace compassdb {

class TransactionDBImpl final : public rocksdb::TransactionDB {
 public:
  // Takes over `db`, whose engine is `engine`. Init must follow.
  TransactionDBImpl(rocksdb::DB* db, ExtendedDB* engine,
                    const rocksdb::TransactionDBOptions& options);
  ~TransactionDBImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(TransactionDBImpl, engine_->process())

  // Locks for the families; what recovery found becomes transactions; compactions begin.
  Status Init(const std::vector<size_t>& compaction_enabled,
              const std::vector<ColumnFamilyHandle*>& handles);
  static Status CheckOptions(const rocksdb::TransactionDBOptions& options);

  rocksdb::Transaction* BeginTransaction(const WriteOptions& write_options,
                                         const TransactionOptions& options,
                                         rocksdb::Transaction* old) override;
  rocksdb::Transaction* GetTransactionByName(const rocksdb::TransactionName& name) override {
    return registry_.Find(name);
  }
  void GetAllPreparedTransactions(std::vector<rocksdb::Transaction*>* transactions) override {
    registry_.GetPrepared(transactions);
  }
  std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() override;
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override;
  void SetDeadlockInfoBufferSize(uint32_t target_size) override;

  std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(TxnTimestamp ts) override {
    return snapshots_.Create(ts);
  }
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const override {
    return snapshots_.Get(ts);
  }
  void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) override { snapshots_.ReleaseOlderThan(ts); }
  Status GetTimestampedSnapshots(TxnTimestamp from, TxnTimestamp to,
                                 std::vector<std::shared_ptr<const Snapshot>>& snapshots) const override {
    return snapshots_.GetRange(from, to, snapshots);
  }

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

 private:
  bool Inherited() const { return engine_->process().Inherited(); }
  std::unique_ptr<PessimisticTransaction> NewTransaction(const WriteOptions& write_options,
                                                         const TransactionOptions& options);
  std::unique_ptr<PessimisticTransaction> BeginOutside(const WriteOptions& options);
  template <typename Add>
  Status WriteOutside(const WriteOptions& options, const Add& add);

  ExtendedDB* const engine_;
  TransactionRegistry registry_;
  TimestampedSnapshots snapshots_;
};

}  // namespace compassdb
