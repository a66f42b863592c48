// SPDX-License-Identifier: Apache-2.0
// Column families from files: their export, lists of files, their import.
#include <memory>
#include <string>
#include <utility>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::Create;
using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Succeeds;

extern "C" {

rocksdb_livefiles_t* rocksdb_livefiles_create(void) { return Create<rocksdb_livefiles_t>(); }

void rocksdb_livefiles_add(rocksdb_livefiles_t* files, rocksdb_livefile_t* file) {
  MustSucceed([&] { files->rep.push_back(std::move(file->rep)); });
  delete file;
}

rocksdb_livefile_t* rocksdb_livefile_create(void) { return Create<rocksdb_livefile_t>(); }

void rocksdb_livefile_destroy(rocksdb_livefile_t* file) { delete file; }

void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file, const char* name) {
  MustSucceed([&] { file->rep.column_family_name = name; });
}

void rocksdb_livefile_set_level(rocksdb_livefile_t* file, int level) { file->rep.level = level; }

void rocksdb_livefile_set_name(rocksdb_livefile_t* file, const char* name) {
  MustSucceed([&] { file->rep.name = name; });
}

void rocksdb_livefile_set_directory(rocksdb_livefile_t* file, const char* directory) {
  MustSucceed([&] { file->rep.db_path = file->rep.directory = directory; });
}

void rocksdb_livefile_set_size(rocksdb_livefile_t* file, size_t size) { file->rep.size = size; }

void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key, size_t size) {
  MustSucceed([&] { file->rep.smallestkey.assign(key, size); });
}

void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key, size_t size) {
  MustSucceed([&] { file->rep.largestkey.assign(key, size); });
}

void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t* file, uint64_t sequence) {
  file->rep.smallest_seqno = sequence;
}

void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t* file, uint64_t sequence) {
  file->rep.largest_seqno = sequence;
}

void rocksdb_livefile_set_num_entries(rocksdb_livefile_t* file, uint64_t count) { file->rep.num_entries = count; }

void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t* file, uint64_t count) {
  file->rep.num_deletions = count;
}

rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* column_family, const char* export_dir,
    char** errptr) {
  rocksdb_export_import_files_metadata_t* result = nullptr;
  Succeeds(errptr, [&] {
    auto handle = std::make_unique<rocksdb_export_import_files_metadata_t>();
    rocksdb::ExportImportFilesMetaData* metadata = nullptr;
    const rocksdb::Status s = checkpoint->rep->ExportColumnFamily(compassdb::Family(column_family), export_dir, &metadata);
    const std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned(metadata);
    if (!s.ok()) return s;
    handle->rep = std::move(*owned);
    result = handle.release();
    return s;
  });
  return result;
}

rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create(void) {
  return Create<rocksdb_export_import_files_metadata_t>();
}

void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t* metadata) {
  delete metadata;
}

char* rocksdb_export_import_files_metadata_get_db_comparator_name(rocksdb_export_import_files_metadata_t* metadata) {
  return OrNull([&] { return compassdb::CopyText(metadata->rep.db_comparator_name); });
}

void rocksdb_export_import_files_metadata_set_db_comparator_name(rocksdb_export_import_files_metadata_t* metadata,
                                                                 const char* name) {
  MustSucceed([&] { metadata->rep.db_comparator_name = name; });
}

rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(rocksdb_export_import_files_metadata_t* metadata) {
  return OrNull([&] { return new rocksdb_livefiles_t{metadata->rep.files}; });
}

void rocksdb_export_import_files_metadata_set_files(rocksdb_export_import_files_metadata_t* metadata,
                                                    rocksdb_livefiles_t* files) {
  metadata->rep.files = std::move(files->rep);
  delete files;
}

rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create(void) {
  return Create<rocksdb_import_column_family_options_t>();
}

void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t* options) { delete options; }

void rocksdb_import_column_family_options_set_move_files(rocksdb_import_column_family_options_t* options,
                                                         unsigned char move_files) {
  options->rep.move_files = move_files != 0;
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* column_family_options, const char* column_family_name,
    rocksdb_import_column_family_options_t* import_options, rocksdb_export_import_files_metadata_t* metadata,
    char** errptr) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  if (!Succeeds(errptr, [&] {
        return db->rep->CreateColumnFamilyWithImport(column_family_options->rep, column_family_name,
                                                     import_options->rep, metadata->rep, &family);
      })) {
    return nullptr;
  }
  return MustSucceed([&] { return new rocksdb_column_family_handle_t{family}; });
}

}  // extern "C"
