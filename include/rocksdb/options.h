// SPDX-License-Identifier: Apache-2.0
//
// Options of a database, its column families, and single operations. A user who knows nothing sets
// nothing.
//
// Sizes are in bytes unless the name says otherwise. Options marked [dynamic] can be changed by
// DB::SetOptions() or DB::SetDBOptions() while the database is open.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/comparator.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/customizable.h"
#include "rocksdb/data_structure.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/later_option.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/types.h"
#include "rocksdb/universal_compaction.h"
#include "rocksdb/version.h"
#include "rocksdb/write_buffer_manager.h"
#ifdef max
#undef max
#endif

namespace ROCKSDB_NAMESPACE {

class Cache;
class CompactionFilter;
class CompactionFilterFactory;
class Comparator;
class ConcurrentTaskLimiter;
class Env;
enum InfoLogLevel : unsigned char;

class SstFileManager;
class FilterPolicy;
class Logger;
class MergeOperator;
class Snapshot;
class MemTableRepFactory;
class RateLimiter;
class Slice;
class Statistics;
class InternalKeyComparator;
class WalFilter;
class FileSystem;
struct Options;
struct DbPath;

// A set of kinds of files.
using FileTypeSet = SmallEnumSet<FileType, FileType::kBlobFile>;

// Options of one column family; those that are rarely changed are in AdvancedColumnFamilyOptions.
struct ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  // Sets what the defaults were in an older release of the API.
  ColumnFamilyOptions* OldDefaults(int rocksdb_major_version = 4,
                                   int rocksdb_minor_version = 6);

  // For databases under 64 MiB: less memory. The cache, if given, is used instead of a new one.
  ColumnFamilyOptions* OptimizeForSmallDb(
      std::shared_ptr<Cache>* cache = nullptr);

  // For Get() rather than iterators.
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);

  // For large amounts of data; the argument is the memory for memtables.
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(
      uint64_t memtable_memory_budget = 512 * 1024 * 1024);
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(
      uint64_t memtable_memory_budget = 512 * 1024 * 1024);

  // Order of the keys. Not owned; must outlive the database, and stay the same for its whole life.
  const Comparator* comparator = BytewiseComparator();

  // Needed for Merge(). May be changed for a compatible one at the next opening.
  std::shared_ptr<MergeOperator> merge_operator = nullptr;

  // One filter for all compactions. Not owned; must outlive the database.
  const CompactionFilter* compaction_filter = nullptr;

  // Makes a filter for each compaction; ignored if there is a compaction_filter.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;

  // Size at which a memtable is full. Larger means fewer, larger files and a longer recovery.
  // [dynamic]
  size_t write_buffer_size = 64 << 20;

  // Compression of all levels, unless compression_per_level says otherwise. Default: Snappy if the
  // build has it. [dynamic]
  CompressionType compression;

  // Compression of the last level; kDisableCompressionOption for the same as others. [dynamic]
  CompressionType bottommost_compression = kDisableCompressionOption;

  // For the last level, if `enabled`. [dynamic]
  CompressionOptions bottommost_compression_opts;

  // For all others. [dynamic]
  CompressionOptions compression_opts;

  // Files in level 0 from which it is compacted. [dynamic]
  int level0_file_num_compaction_trigger = 4;

  // Prefixes of keys, for filters and prefix iteration. [dynamic]
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;

  // Size of level 1. [dynamic]
  uint64_t max_bytes_for_level_base = 256 * 1048576;

  // Deprecated, without effect.
  uint64_t snap_refresh_nanos = 0;

  // No compactions unless asked for. [dynamic]
  bool disable_auto_compactions = false;

  // Format of tables. Default: NewBlockBasedTableFactory().
  std::shared_ptr<TableFactory> table_factory;

  // Where the family's tables go; empty for DBOptions::db_paths. Target sizes are then shares of
  // the family alone.
  std::vector<DbPath> cf_paths;

  // Limits compactions of several column families together; null for no limit.
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;

  // Cuts tables at boundaries that the application chooses.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;

  // The defaults.
  ColumnFamilyOptions();

  // The part of `options` that concerns a column family.
  explicit ColumnFamilyOptions(const Options& options);

  // Writes all values to the log.
  void Dump(Logger* log) const;
};

