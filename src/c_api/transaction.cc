// SPDX-License-Identifier: Apache-2.0
// Transactions of either kind of database.
#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::MallocHandle;
using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::ReadPinned;
using compassdb::ReadValue;
using compassdb::Slices;
using compassdb::Succeeds;
using rocksdb::PinnableSlice;
using rocksdb::Slice;

namespace {

// A new transaction from `begin(old)`: in the handle `old`, if there is one.
template <class Begin>
rocksdb_transaction_t* BeginIn(rocksdb_transaction_t* old, Begin begin) noexcept {
  if (old == nullptr) return OrNull([&] { return new rocksdb_transaction_t{begin(nullptr)}; });
  old->rep = begin(old->rep);
  return old;
}

}  // namespace

extern "C" {

rocksdb_transaction_t* rocksdb_transaction_begin(rocksdb_transactiondb_t* txn_db,
                                                 const rocksdb_writeoptions_t* write_options,
                                                 const rocksdb_transaction_options_t* txn_options,
                                                 rocksdb_transaction_t* old_txn) {
  return BeginIn(old_txn, [&](rocksdb::Transaction* old) {
    return txn_db->rep->BeginTransaction(write_options->rep, txn_options->rep, old);
  });
}

rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* otxn_db, const rocksdb_writeoptions_t* write_options,
    const rocksdb_optimistictransaction_options_t* otxn_options, rocksdb_transaction_t* old_txn) {
  return BeginIn(old_txn, [&](rocksdb::Transaction* old) {
    return otxn_db->rep->BeginTransaction(write_options->rep, otxn_options->rep, old);
  });
}

rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t* txn_db,
                                                                        size_t* cnt) {
  return MustSucceed([&]() -> rocksdb_transaction_t** {
    std::vector<rocksdb::Transaction*> prepared;
    txn_db->rep->GetAllPreparedTransactions(&prepared);
    *cnt = prepared.size();
    if (prepared.empty()) return nullptr;
    auto* const list = reinterpret_cast<rocksdb_transaction_t**>(
        compassdb::AllocateBytes(prepared.size() * sizeof(rocksdb_transaction_t*)));
    for (size_t i = 0; i < prepared.size(); ++i) list[i] = new rocksdb_transaction_t{prepared[i]};
    return list;
  });
}

void rocksdb_transaction_destroy(rocksdb_transaction_t* txn) {
  MustSucceed([&] { delete txn->rep; });
  delete txn;
}

void rocksdb_transaction_set_name(rocksdb_transaction_t* txn, const char* name, size_t name_len, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->SetName(std::string(name, name_len)); });
}

char* rocksdb_transaction_get_name(rocksdb_transaction_t* txn, size_t* name_len) {
  return OrNull([&] {
    const std::string name = txn->rep->GetName();
    *name_len = name.size();
    return compassdb::CopyBytes(name);
  });
}

void rocksdb_transaction_prepare(rocksdb_transaction_t* txn, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Prepare(); });
}

void rocksdb_transaction_commit(rocksdb_transaction_t* txn, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Commit(); });
}

void rocksdb_transaction_rollback(rocksdb_transaction_t* txn, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Rollback(); });
}

void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* txn) {
  MustSucceed([&] { txn->rep->SetSavePoint(); });
}

void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* txn, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->RollbackToSavePoint(); });
}

void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t* txn, uint64_t commit_timestamp) {
  MustSucceed([&] { txn->rep->SetCommitTimestamp(commit_timestamp).PermitUncheckedError(); });
}

void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t* txn,
                                                           uint64_t read_timestamp) {
  MustSucceed([&] { txn->rep->SetReadTimestampForValidation(read_timestamp).PermitUncheckedError(); });
}

rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t* txn) {
  return OrNull([&] { return MallocHandle<rocksdb_writebatch_wi_t>(txn->rep->GetWriteBatch()); });
}

void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* txn, rocksdb_writebatch_t* writebatch,
                                                 char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->RebuildFromWriteBatch(&writebatch->rep); });
}

void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* txn, rocksdb_writebatch_wi_t* wi,
                                                    char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->RebuildFromWriteBatch(wi->rep->GetWriteBatch()); });
}

const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* txn) {
  return OrNull([&] { return MallocHandle<rocksdb_snapshot_t>(txn->rep->GetSnapshot()); });
}

