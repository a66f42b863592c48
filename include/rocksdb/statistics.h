// SPDX-License-Identifier: Apache-2.0
//
// Counters and histograms of a database. One object may serve several databases.
//
// Thread safety: every function may be called concurrently.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Counters. Names for people are in TickersNameMap.
enum Tickers : uint32_t {
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,
  BLOCK_CACHE_ADD_FAILURES,
  BLOCK_CACHE_INDEX_MISS,
  BLOCK_CACHE_INDEX_HIT,
  BLOCK_CACHE_INDEX_ADD,
  BLOCK_CACHE_INDEX_BYTES_INSERT,
  BLOCK_CACHE_INDEX_BYTES_EVICT,
  BLOCK_CACHE_FILTER_MISS,
  BLOCK_CACHE_FILTER_HIT,
  BLOCK_CACHE_FILTER_ADD,
  BLOCK_CACHE_FILTER_BYTES_INSERT,
  BLOCK_CACHE_FILTER_BYTES_EVICT,
  BLOCK_CACHE_DATA_MISS,
  BLOCK_CACHE_DATA_HIT,
  BLOCK_CACHE_DATA_ADD,
  BLOCK_CACHE_DATA_BYTES_INSERT,
  BLOCK_CACHE_BYTES_READ,
  BLOCK_CACHE_BYTES_WRITE,
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,
  BLOOM_FILTER_MICROS,
  PERSISTENT_CACHE_HIT,
  PERSISTENT_CACHE_MISS,
  SIM_BLOCK_CACHE_HIT,
  SIM_BLOCK_CACHE_MISS,
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,
  GET_HIT_L1,
  GET_HIT_L2_AND_UP,
  COMPACTION_KEY_DROP_NEWER_ENTRY,
  COMPACTION_KEY_DROP_OBSOLETE,
  COMPACTION_KEY_DROP_RANGE_DEL,
  COMPACTION_KEY_DROP_USER,
  COMPACTION_RANGE_DEL_DROP_OBSOLETE,
  COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE,
  COMPACTION_CANCELLED,
  NUMBER_KEYS_WRITTEN,
  NUMBER_KEYS_READ,
  NUMBER_KEYS_UPDATED,
  BYTES_WRITTEN,
  BYTES_READ,
  NUMBER_DB_SEEK,
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  ITER_BYTES_READ,
  NO_FILE_CLOSES,
  NO_FILE_OPENS,
  NO_FILE_ERRORS,
  STALL_L0_SLOWDOWN_MICROS,
  STALL_MEMTABLE_COMPACTION_MICROS,
  STALL_L0_NUM_FILES_MICROS,
  STALL_MICROS,
  DB_MUTEX_WAIT_MICROS,
  RATE_LIMIT_DELAY_MILLIS,
  NO_ITERATORS,
  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_FILTERED_DELETES,
  NUMBER_MERGE_FAILURES,
  BLOOM_FILTER_PREFIX_CHECKED,
  BLOOM_FILTER_PREFIX_USEFUL,
  NUMBER_OF_RESEEKS_IN_ITERATION,
  GET_UPDATES_SINCE_CALLS,
  BLOCK_CACHE_COMPRESSED_MISS,
  BLOCK_CACHE_COMPRESSED_HIT,
  BLOCK_CACHE_COMPRESSED_ADD,
  BLOCK_CACHE_COMPRESSED_ADD_FAILURES,
  WAL_FILE_SYNCED,
  WAL_FILE_BYTES,
  WRITE_DONE_BY_SELF,
  WRITE_DONE_BY_OTHER,
  WRITE_TIMEDOUT,
  WRITE_WITH_WAL,
  COMPACT_READ_BYTES,
  COMPACT_WRITE_BYTES,
  FLUSH_WRITE_BYTES,
  COMPACT_READ_BYTES_MARKED,
  COMPACT_READ_BYTES_PERIODIC,
  COMPACT_READ_BYTES_TTL,
  COMPACT_WRITE_BYTES_MARKED,
  COMPACT_WRITE_BYTES_PERIODIC,
  COMPACT_WRITE_BYTES_TTL,
  NUMBER_DIRECT_LOAD_TABLE_PROPERTIES,
  NUMBER_SUPERVERSION_ACQUIRES,
  NUMBER_SUPERVERSION_RELEASES,
  NUMBER_SUPERVERSION_CLEANUPS,
  NUMBER_BLOCK_COMPRESSED,
  NUMBER_BLOCK_DECOMPRESSED,
  NUMBER_BLOCK_NOT_COMPRESSED,
  MERGE_OPERATION_TOTAL_TIME,
  FILTER_OPERATION_TOTAL_TIME,
  ROW_CACHE_HIT,
  ROW_CACHE_MISS,
  READ_AMP_ESTIMATE_USEFUL_BYTES,
  READ_AMP_TOTAL_READ_BYTES,
  NUMBER_RATE_LIMITER_DRAINS,
  NUMBER_ITER_SKIP,
  BLOB_DB_NUM_PUT,
  BLOB_DB_NUM_WRITE,
  BLOB_DB_NUM_GET,
  BLOB_DB_NUM_MULTIGET,
  BLOB_DB_NUM_SEEK,
  BLOB_DB_NUM_NEXT,
  BLOB_DB_NUM_PREV,
  BLOB_DB_NUM_KEYS_WRITTEN,
  BLOB_DB_NUM_KEYS_READ,
  BLOB_DB_BYTES_WRITTEN,
  BLOB_DB_BYTES_READ,
  BLOB_DB_WRITE_INLINED,
  BLOB_DB_WRITE_INLINED_TTL,
  BLOB_DB_WRITE_BLOB,
  BLOB_DB_WRITE_BLOB_TTL,
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,
  BLOB_DB_BLOB_FILE_BYTES_READ,
  BLOB_DB_BLOB_FILE_SYNCED,
  BLOB_DB_BLOB_INDEX_EXPIRED_COUNT,
  BLOB_DB_BLOB_INDEX_EXPIRED_SIZE,
  BLOB_DB_BLOB_INDEX_EVICTED_COUNT,
  BLOB_DB_BLOB_INDEX_EVICTED_SIZE,
  BLOB_DB_GC_NUM_FILES,
  BLOB_DB_GC_NUM_NEW_FILES,
  BLOB_DB_GC_FAILURES,
  BLOB_DB_GC_NUM_KEYS_OVERWRITTEN,
  BLOB_DB_GC_NUM_KEYS_EXPIRED,
  BLOB_DB_GC_NUM_KEYS_RELOCATED,
  BLOB_DB_GC_BYTES_OVERWRITTEN,
  BLOB_DB_GC_BYTES_EXPIRED,
  BLOB_DB_GC_BYTES_RELOCATED,
  BLOB_DB_FIFO_NUM_FILES_EVICTED,
  BLOB_DB_FIFO_NUM_KEYS_EVICTED,
  BLOB_DB_FIFO_BYTES_EVICTED,
  TXN_PREPARE_MUTEX_OVERHEAD,
  TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD,
  TXN_DUPLICATE_KEY_OVERHEAD,
  TXN_SNAPSHOT_MUTEX_OVERHEAD,
  TXN_GET_TRY_AGAIN,
  NUMBER_MULTIGET_KEYS_FOUND,
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  BLOCK_CACHE_COMPRESSION_DICT_MISS,
  BLOCK_CACHE_COMPRESSION_DICT_HIT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD,
  BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT,
  BLOCK_CACHE_COMPRESSION_DICT_BYTES_EVICT,
  BLOCK_CACHE_ADD_REDUNDANT,
  BLOCK_CACHE_INDEX_ADD_REDUNDANT,
  BLOCK_CACHE_FILTER_ADD_REDUNDANT,
  BLOCK_CACHE_DATA_ADD_REDUNDANT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT,
  FILES_MARKED_TRASH,
  FILES_DELETED_IMMEDIATELY,
  ERROR_HANDLER_BG_ERROR_COUNT,
  ERROR_HANDLER_BG_IO_ERROR_COUNT,
  ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT,
  ERROR_HANDLER_AUTORESUME_COUNT,
  ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT,
  ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT,
  MEMTABLE_PAYLOAD_BYTES_AT_FLUSH,
  MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
  SECONDARY_CACHE_HITS,
  VERIFY_CHECKSUM_READ_BYTES,
  BACKUP_READ_BYTES,
  BACKUP_WRITE_BYTES,
  REMOTE_COMPACT_READ_BYTES,
  REMOTE_COMPACT_WRITE_BYTES,
  HOT_FILE_READ_BYTES,
  WARM_FILE_READ_BYTES,
  COLD_FILE_READ_BYTES,
  HOT_FILE_READ_COUNT,
  WARM_FILE_READ_COUNT,
  COLD_FILE_READ_COUNT,
  LAST_LEVEL_READ_BYTES,
  LAST_LEVEL_READ_COUNT,
  NON_LAST_LEVEL_READ_BYTES,
  NON_LAST_LEVEL_READ_COUNT,
  BLOCK_CHECKSUM_COMPUTE_COUNT,
  MULTIGET_COROUTINE_COUNT,
  BLOB_DB_CACHE_MISS,
  BLOB_DB_CACHE_HIT,
  BLOB_DB_CACHE_ADD,
  BLOB_DB_CACHE_ADD_FAILURES,
  BLOB_DB_CACHE_BYTES_READ,
  BLOB_DB_CACHE_BYTES_WRITE,
  READ_ASYNC_MICROS,
  ASYNC_READ_ERROR_COUNT,
  TICKER_ENUM_MAX
};