// What to do when the write-ahead log is damaged.
enum class WALRecoveryMode : char {
  // An incomplete last record is a crash in the middle of a write: drop it. All else is an error.
  kTolerateCorruptedTailRecords = 0x00,
  // Everything is an error.
  kAbsoluteConsistency = 0x01,
  // Recover up to the first damage, so that the state is one that once was. The default.
  kPointInTimeRecovery = 0x02,
  // Leave out what is damaged and continue. For disasters.
  kSkipAnyCorruptedRecords = 0x03,
};

// A directory for tables. Newer data is written to the first path below its target size.
struct DbPath {
  std::string path;
  uint64_t target_size;
  DbPath() : target_size(0) {}
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}
};

// As db_host_id: the name of the host.
extern const char* kHostnameForDbHostId;

// Outcome of a compaction that a service was asked to do; kUseLocal: do it here after all.
enum class CompactionServiceJobStatus : char {
  kSuccess,
  kFailure,
  kUseLocal,
};

// A compaction service's data about a job.
struct CompactionServiceJobInfo {
  std::string db_name;
  std::string db_id;
  std::string db_session_id;
  uint64_t job_id;
  Env::Priority priority;
  CompactionServiceJobInfo(std::string db_name_, std::string db_id_,
                           std::string db_session_id_, uint64_t job_id_,
                           Env::Priority priority_)
      : db_name(std::move(db_name_)),
        db_id(std::move(db_id_)),
        db_session_id(std::move(db_session_id_)),
        job_id(job_id_),
        priority(priority_) {}
};

// Runs compactions elsewhere.
class CompactionService : public Customizable {
 public:
  static const char* Type() { return "CompactionService"; }
  const char* Name() const override = 0;

  // Sends a job, in the form that DB::OpenAndCompact() takes.
  virtual CompactionServiceJobStatus StartV2(
      const CompactionServiceJobInfo& /*info*/,
      const std::string& /*compaction_service_input*/) {
    return CompactionServiceJobStatus::kUseLocal;
  }

  // Waits for its result.
  virtual CompactionServiceJobStatus WaitForCompleteV2(
      const CompactionServiceJobInfo& /*info*/,
      std::string* /*compaction_service_result*/) {
    return CompactionServiceJobStatus::kUseLocal;
  }
  ~CompactionService() override = default;
};

// A number of bytes up to 16 TiB, in whole pages of 4 KiB (rounded up), to be used like an integer. It
// fits into the room that RocksDB's DBOptions leaves at its end, where a program that was built with
// RocksDB's headers may leave anything behind: what was not written here reads as 0.
class ByteLimit {
 public:
  ByteLimit() = default;
  ByteLimit(uint64_t bytes) {  // NOLINT: an integer, to its users
    const uint64_t pages = (bytes + 4095) >> 12;
    parts_[0] = static_cast<uint16_t>(pages);
    parts_[1] = static_cast<uint16_t>(pages >> 16);
    parts_[2] = Check();
  }
  operator uint64_t() const {  // NOLINT
    return parts_[2] == Check() ? uint64_t{Pages()} << 12 : 0;
  }

 private:
  uint32_t Pages() const { return uint32_t{parts_[1]} << 16 | parts_[0]; }
  uint16_t Check() const { return static_cast<uint16_t>((Pages() * 0x9e3779b1u) >> 16 ^ 0xc0db); }

  uint16_t parts_[3] = {0, 0, 0};
};

// Options of a whole database.
struct DBOptions {
  // Sets what the defaults were in an older release of the API.
  DBOptions* OldDefaults(int rocksdb_major_version = 4,
                         int rocksdb_minor_version = 6);

  // Less memory, for databases under 64 MiB.
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Background threads for this many cores.
  DBOptions* IncreaseParallelism(int total_threads = 16);

  // Make the database if it does not exist; otherwise that is an error.
  bool create_if_missing = false;

  // The same for column families that are opened.
  bool create_missing_column_families = false;

  // Fail if the database exists.
  bool error_if_exists = false;

  // Check more, and stop writes when something is wrong.
  bool paranoid_checks = true;

  // Compare the number of entries before and after a flush.
  bool flush_verify_memtable_count = true;

  // Record logs in the manifest, so that a missing one is noticed.
  bool track_and_verify_wals_in_manifest = false;

