// SPDX-License-Identifier: Apache-2.0
// Reads through batches with an index.
#include <string>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::OrNull;
using compassdb::ReadPinned;
using compassdb::ReadValue;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::Slice;

namespace {

char* FromBatch(rocksdb_writebatch_wi_t* wbwi, const rocksdb_options_t* options, ColumnFamilyHandle* family,
                const Slice& key, size_t* vallen, char** errptr) noexcept {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    const rocksdb::Status s = wbwi->rep->GetFromBatch(family, options->rep, key, value->GetSelf());
    value->PinSelf();
    return s;
  });
}

// The handle of `base` becomes that of the new iterator, which owns what it held.
rocksdb_iterator_t* Overlay(rocksdb_writebatch_wi_t* wbwi, ColumnFamilyHandle* family,
                            rocksdb_iterator_t* base, const rocksdb_readoptions_t* options = nullptr) noexcept {
  return OrNull([&] {
    base->rep = wbwi->rep->NewIteratorWithBase(family, base->rep, options == nullptr ? nullptr : &options->rep);
    return base;
  });
}

}  // namespace

extern "C" {

char* rocksdb_writebatch_wi_get_from_batch(rocksdb_writebatch_wi_t* wbwi, const rocksdb_options_t* options,
                                           const char* key, size_t keylen, size_t* vallen, char** errptr) {
  return FromBatch(wbwi, options, nullptr, Slice(key, keylen), vallen, errptr);
}

char* rocksdb_writebatch_wi_get_from_batch_cf(rocksdb_writebatch_wi_t* wbwi, const rocksdb_options_t* options,
                                              rocksdb_column_family_handle_t* column_family, const char* key,
                                              size_t keylen, size_t* vallen, char** errptr) {
  return FromBatch(wbwi, options, compassdb::Family(column_family), Slice(key, keylen), vallen, errptr);
}

char* rocksdb_writebatch_wi_get_from_batch_and_db(rocksdb_writebatch_wi_t* wbwi, rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options, const char* key,
                                                  size_t keylen, size_t* vallen, char** errptr) {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    return wbwi->rep->GetFromBatchAndDB(db->rep, options->rep, Slice(key, keylen), value);
  });
}

char* rocksdb_writebatch_wi_get_from_batch_and_db_cf(rocksdb_writebatch_wi_t* wbwi, rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     rocksdb_column_family_handle_t* column_family,
                                                     const char* key, size_t keylen, size_t* vallen,
                                                     char** errptr) {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    return wbwi->rep->GetFromBatchAndDB(db->rep, options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
    rocksdb_writebatch_wi_t* wbwi, rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
    size_t keylen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return wbwi->rep->GetFromBatchAndDB(db->rep, options->rep, Slice(key, keylen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
    rocksdb_writebatch_wi_t* wbwi, rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return wbwi->rep->GetFromBatchAndDB(db->rep, options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base(rocksdb_writebatch_wi_t* wbwi,
                                                                    rocksdb_iterator_t* base_iterator) {
  return Overlay(wbwi, nullptr, base_iterator);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf(rocksdb_writebatch_wi_t* wbwi,
                                                                       rocksdb_iterator_t* base_iterator,
                                                                       rocksdb_column_family_handle_t* cf) {
  return Overlay(wbwi, compassdb::Family(cf), base_iterator);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_readopts(
    rocksdb_writebatch_wi_t* wbwi, rocksdb_iterator_t* base_iterator, const rocksdb_readoptions_t* options) {
  return Overlay(wbwi, nullptr, base_iterator, options);
}

rocksdb_iterator_t* rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
    rocksdb_writebatch_wi_t* wbwi, rocksdb_iterator_t* base_iterator, rocksdb_column_family_handle_t* cf,
    const rocksdb_readoptions_t* options) {
  return Overlay(wbwi, compassdb::Family(cf), base_iterator, options);
}

}  // extern "C"
