// SPDX-License-Identifier: Apache-2.0
// Table files from outside: writing and ingesting them.
#include <string>
#include <vector>

#include "c_api/callbacks.h"
#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::OrNull;
using compassdb::Succeeds;
using rocksdb::Slice;

extern "C" {

rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(const rocksdb_envoptions_t* env,
                                                      const rocksdb_options_t* io_options) {
  return OrNull([&] { return new rocksdb_sstfilewriter_t{{env->rep, io_options->rep}}; });
}

rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* /*comparator*/) {
  return rocksdb_sstfilewriter_create(env, io_options);
}

void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name, char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Open(name); });
}

void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* val, size_t vallen, char** errptr) {
  rocksdb_sstfilewriter_put(writer, key, keylen, val, vallen, errptr);
}

void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Put(Slice(key, keylen), Slice(val, vallen)); });
}

void rocksdb_sstfilewriter_put_with_ts(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                       const char* ts, size_t tslen, const char* val, size_t vallen,
                                       char** errptr) {
  Succeeds(errptr,
           [&] { return writer->rep.Put(Slice(key, keylen), Slice(ts, tslen), Slice(val, vallen)); });
}

void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                 const char* val, size_t vallen, char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Merge(Slice(key, keylen), Slice(val, vallen)); });
}

void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                  char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Delete(Slice(key, keylen)); });
}

void rocksdb_sstfilewriter_delete_with_ts(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                          const char* ts, size_t tslen, char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Delete(Slice(key, keylen), Slice(ts, tslen)); });
}

void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* writer, const char* begin_key,
                                        size_t begin_keylen, const char* end_key, size_t end_keylen,
                                        char** errptr) {
  Succeeds(errptr, [&] {
    return writer->rep.DeleteRange(Slice(begin_key, begin_keylen), Slice(end_key, end_keylen));
  });
}

void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer, char** errptr) {
  Succeeds(errptr, [&] { return writer->rep.Finish(); });
}

void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer, uint64_t* file_size) {
  *file_size = writer->rep.FileSize();
}

void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer) {
  compassdb::MustSucceed([&] { delete writer; });
}

void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list, const size_t list_len,
                                  const rocksdb_ingestexternalfileoptions_t* opt, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->IngestExternalFile(std::vector<std::string>(file_list, file_list + list_len), opt->rep);
  });
}

void rocksdb_ingest_external_file_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                     const char* const* file_list, const size_t list_len,
                                     const rocksdb_ingestexternalfileoptions_t* opt, char** errptr) {
  Succeeds(errptr, [&] {
    return db->rep->IngestExternalFile(handle->rep,
                                       std::vector<std::string>(file_list, file_list + list_len), opt->rep);
  });
}

}  // extern "C"
