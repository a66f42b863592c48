// SPDX-License-Identifier: Apache-2.0
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/open_families.h"

using compassdb::MustSucceed;
using compassdb::Succeeds;
using rocksdb::OptimisticTransactionDB;

extern "C" {

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(const rocksdb_options_t* options,
                                                                        const char* name, char** errptr) {
  OptimisticTransactionDB* db = nullptr;
  if (!Succeeds(errptr, [&] { return OptimisticTransactionDB::Open(options->rep, name, &db); })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_optimistictransactiondb_t{db}; });
}

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) {
  OptimisticTransactionDB* db = nullptr;
  if (!compassdb::OpenFamilies(
          {num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
          [&](const auto& families, auto* handles) {
            return OptimisticTransactionDB::Open(options->rep, name, families, handles, &db);
          })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_optimistictransactiondb_t{db}; });
}

void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* otxn_db) {
  MustSucceed([&] { delete otxn_db->rep; });
  delete otxn_db;
}

rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* otxn_db) {
  rocksdb::DB* const base = otxn_db->rep->GetBaseDB();
  return base == nullptr ? nullptr : compassdb::Create<rocksdb_t>(base);
}

void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base_db) { delete base_db; }

void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* otxn_db,
                                           const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch,
                                           char** errptr) {
  Succeeds(errptr, [&] { return otxn_db->rep->Write(options->rep, &batch->rep); });
}

}  // extern "C"
