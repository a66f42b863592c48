// SPDX-License-Identifier: Apache-2.0
// DB::GetProperty and its kin: the names, and the numbers behind them. Reports
// of several lines are in stats_report.cc.
#include <algorithm>
#include <functional>

#include "db/report/reports.h"
#include "db/report/stats_report.h"
#include "rocksdb/cache.h"
#include "rocksdb/table_properties.h"
#include "store/levels.h"
#include "util/c_locale.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {

const std::string DB::Properties::kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
const std::string DB::Properties::kCompressionRatioAtLevelPrefix =
    "rocksdb.compression-ratio-at-level";
const std::string DB::Properties::kStats = "rocksdb.stats";
const std::string DB::Properties::kSSTables = "rocksdb.sstables";
const std::string DB::Properties::kCFStats = "rocksdb.cfstats";
const std::string DB::Properties::kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
const std::string DB::Properties::kCFFileHistogram = "rocksdb.cf-file-histogram";
const std::string DB::Properties::kDBStats = "rocksdb.dbstats";
const std::string DB::Properties::kLevelStats = "rocksdb.levelstats";
const std::string DB::Properties::kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
const std::string DB::Properties::kFastBlockCacheEntryStats =
    "rocksdb.fast-block-cache-entry-stats";
const std::string DB::Properties::kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
const std::string DB::Properties::kNumImmutableMemTableFlushed =
    "rocksdb.num-immutable-mem-table-flushed";
const std::string DB::Properties::kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
const std::string DB::Properties::kNumRunningFlushes = "rocksdb.num-running-flushes";
const std::string DB::Properties::kCompactionPending = "rocksdb.compaction-pending";
const std::string DB::Properties::kNumRunningCompactions = "rocksdb.num-running-compactions";
const std::string DB::Properties::kBackgroundErrors = "rocksdb.background-errors";
const std::string DB::Properties::kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
const std::string DB::Properties::kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
const std::string DB::Properties::kSizeAllMemTables = "rocksdb.size-all-mem-tables";
const std::string DB::Properties::kNumEntriesActiveMemTable =
    "rocksdb.num-entries-active-mem-table";
const std::string DB::Properties::kNumEntriesImmMemTables = "rocksdb.num-entries-imm-mem-tables";
const std::string DB::Properties::kNumDeletesActiveMemTable =
    "rocksdb.num-deletes-active-mem-table";
const std::string DB::Properties::kNumDeletesImmMemTables = "rocksdb.num-deletes-imm-mem-tables";
const std::string DB::Properties::kEstimateNumKeys = "rocksdb.estimate-num-keys";
const std::string DB::Properties::kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
const std::string DB::Properties::kIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled";
const std::string DB::Properties::kNumSnapshots = "rocksdb.num-snapshots";
const std::string DB::Properties::kOldestSnapshotTime = "rocksdb.oldest-snapshot-time";
const std::string DB::Properties::kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
const std::string DB::Properties::kNumLiveVersions = "rocksdb.num-live-versions";
const std::string DB::Properties::kCurrentSuperVersionNumber =
    "rocksdb.current-super-version-number";
const std::string DB::Properties::kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
const std::string DB::Properties::kMinLogNumberToKeep = "rocksdb.min-log-number-to-keep";
const std::string DB::Properties::kMinObsoleteSstNumberToKeep =
    "rocksdb.min-obsolete-sst-number-to-keep";
const std::string DB::Properties::kTotalSstFilesSize = "rocksdb.total-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSize = "rocksdb.live-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSizeAtTemperature =
    "rocksdb.live-sst-files-size-at-temperature";
const std::string DB::Properties::kBaseLevel = "rocksdb.base-level";
const std::string DB::Properties::kEstimatePendingCompactionBytes =
    "rocksdb.estimate-pending-compaction-bytes";
const std::string DB::Properties::kAggregatedTableProperties =
    "rocksdb.aggregated-table-properties";
const std::string DB::Properties::kAggregatedTablePropertiesAtLevel =
    "rocksdb.aggregated-table-properties-at-level";
