// SPDX-License-Identifier: Apache-2.0
// Databases whose records expire.
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/open_families.h"
#include "rocksdb/utilities/db_ttl.h"

using compassdb::MustSucceed;
using compassdb::Succeeds;
using rocksdb::DBWithTTL;
using rocksdb::Status;

extern "C" {

rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name, int ttl, char** errptr) {
  DBWithTTL* db = nullptr;
  if (!Succeeds(errptr, [&] { return DBWithTTL::Open(options->rep, name, &db, ttl); })) return nullptr;
  return MustSucceed([&] { return new rocksdb_t{db}; });
}

rocksdb_t* rocksdb_open_column_families_with_ttl(const rocksdb_options_t* options, const char* name,
                                                 int num_column_families, const char* const* column_family_names,
                                                 const rocksdb_options_t* const* column_family_options,
                                                 rocksdb_column_family_handle_t** column_family_handles,
                                                 const int* ttls, char** errptr) {
  DBWithTTL* db = nullptr;
  if (!compassdb::OpenFamilies(
          {num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
          [&](const auto& families, auto* handles) {
            return DBWithTTL::Open(options->rep, name, families, handles, &db,
                                   std::vector<int32_t>(ttls, ttls + num_column_families));
          })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_t{db}; });
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name, int ttl,
    char** errptr) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  if (!Succeeds(errptr, [&] {
        auto* const with_ttl = dynamic_cast<DBWithTTL*>(db->rep);
        if (with_ttl == nullptr) return Status::InvalidArgument("the database was not opened with a TTL");
        return with_ttl->CreateColumnFamilyWithTtl(column_family_options->rep, column_family_name, &family, ttl);
      })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_column_family_handle_t{family}; });
}

}  // extern "C"
