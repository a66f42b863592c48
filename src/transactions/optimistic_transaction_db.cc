// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "batch/write_batch_internal.h"
#include "format/user_timestamp.h"
#include "transactions/optimistic_transaction.h"

namespace compassdb {
namespace {

using rocksdb::OccValidationPolicy;
using rocksdb::OptimisticTransactionDBOptions;
using rocksdb::OptimisticTransactionOptions;

class LatchCollector final : public BatchSink {
 public:
  LatchCollector(const ExtendedDB* engine, const KeyLatches* latches, std::vector<uint32_t>* wanted)
      : engine_(engine), latches_(latches), wanted_(wanted) {}
  // Adds keys without timestamps, as transactions track them.
  Status Add(uint32_t id, SequenceNumber, ValueType, const Slice& key, const Slice&) override {
    if (family_ == nullptr || family_->id() != id) family_ = engine_->FamilyById(id);
    const size_t size = family_ == nullptr ? 0 : family_->timestamp_size();
    wanted_->push_back(latches_->LatchOf(id, StripTimestamp(key, std::min(size, key.size()))));
    return Status::OK();
  }

 private:
  const ExtendedDB* const engine_;
  const KeyLatches* const latches_;
  std::vector<uint32_t>* const wanted_;
  std::shared_ptr<ColumnFamily> family_;  // of the last record
};

}  // namespace

OptimisticTransactionDBImpl::OptimisticTransactionDBImpl(
    rocksdb::DB* db, ExtendedDB* engine, const OptimisticTransactionDBOptions& options)
    : OptimisticTransactionDB(db),
      engine_(engine),
      latches_(options.validate_policy == OccValidationPolicy::kValidateParallel
                   ? std::make_unique<KeyLatches>(options.occ_lock_buckets)
                   : nullptr) {}

rocksdb::Transaction* OptimisticTransactionDBImpl::BeginTransaction(
    const WriteOptions& write_options, const OptimisticTransactionOptions& options,
    rocksdb::Transaction* old) {
  if (old == nullptr) return new OptimisticTransaction(this, write_options, options);
  static_cast<OptimisticTransaction*>(old)->Reuse(write_options, options);
  return old;
}

std::vector<uint32_t> OptimisticTransactionDBImpl::LatchOf(ColumnFamilyHandle* family,
                                                           const Slice& key) const {
  if (latches() == nullptr || family == nullptr) return {};
  return {latches_->LatchOf(family->GetID(), key)};
}

Status OptimisticTransactionDBImpl::LatchesOf(const WriteBatch& batch,
                                              std::vector<uint32_t>* latches) const {
  if (engine_->process().Inherited()) return InheritedStatus();
  LatchCollector collector(engine_, latches_.get(), latches);
  return WriteBatchInternal::InsertInto(&batch, &collector, nullptr);
}

Status OptimisticTransactionDBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                                        const Slice& key, const Slice& value) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->Put(options, family, key, value);
}

Status OptimisticTransactionDBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                                        const Slice& key, const Slice& ts, const Slice& value) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->Put(options, family, key, ts, value);
}

Status OptimisticTransactionDBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family,
                                           const Slice& key, const Slice& ts) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->Delete(options, family, key, ts);
}

Status OptimisticTransactionDBImpl::SingleDelete(const WriteOptions& options,
                                                 ColumnFamilyHandle* family, const Slice& key,
                                                 const Slice& ts) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->SingleDelete(options, family, key, ts);
}

Status OptimisticTransactionDBImpl::Delete(const WriteOptions& options,
                                           ColumnFamilyHandle* family, const Slice& key) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->Delete(options, family, key);
}

Status OptimisticTransactionDBImpl::SingleDelete(const WriteOptions& options,
                                                 ColumnFamilyHandle* family, const Slice& key) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->SingleDelete(options, family, key);
}

Status OptimisticTransactionDBImpl::PutEntity(const WriteOptions& options, ColumnFamilyHandle* family,
                                              const Slice& key, const rocksdb::WideColumns& columns) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->PutEntity(options, family, key, columns);
}

Status OptimisticTransactionDBImpl::DeleteRange(const WriteOptions&, ColumnFamilyHandle*,
                                                const Slice&, const Slice&) {
  return Status::NotSupported("OptimisticTransactionDB: DeleteRange");
}

Status OptimisticTransactionDBImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                                          const Slice& key, const Slice& value) {
  const KeyLatches::Hold hold(latches(), LatchOf(family, key));
  return db_->Merge(options, family, key, value);
}

Status OptimisticTransactionDBImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("Batch is nullptr!");
  if (batch->HasDeleteRange()) {
    return Status::NotSupported("OptimisticTransactionDB: DeleteRange");
  }
  if (latches_ == nullptr) return db_->Write(options, batch);
  std::vector<uint32_t> wanted;
  if (Status s = LatchesOf(*batch, &wanted); !s.ok()) return s;
  const KeyLatches::Hold hold(latches(), std::move(wanted));
  return db_->Write(options, batch);
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

Status OptimisticTransactionDB::Open(const Options& options, const std::string& dbname,
                                     OptimisticTransactionDB** dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), OptimisticTransactionDBOptions(), dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr);
  // The database has a handle of its own for the default family.
  if (s.ok()) delete handles[0];
  return s;
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options, const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) {
  return Open(db_options, OptimisticTransactionDBOptions(), dbname, column_families, handles,
              dbptr);
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options,
                                     const OptimisticTransactionDBOptions& occ_options,
                                     const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) {
  *dbptr = nullptr;
  DB* db = nullptr;
  Status s = DB::Open(db_options, dbname, column_families, handles, &db);
  if (!s.ok()) return s;
  auto* const engine = compassdb::ExtendedDB::Of(db);
  *dbptr = new compassdb::OptimisticTransactionDBImpl(db, engine, occ_options);
  return s;
}

}  // namespace ROCKSDB_NAMESPACE
