// SPDX-License-Identifier: Apache-2.0
// Metadata of a database's files.
#include <string>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"

using compassdb::CopyBytes;
using compassdb::CopyText;
using compassdb::Create;
using compassdb::OrNull;

namespace {

const rocksdb::LiveFileMetaData& File(const rocksdb_livefiles_t* files, int index) {
  return files->rep[static_cast<size_t>(index)];
}

const char* Key(const std::string& key, size_t* size) {
  *size = key.size();
  return key.data();
}

char* KeyCopy(const std::string& key, size_t* size) noexcept {
  return OrNull([&] {
    *size = key.size();
    return CopyBytes(key);
  });
}

}  // namespace

extern "C" {

const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db) {
  return OrNull([&]() -> const rocksdb_livefiles_t* {
    auto files = std::make_unique<rocksdb_livefiles_t>();
    db->rep->GetLiveFilesMetaData(&files->rep);
    return files.release();
  });
}

int rocksdb_livefiles_count(const rocksdb_livefiles_t* files) { return static_cast<int>(files->rep.size()); }

const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).column_family_name.c_str();
}

const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).name.c_str();
}

int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index) { return File(files, index).level; }

size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files, int index) { return File(files, index).size; }

const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t* files, int index, size_t* size) {
  return Key(File(files, index).smallestkey, size);
}

const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index, size_t* size) {
  return Key(File(files, index).largestkey, size);
}

uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).num_entries;
}

uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).num_deletions;
}

const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files, int index) {
  const rocksdb::LiveFileMetaData& file = File(files, index);
  return file.directory.empty() ? file.db_path.c_str() : file.directory.c_str();
}

uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).smallest_seqno;
}

uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files, int index) {
  return File(files, index).largest_seqno;
}

void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files) { delete files; }

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db) {
  return OrNull([&] {
    auto family = std::make_unique<rocksdb_column_family_metadata_t>();
    db->rep->GetColumnFamilyMetaData(&family->rep);
    return family.release();
  });
}

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family) {
  return OrNull([&] {
    auto family = std::make_unique<rocksdb_column_family_metadata_t>();
    db->rep->GetColumnFamilyMetaData(compassdb::Family(column_family), &family->rep);
    return family.release();
  });
}

void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* cf_meta) { delete cf_meta; }

uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.size;
}

size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.file_count;
}

char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* cf_meta) {
  return OrNull([&] { return CopyText(cf_meta->rep.name); });
}

size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.levels.size();
}

rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* cf_meta, size_t i) {
  return i < cf_meta->rep.levels.size() ? Create<rocksdb_level_metadata_t>(&cf_meta->rep.levels[i]) : nullptr;
}

void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* level_meta) { delete level_meta; }

int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* level_meta) { return level_meta->rep->level; }

uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* level_meta) { return level_meta->rep->size; }

size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* level_meta) {
  return level_meta->rep->files.size();
}

rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* level_meta, size_t i) {
  return i < level_meta->rep->files.size()
             ? Create<rocksdb_sst_file_metadata_t>(&level_meta->rep->files[i])
             : nullptr;
}

void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* file_meta) { delete file_meta; }

char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* file_meta) {
  return OrNull([&] { return CopyText(file_meta->rep->relative_filename); });
}

char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* file_meta) {
  return OrNull([&] { return CopyText(file_meta->rep->directory); });
}

uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* file_meta) {
  return file_meta->rep->size;
}

char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* file_meta, size_t* len) {
  return KeyCopy(file_meta->rep->smallestkey, len);
}

char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* file_meta, size_t* len) {
  return KeyCopy(file_meta->rep->largestkey, len);
}

}  // extern "C"