  // Check when opening a table that it is the one that the manifest names.
  bool verify_sst_unique_id_in_manifest = true;

  // The operating system. Not owned.
  Env* env = Env::Default();

  // Limits the write rate of flushes and compactions; null for no limit.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;

  // Tracks the size of tables and paces their deletion.
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;

  // Where messages go; null for the file LOG in the directory of the database.
  std::shared_ptr<Logger> info_log = nullptr;

  // Messages below this level are left out.
#ifdef NDEBUG
  InfoLogLevel info_log_level = INFO_LEVEL;
#else
  InfoLogLevel info_log_level = DEBUG_LEVEL;
#endif

  // Open files; -1 for no limit. [dynamic]
  int max_open_files = -1;

  // Threads that open files when the database is opened.
  int max_file_opening_threads = 16;

  // Size of all logs at which the column families that hold back the oldest are flushed; 0 for a
  // choice by the sizes of memtables. [dynamic]
  uint64_t max_total_wal_size = 0;

  // Counters; null for none. May be shared.
  std::shared_ptr<Statistics> statistics = nullptr;

  // fsync() rather than fdatasync().
  bool use_fsync = false;

  // Where tables go; empty for the directory of the database. Upper levels, which hold newer data,
  // are in the first paths, as many as their target sizes have room for; the last one takes the rest.
  // At most four. Files are looked for in all of them, in any order.
  std::vector<DbPath> db_paths;

  // Directory of the information log; empty: that of the database.
  std::string db_log_dir = "";

  // Where write-ahead logs go; empty for the directory of the database.
  std::string wal_dir = "";

  // Microseconds between full searches for files that are no longer needed. [dynamic]
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;

  // Flushes and compactions that run at the same time. [dynamic]
  int max_background_jobs = 2;

  // Superseded by max_background_jobs, unless set. [dynamic]
  int max_background_compactions = -1;

  // Threads that one compaction may be divided among. [dynamic]
  uint32_t max_subcompactions = 1;

  // Superseded by max_background_jobs, unless set.
  int max_background_flushes = -1;

  // Size at which a new information log is begun; 0 for never.
  size_t max_log_file_size = 0;

  // Seconds after which a new information log is begun; 0 for never.
  size_t log_file_time_to_roll = 0;

  // Information logs that are kept.
  size_t keep_log_file_num = 1000;

  // Write-ahead logs that are kept to be written over.
  size_t recycle_log_file_num = 0;

  // Size at which a new manifest is begun.
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;

  // Shards of the table of open files, as a power of two.
  int table_cache_numshardbits = 6;

  // How long, and up to which total size in MB, old logs are archived for GetUpdatesSince(); both
  // 0: not at all.
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;

  // Bytes that are allocated ahead for the manifest.
  size_t manifest_preallocation_size = 4 * 1024 * 1024;

  // Read tables through memory mappings.
  bool allow_mmap_reads = false;

  // Write tables through memory mappings.
  bool allow_mmap_writes = false;

  // Read past the page cache (O_DIRECT).
  bool use_direct_reads = false;

  // The same for what background jobs read and write.
  bool use_direct_io_for_flush_and_compaction = false;

  // Allocate space ahead of writing.
  bool allow_fallocate = true;

  // Child processes do not inherit open files.
  bool is_fd_close_on_exec = true;

  // Seconds between dumps of statistics to the log; 0 for none. [dynamic]
  unsigned int stats_dump_period_sec = 600;

  // Seconds between snapshots of statistics for GetStatsHistory(); 0 for none. [dynamic]
  unsigned int stats_persist_period_sec = 600;

  // Keep them in a hidden column family rather than in memory.
  bool persist_stats_to_disk = false;

  // Open the files of tables in the background, after the database is open.
  compassdb::LaterOption<bool, false> open_files_async;

  // Memory for them. [dynamic]
  size_t stats_history_buffer_size = 1024 * 1024;

  // Advise the system that tables are read at random.
  bool advise_random_on_open = true;

  // Size of all memtables of all column families at which one is flushed; 0 for no limit.
  size_t db_write_buffer_size = 0;

  // The same limit across several databases, and charged to a cache if wished. Overrides
  // db_write_buffer_size.
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;

