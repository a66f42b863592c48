// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Succeeds;
using rocksdb::Slice;

namespace {

const char* Bytes(const Slice& slice, size_t* size) {
  *size = slice.size();
  return slice.data();
}

rocksdb_slice_t Bytes(const Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

extern "C" {

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options) {
  return OrNull([&] { return new rocksdb_iterator_t{db->rep->NewIterator(options->rep)}; });
}

rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* column_family) {
  return OrNull(
      [&] { return new rocksdb_iterator_t{db->rep->NewIterator(options->rep, compassdb::Family(column_family))}; });
}

void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* opts,
                              rocksdb_column_family_handle_t** column_families,
                              rocksdb_iterator_t** iterators, size_t size, char** errptr) {
  std::vector<rocksdb::Iterator*> made;
  if (!Succeeds(errptr, [&] {
        return db->rep->NewIterators(opts->rep, compassdb::Families(column_families, size), &made);
      })) {
    return;
  }
  for (size_t i = 0; i < size; ++i) {
    iterators[i] = MustSucceed([&] { return new rocksdb_iterator_t{made[i]}; });
  }
}

void rocksdb_iter_destroy(rocksdb_iterator_t* iter) {
  MustSucceed([&] { delete iter->rep; });
  delete iter;
}

unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iter) { return iter->rep->Valid() ? 1 : 0; }

void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iter) {
  MustSucceed([&] { iter->rep->SeekToFirst(); });
}

void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iter) {
  MustSucceed([&] { iter->rep->SeekToLast(); });
}

void rocksdb_iter_seek(rocksdb_iterator_t* iter, const char* k, size_t klen) {
  MustSucceed([&] { iter->rep->Seek(Slice(k, klen)); });
}

void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iter, const char* k, size_t klen) {
  MustSucceed([&] { iter->rep->SeekForPrev(Slice(k, klen)); });
}

void rocksdb_iter_next(rocksdb_iterator_t* iter) {
  MustSucceed([&] { iter->rep->Next(); });
}

void rocksdb_iter_prev(rocksdb_iterator_t* iter) {
  MustSucceed([&] { iter->rep->Prev(); });
}

const char* rocksdb_iter_key(const rocksdb_iterator_t* iter, size_t* klen) {
  return Bytes(iter->rep->key(), klen);
}

const char* rocksdb_iter_value(const rocksdb_iterator_t* iter, size_t* vlen) {
  return MustSucceed([&] { return Bytes(iter->rep->value(), vlen); });
}

const char* rocksdb_iter_timestamp(const rocksdb_iterator_t* iter, size_t* tslen) {
  return Bytes(iter->rep->timestamp(), tslen);
}

rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iter) { return Bytes(iter->rep->key()); }

rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iter) {
  return MustSucceed([&] { return Bytes(iter->rep->value()); });
}

rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t* iter) {
  return Bytes(iter->rep->timestamp());
}

void rocksdb_iter_refresh(const rocksdb_iterator_t* iter, char** errptr) {
  Succeeds(errptr, [&] { return iter->rep->Refresh(); });
}

void rocksdb_iter_get_error(const rocksdb_iterator_t* iter, char** errptr) {
  Succeeds(errptr, [&] { return iter->rep->status(); });
}

}  // extern "C"