const std::string DB::Properties::kActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate";
const std::string DB::Properties::kIsWriteStopped = "rocksdb.is-write-stopped";
const std::string DB::Properties::kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
const std::string DB::Properties::kBlockCacheCapacity = "rocksdb.block-cache-capacity";
const std::string DB::Properties::kBlockCacheUsage = "rocksdb.block-cache-usage";
const std::string DB::Properties::kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";
const std::string DB::Properties::kOptionsStatistics = "rocksdb.options-statistics";
const std::string DB::Properties::kNumBlobFiles = "rocksdb.num-blob-files";
const std::string DB::Properties::kBlobStats = "rocksdb.blob-stats";
const std::string DB::Properties::kTotalBlobFileSize = "rocksdb.total-blob-file-size";
const std::string DB::Properties::kLiveBlobFileSize = "rocksdb.live-blob-file-size";
const std::string DB::Properties::kLiveBlobFileGarbageSize = "rocksdb.live-blob-file-garbage-size";
const std::string DB::Properties::kBlobCacheCapacity = "rocksdb.blob-cache-capacity";
const std::string DB::Properties::kBlobCacheUsage = "rocksdb.blob-cache-usage";
const std::string DB::Properties::kBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage";

}  // namespace ROCKSDB_NAMESPACE

namespace compassdb {
namespace {

// The properties that are one number each.
struct IntProperties {
  using F = FamilyState;
  using Read = std::function<uint64_t(const F&)>;

  static const std::map<std::string, Read>& All() {
    static const std::map<std::string, Read>* all = new std::map<std::string, Read>(Make());
    return *all;
  }

  static std::map<std::string, Read> Make() {
    std::map<std::string, Read> all;
    AddMemTables(&all);
    AddBackground(&all);
    AddTables(&all);
    AddSpace(&all);
    AddIndexMemory(&all);
    AddCompactionReads(&all);
    AddValues(&all);
    AddPages(&all);
    AddCache("rocksdb.block-cache",
             [](const F& f) { return f.family->store()->options().block_cache.get(); }, &all);
    AddCache("rocksdb.blob-cache",
             [](const F& f) { return f.family->store()->options().values.cache.get(); }, &all);
    return all;
  }

  static void AddMemTables(std::map<std::string, Read>* all) {
    auto& p = *all;
    p["rocksdb.num-immutable-mem-table"] = [](const F& f) { return f.memtables.size() - 1; };
    p["rocksdb.num-immutable-mem-table-flushed"] = [](const F&) { return 0; };
    p["rocksdb.mem-table-flush-pending"] = [](const F& f) { return f.flush_pending ? 1 : 0; };
    p["rocksdb.cur-size-active-mem-table"] = [](const F& f) {
      return f.memtables[0]->ApproximateMemoryUsage();
    };
    p["rocksdb.cur-size-all-mem-tables"] = p["rocksdb.size-all-mem-tables"] = [](const F& f) {
      uint64_t bytes = 0;
      for (const auto& m : f.memtables) bytes += m->ApproximateMemoryUsage();
      return bytes;
    };
    p["rocksdb.num-entries-active-mem-table"] = [](const F& f) { return f.memtables[0]->num_entries(); };
    p["rocksdb.num-deletes-active-mem-table"] = [](const F& f) { return f.memtables[0]->num_deletes(); };
    p["rocksdb.num-entries-imm-mem-tables"] = [](const F& f) {
      uint64_t n = 0;
      for (size_t i = 1; i < f.memtables.size(); ++i) n += f.memtables[i]->num_entries();
      return n;
    };
    p["rocksdb.num-deletes-imm-mem-tables"] = [](const F& f) {
      uint64_t n = 0;
      for (size_t i = 1; i < f.memtables.size(); ++i) n += f.memtables[i]->num_deletes();
      return n;
    };
    p["rocksdb.current-super-version-number"] = [](const F& f) { return f.family->read_state()->number(); };
  }

