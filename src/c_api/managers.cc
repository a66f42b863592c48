// SPDX-License-Identifier: Apache-2.0
// Write buffer managers and managers of table files.
#include <memory>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::MustSucceed;
using compassdb::OrNull;

extern "C" {

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size, bool allow_stall) {
  return OrNull([&] {
    return new rocksdb_write_buffer_manager_t{
        std::make_shared<rocksdb::WriteBufferManager>(buffer_size, nullptr, allow_stall)};
  });
}

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(size_t buffer_size,
                                                                               const rocksdb_cache_t* cache,
                                                                               bool allow_stall) {
  return OrNull([&] {
    return new rocksdb_write_buffer_manager_t{
        std::make_shared<rocksdb::WriteBufferManager>(buffer_size, cache->rep, allow_stall)};
  });
}

void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* wbm) {
  MustSucceed([&] { delete wbm; });
}

bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->enabled();
}

bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->cost_to_cache();
}

size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->memory_usage();
}

size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->mutable_memtable_memory_usage();
}

size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->dummy_entries_in_cache_usage();
}

size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* wbm) {
  return wbm->rep->buffer_size();
}

void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t* wbm, size_t new_size) {
  MustSucceed([&] { wbm->rep->SetBufferSize(new_size); });
}

void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t* wbm, bool new_allow_stall) {
  MustSucceed([&] { wbm->rep->SetAllowStall(new_allow_stall); });
}

rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env) {
  return OrNull([&] {
    std::shared_ptr<rocksdb::SstFileManager> manager(rocksdb::NewSstFileManager(env->rep));
    return new rocksdb_sst_file_manager_t{std::move(manager)};
  });
}

void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* sfm) {
  MustSucceed([&] { delete sfm; });
}

void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t* sfm, uint64_t max_allowed_space) {
  MustSucceed([&] { sfm->rep->SetMaxAllowedSpaceUsage(max_allowed_space); });
}

void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t* sfm, uint64_t compaction_buffer_size) {
  MustSucceed([&] { sfm->rep->SetCompactionBufferSize(compaction_buffer_size); });
}

bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->IsMaxAllowedSpaceReached(); });
}

bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->IsMaxAllowedSpaceReachedIncludingCompactions(); });
}

uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->GetTotalSize(); });
}

int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->GetDeleteRateBytesPerSecond(); });
}

void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* sfm, int64_t delete_rate) {
  MustSucceed([&] { sfm->rep->SetDeleteRateBytesPerSecond(delete_rate); });
}

double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->GetMaxTrashDBRatio(); });
}

void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* sfm, double ratio) {
  MustSucceed([&] { sfm->rep->SetMaxTrashDBRatio(ratio); });
}

uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* sfm) {
  return MustSucceed([&] { return sfm->rep->GetTotalTrashSize(); });
}

}  // extern "C"
