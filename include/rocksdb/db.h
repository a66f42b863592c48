// SPDX-License-Identifier: Apache-2.0
//
// A database: a persistent, ordered map from keys to values, in one or more column families.
//
// Thread safety: every function of an open DB may be called concurrently. Opening, closing and
// deleting it, and deleting handles, need one thread at a time.

#pragma once

#include <stdint.h>
#include <stdio.h>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/column_family_handle.h"
#include "rocksdb/block_cache_trace_writer.h"
#include "rocksdb/iterator.h"
#include "rocksdb/listener.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/thread_status.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/types.h"
#include "rocksdb/version.h"
#include "rocksdb/wide_columns.h"
#ifdef _WIN32
#undef DeleteFile
#endif
#if defined(__GNUC__) || defined(__clang__)
#define ROCKSDB_DEPRECATED_FUNC __attribute__((__deprecated__))
#elif _WIN32
#define ROCKSDB_DEPRECATED_FUNC __declspec(deprecated)
#endif

namespace ROCKSDB_NAMESPACE {

struct ColumnFamilyOptions;
struct CompactionOptions;
struct CompactRangeOptions;
struct DBOptions;
struct ExternalSstFileInfo;
struct FlushOptions;
struct Options;
struct ReadOptions;
struct TableProperties;
struct WriteOptions;
class Env;
class EventListener;
class FileSystem;
class Replayer;
class StatsHistoryIterator;
class TraceReader;
class TraceWriter;
class WriteBatch;

// "default": always there.
extern const std::string kDefaultColumnFamilyName;

// The hidden one of DBOptions::persist_stats_to_disk.
extern const std::string kPersistentStatsColumnFamilyName;

// A column family to open or to make.
struct ColumnFamilyDescriptor {
  std::string name;
  ColumnFamilyOptions options;
  ColumnFamilyDescriptor()
      : name(kDefaultColumnFamilyName), options(ColumnFamilyOptions()) {}
  ColumnFamilyDescriptor(const std::string& _name,
                         const ColumnFamilyOptions& _options)
      : name(_name), options(_options) {}
};

static const int kMajorVersion = __ROCKSDB_MAJOR__;
static const int kMinorVersion = __ROCKSDB_MINOR__;

// Keys in [start, limit).
struct Range {
  Slice start;
  Slice limit;
  Range() {}
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}
};

// The same; null for no bound.
struct RangePtr {
  const Slice* start;
  const Slice* limit;
  RangePtr() : start(nullptr), limit(nullptr) {}
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}
};

// Files for one column family; checksums, if given, by file in the same order.
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  Temperature file_temperature = Temperature::kUnknown;
};

// For DB::GetMergeOperands(): room for this many operands.
struct GetMergeOperandsOptions {
  int expected_max_number_of_operands = 0;
};

// Properties by path of the table.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

// Reads and writes continue while flushes and compactions run in the background. Functions
// without a column family mean the default one.
class DB {
 public:
  // Opens a database with the default column family, or with the column families given, which must
  // be all that it has. InvalidArgument if the options do not fit, IOError with subcode kNone if
  // another process has it open, Corruption if it cannot be read. On success *dbptr, and the
  // handles in the order of the descriptors, belong to the caller.
  static Status Open(const Options& options, const std::string& name,
                     DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);

  // Without writing anything, not even a lock. Sees what was written when it was opened; memtables
  // are filled from the logs. Not all column families need be given.
  static Status OpenForReadOnly(const Options& options, const std::string& name,
                                DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(
      const DBOptions& db_options, const std::string& name,
      const std::vector<ColumnFamilyDescriptor>& column_families,
      std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
      bool error_if_wal_file_exists = false);

  // Follows a database that another process writes: see TryCatchUpWithPrimary(). Its own log is
  // written to secondary_path. max_open_files must be -1.
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, DB** dbptr);
  static Status OpenAsSecondary(
      const DBOptions& db_options, const std::string& name,
      const std::string& secondary_path,
      const std::vector<ColumnFamilyDescriptor>& column_families,
      std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);

