// SPDX-License-Identifier: Apache-2.0
// Reads of single keys, and snapshots.
#include <string>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::ReadPinned;
using compassdb::ReadValue;
using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::Slice;

namespace {

char* GetWithTimestamp(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family,
                       const Slice& key, size_t* vallen, char** ts, size_t* tslen, char** errptr) noexcept {
  *tslen = 0;
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    std::string timestamp;
    const rocksdb::Status s = db->rep->Get(options->rep, family, key, value, &timestamp);
    if (s.ok()) {
      *ts = compassdb::CopyBytes(timestamp);
      *tslen = timestamp.size();
    }
    return s;
  });
}

unsigned char KeyMayExist(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family,
                          const Slice& key, char** value, size_t* val_len, const char* timestamp,
                          size_t timestamp_len, unsigned char* value_found) noexcept {
  return MustSucceed([&] {
    std::string found_value;
    std::string time;
    if (timestamp != nullptr) time.assign(timestamp, timestamp_len);
    bool found = false;
    const bool may_exist = db->rep->KeyMayExist(options->rep, family, key, &found_value,
                                                timestamp == nullptr ? nullptr : &time,
                                                value_found == nullptr ? nullptr : &found);
    if (value_found != nullptr) {
      *value_found = found ? 1 : 0;
      if (found) {
        *value = compassdb::CopyBytes(found_value);
        *val_len = found_value.size();
      }
    }
    return static_cast<unsigned char>(may_exist ? 1 : 0);
  });
}

}  // namespace

extern "C" {

char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key, size_t keylen,
                  size_t* vallen, char** errptr) {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, db->rep->DefaultColumnFamily(), Slice(key, keylen), value);
  });
}

char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                     rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                     size_t* vallen, char** errptr) {
  return ReadValue(vallen, errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

char* rocksdb_get_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                          size_t keylen, size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  return GetWithTimestamp(db, options, db->rep->DefaultColumnFamily(), Slice(key, keylen), vallen, ts, tslen,
                          errptr);
}

char* rocksdb_get_cf_with_ts(rocksdb_t* db, const rocksdb_readoptions_t* options,
                             rocksdb_column_family_handle_t* column_family, const char* key, size_t keylen,
                             size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  return GetWithTimestamp(db, options, compassdb::Family(column_family), Slice(key, keylen), vallen, ts, tslen, errptr);
}

unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                                    size_t key_len, char** value, size_t* val_len, const char* timestamp,
                                    size_t timestamp_len, unsigned char* value_found) {
  return KeyMayExist(db, options, db->rep->DefaultColumnFamily(), Slice(key, key_len), value, val_len,
                     timestamp, timestamp_len, value_found);
}

unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                       rocksdb_column_family_handle_t* column_family, const char* key,
                                       size_t key_len, char** value, size_t* val_len, const char* timestamp,
                                       size_t timestamp_len, unsigned char* value_found) {
  return KeyMayExist(db, options, compassdb::Family(column_family), Slice(key, key_len), value, val_len, timestamp,
                     timestamp_len, value_found);
}

rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                            const char* key, size_t keylen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, db->rep->DefaultColumnFamily(), Slice(key, keylen), value);
  });
}

rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* column_family, const char* key,
                                               size_t keylen, char** errptr) {
  return ReadPinned(errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* v) { delete v; }

const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* t, size_t* vlen) {
  if (t == nullptr) {
    *vlen = 0;
    return nullptr;
  }
  *vlen = t->rep.size();
  return t->rep.data();
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                 const char* key, size_t keylen, char** errptr) {
  return ReadPinned<rocksdb_pinnable_handle_t>(errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, db->rep->DefaultColumnFamily(), Slice(key, keylen), value);
  });
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                    rocksdb_column_family_handle_t* column_family,
                                                    const char* key, size_t keylen, char** errptr) {
  return ReadPinned<rocksdb_pinnable_handle_t>(errptr, [&](PinnableSlice* value) {
    return db->rep->Get(options->rep, compassdb::Family(column_family), Slice(key, keylen), value);
  });
}

void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) { delete handle; }

const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle, size_t* vallen) {
  *vallen = handle == nullptr ? 0 : handle->rep.size();
  return handle == nullptr ? nullptr : handle->rep.data();
}

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) {
  return OrNull([&] { return compassdb::MallocHandle<rocksdb_snapshot_t>(db->rep->GetSnapshot()); });
}

void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) {
  MustSucceed([&] { db->rep->ReleaseSnapshot(snapshot->rep); });
  std::free(const_cast<rocksdb_snapshot_t*>(snapshot));
}

uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) {
  return snapshot->rep->GetSequenceNumber();
}

}  // extern "C"
