// SPDX-License-Identifier: Apache-2.0
// Options of databases and column families that are not plain numbers.
#include <cassert>
#include <string>
#include <vector>

#include "c_api/callbacks.h"
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/values.h"
#include "rocksdb/convenience.h"
#include "rocksdb/statistics.h"
#include "rocksdb/utilities/options_util.h"

using compassdb::MustSucceed;
using compassdb::OrNull;
using compassdb::Succeeds;
using rocksdb::CompressionType;

namespace {

std::vector<CompressionType> CompressionTypes(const int* values, size_t count) {
  std::vector<CompressionType> types(count);
  for (size_t i = 0; i < count; ++i) types[i] = static_cast<CompressionType>(values[i]);
  return types;
}

void SetCompression(rocksdb::CompressionOptions* options, int window_bits, int level, int strategy,
                    int max_dict_bytes) {
  options->window_bits = window_bits;
  options->level = level;
  options->strategy = strategy;
  options->max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
}

}  // namespace

extern "C" {

rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options) {
  return compassdb::Create<rocksdb_options_t>(*options);
}

void rocksdb_get_options_from_string(const rocksdb_options_t* base_options, const char* opts_str,
                                     rocksdb_options_t* new_options, char** errptr) {
  Succeeds(errptr,
           [&] { return rocksdb::GetOptionsFromString(base_options->rep, opts_str, &new_options->rep); });
}

void rocksdb_load_latest_options(const char* db_path, rocksdb_env_t* env, bool ignore_unknown_options,
                                 rocksdb_cache_t* cache, rocksdb_options_t** db_options,
                                 size_t* num_column_families, char*** column_family_names,
                                 rocksdb_options_t*** column_family_options, char** errptr) {
  *db_options = nullptr;
  *num_column_families = 0;
  *column_family_names = nullptr;
  *column_family_options = nullptr;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  if (!Succeeds(errptr, [&] {
        return rocksdb::LoadLatestOptions(db_path, env->rep, &options, &families, ignore_unknown_options,
                                          cache == nullptr ? nullptr : &cache->rep);
      })) {
    return;
  }
  MustSucceed([&] {
    const size_t count = families.size();
    auto* const names = reinterpret_cast<char**>(compassdb::AllocateBytes(count * sizeof(char*)));
    auto* const list =
        reinterpret_cast<rocksdb_options_t**>(compassdb::AllocateBytes(count * sizeof(rocksdb_options_t*)));
    for (size_t i = 0; i < count; ++i) {
      names[i] = compassdb::CopyText(families[i].name);
      list[i] = new rocksdb_options_t{rocksdb::Options(rocksdb::DBOptions(), families[i].options)};
    }
    *db_options = new rocksdb_options_t{rocksdb::Options(options, rocksdb::ColumnFamilyOptions())};
    *num_column_families = count;
    *column_family_names = names;
    *column_family_options = list;
  });
}

void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options, char** list_column_family_names,
                                         rocksdb_options_t** list_column_family_options, size_t len) {
  rocksdb_options_destroy(db_options);
  for (size_t i = 0; i < len; ++i) {
    std::free(list_column_family_names[i]);
    rocksdb_options_destroy(list_column_family_options[i]);
  }
  std::free(list_column_family_names);
  std::free(list_column_family_options);
}

void rocksdb_options_increase_parallelism(rocksdb_options_t* opt, int total_threads) {
  MustSucceed([&] { opt->rep.IncreaseParallelism(total_threads); });
}

void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* opt, uint64_t block_cache_size_mb) {
  MustSucceed([&] { opt->rep.OptimizeForPointLookup(block_cache_size_mb); });
}

void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* opt, uint64_t memtable_memory_budget) {
  MustSucceed([&] { opt->rep.OptimizeLevelStyleCompaction(memtable_memory_budget); });
}

void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* opt,
                                                         uint64_t memtable_memory_budget) {
  MustSucceed([&] { opt->rep.OptimizeUniversalStyleCompaction(memtable_memory_budget); });
}

void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* opt) {
  MustSucceed([&] { opt->rep.PrepareForBulkLoad(); });
}

void rocksdb_options_set_comparator(rocksdb_options_t* opt, rocksdb_comparator_t* cmp) {
  opt->rep.comparator = cmp;
}

void rocksdb_options_set_merge_operator(rocksdb_options_t* opt, rocksdb_mergeoperator_t* merge_operator) {
  MustSucceed([&] { opt->rep.merge_operator.reset(merge_operator); });
}

void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* opt) {
  MustSucceed([&] {
    rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "uint64add", &opt->rep.merge_operator)
        .PermitUncheckedError();
    assert(opt->rep.merge_operator != nullptr);
  });
}

void rocksdb_options_set_compaction_filter(rocksdb_options_t* opt, rocksdb_compactionfilter_t* filter) {
  opt->rep.compaction_filter = filter;
}

void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t* opt,
                                                   rocksdb_compactionfilterfactory_t* factory) {
  MustSucceed([&] { opt->rep.compaction_filter_factory.reset(factory); });
}

void rocksdb_options_set_prefix_extractor(rocksdb_options_t* opt, rocksdb_slicetransform_t* prefix_extractor) {
  opt->rep.prefix_extractor = prefix_extractor == nullptr ? nullptr : prefix_extractor->rep;
  rocksdb_slicetransform_destroy(prefix_extractor);
}

void rocksdb_options_set_env(rocksdb_options_t* opt, rocksdb_env_t* env) {
  opt->rep.env = env == nullptr ? nullptr : env->rep;
}

void rocksdb_options_set_info_log(rocksdb_options_t* opt, rocksdb_logger_t* logger) {
  if (logger != nullptr) opt->rep.info_log = logger->rep;
}

rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* opt) {
  return compassdb::Create<rocksdb_logger_t>(opt->rep.info_log);
}

void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* opt, rocksdb_write_buffer_manager_t* wbm) {
  if (wbm != nullptr) opt->rep.write_buffer_manager = wbm->rep;
}

void rocksdb_options_set_sst_file_manager(rocksdb_options_t* opt, rocksdb_sst_file_manager_t* sfm) {
  if (sfm != nullptr) opt->rep.sst_file_manager = sfm->rep;
}

void rocksdb_options_set_ratelimiter(rocksdb_options_t* opt, rocksdb_ratelimiter_t* limiter) {
  if (limiter != nullptr) opt->rep.rate_limiter = limiter->rep;
}

void rocksdb_options_set_row_cache(rocksdb_options_t* opt, rocksdb_cache_t* cache) {
  if (cache != nullptr) opt->rep.row_cache = cache->rep;
}

void rocksdb_options_set_blob_cache(rocksdb_options_t* opt, rocksdb_cache_t* blob_cache) {
  opt->rep.blob_cache = blob_cache->rep;
}

void rocksdb_options_set_db_paths(rocksdb_options_t* opt, const rocksdb_dbpath_t** path_values,
                                  size_t num_paths) {
  MustSucceed([&] {
    opt->rep.db_paths.clear();
    for (size_t i = 0; i < num_paths; ++i) opt->rep.db_paths.push_back(path_values[i]->rep);
  });
}

void rocksdb_options_set_cf_paths(rocksdb_options_t* opt, const rocksdb_dbpath_t** path_values,
                                  size_t num_paths) {
  MustSucceed([&] {
    opt->rep.cf_paths.clear();
    for (size_t i = 0; i < num_paths; ++i) opt->rep.cf_paths.push_back(path_values[i]->rep);
  });
}

void rocksdb_options_set_db_log_dir(rocksdb_options_t* opt, const char* db_log_dir) {
  MustSucceed([&] { opt->rep.db_log_dir = db_log_dir; });
}

void rocksdb_options_set_wal_dir(rocksdb_options_t* opt, const char* v) {
  MustSucceed([&] { opt->rep.wal_dir = v; });
}

void rocksdb_options_set_compression_per_level(rocksdb_options_t* opt, const int* level_values,
                                               size_t num_levels) {
  MustSucceed([&] { opt->rep.compression_per_level = CompressionTypes(level_values, num_levels); });
}

void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* opt, int level) {
  if (level < 0) return;
  MustSucceed([&] {
    auto& per_level = opt->rep.compression_per_level;
    per_level.assign(static_cast<size_t>(opt->rep.num_levels), opt->rep.compression);
    for (int i = 0; i < level && i < opt->rep.num_levels; ++i) {
      per_level[static_cast<size_t>(i)] = rocksdb::kNoCompression;
    }
  });
}

void rocksdb_options_set_compression_options(rocksdb_options_t* opt, int w_bits, int level, int strategy,
                                             int max_dict_bytes) {
  SetCompression(&opt->rep.compression_opts, w_bits, level, strategy, max_dict_bytes);
}

void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* opt, int w_bits, int level,
                                                        int strategy, int max_dict_bytes,
                                                        unsigned char enabled) {
  SetCompression(&opt->rep.bottommost_compression_opts, w_bits, level, strategy, max_dict_bytes);
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(rocksdb_options_t* opt,
                                                                             int zstd_max_train_bytes,
                                                                             unsigned char enabled) {
  opt->rep.bottommost_compression_opts.zstd_max_train_bytes = static_cast<uint32_t>(zstd_max_train_bytes);
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* opt, unsigned char use_zstd_dict_trainer, unsigned char enabled) {
  opt->rep.bottommost_compression_opts.use_zstd_dict_trainer = use_zstd_dict_trainer != 0;
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(rocksdb_options_t* opt,
                                                                              uint64_t max_dict_buffer_bytes,
                                                                              unsigned char enabled) {
  opt->rep.bottommost_compression_opts.max_dict_buffer_bytes = max_dict_buffer_bytes;
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}

void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t* opt, int* level_values,
                                                                   size_t num_levels) {
  MustSucceed([&] {
    opt->rep.max_bytes_for_level_multiplier_additional.assign(level_values, level_values + num_levels);
  });
}

void rocksdb_options_compaction_readahead_size(rocksdb_options_t* opt, size_t s) {
  opt->rep.compaction_readahead_size = s;
}

void rocksdb_options_set_universal_compaction_options(rocksdb_options_t* opt,
                                                      rocksdb_universal_compaction_options_t* uco) {
  opt->rep.compaction_options_universal = uco->rep;
}

void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* opt,
                                                 rocksdb_fifo_compaction_options_t* fifo) {
  MustSucceed([&] {
    opt->rep.compaction_options_fifo = fifo->rep;
    opt->rep.compaction_options_fifo.max_data_files_size_is_set = fifo->later.max_data_files_size != 0;
  });
}

void rocksdb_options_enable_statistics(rocksdb_options_t* opt) {
  MustSucceed([&] { opt->rep.statistics = rocksdb::CreateDBStatistics(); });
}

char* rocksdb_options_statistics_get_string(rocksdb_options_t* opt) {
  if (opt->rep.statistics == nullptr) return nullptr;
  return OrNull([&] { return compassdb::CopyText(opt->rep.statistics->ToString()); });
}

void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t* opt, char* ts, size_t tslen) {
  opt->full_history_ts_low = rocksdb::Slice(ts, ts == nullptr ? 0 : tslen);
  opt->rep.full_history_ts_low = ts == nullptr ? nullptr : &opt->full_history_ts_low;
}

void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* opt, int disable) {
  opt->rep.disableWAL = disable != 0;
}

}  // extern "C"