  // Runs one compaction job of another process, from CompactionService, and leaves the tables in
  // output_directory.
  static Status OpenAndCompact(
      const std::string& name, const std::string& output_directory,
      const std::string& input, std::string* output,
      const CompactionServiceOptionsOverride& override_options);
  static Status OpenAndCompact(
      const OpenAndCompactOptions& options, const std::string& name,
      const std::string& output_directory, const std::string& input,
      std::string* output,
      const CompactionServiceOptionsOverride& override_options);

  // Opens after dropping all that is newer than the timestamp trim_ts.
  static Status OpenAndTrimHistory(
      const DBOptions& db_options, const std::string& dbname,
      const std::vector<ColumnFamilyDescriptor>& column_families,
      std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
      std::string trim_ts);

  // Tries to continue after a background error.
  virtual Status Resume() { return Status::NotSupported(); }

  // Closes and reports errors, which the destructor cannot. Aborted if snapshots are not released.
  // Does not sync the log.
  virtual Status Close() { return Status::NotSupported(); }

  // Names of the column families of a database that need not be open.
  static Status ListColumnFamilies(const DBOptions& db_options,
                                   const std::string& name,
                                   std::vector<std::string>* column_families);
  DB() {}
  DB(const DB&) = delete;
  void operator=(const DB&) = delete;

  // Closes. Iterators and handles must be deleted.
  virtual ~DB();

  // The handle belongs to the caller.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle);

  // Several. On failure, handles of those that were made are returned.
  virtual Status CreateColumnFamilies(
      const ColumnFamilyOptions& options,
      const std::vector<std::string>& column_family_names,
      std::vector<ColumnFamilyHandle*>* handles);
  virtual Status CreateColumnFamilies(
      const std::vector<ColumnFamilyDescriptor>& column_families,
      std::vector<ColumnFamilyHandle*>* handles);

  // The data stays readable through existing handles and iterators, and is deleted with them.
  virtual Status DropColumnFamily(ColumnFamilyHandle* column_family);

  // All or none.
  virtual Status DropColumnFamilies(
      const std::vector<ColumnFamilyHandle*>& column_families);

  // Does not drop the column family.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family);

  // Sets a value. The forms with `ts` are for column families with user-defined timestamps.
  virtual Status Put(const WriteOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     const Slice& ts, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, const Slice& key,
                     const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  virtual Status Put(const WriteOptions& options, const Slice& key,
                     const Slice& ts, const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, ts, value);
  }

  // Sets wide columns.
  virtual Status PutEntity(const WriteOptions& options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns);

  // Deletes a key; OK whether it exists or not.
  virtual Status Delete(const WriteOptions& options,
                        ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options,
                        ColumnFamilyHandle* column_family, const Slice& key,
                        const Slice& ts) = 0;
  virtual Status Delete(const WriteOptions& options, const Slice& key) {
    return Delete(options, DefaultColumnFamily(), key);
  }
  virtual Status Delete(const WriteOptions& options, const Slice& key,
                        const Slice& ts) {
    return Delete(options, DefaultColumnFamily(), key, ts);
  }

