// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compassdb/data_order.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "filter/table_filter.h"
#include "format/key_hash.h"
#include "format/user_timestamp.h"
#include "manifest/extent_ledger.h"
#include "manifest/job_record.h"
#include "perfect_hash/build_options.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/statistics.h"
#include "store/compaction_tuning.h"
#include "store/page_options.h"
#include "store/value_options.h"
#include "table/directory/index_cache.h"
#include "table/file/file_cache.h"
#include "table/file/spare_files.h"
#include "table/piece/piece_collectors.h"

namespace rocksdb {
class FileChecksumGenFactory;
}  // namespace rocksdb

namespace compassdb {

class LogValues;

// What all stores of one database share. Outlives them.
struct StoreContext {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  FileCache* files = nullptr;
  ExtentLedger* ledger = nullptr;
  bool read_only = false;  // a primary may write the same files concurrently
  SpareFiles* spare_files = nullptr;  // null: each job creates its file and syncs the directory
  KeyHasher hasher;
  rocksdb::Statistics* statistics = nullptr;
  LogValues* log_values = nullptr;  // of memtables with addresses; null: there are none
  FileOptions write_options;                         // of compaction files
  // Completes the record of a job; its edit is set. False: the family is not known yet. Without the mutex; may be null.
  std::function<bool(JobRecord*)> describe_job;
  std::function<uint64_t()> new_number;              // files, pieces, tables; thread safe
  std::function<void(const std::string&)> log_info;  // one line to the info log
  // Requests a call of PickCompaction for a table. Without the mutex; may be null.
  std::function<void()> compaction_wanted;
  // The live snapshots, ascending. Under any lock; null: none.
  std::function<std::vector<SequenceNumber>()> snapshots;
  std::function<SequenceNumber()> oldest_snapshot;  // kMaxSequenceNumber if there is none
  std::atomic<uint64_t>* pinned_value_runs = nullptr;  // ValueContext::pinned_runs
  // A file of pages is no longer needed; from any thread, under any lock.
  std::function<void(const std::string& path)> delete_later;
  rocksdb::FileChecksumGenFactory* checksums = nullptr;  // of new compaction files; null: none
  std::atomic<uint32_t> max_subcompactions{1};  // threads of one compaction
  std::atomic<uint64_t> bytes_per_sync{0};      // of compaction files
  // Charges background writes; may be null. Bytes, then true for flush priority.
  std::function<void(uint64_t, bool)> throttle;
};

// Options of one family, projected from rocksdb::ColumnFamilyOptions by options/projection.cc.
struct StoreOptions : CompactionTuning {
  uint32_t column_family_id = 0;
  std::string column_family_name;
  const Comparator* comparator = nullptr;
  std::shared_ptr<const HistoryLow> history;  // null without timestamps
  std::shared_ptr<rocksdb::MergeOperator> merge_operator;
  const rocksdb::CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<rocksdb::CompactionFilterFactory> compaction_filter_factory;
  std::shared_ptr<rocksdb::Cache> block_cache;  // null: none
  // Where directories and separators are; kPaged and kPinned need a block cache.
  IndexMode index_mode = IndexMode::kResident;
  IndexMode level0_index_mode = IndexMode::kResident;
  bool index_high_priority = true;
  size_t block_size = 4096;
  uint32_t block_size_deviation = 10;  // per cent
  std::vector<rocksdb::CompressionType> compression;  // per level, num_levels entries
  int compression_level = 32767;
  int num_levels = 7;
  // The last level is for data that is ingested behind all other data: no job reads or writes it,
  // and no record above is dropped because nothing is below.
  bool keep_last_level = false;
  int last_job_level() const { return num_levels - (keep_last_level ? 2 : 1); }
  // New tables have no directory: reads use filters and separators. Needs `leveled`.
  bool filter_index = false;
  // A merge rewrites the tables that it overlaps, whole, and levels have their configured sizes.
  bool leveled = false;
  // Instead, the sizes of levels follow the last one's. Needs `leveled`, without `one_level`.
  bool dynamic_levels = false;
  bool hash_range = false;  // tables of new levels are cut by hash
  bool one_level = false;  // memtables merge straight into the one level that holds data
  // Dead bytes in files that punching cannot free, percent of live bytes; above, files are vacated. 0: never.
  uint32_t max_dead_space_percent = 10;
  DataOrder data_order = DataOrder::kKey;  // of new pieces
  perfect_hash::Kind perfect_hash = perfect_hash::Kind::kPilot;
  unsigned perfect_hash_threads = 1;
  FilterOptions filter;           // of new pieces; without one, filters of old pieces are not used
  CollectorFactories collectors;  // the application's, of table properties
  // For new files: newer data in the first ones. Empty: the file cache's first directory.
  std::vector<TablePath> paths;
  ValueOptions values;
  PageOptions pages;
  // Bytes of rewriting that a disk read lost by a scan pays for; 0: scans change nothing.
  uint64_t scan_bytes_per_read = 16 << 10;

  bool operator==(const StoreOptions&) const = default;
  // Takes what DB::SetOptions may change.
  void Change(const StoreOptions& changed) {
    CompactionTuning::operator=(changed);
    block_size = changed.block_size;
    compression = changed.compression;
    compression_level = changed.compression_level;
    max_dead_space_percent = changed.max_dead_space_percent;
    data_order = changed.data_order;
    perfect_hash = changed.perfect_hash;
    perfect_hash_threads = changed.perfect_hash_threads;
    filter.prefix_extractor = changed.filter.prefix_extractor;
    scan_bytes_per_read = changed.scan_bytes_per_read;
    const std::shared_ptr<rocksdb::Cache> cache = values.cache;
    values = changed.values;
    values.cache = cache;
    const bool has_pages = pages.enabled, has_keys = pages.key_store;
    pages = changed.pages;
    pages.enabled = has_pages;
    pages.key_store = has_keys;
  }
};

}  // namespace compassdb
