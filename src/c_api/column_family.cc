// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Succeeds;

extern "C" {

char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name, size_t* lencf,
                                    char** errptr) {
  std::vector<std::string> names;
  *lencf = 0;
  if (!Succeeds(errptr, [&] { return rocksdb::DB::ListColumnFamilies(options->rep, name, &names); })) {
    return nullptr;
  }
  return MustSucceed([&] {
    char** const list = reinterpret_cast<char**>(compassdb::AllocateBytes(names.size() * sizeof(char*)));
    for (size_t i = 0; i < names.size(); ++i) list[i] = compassdb::CopyText(names[i]);
    *lencf = names.size();
    return list;
  });
}

void rocksdb_list_column_families_destroy(char** list, size_t len) {
  for (size_t i = 0; i < len; ++i) std::free(list[i]);
  std::free(list);
}

rocksdb_column_family_handle_t* rocksdb_create_column_family(rocksdb_t* db,
                                                             const rocksdb_options_t* column_family_options,
                                                             const char* column_family_name, char** errptr) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  if (!Succeeds(errptr, [&] {
        return db->rep->CreateColumnFamily(column_family_options->rep, column_family_name, &family);
      })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_column_family_handle_t{family}; });
}

rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, int num_column_families,
    const char* const* column_family_names, size_t* lencfs, char** errptr) {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  *lencfs = 0;
  // Some may exist after an error.
  Succeeds(errptr, [&] {
    const std::vector<std::string> names(column_family_names, column_family_names + num_column_families);
    return db->rep->CreateColumnFamilies(column_family_options->rep, names, &families);
  });
  if (families.empty()) return nullptr;
  return MustSucceed([&] {
    auto** const list = reinterpret_cast<rocksdb_column_family_handle_t**>(
        compassdb::AllocateBytes(families.size() * sizeof(rocksdb_column_family_handle_t*)));
    for (size_t i = 0; i < families.size(); ++i) list[i] = new rocksdb_column_family_handle_t{families[i]};
    *lencfs = families.size();
    return list;
  });
}

rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db) {
  return OrNull([&] { return new rocksdb_column_family_handle_t{db->rep->DefaultColumnFamily(), true}; });
}

void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* handle, char** errptr) {
  Succeeds(errptr, [&] { return db->rep->DropColumnFamily(compassdb::Family(handle)); });
}

void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* handle) {
  if (handle == nullptr) return;
  MustSucceed([&] {
    if (!handle->borrowed) delete handle->rep;
  });
  delete handle;
}

uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* handle) {
  return handle->rep->GetID();
}

char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* handle, size_t* name_len) {
  return OrNull([&] {
    const std::string& name = handle->rep->GetName();
    *name_len = name.size();
    return compassdb::CopyBytes(name);
  });
}

}  // extern "C"