  // Deletes a key that was put at most once since it was last deleted, and never merged. Otherwise
  // the result is undefined.
  virtual Status SingleDelete(const WriteOptions& options,
                              ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options,
                              ColumnFamilyHandle* column_family,
                              const Slice& key, const Slice& ts) = 0;
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key,
                              const Slice& ts) {
    return SingleDelete(options, DefaultColumnFamily(), key, ts);
  }

  // Deletes all keys in [begin_key, end_key). InvalidArgument if end_key is before begin_key.
  virtual Status DeleteRange(const WriteOptions& options,
                             ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key);
  virtual Status DeleteRange(const WriteOptions& options,
                             ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key,
                             const Slice& ts);

  // Adds an operand for the merge operator. NotSupported if there is none.
  virtual Status Merge(const WriteOptions& options,
                       ColumnFamilyHandle* column_family, const Slice& key,
                       const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, const Slice& key,
                       const Slice& value) {
    return Merge(options, DefaultColumnFamily(), key, value);
  }
  virtual Status Merge(const WriteOptions& /*options*/,
                       ColumnFamilyHandle* /*column_family*/,
                       const Slice& /*key*/, const Slice& /*ts*/,
                       const Slice& /*value*/) {
    return Status::NotSupported("DB::Merge is not implemented");
  }

  // Applies a batch atomically: after a crash, all of it or nothing exists. The batch is left
  // with its sequence number.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // Reads a value. NotFound if there is none. PinnableSlice saves the copy where it can.
  virtual inline Status Get(const ReadOptions& options,
                            ColumnFamilyHandle* column_family, const Slice& key,
                            std::string* value) {
    assert(value != nullptr);
    PinnableSlice found(value);
    Status s = Get(options, column_family, key, &found);
    if (s.ok() && found.IsPinned()) value->assign(found.data(), found.size());
    return s;
  }
  virtual Status Get(const ReadOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     PinnableSlice* value) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key,
                     std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }

  // The same with the timestamp of the entry.
  virtual inline Status Get(const ReadOptions& options,
                            ColumnFamilyHandle* column_family, const Slice& key,
                            std::string* value, std::string* timestamp) {
    assert(value != nullptr);
    PinnableSlice found(value);
    Status s = Get(options, column_family, key, &found, timestamp);
    if (s.ok() && found.IsPinned()) value->assign(found.data(), found.size());
    return s;
  }
  virtual Status Get(const ReadOptions& /*options*/,
                     ColumnFamilyHandle* /*column_family*/,
                     const Slice& /*key*/, PinnableSlice* /*value*/,
                     std::string* /*timestamp*/) {
    return Status::NotSupported("DB::Get is not implemented");
  }
  virtual Status Get(const ReadOptions& options, const Slice& key,
                     std::string* value, std::string* timestamp) {
    return Get(options, DefaultColumnFamily(), key, value, timestamp);
  }

  // Reads wide columns; a plain value is one column with the empty name.
  virtual Status GetEntity(const ReadOptions& /*options*/,
                           ColumnFamilyHandle* /*column_family*/,
                           const Slice& /*key*/,
                           PinnableWideColumns* /*columns*/) {
    return Status::NotSupported("DB::GetEntity is not implemented");
  }

  // All operands of a key, oldest first, without folding them. Incomplete, with the number in
  // *number_of_operands, if there are more than expected; merge_operands must have room for that
  // many.
  virtual Status GetMergeOperands(
      const ReadOptions& options, ColumnFamilyHandle* column_family,
      const Slice& key, PinnableSlice* merge_operands,
      GetMergeOperandsOptions* get_merge_operands_options,
      int* number_of_operands) = 0;

  // Several keys, cheaper than one by one. The result has one status per key, in order.
  virtual std::vector<Status> MultiGet(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_family,
      const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) {
    return MultiGet(
        options,
        std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()),
        keys, values);
  }
  virtual std::vector<Status> MultiGet(
      const ReadOptions& /*options*/,
      const std::vector<ColumnFamilyHandle*>& /*column_family*/,
      const std::vector<Slice>& keys, std::vector<std::string>* /*values*/,
      std::vector<std::string>* /*timestamps*/) {
    return std::vector<Status>(keys.size(),
                               Status::NotSupported("DB::MultiGet is not implemented"));
  }
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values,
                                       std::vector<std::string>* timestamps) {
    return MultiGet(
        options,
        std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()),
        keys, values, timestamps);
  }

  // The fastest form: num_keys keys of one column family; values and statuses are arrays of that
  // size. sorted_input says that the keys are in order.
  virtual void MultiGet(const ReadOptions& options,
                        ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys,
                        PinnableSlice* values, Status* statuses,
                        const bool /*sorted_input*/ = false) {
    MultiGetByVectors(options, nullptr, column_family, num_keys, keys, values, nullptr, statuses);
  }
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys, PinnableSlice* values,
                        std::string* timestamps, Status* statuses,
                        const bool /*sorted_input*/ = false) {
    MultiGetByVectors(options, nullptr, column_family, num_keys, keys, values, timestamps,
                      statuses);
  }

  // The same for keys of several column families.
  virtual void MultiGet(const ReadOptions& options, const size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, Status* statuses,
                        const bool /*sorted_input*/ = false) {
    MultiGetByVectors(options, column_families, nullptr, num_keys, keys, values, nullptr,
                      statuses);
  }
  virtual void MultiGet(const ReadOptions& options, const size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, std::string* timestamps, Status* statuses,
                        const bool /*sorted_input*/ = false) {
    MultiGetByVectors(options, column_families, nullptr, num_keys, keys, values, timestamps,
                      statuses);
  }

  // False if the key is certainly not there; found without I/O. If the value is at hand it is
  // returned, and *value_found is true.
  virtual bool KeyMayExist(const ReadOptions& /*options*/,
                           ColumnFamilyHandle* /*column_family*/,
                           const Slice& /*key*/, std::string* /*value*/,
                           std::string* /*timestamp*/,
                           bool* value_found = nullptr) {
    if (value_found != nullptr) {
      *value_found = false;
    }
    return true;
  }
  virtual bool KeyMayExist(const ReadOptions& options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           std::string* value, bool* value_found = nullptr) {
    return KeyMayExist(options, column_family, key, value,
                       nullptr, value_found);
  }
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key,
                           std::string* value, bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, value_found);
  }
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key,
                           std::string* value, std::string* timestamp,
                           bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, timestamp,
                       value_found);
  }

  // An iterator over a column family, which the caller deletes. Starts invalid. Never null: an
  // error is its status().
  virtual Iterator* NewIterator(const ReadOptions& options,
                                ColumnFamilyHandle* column_family) = 0;
  virtual Iterator* NewIterator(const ReadOptions& options) {
    return NewIterator(options, DefaultColumnFamily());
  }

  // One per column family, all of the same state.
  virtual Status NewIterators(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families,
      std::vector<Iterator*>* iterators) = 0;

  // The present state, to be read later. Null if memtables with in-place updates make that
  // impossible.
  virtual const Snapshot* GetSnapshot() = 0;

  // Null is allowed.
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Names for GetProperty() and its relatives. A number of a level is appended to names that end in
  // "-level" or "Prefix".
  struct Properties {
    // Texts, unless noted. Files in a level, and its compression ratio.
    static const std::string kNumFilesAtLevelPrefix;
    static const std::string kCompressionRatioAtLevelPrefix;
    // Everything; the tables; the column family, without or with only the histograms of file reads.
    static const std::string kStats;
    static const std::string kSSTables;
    static const std::string kCFStats;
    static const std::string kCFStatsNoFileHistogram;
    static const std::string kCFFileHistogram;
    static const std::string kDBStats;
    static const std::string kLevelStats;
    // What is in the block cache (also as a map); the second never waits for a scan of the cache.
    static const std::string kBlockCacheEntryStats;
    static const std::string kFastBlockCacheEntryStats;

    // Numbers: memtables, flushes and compactions.
    static const std::string kNumImmutableMemTable;
    static const std::string kNumImmutableMemTableFlushed;
    static const std::string kMemTableFlushPending;
    static const std::string kNumRunningFlushes;
    static const std::string kCompactionPending;
    static const std::string kNumRunningCompactions;
    static const std::string kBackgroundErrors;
    static const std::string kCurSizeActiveMemTable;
    static const std::string kCurSizeAllMemTables;
    static const std::string kSizeAllMemTables;
    static const std::string kNumEntriesActiveMemTable;
    static const std::string kNumEntriesImmMemTables;
    static const std::string kNumDeletesActiveMemTable;
    static const std::string kNumDeletesImmMemTables;

    // Keys, files, snapshots and versions.
    static const std::string kEstimateNumKeys;
    static const std::string kEstimateTableReadersMem;
    static const std::string kIsFileDeletionsEnabled;
    static const std::string kNumSnapshots;
    static const std::string kOldestSnapshotTime;
    static const std::string kOldestSnapshotSequence;
    static const std::string kNumLiveVersions;
    static const std::string kCurrentSuperVersionNumber;
    static const std::string kEstimateLiveDataSize;
    static const std::string kMinLogNumberToKeep;
    static const std::string kMinObsoleteSstNumberToKeep;

    // Sizes in bytes, and compaction.
    static const std::string kTotalSstFilesSize;
    static const std::string kLiveSstFilesSize;
    static const std::string kLiveSstFilesSizeAtTemperature;
    static const std::string kBaseLevel;
    static const std::string kEstimatePendingCompactionBytes;
    static const std::string kAggregatedTableProperties;
    static const std::string kAggregatedTablePropertiesAtLevel;

    // Writes: bytes per second, 0 if they are not slowed down; 1 if they are stopped.
    static const std::string kActualDelayedWriteRate;
    static const std::string kIsWriteStopped;
    static const std::string kEstimateOldestKeyTime;

    // Bytes of the block cache.
    static const std::string kBlockCacheCapacity;
    static const std::string kBlockCacheUsage;
    static const std::string kBlockCachePinnedUsage;

    // Text of DBOptions::statistics.
    static const std::string kOptionsStatistics;

    // Separated values.
    static const std::string kNumBlobFiles;
    static const std::string kBlobStats;
    static const std::string kTotalBlobFileSize;
    static const std::string kLiveBlobFileSize;
    static const std::string kLiveBlobFileGarbageSize;
    static const std::string kBlobCacheCapacity;
    static const std::string kBlobCacheUsage;
    static const std::string kBlobCachePinnedUsage;
  };

  // A property as text; false if there is none of that name.
  virtual bool GetProperty(ColumnFamilyHandle* column_family,
                           const Slice& property, std::string* value) = 0;
  virtual bool GetProperty(const Slice& property, std::string* value) {
    return GetProperty(DefaultColumnFamily(), property, value);
  }

  // A property as a map.
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family,
                              const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  virtual bool GetMapProperty(const Slice& property,
                              std::map<std::string, std::string>* value) {
    return GetMapProperty(DefaultColumnFamily(), property, value);
  }

  // A property as a number.
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family,
                              const Slice& property, uint64_t* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value) {
    return GetIntProperty(DefaultColumnFamily(), property, value);
  }

  // Sets what the properties count since open to 0, not the tickers and histograms.
  virtual Status ResetStats() {
    return Status::NotSupported("DB::ResetStats is not implemented");
  }

  // The sum over all column families.
  virtual bool GetAggregatedIntProperty(const Slice& property,
                                        uint64_t* value) = 0;

  // What sizes count; may be combined.
  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1
  };

  // Bytes of the n ranges in files (compressed) and memtables, about.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family,
                                     const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  virtual Status GetApproximateSizes(ColumnFamilyHandle* column_family,
                                     const Range* ranges, int n,
                                     uint64_t* sizes,
                                     SizeApproximationFlags include_flags =
                                         SizeApproximationFlags::INCLUDE_FILES);
  virtual Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags =
          SizeApproximationFlags::INCLUDE_FILES) {
    return GetApproximateSizes(DefaultColumnFamily(), ranges, n, sizes,
                               include_flags);
  }

  // Entries and bytes of a range in memtables, about.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family,
                                           const Range& range,
                                           uint64_t* const count,
                                           uint64_t* const size) = 0;
  virtual void GetApproximateMemTableStats(const Range& range,
                                           uint64_t* const count,
                                           uint64_t* const size) {
    GetApproximateMemTableStats(DefaultColumnFamily(), range, count, size);
  }

  // Compacts [*begin, *end], both included, null for no bound, and waits for it. Down to the last
  // level that has data in the range, unless the options say otherwise.
  virtual Status CompactRange(const CompactRangeOptions& options,
                              ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  virtual Status CompactRange(const CompactRangeOptions& options,
                              const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }

  // Changes options, given as strings, while the database is open, and writes a new options file.
  virtual Status SetOptions(
      ColumnFamilyHandle* /*column_family*/,
      const std::unordered_map<std::string, std::string>& /*opts_map*/) {
    return Status::NotSupported("DB::SetOptions is not implemented");
  }
  virtual Status SetOptions(
      const std::unordered_map<std::string, std::string>& new_options) {
    return SetOptions(DefaultColumnFamily(), new_options);
  }

  // The same for options of the whole database.
  virtual Status SetDBOptions(
      const std::unordered_map<std::string, std::string>& new_options) = 0;

  // Compacts these tables, and others as far as needed, into output_level, and waits for it.
  virtual Status CompactFiles(
      const CompactionOptions& compact_options,
      ColumnFamilyHandle* column_family,
      const std::vector<std::string>& input_file_names, const int output_level,
      const int output_path_id = -1,
      std::vector<std::string>* const output_file_names = nullptr,
      CompactionJobInfo* compaction_job_info = nullptr) = 0;
  virtual Status CompactFiles(
      const CompactionOptions& compact_options,
      const std::vector<std::string>& input_file_names, const int output_level,
      const int output_path_id = -1,
      std::vector<std::string>* const output_file_names = nullptr,
      CompactionJobInfo* compaction_job_info = nullptr) {
    return CompactFiles(compact_options, DefaultColumnFamily(),
                        input_file_names, output_level, output_path_id,
                        output_file_names, compaction_job_info);
  }

  // Waits for running flushes and compactions and starts no new ones, except for a CompactRange() that begins later and
  // has nothing to flush, as in RocksDB. Calls nest.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;

  // Sets disable_auto_compactions to false.
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) = 0;

  // Stops CompactRange(), which returns Incomplete, until as many calls of the second.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;

  // Values of options of a column family.
  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  virtual int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
  virtual int MaxMemCompactionLevel(ColumnFamilyHandle* column_family) = 0;
  virtual int MaxMemCompactionLevel() {
    return MaxMemCompactionLevel(DefaultColumnFamily());
  }
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) = 0;
  virtual int Level0StopWriteTrigger() {
    return Level0StopWriteTrigger(DefaultColumnFamily());
  }

  // As given when opening.
  virtual const std::string& GetName() const = 0;
  virtual Env* GetEnv() const = 0;

  // The file system of the Env.
  virtual FileSystem* GetFileSystem() const;

  // Present values.
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  virtual Options GetOptions() const {
    return GetOptions(DefaultColumnFamily());
  }
  virtual DBOptions GetDBOptions() const = 0;

  // Writes memtables to tables; as one if several column families are given and atomic_flush is
  // set.
  virtual Status Flush(const FlushOptions& options,
                       ColumnFamilyHandle* column_family) = 0;
  virtual Status Flush(const FlushOptions& options) {
    return Flush(options, DefaultColumnFamily());
  }
  virtual Status Flush(
      const FlushOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Writes buffered log records to the file, and syncs it if wished.
  virtual Status FlushWAL(bool /*sync*/) {
    return Status::NotSupported("DB::FlushWAL is not implemented");
  }

  // All writes so far survive a crash of the machine afterwards. Does not block writers.
  virtual Status SyncWAL() = 0;

  // Stops writes, so that the log does not change, until as many calls of the second.
  virtual Status LockWAL() {
    return Status::NotSupported("DB::LockWAL is not implemented");
  }
  virtual Status UnlockWAL() {
    return Status::NotSupported("DB::UnlockWAL is not implemented");
  }

  // The sequence of the last visible write.
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

  // Files that are no longer needed stay, for copies of the database. Calls nest.
  virtual Status DisableFileDeletions() = 0;

  // With user-defined timestamps: versions older than ts_low may be dropped. Never decreases.
  virtual Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* column_family,
                                          std::string ts_low) = 0;
  virtual Status GetFullHistoryTsLow(ColumnFamilyHandle* column_family,
                                     std::string* ts_low) = 0;

  // Undoes one call of DisableFileDeletions(), or, if force, all.
  virtual Status EnableFileDeletions(bool force = true) = 0;

  // Seconds since 1970; 0 if not known.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* creation_time) = 0;

  // The log from this sequence number on. Needs WAL_ttl_seconds or WAL_size_limit_MB to reach back.
  virtual Status GetUpdatesSince(
      SequenceNumber seq_number, std::unique_ptr<TransactionLogIterator>* iter,
      const TransactionLogIterator::ReadOptions& read_options =
          TransactionLogIterator::ReadOptions()) = 0;

  // Deprecated. Deletes a table of the last level, or an archived log, with all that is in it.
  virtual Status DeleteFile(std::string name) = 0;

  // Tables of all column families.
  virtual void GetLiveFilesMetaData(
      std::vector<LiveFileMetaData>* /*metadata*/) {}

  // Checksums of all tables.
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) = 0;

  // All that is needed for a copy of the database, with file deletions disabled.
  virtual Status GetLiveFilesStorageInfo(
      const LiveFilesStorageInfoOptions& opts,
      std::vector<LiveFileStorageInfo>* files) = 0;

  // Tables by level.
  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* /*column_family*/,
                                       ColumnFamilyMetaData* /*metadata*/) {}
  void GetColumnFamilyMetaData(ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), metadata);
  }

  // The same for each column family.
  virtual void GetAllColumnFamilyMetaData(
      std::vector<ColumnFamilyMetaData>* /*metadata*/) {}

  // Names of the files of the database, relative to its directory, and the size of the manifest
  // that is valid; flushed first if wished.
  virtual Status GetLiveFiles(std::vector<std::string>&,
                              uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;

  // Logs, the oldest first.
  virtual Status GetSortedWalFiles(VectorLogPtr& files) = 0;

  // The log that is written now.
  virtual Status GetCurrentWalFile(
      std::unique_ptr<LogFile>* current_log_file) = 0;

  // Adds tables that SstFileWriter made. Later than everything written before, unless
  // ingest_behind.
  virtual Status IngestExternalFile(
      ColumnFamilyHandle* column_family,
      const std::vector<std::string>& external_files,
      const IngestExternalFileOptions& options) = 0;
  virtual Status IngestExternalFile(
      const std::vector<std::string>& external_files,
      const IngestExternalFileOptions& options) {
    return IngestExternalFile(DefaultColumnFamily(), external_files, options);
  }

  // For several column families, atomically.
  virtual Status IngestExternalFiles(
      const std::vector<IngestExternalFileArg>& args) = 0;

  // Makes a column family of the files that Checkpoint::ExportColumnFamily() wrote.
  virtual Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const ExportImportFilesMetaData& metadata,
      ColumnFamilyHandle** handle) = 0;

  // Compares whole tables with their checksums in the manifest.
  virtual Status VerifyFileChecksums(const ReadOptions& /*read_options*/) {
    return Status::NotSupported("DB::VerifyFileChecksums is not implemented");
  }

  // Reads every block of every table. Corruption names the file.
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  virtual Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }

  // Made with the database; the same after copying it.
  virtual Status GetDbIdentity(std::string& identity) const = 0;

  // New whenever the database is opened.
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  // Belongs to the database.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // Properties of all tables, or of those that overlap a range.
  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  virtual Status GetPropertiesOfAllTables(TablePropertiesCollection* props) {
    return GetPropertiesOfAllTables(DefaultColumnFamily(), props);
  }
  virtual Status GetPropertiesOfTablesInRange(
      ColumnFamilyHandle* column_family, const Range* range, std::size_t n,
      TablePropertiesCollection* props) = 0;

  // Marks the tables of a range for compaction some time.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* /*column_family*/,
                                     const Slice* /*begin*/,
                                     const Slice* /*end*/) {
    return Status::NotSupported("DB::SuggestCompactRange is not implemented");
  }

  // Moves all files of level 0 to an empty level, if they do not overlap.
  virtual Status PromoteL0(ColumnFamilyHandle* /*column_family*/,
                           int /*target_level*/) {
    return Status::NotSupported("DB::PromoteL0 is not implemented");
  }

  // Waits until no flush or compaction of GetRootDB() is running or due, or a background error stops them, which is
  // the result then. An extension: later versions of RocksDB have it. Not virtual, so that virtual functions are
  // where RocksDB's are.
  Status WaitForCompact(const WaitForCompactOptions& options);

  // Records operations until EndTrace().
  virtual Status StartTrace(const TraceOptions& /*options*/,
                            std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("DB::StartTrace is not implemented");
  }
  virtual Status EndTrace() {
    return Status::NotSupported("DB::EndTrace is not implemented");
  }

  // Records file operations.
  virtual Status StartIOTrace(const TraceOptions& /*options*/,
                              std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("DB::StartIOTrace is not implemented");
  }
  virtual Status EndIOTrace() {
    return Status::NotSupported("DB::EndIOTrace is not implemented");
  }

  // Records uses of the block cache.
  virtual Status StartBlockCacheTrace(
      const TraceOptions& /*trace_options*/,
      std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("DB::StartBlockCacheTrace is not implemented");
  }
  virtual Status StartBlockCacheTrace(
      const BlockCacheTraceOptions& /*options*/,
      std::unique_ptr<BlockCacheTraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("DB::StartBlockCacheTrace is not implemented");
  }
  virtual Status EndBlockCacheTrace() {
    return Status::NotSupported("DB::EndBlockCacheTrace is not implemented");
  }

  // For replaying a trace on this database. The handles are those of the column families of the
  // trace.
  virtual Status NewDefaultReplayer(
      const std::vector<ColumnFamilyHandle*>& /*handles*/,
      std::unique_ptr<TraceReader>&& /*reader*/,
      std::unique_ptr<Replayer>* /*replayer*/) {
    return Status::NotSupported("DB::NewDefaultReplayer is not implemented");
  }

  // What a wrapper wraps, innermost.
  virtual DB* GetRootDB() { return this; }

  // Statistics between two times, in seconds since 1970.
  virtual Status GetStatsHistory(
      uint64_t /*start_time*/, uint64_t /*end_time*/,
      std::unique_ptr<StatsHistoryIterator>* /*stats_iterator*/) {
    return Status::NotSupported("DB::GetStatsHistory is not implemented");
  }

  // For secondaries: shows what the primary has written since.
  virtual Status TryCatchUpWithPrimary() {
    return Status::NotSupported("DB::TryCatchUpWithPrimary is not implemented");
  }

 private:
  // The array forms of MultiGet() in terms of the vector forms; `one` stands for all keys if
  // `column_families` is null.
  void MultiGetByVectors(const ReadOptions& options, ColumnFamilyHandle** column_families,
                         ColumnFamilyHandle* one, size_t num_keys, const Slice* keys,
                         PinnableSlice* values, std::string* timestamps, Status* statuses);
};