  static void AddBackground(std::map<std::string, Read>* all) {
    auto& p = *all;
    p["rocksdb.num-running-flushes"] = [](const F& f) { return f.flushes_running; };
    p["rocksdb.compaction-pending"] = [](const F& f) { return f.compaction_pending ? 1 : 0; };
    p["rocksdb.num-running-compactions"] = [](const F& f) { return f.compactions_running; };
    p["rocksdb.background-errors"] = [](const F& f) { return f.sources.errors.count(); };
    p["rocksdb.is-file-deletions-enabled"] = [](const F& f) {
      return f.sources.ledger.deletions_enabled() ? 1 : 0;
    };
    p["rocksdb.num-snapshots"] = [](const F& f) { return f.sources.snapshots.count(); };
    p["rocksdb.oldest-snapshot-time"] = [](const F& f) {
      return static_cast<uint64_t>(f.sources.snapshots.OldestTime());
    };
    p["rocksdb.oldest-snapshot-sequence"] = [](const F& f) { return f.sources.snapshots.OldestSequence(); };
    p["rocksdb.num-live-versions"] = [](const F&) { return 1; };
    p["rocksdb.min-log-number-to-keep"] = [](const F& f) { return f.oldest_log; };
    p["rocksdb.min-obsolete-sst-number-to-keep"] = [](const F&) { return UINT64_MAX; };
    p["rocksdb.estimate-pending-compaction-bytes"] = [](const F& f) { return f.pending_bytes; };
    p["rocksdb.actual-delayed-write-rate"] = [](const F& f) {
      return f.stall == StallState::kDelayed ? f.delayed_rate : 0;
    };
    p["rocksdb.is-write-stopped"] = [](const F& f) { return f.stall == StallState::kStopped ? 1 : 0; };
  }

  static void AddTables(std::map<std::string, Read>* all) {
    auto& p = *all;
    // Live keys: entries of the directories and memtables, less twice the
    // deletions (each is an entry, and hides one).
    p["rocksdb.estimate-num-keys"] = [](const F& f) {
      const LevelStats totals = f.Sum();
      const PageStats pages = f.view->Pages();
      uint64_t keys = totals.keys, deletions = totals.deletions;
      if (pages.pages > 0) {  // the tables are a key store
        keys = pages.records;
        deletions = 0;
      }
      for (const auto& m : f.memtables) {
        keys += m->num_entries();
        deletions += m->num_deletes();
      }
      return keys > 2 * deletions ? keys - 2 * deletions : 0;
    };
    p["rocksdb.estimate-table-readers-mem"] = [](const F& f) { return f.view->Index().total(); };
    p["rocksdb.estimate-live-data-size"] = [](const F& f) {
      const ValueStats values = f.view->Values();
      return f.Sum().live_data_bytes + values.total_bytes - values.dead_bytes + f.view->Pages().bytes;
    };
    p["rocksdb.live-sst-files-size"] = [](const F& f) { return f.Sum().total_bytes + f.view->Pages().stored_bytes; };
    p["rocksdb.total-sst-files-size"] = [](const F& f) { return f.view->StoredBytes(); };
    p["rocksdb.base-level"] = [](const F& f) {
      Store* const store = f.family->store();
      MutexLock lock(&f.sources.mu);
      const int base = store->levels() != nullptr ? store->levels()->BaseLevel() : 1;
      return static_cast<uint64_t>(std::min(base, store->options().num_levels - 1));
    };
    p["rocksdb.estimate-oldest-key-time"] = [](const F& f) {
      uint64_t oldest = UINT64_MAX;
      f.view->ForEachTable([&oldest](int, const TphMeta& tph) {
        for (const TphPiece& piece : tph.pieces) {
          if (piece.meta->creation_time > 0) oldest = std::min(oldest, piece.meta->creation_time);
        }
      });
      return oldest == UINT64_MAX ? 0 : oldest;
    };
    p["rocksdb.num-blob-files"] = [](const F& f) { return f.view->Values().files; };
    // Files are shared by segments, whose bytes count.
    p["rocksdb.live-blob-file-size"] = [](const F& f) { return f.view->Values().total_bytes; };
    p["rocksdb.total-blob-file-size"] = [](const F& f) {
      const ValueStats values = f.view->Values();
      return values.total_bytes + values.held_bytes;
    };
    p["rocksdb.live-blob-file-garbage-size"] = [](const F& f) { return f.view->Values().dead_bytes; };
  }