// Each ticker with its name, in the order of the enum.
extern const std::vector<std::pair<Tickers, std::string>> TickersNameMap;

// Distributions. Times are in microseconds unless the name says otherwise, sizes in bytes.
enum Histograms : uint32_t {
  DB_GET = 0,
  DB_WRITE,
  COMPACTION_TIME,
  COMPACTION_CPU_TIME,
  SUBCOMPACTION_SETUP_TIME,
  TABLE_SYNC_MICROS,
  COMPACTION_OUTFILE_SYNC_MICROS,
  WAL_FILE_SYNC_MICROS,
  MANIFEST_FILE_SYNC_MICROS,
  TABLE_OPEN_IO_MICROS,
  DB_MULTIGET,
  READ_BLOCK_COMPACTION_MICROS,
  READ_BLOCK_GET_MICROS,
  WRITE_RAW_BLOCK_MICROS,
  STALL_L0_SLOWDOWN_COUNT,
  STALL_MEMTABLE_COMPACTION_COUNT,
  STALL_L0_NUM_FILES_COUNT,
  HARD_RATE_LIMIT_DELAY_COUNT,
  SOFT_RATE_LIMIT_DELAY_COUNT,
  NUM_FILES_IN_SINGLE_COMPACTION,
  DB_SEEK,
  WRITE_STALL,
  SST_READ_MICROS,
  NUM_SUBCOMPACTIONS_SCHEDULED,
  BYTES_PER_READ,
  BYTES_PER_WRITE,
  BYTES_PER_MULTIGET,
  BYTES_COMPRESSED,
  BYTES_DECOMPRESSED,
  COMPRESSION_TIMES_NANOS,
  DECOMPRESSION_TIMES_NANOS,
  READ_NUM_MERGE_OPERANDS,
  BLOB_DB_KEY_SIZE,
  BLOB_DB_VALUE_SIZE,
  BLOB_DB_WRITE_MICROS,
  BLOB_DB_GET_MICROS,
  BLOB_DB_MULTIGET_MICROS,
  BLOB_DB_SEEK_MICROS,
  BLOB_DB_NEXT_MICROS,
  BLOB_DB_PREV_MICROS,
  BLOB_DB_BLOB_FILE_WRITE_MICROS,
  BLOB_DB_BLOB_FILE_READ_MICROS,
  BLOB_DB_BLOB_FILE_SYNC_MICROS,
  BLOB_DB_GC_MICROS,
  BLOB_DB_COMPRESSION_MICROS,
  BLOB_DB_DECOMPRESSION_MICROS,
  FLUSH_TIME,
  SST_BATCH_SIZE,
  NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL,
  NUM_DATA_BLOCKS_READ_PER_LEVEL,
  NUM_SST_READ_PER_LEVEL,
  ERROR_HANDLER_AUTORESUME_RETRY_COUNT,
  ASYNC_READ_BYTES,
  POLL_WAIT_MICROS,
  PREFETCHED_BYTES_DISCARDED,
  MULTIGET_IO_BATCH_SIZE,
  NUM_LEVEL_READ_PER_MULTIGET,
  ASYNC_PREFETCH_ABORT_MICROS,
  HISTOGRAM_ENUM_MAX,
};

