// SPDX-License-Identifier: Apache-2.0
// Opening, closing, destroying and repairing databases.
#include <functional>
#include <string>
#include <utility>

#include "c_api/errors.h"
#include "c_api/open_families.h"
#include "c_api/handles.h"

using compassdb::FamilyLists;
using compassdb::MustSucceed;
using compassdb::OpenFamilies;
using compassdb::Succeeds;
using rocksdb::DB;
using rocksdb::Status;

namespace {

template <class Open>
rocksdb_t* OpenOne(char** errptr, Open open) noexcept {
  DB* db = nullptr;
  if (!Succeeds(errptr, [&] { return open(&db); })) return nullptr;
  return MustSucceed([&] { return new rocksdb_t{db}; });
}

template <class Open>
rocksdb_t* OpenMany(const FamilyLists& families, char** errptr, Open open) noexcept {
  DB* db = nullptr;
  if (!OpenFamilies(families, errptr,
                    [&](const auto& descriptors, auto* handles) { return open(descriptors, handles, &db); })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_t{db}; });
}

}  // namespace

extern "C" {

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr) {
  return OpenOne(errptr, [&](DB** db) { return DB::Open(options->rep, name, db); });
}

rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char error_if_wal_file_exists, char** errptr) {
  return OpenOne(errptr, [&](DB** db) {
    return DB::OpenForReadOnly(options->rep, name, db, error_if_wal_file_exists != 0);
  });
}

rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                     const char* secondary_path, char** errptr) {
  return OpenOne(errptr, [&](DB** db) { return DB::OpenAsSecondary(options->rep, name, secondary_path, db); });
}

rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name,
                                        int num_column_families, const char* const* column_family_names,
                                        const rocksdb_options_t* const* column_family_options,
                                        rocksdb_column_family_handle_t** column_family_handles,
                                        char** errptr) {
  return OpenMany({num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
                  [&](const auto& families, auto* handles, DB** db) {
                    return DB::Open(options->rep, name, families, handles, db);
                  });
}

rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, unsigned char error_if_wal_file_exists,
    char** errptr) {
  return OpenMany({num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
                  [&](const auto& families, auto* handles, DB** db) {
                    return DB::OpenForReadOnly(options->rep, name, families, handles, db,
                                               error_if_wal_file_exists != 0);
                  });
}

rocksdb_t* rocksdb_open_as_secondary_column_families(
    const rocksdb_options_t* options, const char* name, const char* secondary_path, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) {
  return OpenMany({num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
                  [&](const auto& families, auto* handles, DB** db) {
                    return DB::OpenAsSecondary(options->rep, name, secondary_path, families, handles, db);
                  });
}

rocksdb_t* rocksdb_open_and_trim_history(const rocksdb_options_t* options, const char* name,
                                         int num_column_families, const char* const* column_family_names,
                                         const rocksdb_options_t* const* column_family_options,
                                         rocksdb_column_family_handle_t** column_family_handles, char* trim_ts,
                                         size_t trim_tslen, char** errptr) {
  return OpenMany({num_column_families, column_family_names, column_family_options, column_family_handles}, errptr,
                  [&](const auto& families, auto* handles, DB** db) {
                    return DB::OpenAndTrimHistory(options->rep, name, families, handles, db,
                                                  std::string(trim_ts, trim_tslen));
                  });
}

void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->TryCatchUpWithPrimary(); });
}

void rocksdb_close(rocksdb_t* db) {
  MustSucceed([&] { delete db->rep; });
  delete db;
}

void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name, char** errptr) {
  Succeeds(errptr, [&] { return rocksdb::DestroyDB(name, options->rep); });
}

void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr) {
  Succeeds(errptr, [&] { return rocksdb::RepairDB(name, options->rep); });
}

}  // extern "C"