  // How a compaction is going to read its input.
  enum AccessHint { NONE, NORMAL, SEQUENTIAL, WILLNEED };
  AccessHint access_hint_on_compaction_start = NORMAL;

  // Bytes that compactions read at once; 0 for a choice by the engine. [dynamic]
  size_t compaction_readahead_size = 0;

  // Largest buffer for unaligned reads.
  size_t random_access_max_buffer_size = 1024 * 1024;

  // Largest buffer of a file that is written. [dynamic]
  size_t writable_file_max_buffer_size = 1024 * 1024;

  // Locks spin before they sleep.
  bool use_adaptive_mutex = false;

  // Write the identity of the database into a file of its own, IDENTITY.
  compassdb::LaterOption<bool, true> write_identity_file;

  // The defaults.
  DBOptions();

  // The part of `options` that concerns the whole database.
  explicit DBOptions(const Options& options);

  // Writes all values to the log.
  void Dump(Logger* log) const;

  // Bytes after which the system is asked to begin writing a table to disk; 0 for leaving it to the
  // system. [dynamic]
  uint64_t bytes_per_sync = 0;

  // The same for logs. [dynamic]
  uint64_t wal_bytes_per_sync = 0;

  // Wait for the previous range before asking for the next. [dynamic]
  bool strict_bytes_per_sync = false;

  // Called back on events.
  std::vector<std::shared_ptr<EventListener>> listeners;

  // Show in Env::GetThreadList() what threads do.
  bool enable_thread_tracking = false;

  // Bytes per second while writes are slowed down; 0 for the rate limiter's, or 16 MiB. [dynamic]
  uint64_t delayed_write_rate = 0;

  // One group of writes is logged while the one before is added to the memtable.
  bool enable_pipelined_write = false;

  // More throughput for fewer guarantees: a snapshot may change while writes of its time are in
  // flight.
  bool unordered_write = false;

  // Several threads insert into a memtable at the same time.
  bool allow_concurrent_memtable_write = true;

  // Writers spin before they sleep, as the two times below say.
  bool enable_write_thread_adaptive_yield = true;

  // Size of the writes that go to the log together.
  uint64_t max_write_batch_group_size_bytes = 1 << 20;

  // Microseconds that a writer spins at most, and at which a turn counts as slow.
  uint64_t write_thread_max_yield_usec = 100;
  uint64_t write_thread_slow_yield_usec = 3;

  // Open faster, without reading properties of tables.
  bool skip_stats_update_on_db_open = false;

  // Open faster, without comparing the sizes of tables with the manifest.
  bool skip_checking_sst_file_sizes_on_db_open = false;

  // See above.
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;

  // Keep prepared transactions in the log until they are committed.
  bool allow_2pc = false;

  // Cache of whole entries for Get(); null for none.
  std::shared_ptr<Cache> row_cache = nullptr;

  // Called for each record of the log during recovery. Not owned.
  WalFilter* wal_filter = nullptr;

  // An options file that cannot be written is an error.
  bool fail_if_options_file_error = false;

  // Add statistics of the allocator to the dumps.
  bool dump_malloc_stats = false;

  // Open faster: keep recovered data in memtables if it fits.
  bool avoid_flush_during_recovery = false;

  // Close faster: what was written without log is then lost. [dynamic]
  bool avoid_flush_during_shutdown = false;

  // Keep the last level for IngestExternalFileOptions::ingest_behind.
  bool allow_ingest_behind = false;

  // A queue of its own for writes that only go to the log, for two-phase commit.
  bool two_write_queues = false;

  // Log records stay in a buffer until DB::FlushWAL().
  bool manual_wal_flush = false;

  // Compression of log records: none or ZSTD.
  CompressionType wal_compression = kNoCompression;

  // All column families are flushed together, so that they stay consistent without a log.
  bool atomic_flush = false;

  // Leave slow work, such as deleting files, to background threads.
  bool avoid_unnecessary_blocking_io = false;

  // The identity of the database is in the manifest, too.
  bool write_dbid_to_manifest = true;

  // Bytes that are read ahead from logs in recovery; 0 for a choice by the engine.
  size_t log_readahead_size = 0;

  // Checksums of whole tables in the manifest; null for none.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;

  // Open with what files there are: the newest state that is complete.
  bool best_efforts_recovery = false;