// Each histogram with its name, in the order of the enum.
extern const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap;

// A summary of one histogram. Percentiles are interpolated within buckets.
struct HistogramData {
  double median;
  double percentile95;
  double percentile99;
  double average;
  double standard_deviation;
  double max = 0.0;
  uint64_t count = 0;
  uint64_t sum = 0;
  double min = 0.0;
};

// How much is recorded, each level including what those before it record.
enum StatsLevel : uint8_t {
  // Nothing, not even tickers.
  kDisableAll,
  // Same as kDisableAll.
  kExceptTickers = kDisableAll,
  // Tickers only.
  kExceptHistogramOrTimers,
  // Histograms of sizes and counts, too.
  kExceptTimers,
  // Times, except of waiting for mutexes and of compression. The default.
  kExceptDetailedTimers,
  // Everything except waiting for mutexes.
  kExceptTimeForMutex,
  // Everything.
  kAll,
};

// Record and read. Types outside the enums are ignored when recording and 0 when reading.
class Statistics : public Customizable {
 public:
  ~Statistics() override {}
  static const char* Type() { return "Statistics"; }

  // "BasicStatistics" or "" gives what CreateDBStatistics() does; other ids are looked up among
  // registered ones.
  static Status CreateFromString(const ConfigOptions& opts,
                                 const std::string& value,
                                 std::shared_ptr<Statistics>* result);
  const char* Name() const override { return ""; }

