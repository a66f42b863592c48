// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/write_batch_ops.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Parts;
using compassdb::Succeeds;
using rocksdb::Slice;

extern "C" {

rocksdb_writebatch_t* rocksdb_writebatch_create(void) { return compassdb::Create<rocksdb_writebatch_t>(); }

rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* rep, size_t size) {
  return OrNull([&] { return new rocksdb_writebatch_t{rocksdb::WriteBatch(std::string(rep, size))}; });
}

rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                            size_t protection_bytes_per_key,
                                                            size_t default_cf_ts_sz) {
  return OrNull([&] {
    return new rocksdb_writebatch_t{
        rocksdb::WriteBatch(reserved_bytes, max_bytes, protection_bytes_per_key, default_cf_ts_sz)};
  });
}

void rocksdb_writebatch_destroy(rocksdb_writebatch_t* b) { delete b; }

void rocksdb_writebatch_clear(rocksdb_writebatch_t* b) {
  MustSucceed([&] { b->rep.Clear(); });
}

int rocksdb_writebatch_count(rocksdb_writebatch_t* b) { return static_cast<int>(b->rep.Count()); }

void rocksdb_writebatch_put(rocksdb_writebatch_t* b, const char* key, size_t klen, const char* val, size_t
    vlen) {
  MustSucceed([&] { b->rep.Put(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family, const
    char* key, size_t klen, const char* val, size_t vlen) {
  MustSucceed([&] { b->rep.Put(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_put_cf_with_ts(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t klen, const char* ts, size_t tslen, const char* val, size_t vlen) {
  MustSucceed([&] {
    b->rep.Put(compassdb::Family(column_family), Slice(key, klen), Slice(ts, tslen), Slice(val, vlen));
  });
}

void rocksdb_writebatch_putv(rocksdb_writebatch_t* b, int num_keys, const char* const* keys_list, const
    size_t* keys_list_sizes, int num_values, const char* const* values_list, const size_t* values_list_sizes)
    {
  MustSucceed([&] {
    b->rep.Put(Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family, int
    num_keys, const char* const* keys_list, const size_t* keys_list_sizes, int num_values, const char* const*
    values_list, const size_t* values_list_sizes) {
  MustSucceed([&] {
    b->rep.Put(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_merge(rocksdb_writebatch_t* b, const char* key, size_t klen, const char* val, size_t
    vlen) {
  MustSucceed([&] { b->rep.Merge(Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family, const
    char* key, size_t klen, const char* val, size_t vlen) {
  MustSucceed([&] { b->rep.Merge(compassdb::Family(column_family), Slice(key, klen), Slice(val, vlen)); });
}

void rocksdb_writebatch_mergev(rocksdb_writebatch_t* b, int num_keys, const char* const* keys_list, const
    size_t* keys_list_sizes, int num_values, const char* const* values_list, const size_t* values_list_sizes)
    {
  MustSucceed([&] {
    b->rep.Merge(Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family, int
    num_keys, const char* const* keys_list, const size_t* keys_list_sizes, int num_values, const char* const*
    values_list, const size_t* values_list_sizes) {
  MustSucceed([&] {
    b->rep.Merge(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes), Parts(num_values, values_list, values_list_sizes));
  });
}

void rocksdb_writebatch_delete(rocksdb_writebatch_t* b, const char* key, size_t klen) {
  MustSucceed([&] { b->rep.Delete(Slice(key, klen)); });
}

void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family,
    const char* key, size_t klen) {
  MustSucceed([&] { b->rep.Delete(compassdb::Family(column_family), Slice(key, klen)); });
}

void rocksdb_writebatch_deletev(rocksdb_writebatch_t* b, int num_keys, const char* const* keys_list, const
    size_t* keys_list_sizes) {
  MustSucceed([&] { b->rep.Delete(Parts(num_keys, keys_list, keys_list_sizes)); });
}

void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t* column_family, int
    num_keys, const char* const* keys_list, const size_t* keys_list_sizes) {
  MustSucceed([&] { b->rep.Delete(compassdb::Family(column_family), Parts(num_keys, keys_list, keys_list_sizes)); });
}

void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* b, const char* key, size_t klen) {
  MustSucceed([&] { b->rep.SingleDelete(Slice(key, klen)); });
}

void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t*
    column_family, const char* key, size_t klen) {
  MustSucceed([&] { b->rep.SingleDelete(compassdb::Family(column_family), Slice(key, klen)); });
}

void rocksdb_writebatch_delete_cf_with_ts(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t*
    column_family, const char* key, size_t klen, const char* ts, size_t tslen) {
  MustSucceed([&] {
    b->rep.Delete(compassdb::Family(column_family), Slice(key, klen), Slice(ts, tslen));
  });
}

void rocksdb_writebatch_singledelete_cf_with_ts(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t*
    column_family, const char* key, size_t klen, const char* ts, size_t tslen) {
  MustSucceed([&] {
    b->rep.SingleDelete(compassdb::Family(column_family), Slice(key, klen), Slice(ts, tslen));
  });
}

void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* b, const char* start_key, size_t start_key_len,
    const char* end_key, size_t end_key_len) {
  MustSucceed([&] { b->rep.DeleteRange(Slice(start_key, start_key_len), Slice(end_key, end_key_len)); });
}

void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t*
    column_family, const char* start_key, size_t start_key_len, const char* end_key, size_t end_key_len) {
  MustSucceed([&] {
    b->rep.DeleteRange(compassdb::Family(column_family), Slice(start_key, start_key_len), Slice(end_key, end_key_len));
  });
}

void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* b, int num_keys, const char* const*
    start_keys_list, const size_t* start_keys_list_sizes, const char* const* end_keys_list, const size_t*
    end_keys_list_sizes) {
  MustSucceed([&] {
    b->rep.DeleteRange(Parts(num_keys, start_keys_list, start_keys_list_sizes), Parts(num_keys, end_keys_list, end_keys_list_sizes));
  });
}

void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* b, rocksdb_column_family_handle_t*
    column_family, int num_keys, const char* const* start_keys_list, const size_t* start_keys_list_sizes,
    const char* const* end_keys_list, const size_t* end_keys_list_sizes) {
  MustSucceed([&] {
    b->rep.DeleteRange(compassdb::Family(column_family), Parts(num_keys, start_keys_list, start_keys_list_sizes), Parts(num_keys, end_keys_list, end_keys_list_sizes));
  });
}

void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* b, const char* blob, size_t len) {
  MustSucceed([&] { b->rep.PutLogData(Slice(blob, len)); });
}

void rocksdb_writebatch_iterate(rocksdb_writebatch_t* b, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  compassdb::WalkBatch(b->rep, state, put, deleted);
}

void rocksdb_writebatch_iterate_cf(
    rocksdb_writebatch_t* b, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen)) {
  compassdb::WalkFamilies(b->rep, state, {put_cf, deleted_cf, merge_cf});
}

const char* rocksdb_writebatch_data(rocksdb_writebatch_t* b, size_t* size) {
  *size = b->rep.GetDataSize();
  return b->rep.Data().c_str();
}

void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* b) {
  MustSucceed([&] { b->rep.SetSavePoint(); });
}

void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* b, char** errptr) {
  Succeeds(errptr, [&] { return b->rep.RollbackToSavePoint(); });
}

void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* b, char** errptr) {
  Succeeds(errptr, [&] { return b->rep.PopSavePoint(); });
}

}  // extern "C"