  // How often, and after how many microseconds each time, recovery from an error that may pass is
  // tried.
  int max_bgerror_resume_count = INT_MAX;
  uint64_t bgerror_resume_retry_interval = 1000000;

  // Messages may show keys.
  bool allow_data_in_errors = false;

  // Recorded in tables; kHostnameForDbHostId for the name of the host.
  std::string db_host_id = kHostnameForDbHostId;

  // Kinds of files whose data is handed to the file system together with checksums.
  FileTypeSet checksum_handoff_file_types;

  // Runs compactions elsewhere; null for here.
  std::shared_ptr<CompactionService> compaction_service = nullptr;

  // See the enum.
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;

  // A SingleDelete that meets several values fails the compaction rather than being logged.
  bool enforce_single_del_contracts = true;

  // CompassDB's own: one number, bytes, that caps memtables, cached blocks and the index together; 0
  // for no such cap. They share one cache, made by the engine, of this capacity: column families
  // must not bring a block_cache, nor the database a write_buffer_manager. Memtables may take
  // db_write_buffer_size of it, a quarter if that is 0; write_buffer_size is cut so
  // that a family's max_write_buffer_number memtables fit. Directories and separators are read and evicted by page, as with
  // cache_index_and_filter_blocks, and none are pinned. Not covered: what a flush or compaction needs while it
  // runs, logs, open files, and about a kilobyte per table and per piece. Where separated values lie is covered: pages, segments and counts of updates. At least 128 KB, to which less is raised. Usage:
  // the property "rocksdb.block-cache-usage".
  ByteLimit memory_limit;
};

// Both in one, for databases with only the default column family.
struct Options : public DBOptions, public ColumnFamilyOptions {
  Options() : DBOptions(), ColumnFamilyOptions() {}
  Options(const DBOptions& db_options,
          const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  // As the functions of the same names above.
  Options* OldDefaults(int rocksdb_major_version = 4,
                       int rocksdb_minor_version = 6);
  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;

  // For filling a database: no automatic compactions, no stalls. Compact at the end.
  Options* PrepareForBulkLoad();
  Options* OptimizeForSmallDb();

  // Faster, with fewer checks of consistency.
  Options* DisableExtraChecks();
};

// How far down a read may go.
enum ReadTier {
  kReadAllTier = 0x0,
  // No I/O: Incomplete if that is not enough.
  kBlockCacheTier = 0x1,
  // Only data that survives a crash: not what was written without log and is not flushed.
  kPersistedTier = 0x2,
  // Memtables only; for iterators.
  kMemtableTier = 0x3
};

// Options of Get(), MultiGet() and iterators. Cheap to copy; slices behind pointers must live as
// long as the read or the iterator.
struct ReadOptions {
  // The state that is read; null for the state at the time of the call. Must not be released
  // before.
  const Snapshot* snapshot;

  // Iterators stay at or after the lower bound and before the upper one; null for no bound.
  const Slice* iterate_lower_bound;
  const Slice* iterate_upper_bound;

  // Bytes that iterators read at once; 0 for growing as they continue.
  size_t readahead_size;

  // Hidden entries after which an iterator gives up with Incomplete; 0 for no limit.
  uint64_t max_skippable_internal_keys;

  // See the enum. Default: kReadAllTier.
  ReadTier read_tier;

  // Check what is read from files. Default: true.
  bool verify_checksums;

  // Put the blocks that are read into the cache; say false for large scans. Default: true.
  bool fill_cache;

  // An iterator that also shows what is written after it was made. Default: false.
  bool tailing;

  // Not used.
  bool managed;

  // Ignore prefix indexes, so that iterators see all keys in order. Default: false.
  bool total_order_seek;

  // The same, unless the bounds make prefix filters safe. Default: false.
  bool auto_prefix_mode;

  // An iterator ends where the prefix of the sought key ends. Default: false.
  bool prefix_same_as_start;

  // Slices of an iterator stay valid until it is deleted, where blocks allow it. Default: false.
  bool pin_data;

  // Files that become unused with an iterator are deleted in the background. Default: false.
  bool background_purge_on_iterator_cleanup;

  // Faster, if there are none; otherwise deleted keys come back. Default: false.
  bool ignore_range_deletions;

