// SPDX-License-Identifier: Apache-2.0
// Writes to batches with an index.
#include <cstdlib>
#include <memory>

#include "c_api/callbacks.h"
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/write_batch_ops.h"

using compassdb::MustSucceed;
using compassdb::Parts;
using compassdb::Succeeds;
using rocksdb::Slice;

extern "C" {

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create(size_t reserved_bytes, unsigned char overwrite_keys) {
  return rocksdb_writebatch_wi_create_with_params(nullptr, reserved_bytes, overwrite_keys, 0, 0);
}

rocksdb_writebatch_wi_t* rocksdb_writebatch_wi_create_with_params(rocksdb_comparator_t* backup_index_comparator,
                                                                  size_t reserved_bytes,
                                                                  unsigned char overwrite_key, size_t max_bytes,
                                                                  size_t protection_bytes_per_key) {
  return compassdb::OrNull([&] {
    const rocksdb::Comparator* const comparator =
        backup_index_comparator == nullptr ? rocksdb::BytewiseComparator() : backup_index_comparator;
    auto batch = std::make_unique<rocksdb::WriteBatchWithIndex>(comparator, reserved_bytes, overwrite_key != 0,
                                                               max_bytes, protection_bytes_per_key);
    auto* const handle = compassdb::MallocHandle<rocksdb_writebatch_wi_t>(batch.get());
    batch.release();
    return handle;
  });
}

void rocksdb_writebatch_wi_destroy(rocksdb_writebatch_wi_t* b) {
  delete b->rep;
  std::free(b);
}

void rocksdb_writebatch_wi_clear(rocksdb_writebatch_wi_t* b) {
  MustSucceed([&] { b->rep->Clear(); });
}

int rocksdb_writebatch_wi_count(rocksdb_writebatch_wi_t* b) {
  return static_cast<int>(b->rep->GetWriteBatch()->Count());
}

void rocksdb_writebatch_wi_put(rocksdb_writebatch_wi_t* b, const char* key, size_t klen, const char* val,
    size_t vlen) {
  MustSucceed([&] { b->rep->Put(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_wi_put_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t klen, const char* val, size_t vlen) {
  MustSucceed([&] { b->rep->Put(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_wi_putv(rocksdb_writebatch_wi_t* b, int num_keys, const char* const* keys_list, const
    size_t* keys_list_sizes, int num_values, const char* const* values_list, const size_t* values_list_sizes)
    {
  MustSucceed([&] {
    b->rep->Put(Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_wi_putv_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t* column_family,
    int num_keys, const char* const* keys_list, const size_t* keys_list_sizes, int num_values, const char*
    const* values_list, const size_t* values_list_sizes) {
  MustSucceed([&] {
    b->rep->Put(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_wi_merge(rocksdb_writebatch_wi_t* b, const char* key, size_t klen, const char* val,
    size_t vlen) {
  MustSucceed([&] { b->rep->Merge(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_wi_merge_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t klen, const char* val, size_t vlen) {
  MustSucceed([&] { b->rep->Merge(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_wi_mergev(rocksdb_writebatch_wi_t* b, int num_keys, const char* const* keys_list,
    const size_t* keys_list_sizes, int num_values, const char* const* values_list, const size_t*
    values_list_sizes) {
  MustSucceed([&] {
    b->rep->Merge(Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_wi_mergev_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, int num_keys, const char* const* keys_list, const size_t* keys_list_sizes, int num_values,
    const char* const* values_list, const size_t* values_list_sizes) {
  MustSucceed([&] {
    b->rep->Merge(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_wi_delete(rocksdb_writebatch_wi_t* b, const char* key, size_t klen) {
  MustSucceed([&] { b->rep->Delete(Slice(key, klen)); });
}

void rocksdb_writebatch_wi_delete_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, const char* key, size_t klen) {
  MustSucceed([&] { b->rep->Delete(compassdb::Family(column_family), Slice(key, klen)); });
}

void rocksdb_writebatch_wi_deletev(rocksdb_writebatch_wi_t* b, int num_keys, const char* const* keys_list,
    const size_t* keys_list_sizes) {
  MustSucceed([&] { b->rep->Delete(Parts(num_keys, keys_list, keys_list_sizes)); });
}

void rocksdb_writebatch_wi_deletev_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, int num_keys, const char* const* keys_list, const size_t* keys_list_sizes) {
  MustSucceed([&] { b->rep->Delete(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes)); });
}

void rocksdb_writebatch_wi_singledelete(rocksdb_writebatch_wi_t* b, const char* key, size_t klen) {
  MustSucceed([&] { b->rep->SingleDelete(Slice(key, klen)); });
}

void rocksdb_writebatch_wi_singledelete_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, const char* key, size_t klen) {
  MustSucceed([&] { b->rep->SingleDelete(compassdb::Family(column_family), Slice(key, klen)); });
}

void rocksdb_writebatch_wi_delete_range(rocksdb_writebatch_wi_t* b, const char* start_key, size_t
    start_key_len, const char* end_key, size_t end_key_len) {
  MustSucceed([&] { b->rep->DeleteRange(Slice(start_key, start_key_len), Slice(end_key, end_key_len)); });
}

void rocksdb_writebatch_wi_delete_range_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, const char* start_key, size_t start_key_len, const char* end_key, size_t end_key_len) {
  MustSucceed([&] {
    b->rep->DeleteRange(compassdb::Family(column_family), Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_wi_delete_rangev(rocksdb_writebatch_wi_t* b, int num_keys, const char* const*
    start_keys_list, const size_t* start_keys_list_sizes, const char* const* end_keys_list, const size_t*
    end_keys_list_sizes) {
  MustSucceed([&] {
    b->rep->DeleteRange(Parts(num_keys, start_keys_list, start_keys_list_sizes), Parts(num_keys, end_keys_list, end_keys_list_sizes));
  });
}

void rocksdb_writebatch_wi_delete_rangev_cf(rocksdb_writebatch_wi_t* b, rocksdb_column_family_handle_t*
    column_family, int num_keys, const char* const* start_keys_list, const size_t* start_keys_list_sizes,
    const char* const* end_keys_list, const size_t* end_keys_list_sizes) {
  MustSucceed([&] {
    b->rep->DeleteRange(compassdb::Family(column_family), Parts(num_keys, start_keys_list, start_keys_list_sizes), Parts(num_keys, end_keys_list, end_keys_list_sizes));
  });
}

void rocksdb_writebatch_wi_put_log_data(rocksdb_writebatch_wi_t* b, const char* blob, size_t len) {
  MustSucceed([&] { b->rep->PutLogData(Slice(blob, len)); });
}

void rocksdb_writebatch_wi_iterate(rocksdb_writebatch_wi_t* b, void* state,
                                   void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                   void (*deleted)(void*, const char* k, size_t klen)) {
  compassdb::WalkBatch(*b->rep->GetWriteBatch(), state, put, deleted);
}

const char* rocksdb_writebatch_wi_data(rocksdb_writebatch_wi_t* b, size_t* size) {
  rocksdb::WriteBatch* const batch = b->rep->GetWriteBatch();
  *size = batch->GetDataSize();
  return batch->Data().c_str();
}

void rocksdb_writebatch_wi_set_save_point(rocksdb_writebatch_wi_t* b) {
  MustSucceed([&] { b->rep->SetSavePoint(); });
}

void rocksdb_writebatch_wi_rollback_to_save_point(rocksdb_writebatch_wi_t* b, char** errptr) {
  Succeeds(errptr, [&] { return b->rep->RollbackToSavePoint(); });
}

}  // extern "C"