char* rocksdb_transaction_get(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                              const char* key, size_t klen, size_t* vlen, char** errptr) {
  return ReadValue(vlen, errptr,
                   [&](PinnableSlice* value) { return txn->rep->Get(options->rep, Slice(key, klen), value); });
}

char* rocksdb_transaction_get_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                 rocksdb_column_family_handle_t* column_family, const char* key, size_t klen,
                                 size_t* vlen, char** errptr) {
  return ReadValue(vlen, errptr, [&](PinnableSlice* value) {
    return txn->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, klen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t* txn,
                                                        const rocksdb_readoptions_t* options, const char* key,
                                                        size_t klen, char** errptr) {
  return ReadPinned(
      errptr, [&](PinnableSlice* value) { return txn->rep->Get(options->rep, Slice(key, klen), value); });
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t* txn,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* column_family,
                                                           const char* key, size_t klen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return txn->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, klen), value);
  });
}

char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                         const char* key, size_t klen, size_t* vlen, unsigned char exclusive,
                                         char** errptr) {
  return ReadValue(vlen, errptr, [&](PinnableSlice* value) {
    const rocksdb::Status s =
        txn->rep->GetForUpdate(options->rep, Slice(key, klen), value->GetSelf(), exclusive != 0);
    value->PinSelf();
    return s;
  });
}

char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                            rocksdb_column_family_handle_t* column_family, const char* key,
                                            size_t klen, size_t* vlen, unsigned char exclusive, char** errptr) {
  return ReadValue(vlen, errptr, [&](PinnableSlice* value) {
    return txn->rep->GetForUpdate(options->rep, compassdb::Family(column_family), Slice(key, klen), value, exclusive != 0);
  });
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t* txn,
                                                                   const rocksdb_readoptions_t* options,
                                                                   const char* key, size_t klen,
                                                                   unsigned char exclusive, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    const rocksdb::Status s =
        txn->rep->GetForUpdate(options->rep, Slice(key, klen), value->GetSelf(), exclusive != 0);
    value->PinSelf();
    return s;
  });
}

rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(
    rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t klen, unsigned char exclusive,
    char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return txn->rep->GetForUpdate(options->rep, compassdb::Family(column_family), Slice(key, klen), value, exclusive != 0);
  });
}

void rocksdb_transaction_multi_get(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                   size_t num_keys, const char* const* keys_list,
                                   const size_t* keys_list_sizes, char** values_list,
                                   size_t* values_list_sizes, char** errs) {
  compassdb::ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return txn->rep->MultiGet(options->rep, Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t* txn, const rocksdb_readoptions_t* options,
                                      const rocksdb_column_family_handle_t* const* column_families,
                                      size_t num_keys, const char* const* keys_list,
                                      const size_t* keys_list_sizes, char** values_list,
                                      size_t* values_list_sizes, char** errs) {
  compassdb::ReadValues({num_keys, values_list, values_list_sizes, errs}, [&](auto* values, auto*) {
    return txn->rep->MultiGet(options->rep, compassdb::Families(column_families, num_keys),
                              Slices(keys_list, keys_list_sizes, num_keys), values);
  });
}

void rocksdb_transaction_put(rocksdb_transaction_t* txn, const char* key, size_t klen, const char* val,
                             size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Put(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transaction_put_cf(rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* column_family,
                                const char* key, size_t klen, const char* val, size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Put(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transaction_merge(rocksdb_transaction_t* txn, const char* key, size_t klen, const char* val,
                               size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Merge(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transaction_merge_cf(rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* column_family,
                                  const char* key, size_t klen, const char* val, size_t vlen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Merge(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_transaction_delete(rocksdb_transaction_t* txn, const char* key, size_t klen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Delete(Slice(key, klen)); });
}

void rocksdb_transaction_delete_cf(rocksdb_transaction_t* txn, rocksdb_column_family_handle_t* column_family,
                                   const char* key, size_t klen, char** errptr) {
  Succeeds(errptr, [&] { return txn->rep->Delete(compassdb::Family(column_family), Slice(key, klen)); });
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t* txn,
                                                        const rocksdb_readoptions_t* options) {
  return OrNull([&] { return new rocksdb_iterator_t{txn->rep->GetIterator(options->rep)}; });
}

rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t* txn,
                                                           const rocksdb_readoptions_t* options,
                                                           rocksdb_column_family_handle_t* column_family) {
  return OrNull(
      [&] { return new rocksdb_iterator_t{txn->rep->GetIterator(options->rep, compassdb::Family(column_family))}; });
}

}  // extern "C"