  // An iterator leaves out tables for which this says false. Default: none.
  std::function<bool(const TableProperties&)> table_filter;

  // With user-defined timestamps: read as of this one, and, with iter_start_ts, all versions down
  // to that.
  const Slice* timestamp;
  const Slice* iter_start_ts;

  // Point of time, in microseconds of the Env's clock, after which the read fails with TimedOut; 0
  // for none.
  std::chrono::microseconds deadline;

  // For each single I/O; 0 for none.
  std::chrono::microseconds io_timeout;

  // MultiGet() stops with Aborted for the remaining keys when the values found are larger. Default:
  // no limit.
  uint64_t value_size_soft_limit;

  // Iterators keep the read-ahead size from file to file. Default: false.
  bool adaptive_readahead;

  // Charge reads to the rate limiter at this priority; IO_TOTAL for not at all.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  // Read ahead asynchronously. Default: false.
  bool async_io;

  // With async_io, MultiGet() reads several levels at the same time. Default: true.
  bool optimize_multiget_for_io;

  // Iterators do not read ahead beyond their bounds.
  compassdb::LaterOption<bool, true> auto_readahead_size;

  // The defaults, the second form with verify_checksums and fill_cache given.
  ReadOptions();
  ReadOptions(bool cksum, bool cache);
};

// Options of Put(), Write() and so on.
struct WriteOptions {
  // Return only when the write is on disk. Otherwise a crash of the machine, not of the process,
  // may lose it. Default: false.
  bool sync;
  // Do not log: a crash loses what is not flushed. Excludes sync. Default: false.
  bool disableWAL;
  // Leave out writes to column families that were dropped. Default: false.
  bool ignore_missing_column_families;
  // Fail with Incomplete rather than wait or slow down. Default: false.
  bool no_slowdown;
  // Give way when compactions lag behind. Default: false.
  bool low_pri;
  // Remember positions in the memtable within this batch; for batches of sorted keys. Default:
  // false.
  bool memtable_insert_hint_per_batch;
  // Charge the log write to the rate limiter at this priority: IO_USER, or IO_TOTAL for not at all.
  Env::IOPriority rate_limiter_priority;
  // Bytes of checksum per write, up to the memtable: 0 or 8. Default: 0.
  size_t protection_bytes_per_key;
  WriteOptions()
      : sync(false),
        disableWAL(false),
        ignore_missing_column_families(false),
        no_slowdown(false),
        low_pri(false),
        memtable_insert_hint_per_batch(false),
        rate_limiter_priority(Env::IO_TOTAL),
        protection_bytes_per_key(0) {}
};

// Options of DB::Flush().
struct FlushOptions {
  // Return when the flush is done. Default: true.
  bool wait;
  // Flush at once even if writes stall by it; otherwise wait until they would not. Default: false.
  bool allow_write_stall;
  FlushOptions() : wait(true), allow_write_stall(false) {}
};

// Makes the log of a database as its options say, in its directory or in db_log_dir.
extern Status CreateLoggerFromOptions(const std::string& dbname,
                                      const DBOptions& options,
                                      std::shared_ptr<Logger>* logger);

// Options of DB::CompactFiles().
struct CompactionOptions {
  // Default: Snappy; kDisableCompressionOption for what the level has.
  CompressionType compression;
  // Default: no limit.
  uint64_t output_file_size_limit;
  // 0 for what the database has.
  uint32_t max_subcompactions;
  CompactionOptions()
      : compression(kSnappyCompression),
        output_file_size_limit(std::numeric_limits<uint64_t>::max()),
        max_subcompactions(0) {}
};

// Whether CompactRange() rewrites the last level, too.
enum class BottommostLevelCompaction {
  kSkip,
  kIfHaveCompactionFilter,
  kForce,
  // But not files that this very call has made.
  kForceOptimized,
};

// Whether CompactRange() reclaims space of separated values.
enum class BlobGarbageCollectionPolicy {
  kForce,
  kDisable,
  kUseDefault,
};

// Options of DB::CompactRange().
struct CompactRangeOptions {
  // No automatic compaction runs at the same time.
  bool exclusive_manual_compaction = false;

  // Move the result to target_level, or, if that is negative, to the first level that can hold it.
  bool change_level = false;
  int target_level = -1;