  // The properties of a cache that a family may have: capacity, usage, pinned usage.
  static void AddCache(const std::string& name, std::function<rocksdb::Cache*(const F&)> cache,
                       std::map<std::string, Read>* all) {
    const auto add = [&](const char* what, size_t (rocksdb::Cache::*get)() const) {
      (*all)[name + what] = [cache, get](const F& f) -> uint64_t {
        const rocksdb::Cache* const c = cache(f);
        return c == nullptr ? 0 : (c->*get)();
      };
    };
    add("-capacity", &rocksdb::Cache::GetCapacity);
    add("-usage", &rocksdb::Cache::GetUsage);
    add("-pinned-usage", &rocksdb::Cache::GetPinnedUsage);
  }

  // For all compaction files of the database.
  static void AddSpace(std::map<std::string, Read>* all) {
    (*all)["compassdb.dead-bytes"] = [](const F& f) { return f.sources.ledger.DeadBytes(); };
    (*all)["compassdb.dead-bytes-punchable"] = [](const F& f) {
      return f.sources.ledger.PunchableBytes();
    };
  }

  static void AddIndexMemory(std::map<std::string, Read>* all) {
    (*all)["compassdb.index-memory"] = [](const F& f) { return f.view->Index().total(); };
    const auto add = [&](const char* name, uint64_t IndexMemory::* part) {
      (*all)[name] = [part](const F& f) { return f.view->Index().*part; };
    };
    add("compassdb.index-memory-perfect-hash", &IndexMemory::perfect_hash);
    add("compassdb.index-memory-fingerprints", &IndexMemory::fingerprints);
    add("compassdb.index-memory-pieces", &IndexMemory::pieces);
    add("compassdb.index-memory-separators", &IndexMemory::separators);
    add("compassdb.index-memory-block-offsets", &IndexMemory::block_offsets);
    add("compassdb.index-memory-filters", &IndexMemory::filters);
    add("compassdb.index-memory-values", &IndexMemory::values);
    add("compassdb.index-memory-overflow", &IndexMemory::overflow);
    add("compassdb.index-memory-other", &IndexMemory::other);
  }

  static void AddCompactionReads(std::map<std::string, Read>* all) {
    const auto add = [&](const char* name, uint64_t LevelStats::* part) {
      (*all)[name] = [part](const F& f) { return f.Sum().*part; };
    };
    add("compassdb.compaction-read", &LevelStats::bytes_read);
    add("compassdb.compaction-read-hash-lists", &LevelStats::hash_list_bytes_read);
    add("compassdb.compaction-read-pieces", &LevelStats::piece_bytes_read);
    add("compassdb.compaction-read-whole-tables", &LevelStats::whole_bytes_read);
  }

  static void AddValues(std::map<std::string, Read>* all) {
    const auto add = [&](const char* name, uint64_t ValueStats::* part) {
      (*all)[name] = [part](const F& f) { return f.view->Values().*part; };
    };
    add("compassdb.value-bytes", &ValueStats::total_bytes);
    add("compassdb.value-bytes-held", &ValueStats::held_bytes);
    add("compassdb.value-bytes-copying", &ValueStats::uncommitted_bytes);
    add("compassdb.value-bytes-dead", &ValueStats::dead_bytes);
    add("compassdb.value-bytes-pinned", &ValueStats::pinned_bytes);
    (*all)["compassdb.value-bytes-bound"] = [](const F& f) { return f.value_bound; };
    add("compassdb.value-groups", &ValueStats::groups);
    add("compassdb.value-group-least", &ValueStats::least_in_group);
    add("compassdb.value-group-most", &ValueStats::most_in_group);
  }

