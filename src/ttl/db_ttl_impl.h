// SPDX-License-Identifier: Apache-2.0
// rocksdb::DBWithTTL: a database with a layer that writes and takes off times.
//
// Thread safety: that of DB. The filters that it makes live until the database
// below is gone.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/utilities/db_ttl.h"
#include "ttl/ttl_filter.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

class DbWithTtlImpl final : public rocksdb::DBWithTTL {
 public:
  using Filters = std::deque<std::unique_ptr<rocksdb::CompactionFilter>>;
  // Puts filters and merge operator of the application behind ours; what has to be kept until the
  // database is gone is added to `filters`.
  static void WrapOptions(int32_t ttl, rocksdb::Env* env, rocksdb::ColumnFamilyOptions* options,
                          Filters* filters);

  DbWithTtlImpl(rocksdb::DB* db, rocksdb::Env* env, Filters filters)
      : DBWithTTL(db), env_(env), filters_(std::move(filters)) {}
  ~DbWithTtlImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(DbWithTtlImpl, process_)

  rocksdb::Status Close() override;
  rocksdb::Status CreateColumnFamilyWithTtl(const rocksdb::ColumnFamilyOptions& options,
                                            const std::string& name,
                                            rocksdb::ColumnFamilyHandle** handle,
                                            int ttl) override;
  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                     const std::string& name,
                                     rocksdb::ColumnFamilyHandle** handle) override;
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                       const std::vector<std::string>& names,
                                       std::vector<rocksdb::ColumnFamilyHandle*>* handles) override;
  rocksdb::Status CreateColumnFamilies(
      const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
      std::vector<rocksdb::ColumnFamilyHandle*>* handles) override;
  // Imports the export of a DBWithTTL.
  using DBWithTTL::CreateColumnFamilyWithImport;
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                               const std::string& name,
                                               const rocksdb::ImportColumnFamilyOptions& import,
                                               const rocksdb::ExportImportFilesMetaData& exported,
                                               rocksdb::ColumnFamilyHandle** handle) override;
  void SetTtl(int32_t ttl) override { SetTtl(DefaultColumnFamily(), ttl); }
  void SetTtl(rocksdb::ColumnFamilyHandle* family, int32_t ttl) override;

  using DBWithTTL::Put;
  rocksdb::Status Put(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  using DBWithTTL::Merge;
  rocksdb::Status Merge(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                        const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) override;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options,
                            rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& key,
                            const rocksdb::WideColumns& columns) override;

  using DBWithTTL::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value) override;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options,
                            rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& key,
                            rocksdb::PinnableWideColumns* columns) override;
  rocksdb::Status GetMergeOperands(const rocksdb::ReadOptions& options,
                                   rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& key,
                                   rocksdb::PinnableSlice* operands,
                                   rocksdb::GetMergeOperandsOptions* merge_options,
                                   int* number_of_operands) override;
  using DBWithTTL::MultiGet;
  std::vector<rocksdb::Status> MultiGet(const rocksdb::ReadOptions& options,
                                        const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                                        const std::vector<rocksdb::Slice>& keys,
                                        std::vector<std::string>* values) override;
  void MultiGet(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                size_t num_keys, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input) override;
  using DBWithTTL::KeyMayExist;
  bool KeyMayExist(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                   const rocksdb::Slice& key, std::string* value, bool* value_found) override;
  using DBWithTTL::NewIterator;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options,
                                 rocksdb::ColumnFamilyHandle* family) override;
  rocksdb::Status NewIterators(const rocksdb::ReadOptions& options,
                               const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                               std::vector<rocksdb::Iterator*>* iterators) override;

 private:
  const ProcessMark process_;
  rocksdb::Env* const env_;
  Mutex mu_;
  Filters filters_ GUARDED_BY(mu_);
  bool closed_ = false;
};

}  // namespace compassdb
