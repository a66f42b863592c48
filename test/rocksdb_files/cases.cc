// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>

namespace compassdb_test {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Options;

namespace {

#if ROCKSDB_MAJOR >= 11
constexpr uint32_t kOldestFormat = 2;
#else
constexpr uint32_t kOldestFormat = 0;
#endif
#if ROCKSDB_MAJOR > 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR >= 4)
constexpr uint32_t kNewestFormat = 7;
#elif ROCKSDB_MAJOR >= 8
constexpr uint32_t kNewestFormat = 6;
#else
constexpr uint32_t kNewestFormat = 5;
#endif

// A build of the library may be without some.
bool IsLinked(rocksdb::CompressionType type) {
  const std::vector<rocksdb::CompressionType> linked = rocksdb::GetSupportedCompressions();
  return type == rocksdb::kNoCompression || std::find(linked.begin(), linked.end(), type) != linked.end();
}

void AddFormats(std::vector<Case>* cases) {
  for (uint32_t version = kOldestFormat; version <= kNewestFormat; ++version) {
    for (const auto& [name, type] : {std::pair{"snappy", rocksdb::kSnappyCompression}, {"zlib", rocksdb::kZlibCompression},
                                     {"bzip2", rocksdb::kBZip2Compression}, {"lz4", rocksdb::kLZ4Compression},
                                     {"lz4hc", rocksdb::kLZ4HCCompression}, {"zstd", rocksdb::kZSTD},
                                     {"none", rocksdb::kNoCompression}}) {
      if (!IsLinked(type)) continue;
      cases->push_back({"format" + std::to_string(version) + "_" + name, kValues, [=](Options* o, BlockBasedTableOptions* t) {
                          t->format_version = version;
                          o->compression = type;
                        }});
    }
    cases->push_back({"format" + std::to_string(version) + "_versions", kVersions, [=](Options*, BlockBasedTableOptions* t) {
                        t->format_version = version;
                        t->index_block_restart_interval = 16;
                      }});
  }
  for (const auto& [name, type] : {std::pair{"none", rocksdb::kNoChecksum}, {"crc32c", rocksdb::kCRC32c},
                                   {"xxhash", rocksdb::kxxHash}, {"xxhash64", rocksdb::kxxHash64}, {"xxh3", rocksdb::kXXH3}}) {
    cases->push_back({std::string("checksum_") + name, kValues,
                      [=](Options*, BlockBasedTableOptions* t) { t->checksum = type; }});
  }
  for (const auto& [name, type] : {std::pair{"zlib", rocksdb::kZlibCompression}, {"lz4", rocksdb::kLZ4Compression},
                                   {"lz4hc", rocksdb::kLZ4HCCompression}, {"zstd", rocksdb::kZSTD}}) {
    if (!IsLinked(type)) continue;
    for (const uint32_t train : {0u, 1u << 16}) {
      cases->push_back({std::string("dictionary_") + name + (train != 0 ? "_trained" : ""), kValues,
                        [=](Options* o, BlockBasedTableOptions* t) {
                          o->compression = type;
                          o->compression_opts.max_dict_bytes = 4 << 10;
                          o->compression_opts.zstd_max_train_bytes = train;
                          t->block_size = 1 << 10;
                        }});
    }
  }
}

void AddIndexes(std::vector<Case>* cases) {
  for (const auto& [name, kind] : {std::pair{"binary", BlockBasedTableOptions::kBinarySearch},
                                   {"hash", BlockBasedTableOptions::kHashSearch},
                                   {"two_levels", BlockBasedTableOptions::kTwoLevelIndexSearch},
                                   {"first_key", BlockBasedTableOptions::kBinarySearchWithFirstKey}}) {
    for (const int interval : {1, 8}) {
      for (const unsigned contents : {unsigned{kValues}, unsigned{kVersions}}) {
        if (interval == 8 && kind == BlockBasedTableOptions::kHashSearch) continue;
        cases->push_back({std::string("index_") + name + (interval == 1 ? "" : "_delta") + (contents == kVersions ? "_versions" : ""),
                          contents, [=](Options* o, BlockBasedTableOptions* t) {
                            t->index_type = kind;
                            t->index_block_restart_interval = interval;
                            t->metadata_block_size = 256;
                            t->partition_filters = kind == BlockBasedTableOptions::kTwoLevelIndexSearch;
                            t->filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
                            o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
                          }});
      }
    }
  }
  cases->push_back({"index_plain", kVersions, [](Options*, BlockBasedTableOptions* t) {
                      t->enable_index_compression = false;
                      t->index_shortening = BlockBasedTableOptions::IndexShorteningMode::kNoShortening;
                    }});
  cases->push_back({"index_short_successor", kValues, [](Options*, BlockBasedTableOptions* t) {
                      t->index_shortening = BlockBasedTableOptions::IndexShorteningMode::kShortenSeparatorsAndSuccessor;
                    }});
  cases->push_back({"data_hash", kVersions, [](Options*, BlockBasedTableOptions* t) {
                      t->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
                    }});
  cases->push_back({"no_delta_keys", kValues, [](Options*, BlockBasedTableOptions* t) { t->use_delta_encoding = false; }});
  cases->push_back({"aligned", kValues, [](Options* o, BlockBasedTableOptions* t) {
                      t->block_align = true;
                      t->block_size = 1024;
                      o->compression = rocksdb::kNoCompression;
                    }});
  cases->push_back({"ribbon", kValues, [](Options*, BlockBasedTableOptions* t) {
                      t->filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
                    }});
#if ROCKSDB_MAJOR >= 11
  for (const int interval : {1, 4, 16}) {
    cases->push_back({"values_apart_" + std::to_string(interval), kVersions, [=](Options*, BlockBasedTableOptions* t) {
                        t->separate_key_value_in_data_block = true;
                        t->block_restart_interval = interval;
                        t->uniform_cv_threshold = 10;
                      }});
  }
  cases->push_back({"values_apart_hash", kVersions, [=](Options*, BlockBasedTableOptions* t) {
                      t->separate_key_value_in_data_block = true;
                      t->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
                    }});
#endif
}

void AddContents(std::vector<Case>* cases) {
  const auto merging = [](Options* o, BlockBasedTableOptions*) {
    rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappend", &o->merge_operator).PermitUncheckedError();
  };
  cases->push_back({"range_deletions", kRangeDeletions});
  cases->push_back({"range_deletions_versions", kRangeDeletions | kVersions | kInLog});
  cases->push_back({"merges", kMerges, merging});
  cases->push_back({"merges_in_log", kMerges | kInLog, merging});
  cases->push_back({"log", kInLog});
  cases->push_back({"log_families", kInLog | kFamilies | kRangeDeletions});
  cases->push_back({"families", kFamilies | kVersions});
  cases->push_back({"entities", kEntities | kInLog});
  cases->push_back({"log_compressed", kInLog | kFamilies, [](Options* o, BlockBasedTableOptions*) {
                      o->wal_compression = rocksdb::kZSTD;
                    }});
  cases->push_back({"log_recycled", kInLog, [](Options* o, BlockBasedTableOptions*) { o->recycle_log_file_num = 2; }});
  cases->push_back({"log_recycled_compressed", kInLog, [](Options* o, BlockBasedTableOptions*) {
                      o->recycle_log_file_num = 2;
                      o->wal_compression = rocksdb::kZSTD;
                    }});
  cases->push_back({"log_in_manifest", kInLog, [](Options* o, BlockBasedTableOptions*) { o->track_and_verify_wals_in_manifest = true; }});
  cases->push_back({"log_elsewhere", kInLog, [](Options* o, BlockBasedTableOptions*) { o->wal_dir = "<database>/logs"; }});
  cases->push_back({"reverse", kVersions | kInLog, [](Options* o, BlockBasedTableOptions*) {
                      o->comparator = rocksdb::ReverseBytewiseComparator();
                    }});
  cases->push_back({"ingested", kIngested});
  cases->push_back({"ingested_with_range_deletions", kIngested | kRangeDeletions});
  for (const auto& [name, type] : {std::pair{"none", rocksdb::kNoCompression}, {"zstd", rocksdb::kZSTD}, {"snappy", rocksdb::kSnappyCompression},
                                   {"lz4", rocksdb::kLZ4Compression}}) {
    cases->push_back({std::string("blobs_") + name, kVersions | kInLog, [=](Options* o, BlockBasedTableOptions*) {
                        o->enable_blob_files = true;
                        o->min_blob_size = 64;
                        o->blob_compression_type = type;
                      }});
  }
  cases->push_back({"universal", kVersions | kInLog, [](Options* o, BlockBasedTableOptions*) {
                      o->compaction_style = rocksdb::kCompactionStyleUniversal;
                    }});
#if ROCKSDB_MAJOR >= 8
  cases->push_back({"timestamps", kTimestamps | kInLog, [](Options* o, BlockBasedTableOptions*) {
                      o->comparator = rocksdb::BytewiseComparatorWithU64Ts();
                    }});
  cases->push_back({"timestamps_dropped", kTimestamps | kInLog, [](Options* o, BlockBasedTableOptions*) {
                      o->comparator = rocksdb::BytewiseComparatorWithU64Ts();
                      o->persist_user_defined_timestamps = false;
                      o->allow_concurrent_memtable_write = false;
                    }});
#endif
#if ROCKSDB_MAJOR >= 9
  cases->push_back({"timed", kTimed | kInLog});
#endif
#if ROCKSDB_MAJOR >= 10
  cases->push_back({"log_predecessors", kInLog, [](Options* o, BlockBasedTableOptions*) { o->track_and_verify_wals = true; }});
#endif
}

}  // namespace

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  AddFormats(&cases);
  AddIndexes(&cases);
  AddContents(&cases);
  return cases;
}

}  // namespace compassdb_test