  // Index into the paths of the column family.
  uint32_t target_path_id = 0;

  // See the enum.
  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;

  // Start at once even if writes stall by it.
  bool allow_write_stall = false;

  // 0 for what the database has.
  uint32_t max_subcompactions = 0;

  // With user-defined timestamps: older versions may be dropped.
  const Slice* full_history_ts_low = nullptr;

  // Stops the compaction, with Incomplete, when set to true by anybody.
  std::atomic<bool>* canceled = nullptr;

  // See the enum.
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;

  // Instead of the column family's, if in [0, 1].
  double blob_garbage_collection_age_cutoff = -1;
};

// Options of DB::WaitForCompact(), which is a later addition to RocksDB.
struct WaitForCompactOptions {
  // Background work that is paused gives Aborted; otherwise it is waited for.
  bool abort_on_pause = false;

  // Memtables are flushed first.
  bool flush = false;

  // The database is closed afterwards.
  bool close_db = false;

  // Longest wait, then TimedOut; 0: none.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

// Options of DB::IngestExternalFile().
struct IngestExternalFileOptions {
  // Link the files rather than copy them.
  bool move_files = false;

  // Copy if they cannot be linked.
  bool failed_move_fall_back_to_copy = true;

  // Existing snapshots do not see the new data.
  bool snapshot_consistency = true;

  // The files may be given a sequence number when ingested; otherwise they must not overlap
  // anything.
  bool allow_global_seqno = true;

  // Flush memtables that overlap; otherwise they are an error.
  bool allow_blocking_flush = true;

  // Put the files below all existing data: existing keys win. Needs DBOptions::allow_ingest_behind.
  bool ingest_behind = false;

  // Write the sequence number into the file; otherwise it is in the manifest only.
  bool write_global_seqno = true;

  // Read the files through first, this many bytes at once (0 for a choice by the engine).
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;

  // Compare given checksums of whole files.
  bool verify_file_checksum = true;

  // Fail with TryAgain unless everything lands in the last level.
  bool fail_if_not_bottommost_level = false;
};

// Operations that are left out of a trace, one bit each.
enum TraceFilterType : uint64_t {
  kTraceFilterNone = 0x0,
  kTraceFilterGet = 0x1 << 0,
  kTraceFilterWrite = 0x1 << 1,
  kTraceFilterIteratorSeek = 0x1 << 2,
  kTraceFilterIteratorSeekForPrev = 0x1 << 3,
  kTraceFilterMultiGet = 0x1 << 4,
};

// Options of DB::StartTrace().
struct TraceOptions {
  // Tracing ends at this size.
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;

  // One operation in this many is traced.
  uint64_t sampling_frequency = 1;

  // Bits of TraceFilterType.
  uint64_t filter = kTraceFilterNone;

  // Writes are in the trace in the order of their sequence numbers.
  bool preserve_write_order = false;
};

// Options of DB::CreateColumnFamilyWithImport().
struct ImportColumnFamilyOptions {
  // Link the files rather than copy them.
  bool move_files = false;
};

// Options of DB::GetApproximateSizes().
struct SizeApproximationOptions {
  // What counts. At least one must be true.
  bool include_memtables = false;
  bool include_files = true;

  // Relative error allowed to save work; not positive for none.
  double files_size_error_margin = -1.0;
};

// For DB::OpenAndCompact(): what an options file cannot hold. Names as in the options above.
struct CompactionServiceOptionsOverride {
  Env* env = Env::Default();
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;
  const Comparator* comparator = BytewiseComparator();
  std::shared_ptr<MergeOperator> merge_operator = nullptr;
  const CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;
  std::shared_ptr<TableFactory> table_factory;
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;
  std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Statistics> statistics = nullptr;
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>
      table_properties_collector_factories;
};

// For DB::OpenAndCompact().
struct OpenAndCompactOptions {
  // Stops the compaction when set to true.
  std::atomic<bool>* canceled = nullptr;
};

// Options of DB::GetLiveFilesStorageInfo().
struct LiveFilesStorageInfoOptions {
  // Checksums of the files, too.
  bool include_checksum_info = false;

  // Flush first if the logs are larger: 0 for always, the largest number for never.
  uint64_t wal_size_for_flush = 0;
};

}  // namespace ROCKSDB_NAMESPACE
