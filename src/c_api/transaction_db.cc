// SPDX-License-Identifier: Apache-2.0
// Databases with transactions that lock.
#include <cstdlib>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/open_families.h"
#include "c_api/values.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::ReadPinned;
using compassdb::ReadValue;
using compassdb::ReadValues;
using compassdb::Slices;
using compassdb::Succeeds;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::TransactionDB;

extern "C" {

rocksdb_transactiondb_t* rocksdb_transactiondb_open(const rocksdb_options_t* options,
                                                    const rocksdb_transactiondb_options_t* txn_db_options,
                                                    const char* name, char** errptr) {
  TransactionDB* db = nullptr;
  if (!Succeeds(errptr, [&] { return TransactionDB::Open(options->rep, txn_db_options->rep, name, &db); })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_transactiondb_t{db}; });
}

rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* txn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) {
  TransactionDB* db = nullptr;
  if (!compassdb::OpenFamilies(
          {num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
          [&](const auto& families, auto* handles) {
            return TransactionDB::Open(options->rep, txn_db_options->rep, name, families, handles, &db);
          })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_transactiondb_t{db}; });
}

void rocksdb_transactiondb_close(rocksdb_transactiondb_t* txn_db) {
  MustSucceed([&] { delete txn_db->rep; });
  delete txn_db;
}

rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* txn_db) {
  rocksdb::DB* const base = txn_db->rep->GetBaseDB();
  return base == nullptr ? nullptr : compassdb::Create<rocksdb_t>(base);
}

void rocksdb_transactiondb_close_base_db(rocksdb_t* base_db) { delete base_db; }

rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(
    rocksdb_transactiondb_t* txn_db, const rocksdb_options_t* column_family_options,
    const char* column_family_name, char** errptr) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  if (!Succeeds(errptr, [&] {
        return txn_db->rep->CreateColumnFamily(column_family_options->rep, column_family_name, &family);
      })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_column_family_handle_t{family}; });
}

const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* txn_db) {
  return OrNull([&] { return compassdb::MallocHandle<rocksdb_snapshot_t>(txn_db->rep->GetSnapshot()); });
}

void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* txn_db,
                                            const rocksdb_snapshot_t* snapshot) {
  MustSucceed([&] { txn_db->rep->ReleaseSnapshot(snapshot->rep); });
  std::free(const_cast<rocksdb_snapshot_t*>(snapshot));
}

char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                const char* key, size_t klen, size_t* vlen, char** errptr) {
  return ReadValue(vlen, errptr, [&](PinnableSlice* value) {
    return txn_db->rep->Get(options->rep, txn_db->rep->DefaultColumnFamily(), Slice(key, klen), value);
  });
}

char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                   rocksdb_column_family_handle_t* column_family, const char* key,
                                   size_t keylen, size_t* vallen, char** errptr) {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    return txn_db->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t* txn_db,
                                                          const rocksdb_readoptions_t* options,
                                                          const char* key, size_t klen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return txn_db->rep->Get(options->rep, txn_db->rep->DefaultColumnFamily(), Slice(key, klen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t* txn_db,
                                                             const rocksdb_readoptions_t* options,
                                                             rocksdb_column_family_handle_t* column_family,
                                                             const char* key, size_t keylen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return txn_db->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                     size_t num_keys, const char* const* keys_list,
                                     const size_t* keys_list_sizes, char** values_list,
                                     size_t* values_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return txn_db->rep->MultiGet(options->rep, Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                        const rocksdb_column_family_handle_t* const* column_families,
                                        size_t num_keys, const char* const* keys_list,
                                        const size_t* keys_list_sizes, char** values_list,
                                        size_t* values_list_sizes, char** errs) {
  ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return txn_db->rep->MultiGet(options->rep, compassdb::Families(column_families, num_keys),
                                 Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_transactiondb_put(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                               const char* key, size_t klen, const char* val, size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Put(options->rep, Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                  rocksdb_column_family_handle_t* column_family, const char* key,
                                  size_t keylen, const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] {
    return txn_db->rep->Put(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                 const char* key, size_t klen, const char* val, size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Merge(options->rep, Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                    rocksdb_column_family_handle_t* column_family, const char* key,
                                    size_t klen, const char* val, size_t vlen, char** errptr) {
  Succeeds(errptr, [&] {
    return txn_db->rep->Merge(options->rep, compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen));
  });
}

void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                  const char* key, size_t klen, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Delete(options->rep, Slice(key, klen)); });
}

void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                     rocksdb_column_family_handle_t* column_family, const char* key,
                                     size_t keylen, char** errptr) {
  Succeeds(errptr,
           [&] { return txn_db->rep->Delete(options->rep, compassdb::Family(column_family), Slice(key, keylen)); });
}

void rocksdb_transactiondb_write(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_t* batch, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Write(options->rep, &batch->rep); });
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t* txn_db,
                                                          const rocksdb_readoptions_t* options) {
  return OrNull([&] { return new rocksdb_iterator_t{txn_db->rep->NewIterator(options->rep)}; });
}

rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t* txn_db,
                                                             const rocksdb_readoptions_t* options,
                                                             rocksdb_column_family_handle_t* column_family) {
  return OrNull(
      [&] { return new rocksdb_iterator_t{txn_db->rep->NewIterator(options->rep, compassdb::Family(column_family))}; });
}

void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                 char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Flush(options->rep); });
}

void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                    rocksdb_column_family_handle_t* column_family, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->Flush(options->rep, compassdb::Family(column_family)); });
}

void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                     rocksdb_column_family_handle_t** column_families,
                                     int num_column_families, char** errptr) {
  Succeeds(errptr, [&] {
    return txn_db->rep->Flush(
        options->rep, compassdb::Families(column_families, static_cast<size_t>(num_column_families)));
  });
}

void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* txn_db, unsigned char sync, char** errptr) {
  Succeeds(errptr, [&] { return txn_db->rep->FlushWAL(sync != 0); });
}

}  // extern "C"
