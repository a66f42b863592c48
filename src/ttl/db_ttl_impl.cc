// SPDX-License-Identifier: Apache-2.0
#include "ttl/db_ttl_impl.h"

#include "api/foreign_cast.h"
#include "batch/write_batch_internal.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "ttl/ttl_iterator.h"
#include "ttl/ttl_value.h"

namespace compassdb {

using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

namespace {

// Copies a batch; values and operands get the time. All of a batch have the same.
class Stamper final : public WriteBatch::Handler {
 public:
  Stamper(uint32_t now, WriteBatch* out) : now_(now), out_(out) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Put(out_, family, key, Stamped(value));
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return WriteBatchInternal::Merge(out_, family, key, Stamped(value));
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::Delete(out_, family, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return WriteBatchInternal::SingleDelete(out_, family, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return WriteBatchInternal::DeleteRange(out_, family, begin, end);
  }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override {
    return Status::NotSupported("DBWithTTL: wide columns have no time to live");
  }
  void LogData(const Slice& blob) override {
    if (log_data_.ok()) log_data_ = out_->PutLogData(blob);
  }

  const Status& log_data() const { return log_data_; }

 private:
  Slice Stamped(const Slice& value) {
    stored_.assign(value.data(), value.size());
    PutFixed32(&stored_, now_);
    return stored_;
  }

  const uint32_t now_;
  WriteBatch* const out_;
  std::string stored_;
  Status log_data_;
};

Status TakeOffTime(PinnableSlice* value) {
  Status s = CheckTtlTime(*value);
  if (s.ok()) {
    value->remove_suffix(kTtlBytes);
  } else {
    value->Reset();
  }
  return s;
}

Status TakeOffTime(std::string* value) {
  Status s = CheckTtlTime(*value);
  if (s.ok()) {
    value->resize(value->size() - kTtlBytes);
  } else {
    value->clear();
  }
  return s;
}

}  // namespace

void DbWithTtlImpl::WrapOptions(int32_t ttl, rocksdb::Env* env,
                                rocksdb::ColumnFamilyOptions* options, Filters* filters) {
  if (options->compaction_filter != nullptr) {
    filters->push_back(
        std::make_unique<TtlCompactionFilter>(ttl, env, options->compaction_filter, nullptr));
    options->compaction_filter = filters->back().get();
  } else {
    options->compaction_filter_factory = std::make_shared<TtlCompactionFilterFactory>(
        ttl, env, options->compaction_filter_factory);
  }
  if (options->merge_operator != nullptr) {
    options->merge_operator = std::make_shared<TtlMergeOperator>(options->merge_operator, env);
  }
}

// The database is destroyed before the filters that its compactions use.
DbWithTtlImpl::~DbWithTtlImpl() {
  Close().PermitUncheckedError();
  delete db_;
  db_ = nullptr;
}

Status DbWithTtlImpl::Close() {
  if (closed_) return Status::OK();
  rocksdb::CancelAllBackgroundWork(db_, /*wait=*/true);
  Status s = db_->Close();
  closed_ = s.ok();
  return s;
}

Status DbWithTtlImpl::CreateColumnFamilyWithTtl(const rocksdb::ColumnFamilyOptions& options,
                                                const std::string& name,
                                                ColumnFamilyHandle** handle, int ttl) {
  if (process_.Inherited()) return InheritedStatus();
  rocksdb::ColumnFamilyOptions wrapped = options;
  MutexLock lock(&mu_);
  WrapOptions(ttl, env_, &wrapped, &filters_);
  return db_->CreateColumnFamily(wrapped, name, handle);
}

Status DbWithTtlImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                         const std::string& name, ColumnFamilyHandle** handle) {
  return CreateColumnFamilyWithTtl(options, name, handle, 0);
}

Status DbWithTtlImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                           const std::vector<std::string>& names,
                                           std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  return CreateColumnFamilies(families, handles);
}

Status DbWithTtlImpl::CreateColumnFamilies(
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
    std::vector<ColumnFamilyHandle*>* handles) {
  handles->clear();
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    ColumnFamilyHandle* handle = nullptr;
    if (Status s = CreateColumnFamily(family.options, family.name, &handle); !s.ok()) return s;
    handles->push_back(handle);
  }
  return Status::OK();
}

Status DbWithTtlImpl::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                                   const std::string& name,
                                                   const rocksdb::ImportColumnFamilyOptions& import,
                                                   const rocksdb::ExportImportFilesMetaData& exported,
                                                   ColumnFamilyHandle** handle) {
  if (process_.Inherited()) return InheritedStatus();
  rocksdb::ColumnFamilyOptions wrapped = options;
  MutexLock lock(&mu_);
  WrapOptions(0, env_, &wrapped, &filters_);
  return db_->CreateColumnFamilyWithImport(wrapped, name, import, exported, handle);
}

void DbWithTtlImpl::SetTtl(ColumnFamilyHandle* family, int32_t ttl) {
  const rocksdb::Options options = GetOptions(family);
  auto* factory = ForeignCast<TtlCompactionFilterFactory*>(options.compaction_filter_factory.get());
  if (factory != nullptr) factory->SetTtl(ttl);
}