  // The sum over all threads.
  virtual uint64_t getTickerCount(uint32_t tickerType) const = 0;

  // Fills *data.
  virtual void histogramData(uint32_t type,
                             HistogramData* const data) const = 0;

  // The buckets, for people.
  virtual std::string getHistogramString(uint32_t /*type*/) const { return ""; }

  // Adds `count` to a ticker.
  virtual void recordTick(uint32_t tickerType, uint64_t count = 0) = 0;

  // Sets a ticker; concurrent additions may be lost.
  virtual void setTickerCount(uint32_t tickerType, uint64_t count) = 0;

  // Returns the count and starts again at 0.
  virtual uint64_t getAndResetTickerCount(uint32_t tickerType) = 0;

  // Adds a time (microseconds), if times are recorded at all.
  virtual void reportTimeToHistogram(uint32_t histogramType, uint64_t time) {
    if (get_stats_level() > StatsLevel::kExceptTimers) recordInHistogram(histogramType, time);
  }

  // Deprecated name of recordInHistogram(). Override one of the two.
  virtual void measureTime(uint32_t /*histogramType*/, uint64_t /*time*/) { assert(false); }

  // Adds a value.
  virtual void recordInHistogram(uint32_t histogramType, uint64_t time) {
    measureTime(histogramType, time);
  }

  // Sets everything to 0.
  virtual Status Reset() { return Status::NotSupported("Statistics::Reset is not implemented"); }

  // All tickers and histograms, one per line, for people.
  using Customizable::ToString;
  virtual std::string ToString() const {
    return std::string("ToString(): not implemented");
  }

  // All tickers by name; false if not offered.
  virtual bool getTickerMap(std::map<std::string, uint64_t>*) const {
    return false;
  }

  // Whether a histogram of this type is kept.
  virtual bool HistEnabledForType(uint32_t type) const {
    return type < HISTOGRAM_ENUM_MAX;
  }

  // May be changed at any time.
  void set_stats_level(StatsLevel sl) {
    stats_level_.store(sl, std::memory_order_relaxed);
  }
  StatsLevel get_stats_level() const {
    return stats_level_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<StatsLevel> stats_level_{kExceptDetailedTimers};
};

// Counters in shards, so that threads rarely contend.
std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace ROCKSDB_NAMESPACE