inline DB::SizeApproximationFlags operator&(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) &
                                                 static_cast<uint8_t>(rhs));
}

inline DB::SizeApproximationFlags operator|(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) |
                                                 static_cast<uint8_t>(rhs));
}

// How the vector forms fill the arrays.
inline void DB::MultiGetByVectors(const ReadOptions& options, ColumnFamilyHandle** column_families,
                                  ColumnFamilyHandle* one, size_t num_keys, const Slice* keys,
                                  PinnableSlice* values, std::string* timestamps,
                                  Status* statuses) {
  std::vector<ColumnFamilyHandle*> families(num_keys, one);
  if (column_families != nullptr) families.assign(column_families, column_families + num_keys);
  const std::vector<Slice> key_list(keys, keys + num_keys);
  std::vector<std::string> found;
  std::vector<std::string> found_timestamps;
  std::vector<Status> results =
      timestamps == nullptr ? MultiGet(options, families, key_list, &found)
                            : MultiGet(options, families, key_list, &found, &found_timestamps);
  for (size_t i = 0; i < num_keys; ++i) {
    statuses[i] = std::move(results[i]);
    if (i < found.size()) values[i].PinSelf(found[i]);
    if (i < found_timestamps.size()) timestamps[i] = std::move(found_timestamps[i]);
  }
}

inline Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                      uint64_t* sizes, SizeApproximationFlags include_flags) {
  auto includes = [include_flags](SizeApproximationFlags flag) {
    return (include_flags & flag) != SizeApproximationFlags::NONE;
  };
  SizeApproximationOptions options;
  options.include_memtables = includes(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = includes(SizeApproximationFlags::INCLUDE_FILES);
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
}

// Deletes a database that is not open, except files that are not its own. Column families need be
// given only if they have paths of their own.
Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families =
                     std::vector<ColumnFamilyDescriptor>());

// Saves what can be saved of a damaged database that is not open; the second form has options for
// column families that are not given. What cannot be read is moved aside or lost.
Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families);

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts);

Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace ROCKSDB_NAMESPACE