Status DbWithTtlImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family,
                          const Slice& key, const Slice& value) {
  WriteBatch batch;
  Status s = batch.Put(family, key, value);
  return s.ok() ? Write(options, &batch) : s;
}

Status DbWithTtlImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& value) {
  WriteBatch batch;
  Status s = batch.Merge(family, key, value);
  return s.ok() ? Write(options, &batch) : s;
}

Status DbWithTtlImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::Corruption("Batch is nullptr!");
  uint32_t now = 0;
  if (Status s = CurrentTtlTime(env_, &now); !s.ok()) return s;
  WriteBatch stamped;
  Stamper stamper(now, &stamped);
  Status s = batch->Iterate(&stamper);
  if (s.ok()) s = stamper.log_data();
  return s.ok() ? db_->Write(options, &stamped) : s;
}

Status DbWithTtlImpl::PutEntity(const WriteOptions&, ColumnFamilyHandle*, const Slice&,
                                const rocksdb::WideColumns&) {
  return Status::NotSupported("DBWithTTL: wide columns have no time to live");
}

Status DbWithTtlImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                          const Slice& key, PinnableSlice* value) {
  Status s = db_->Get(options, family, key, value);
  return s.ok() ? TakeOffTime(value) : s;
}

// A value as the default column.
Status DbWithTtlImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, rocksdb::PinnableWideColumns* columns) {
  columns->Reset();
  PinnableSlice value;
  Status s = Get(options, family, key, &value);
  if (s.ok()) columns->SetPlainValue(value);
  return s;
}

Status DbWithTtlImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key, PinnableSlice* operands,
                                       rocksdb::GetMergeOperandsOptions* merge_options,
                                       int* number_of_operands) {
  Status s =
      db_->GetMergeOperands(options, family, key, operands, merge_options, number_of_operands);
  for (int i = 0; s.ok() && i < *number_of_operands; ++i) s = TakeOffTime(&operands[i]);
  return s;
}

std::vector<Status> DbWithTtlImpl::MultiGet(const ReadOptions& options,
                                            const std::vector<ColumnFamilyHandle*>& families,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  std::vector<Status> statuses = db_->MultiGet(options, families, keys, values);
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].ok()) statuses[i] = TakeOffTime(&(*values)[i]);
  }
  return statuses;
}

void DbWithTtlImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family,
                             size_t num_keys, const Slice* keys, PinnableSlice* values,
                             Status* statuses, bool sorted_input) {
  db_->MultiGet(options, family, num_keys, keys, values, statuses, sorted_input);
  for (size_t i = 0; i < num_keys; ++i) {
    if (statuses[i].ok()) statuses[i] = TakeOffTime(&values[i]);
  }
}

bool DbWithTtlImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, std::string* value, bool* value_found) {
  const bool may_exist = db_->KeyMayExist(options, family, key, value, value_found);
  if (may_exist && value != nullptr && value_found != nullptr && *value_found) {
    return TakeOffTime(value).ok();
  }
  return may_exist;
}

rocksdb::Iterator* DbWithTtlImpl::NewIterator(const ReadOptions& options,
                                              ColumnFamilyHandle* family) {
  return new TtlIterator(db_->NewIterator(options, family));
}

Status DbWithTtlImpl::NewIterators(const ReadOptions& options,
                                   const std::vector<ColumnFamilyHandle*>& families,
                                   std::vector<rocksdb::Iterator*>* iterators) {
  Status s = db_->NewIterators(options, families, iterators);
  if (s.ok()) {
    for (rocksdb::Iterator*& iterator : *iterators) iterator = new TtlIterator(iterator);
  }
  return s;
}

}  // namespace compassdb

namespace rocksdb {

Status DBWithTTL::Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                       int32_t ttl, bool read_only) {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr, {ttl}, read_only);
  for (ColumnFamilyHandle* handle : handles) delete handle;  // the database has one of its own
  return s;
}

Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only) {
  *dbptr = nullptr;
  if (ttls.size() != column_families.size()) {
    return Status::InvalidArgument(
        "ttls size has to be the same as number of column families");
  }
  Env* const env = db_options.env != nullptr ? db_options.env : Env::Default();
  compassdb::DbWithTtlImpl::Filters filters;
  std::vector<ColumnFamilyDescriptor> wrapped = column_families;
  for (size_t i = 0; i < wrapped.size(); ++i) {
    compassdb::DbWithTtlImpl::WrapOptions(ttls[i], env, &wrapped[i].options, &filters);
  }
  DB* db = nullptr;
  Status s = read_only ? DB::OpenForReadOnly(db_options, dbname, wrapped, handles, &db)
                       : DB::Open(db_options, dbname, wrapped, handles, &db);
  if (s.ok()) *dbptr = new compassdb::DbWithTtlImpl(db, env, std::move(filters));
  return s;
}

}  // namespace rocksdb