  static void AddPages(std::map<std::string, Read>* all) {
    const auto add = [&](const char* name, uint64_t PageStats::* part) {
      (*all)[name] = [part](const F& f) { return f.view->Pages().*part; };
    };
    add("compassdb.tableless-pages", &PageStats::pages);
    add("compassdb.tableless-page-bytes", &PageStats::page_bytes);
    add("compassdb.tableless-records", &PageStats::records);
    add("compassdb.tableless-bytes", &PageStats::bytes);
    add("compassdb.tableless-overflow-records", &PageStats::overflow_records);
    add("compassdb.tableless-overflow-bytes", &PageStats::overflow_bytes);
    add("compassdb.tableless-overflow-index-bytes", &PageStats::overflow_index_bytes);
    (*all)["compassdb.tableless-index-bytes"] = [](const F& f) { return f.view->Index().total(); };
    add("compassdb.tableless-pending-pages", &PageStats::pending_pages);
    add("compassdb.tableless-pages-in-place", &PageStats::pages_in_place);
    add("compassdb.tableless-unjournaled-pages", &PageStats::unjournaled_pages);
    add("compassdb.tableless-overflow-written", &PageStats::overflow_written);
    add("compassdb.tableless-rehashes", &PageStats::rehashes);
    (*all)["compassdb.tableless-rehashing"] = [](const F& f) { return f.rehashing; };
  }
};

bool IsInt(const std::string& name) { return IntProperties::All().contains(name); }

// For a name that IsInt.
uint64_t ReadInt(const FamilyState& f, const std::string& name) {
  return IntProperties::All().at(name)(f);
}

// `name` is the prefix and a number.
bool HasNumber(const std::string& name, const std::string& prefix, size_t* number) {
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size()) return false;
  Slice digits(name.data() + prefix.size(), name.size() - prefix.size());
  uint64_t parsed = 0;
  if (!ConsumeDecimal(&digits, &parsed) || !digits.empty()) return false;
  *number = static_cast<size_t>(parsed);
  return true;
}

// `name` is the prefix and a level of the family.
bool IsLevelOf(const FamilyState& f, const std::string& name, const std::string& prefix, size_t* level) {
  return HasNumber(name, prefix, level) &&
         *level < static_cast<size_t>(f.family->store()->options().num_levels);
}

std::string ValueStatsText(const ValueStats& values) {
  const uint64_t live = std::max<uint64_t>(1, values.total_bytes - values.dead_bytes);
  char text[256];
  CLocaleSnprintf(text, sizeof(text),
                  "Number of blob files: %llu\nTotal size of blob files: %llu\n"
                  "Total size of garbage in blob files: %llu\nBlob file space amplification: %.3f\n",
                  static_cast<unsigned long long>(values.files),
                  static_cast<unsigned long long>(values.total_bytes),
                  static_cast<unsigned long long>(values.dead_bytes),
                  static_cast<double>(values.total_bytes) / static_cast<double>(live));
  return text;
}

// A property of a family that is a text.
bool ReadText(const FamilyState& f, const std::string& name, std::string* value) {
  using P = rocksdb::DB::Properties;
  size_t level = 0;
  if (IsLevelOf(f, name, P::kNumFilesAtLevelPrefix, &level)) {
    *value = std::to_string(level < f.levels.size() ? f.levels[level].tables : 0);
  } else if (IsLevelOf(f, name, P::kCompressionRatioAtLevelPrefix, &level)) {
    const bool any = level < f.levels.size() && f.levels[level].data_bytes > 0;
    *value = any ? CLocaleToString(static_cast<double>(f.levels[level].raw_bytes) /
                                  static_cast<double>(f.levels[level].data_bytes))
                 : "-1";
  } else if (HasNumber(name, P::kLiveSstFilesSizeAtTemperature, &level)) {
    *value = std::to_string(level == 0 ? f.Sum().total_bytes : 0);
  } else if (name == P::kLevelStats) {
    *value = LevelStatsText(f);
  } else if (name == P::kStats) {
    *value = CFStats(f) + DBStats(f.sources);
  } else if (name == P::kCFStats || name == P::kCFStatsNoFileHistogram) {
    *value = CFStats(f);
  } else if (name == P::kSSTables) {
    *value = TablesText(f);
  } else if (name == P::kAggregatedTableProperties) {
    *value = f.TableTotals(-1).ToString();
  } else if (IsLevelOf(f, name, P::kAggregatedTablePropertiesAtLevel, &level)) {
    *value = f.TableTotals(static_cast<int>(level)).ToString();
  } else if (name == P::kBlobStats) {
    *value = ValueStatsText(f.view->Values());
  } else if (name == "compassdb.stats") {
    *value = CompassStats(f);
  } else if (name == "compassdb.stats-json") {
    *value = CompassStatsJson(f);
  } else if (name == "compassdb.tableless-page-fill") {
    return PageFillJson(f, value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool Reports::GetProperty(ColumnFamily* family, const std::string& name, std::string* value) const {
  using P = rocksdb::DB::Properties;
  value->clear();
  if (name == P::kDBStats) {
    *value = DBStats(sources_);
  } else if (name == P::kOptionsStatistics) {
    const auto& statistics = sources_.config.options.statistics;
    if (statistics == nullptr) return false;
    *value = statistics->ToString();
  } else if (name == "compassdb.wal-damage") {
    *value = wal_damage_;
  } else if (IsInt(name)) {
    *value = std::to_string(ReadInt(FamilyState(sources_, family), name));
  } else {
    return ReadText(FamilyState(sources_, family), name, value);
  }
  return true;
}

bool Reports::GetMapProperty(ColumnFamily* family, const std::string& name,
                             std::map<std::string, std::string>* value) const {
  using P = rocksdb::DB::Properties;
  value->clear();
  if (name == P::kDBStats) {
    *value = DBStatsMap(sources_);
    return true;
  }
  const FamilyState f(sources_, family);
  size_t level = 0;
  if (name == P::kCFStats) {
    AddCFStats(f, value);
  } else if (name == P::kAggregatedTableProperties ||
             IsLevelOf(f, name, P::kAggregatedTablePropertiesAtLevel, &level)) {
    const int wanted = name == P::kAggregatedTableProperties ? -1 : static_cast<int>(level);
    for (const auto& [key, number] : f.TableTotals(wanted).GetAggregatablePropertiesAsMap()) {
      (*value)[key] = std::to_string(number);
    }
  } else {
    return false;
  }
  return true;
}

bool Reports::GetIntProperty(ColumnFamily* family, const std::string& name, uint64_t* value) const {
  if (!IsInt(name)) return false;
  *value = ReadInt(FamilyState(sources_, family), name);
  return true;
}

bool Reports::GetAggregatedIntProperty(const std::string& name, uint64_t* value) const {
  *value = 0;
  if (!IsInt(name)) return false;
  for (const auto& family : sources_.families.All()) *value += ReadInt(FamilyState(sources_, family.get()), name);
  return true;
}

void Reports::ResetStats() {
  for (const auto& family : sources_.families.All()) {
    const std::vector<LevelStats> levels = FamilyState(sources_, family.get()).view->Levels();
    {
      MutexLock lock(&sources_.mu);
      family->levels_at_reset = levels;
    }
    ColumnFamily::Counters& c = family->counters;
    c.flush_bytes = c.flushes = 0;
    c.compact_read_bytes = c.compact_write_bytes = c.compactions = 0;
    for (auto* const by_reason : {&c.slowdowns, &c.stops}) {
      for (auto& n : *by_reason) n = 0;
    }
  }
  sources_.written.Reset(sources_.config.clock->NowNanos());
  sources_.wals.ResetCounts();
  sources_.errors.ResetCount();
}

Status Reports::GetStatsHistory(uint64_t begin, uint64_t end,
                                std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) const {
  if (iterator == nullptr) return Status::InvalidArgument("stats_iterator not preallocated.");
  *iterator = NewStatsHistoryIterator(stats_dump_.history(), begin, end);
  return Status::OK();
}

}  // namespace compassdb
