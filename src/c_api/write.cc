// SPDX-License-Identifier: Apache-2.0
// Writes to a database.
#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::Succeeds;
using rocksdb::Slice;

extern "C" {

void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t keylen,
                 const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Put(options->rep, Slice(key, keylen), Slice(val, vallen)); });
}

void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                    rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                    const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Put(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_put_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                         size_t keylen, const char* ts, size_t tslen, const char* val, size_t vallen,
                         char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Put(options->rep, Slice(key, keylen), Slice(ts, tslen), Slice(val, vallen));
  });
}

void rocksdb_put_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                            rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                            const char* ts, size_t tslen, const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Put(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(ts, tslen),
                        Slice(val, vallen));
  });
}

void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t keylen,
                    char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Delete(options->rep, Slice(key, keylen)); });
}

void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                       rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                       char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Delete(options->rep, compassdb::Family(column_family), Slice(key, keylen)); });
}

void rocksdb_delete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                            size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Delete(options->rep, Slice(key, keylen), Slice(ts, tslen)); });
}

void rocksdb_delete_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                               const char* ts, size_t tslen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Delete(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                          size_t keylen, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->SingleDelete(options->rep, Slice(key, keylen)); });
}

void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                             char** errptr) {
  Succeeds(errptr,
           [&] { return db->rep->SingleDelete(options->rep, compassdb::Family(column_family), Slice(key, keylen)); });
}

void rocksdb_singledelete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                                  size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Succeeds(errptr,
           [&] { return db->rep->SingleDelete(options->rep, Slice(key, keylen), Slice(ts, tslen)); });
}

void rocksdb_singledelete_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                     rocksdb_column_family_handle_t* column_family, const char* key,
                                     size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->SingleDelete(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* column_family, const char* start_key,
                             size_t start_key_len, const char* end_key, size_t end_key_len, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->DeleteRange(options->rep, compassdb::Family(column_family), Slice(start_key, start_key_len),
                                Slice(end_key, end_key_len));
  });
}

void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key, size_t keylen,
                   const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Merge(options->rep, Slice(key, keylen), Slice(val, vallen)); });
}

void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                      rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                      const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->Merge(options->rep, compassdb::Family(column_family), Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch,
                   char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Write(options->rep, &batch->rep); });
}

void rocksdb_write_writebatch_wi(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_wi_t* wbwi, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->Write(options->rep, wbwi->rep->GetWriteBatch()); });
}

}  // extern "C"
