// SPDX-License-Identifier: Apache-2.0
// DB::GetProperty and its kin: the names, and the numbers behind them. Reports
// of several lines are in stats_report.cc.
#include <algorithm>
#include <functional>

#include "db/report/property_reader.h"
#include "rocksdb/cache.h"
#include "rocksdb/table_properties.h"
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

// The properties that are one number each.
struct IntProperties {
  using R = PropertyReader;
  using Read = std::function<uint64_t(R*)>;

  static const std::map<std::string, Read>& All() {
    static const std::map<std::string, Read>* all = new std::map<std::string, Read>(Make());
    return *all;
  }

  static std::map<std::string, Read> Make() {
    std::map<std::string, Read> all;
    AddMemTables(&all);
    AddBackground(&all);
    AddTables(&all);
    AddCache("block-cache",
             [](R* r) { return r->family_->store()->options().block_cache.get(); }, &all);
    AddCache("blob-cache",
             [](R* r) { return r->family_->store()->options().values.cache.get(); }, &all);
    return all;
  }

  static void AddMemTables(std::map<std::string, Read>* all) {
    auto& p = *all;
    p["num-immutable-mem-table"] = [](R* r) { return r->immutables_; };
    p["num-immutable-mem-table-flushed"] = [](R*) { return 0; };
    p["mem-table-flush-pending"] = [](R* r) { return r->flush_pending_ ? 1 : 0; };
    p["cur-size-active-mem-table"] = [](R* r) {
      return r->memtables_[0]->ApproximateMemoryUsage();
    };
    p["cur-size-all-mem-tables"] = p["size-all-mem-tables"] = [](R* r) {
      uint64_t bytes = 0;
      for (const auto& m : r->memtables_) bytes += m->ApproximateMemoryUsage();
      return bytes;
    };
    p["num-entries-active-mem-table"] = [](R* r) { return r->memtables_[0]->num_entries(); };
    p["num-deletes-active-mem-table"] = [](R* r) { return r->memtables_[0]->num_deletes(); };
    p["num-entries-imm-mem-tables"] = [](R* r) {
      uint64_t n = 0;
      for (size_t i = 1; i < r->memtables_.size(); ++i) n += r->memtables_[i]->num_entries();
      return n;
    };
    p["num-deletes-imm-mem-tables"] = [](R* r) {
      uint64_t n = 0;
      for (size_t i = 1; i < r->memtables_.size(); ++i) n += r->memtables_[i]->num_deletes();
      return n;
    };
    p["current-super-version-number"] = [](R* r) { return r->family_->read_state()->number(); };
  }

  static void AddBackground(std::map<std::string, Read>* all) {
    auto& p = *all;
    p["num-running-flushes"] = [](R* r) { return r->flushes_running_; };
    p["compaction-pending"] = [](R* r) { return r->compaction_pending_ ? 1 : 0; };
    p["num-running-compactions"] = [](R* r) { return r->compactions_running_; };
    p["background-errors"] = [](R* r) { return r->db_->errors_.count(); };
    p["is-file-deletions-enabled"] = [](R* r) {
      return r->db_->ledger_->deletions_enabled() ? 1 : 0;
    };
    p["num-snapshots"] = [](R* r) { return r->db_->snapshots_.count(); };
    p["oldest-snapshot-time"] = [](R* r) {
      return static_cast<uint64_t>(r->db_->snapshots_.OldestTime());
    };
    p["oldest-snapshot-sequence"] = [](R* r) { return r->db_->snapshots_.OldestSequence(); };
    p["num-live-versions"] = [](R*) { return 1; };
    p["min-log-number-to-keep"] = [](R* r) { return r->oldest_log_; };
    p["min-obsolete-sst-number-to-keep"] = [](R*) { return UINT64_MAX; };
    p["estimate-pending-compaction-bytes"] = [](R* r) { return r->pending_bytes_; };
    p["actual-delayed-write-rate"] = [](R* r) {
      return r->stall_ == StallState::kDelayed ? r->delayed_rate_ : 0;
    };
    p["is-write-stopped"] = [](R* r) { return r->stall_ == StallState::kStopped ? 1 : 0; };
  }

  static void AddTables(std::map<std::string, Read>* all) {
    auto& p = *all;
    // Live keys: entries of the directories and memtables, less twice the
    // deletions (each is an entry, and hides one).
    p["estimate-num-keys"] = [](R* r) {
      const LevelStats totals = r->Sum();
      const PageStats pages = r->view_->Pages();
      uint64_t keys = totals.keys, deletions = totals.deletions;
      if (pages.pages > 0) {  // the tables are a key store
        keys = pages.records;
        deletions = 0;
      }
      for (const auto& m : r->memtables_) {
        keys += m->num_entries();
        deletions += m->num_deletes();
      }
      return keys > 2 * deletions ? keys - 2 * deletions : 0;
    };
    p["estimate-table-readers-mem"] = [](R* r) { return r->view_->Index().total(); };
    p["estimate-live-data-size"] = [](R* r) {
      const ValueStats values = r->view_->Values();
      return r->Sum().live_data_bytes + values.total_bytes - values.dead_bytes + r->view_->Pages().bytes;
    };
    p["total-sst-files-size"] = p["live-sst-files-size"] = [](R* r) {
      return r->Sum().total_bytes + r->view_->Pages().stored_bytes;
    };
    p["base-level"] = [](R* r) {
      return static_cast<uint64_t>(std::min(1, r->family_->store()->options().num_levels - 1));
    };
    p["estimate-oldest-key-time"] = [](R* r) {
      uint64_t oldest = UINT64_MAX;
      r->view_->ForEachTable([&oldest](int, const TphMeta& tph) {
        for (const TphPiece& piece : tph.pieces) {
          if (piece.meta->creation_time > 0) oldest = std::min(oldest, piece.meta->creation_time);
        }
      });
      return oldest == UINT64_MAX ? 0 : oldest;
    };
    p["num-blob-files"] = [](R* r) { return r->view_->Values().files; };
    // Files are shared by segments, whose bytes count.
    p["live-blob-file-size"] = [](R* r) { return r->view_->Values().total_bytes; };
    p["total-blob-file-size"] = [](R* r) {
      const ValueStats values = r->view_->Values();
      return values.total_bytes + values.held_bytes;
    };
    p["live-blob-file-garbage-size"] = [](R* r) { return r->view_->Values().dead_bytes; };
  }

  // The properties of a cache that a family may have: capacity, usage, pinned usage.
  static void AddCache(const std::string& name, std::function<rocksdb::Cache*(R*)> cache,
                       std::map<std::string, Read>* all) {
    const auto add = [&](const char* what, size_t (rocksdb::Cache::*get)() const) {
      (*all)[name + what] = [cache, get](R* r) -> uint64_t {
        const rocksdb::Cache* const c = cache(r);
        return c == nullptr ? 0 : (c->*get)();
      };
    };
    add("-capacity", &rocksdb::Cache::GetCapacity);
    add("-usage", &rocksdb::Cache::GetUsage);
    add("-pinned-usage", &rocksdb::Cache::GetPinnedUsage);
  }
};

void PropertyReader::Collect() {
  if (collected_) return;
  collected_ = true;
  {
    ReadStatePin state(family_->read_state());
    view_ = family_->read_state()->ViewOf(*state);
    memtables_.push_back(state->mem);
    for (const auto& immutable : state->immutables) memtables_.push_back(immutable);
  }
  immutables_ = memtables_.size() - 1;
  levels_ = view_->Levels();
  MutexLock lock(&db_->mu_);
  flush_pending_ = family_->FlushPending();
  compaction_pending_ = family_->store()->NeedsCompaction() || family_->store()->NeedsLongWork();
  // What scans have made due since the last look is started by the first who sees it.
  if (compaction_pending_) db_->MaybeSchedule();
  pending_bytes_ = family_->store()->PendingCompactionBytes();
  value_bound_ = family_->store()->ValueBound();
  rehashing_ = family_->store()->Rehashing();
  flushes_running_ = db_->background_.flushes_running;
  compactions_running_ = db_->background_.compactions_running + db_->background_.manual_running;
  stall_ = db_->stalls_.state();
  delayed_rate_ = db_->stalls_.rate();
  oldest_log_ = family_->OldestLogNeeded();
}

LevelStats PropertyReader::Sum() {
  LevelStats sum;
  for (const LevelStats& level : levels_) sum += level;
  return sum;
}

namespace {

// "compassdb.index-memory" and its parts. False if it is another property.
bool ReadIndexMemory(const std::string& name, const IndexMemory& index, uint64_t* value) {
  const std::string prefix = "compassdb.index-memory";
  if (name.rfind(prefix, 0) != 0) return false;
  const std::string part = name.substr(prefix.size());
  const std::pair<const char*, uint64_t> parts[] = {
      {"", index.total()},
      {"-perfect-hash", index.perfect_hash},
      {"-fingerprints", index.fingerprints},
      {"-pieces", index.pieces},
      {"-separators", index.separators},
      {"-block-offsets", index.block_offsets},
      {"-filters", index.filters},
      {"-values", index.values},
      {"-other", index.other}};
  for (const auto& [suffix, bytes] : parts) {
    if (part != suffix) continue;
    *value = bytes;
    return true;
  }
  return false;
}

// Of separated values: what they take, what replaced ones take that are still read, what jobs have written of
// them and not committed, what of the first is garbage, what only snapshots see, and the most that
// they may take; 0: anything. And how many there are in the emptiest and in the fullest of the groups.
bool ReadValues(const std::string& name, const ValueStats& values, uint64_t bound, uint64_t* value) {
  const std::pair<const char*, uint64_t> all[] = {{"compassdb.value-bytes", values.total_bytes},
                                                  {"compassdb.value-bytes-held", values.held_bytes},
                                                  {"compassdb.value-bytes-copying", values.uncommitted_bytes},
                                                  {"compassdb.value-bytes-dead", values.dead_bytes},
                                                  {"compassdb.value-bytes-pinned", values.pinned_bytes},
                                                  {"compassdb.value-bytes-bound", bound},
                                                  {"compassdb.value-groups", values.groups},
                                                  {"compassdb.value-group-least", values.least_in_group},
                                                  {"compassdb.value-group-most", values.most_in_group}};
  for (const auto& [property, number] : all) {
    if (name != property) continue;
    *value = number;
    return true;
  }
  return false;
}

// Of all compaction files of the database. Without a ledger: only whether it is such a property.
bool ReadDeadBytes(const std::string& name, const ExtentLedger* ledger, uint64_t* value) {
  const bool punchable = name == "compassdb.dead-bytes-punchable";
  if (!punchable && name != "compassdb.dead-bytes") return false;
  if (ledger != nullptr) *value = punchable ? ledger->PunchableBytes() : ledger->DeadBytes();
  return true;
}

// Of a table-less store. `rehashing`: sections that are being rehashed, or are to be.
bool ReadPages(const std::string& name, const PageStats& pages, uint64_t index_bytes,
               uint64_t rehashing, uint64_t* value) {
  const std::string prefix = "compassdb.tableless-";
  if (name.compare(0, prefix.size(), prefix) != 0) return false;
  const std::pair<const char*, uint64_t> all[] = {
      {"pages", pages.pages},
      {"page-bytes", pages.page_bytes},
      {"records", pages.records},
      {"bytes", pages.bytes},
      {"overflow-records", pages.overflow_records},
      {"overflow-bytes", pages.overflow_bytes},
      {"overflow-index-bytes", pages.overflow_index_bytes},
      {"index-bytes", index_bytes},
      {"pending-pages", pages.pending_pages},
      {"pages-in-place", pages.pages_in_place},
      {"unjournaled-pages", pages.unjournaled_pages},
      {"overflow-written", pages.overflow_written},
      {"rehashes", pages.rehashes},
      {"rehashing", rehashing}};
  for (const auto& [property, number] : all) {
    if (name.compare(prefix.size(), std::string::npos, property) != 0) continue;
    *value = number;
    return true;
  }
  return false;
}

}  // namespace

bool PropertyReader::IsInt(const std::string& name) {
  uint64_t ignored;
  return ReadIndexMemory(name, IndexMemory(), &ignored) || ReadValues(name, ValueStats(), 0, &ignored) ||
         ReadPages(name, PageStats(), 0, 0, &ignored) || ReadDeadBytes(name, nullptr, &ignored) ||
         (name.rfind("rocksdb.", 0) == 0 && IntProperties::All().count(name.substr(8)) > 0);
}

bool PropertyReader::Int(const std::string& name, uint64_t* value) {
  if (!IsInt(name)) return false;
  Collect();
  if (name.rfind("compassdb.", 0) == 0) {
    return ReadValues(name, view_->Values(), value_bound_, value) || ReadDeadBytes(name, db_->ledger_.get(), value) ||
           ReadIndexMemory(name, view_->Index(), value) ||
           ReadPages(name, view_->Pages(), view_->Index().total(), rehashing_, value);
  }
  *value = IntProperties::All().at(name.substr(8))(this);
  return true;
}

namespace {

// `name` is the prefix and a number.
bool HasNumber(const std::string& name, const std::string& prefix, size_t* number) {
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size()) return false;
  Slice digits(name.data() + prefix.size(), name.size() - prefix.size());
  uint64_t parsed = 0;
  if (!ConsumeDecimal(&digits, &parsed) || !digits.empty()) return false;
  *number = static_cast<size_t>(parsed);
  return true;
}

}  // namespace

bool PropertyReader::IsLevelOf(const std::string& name, const std::string& prefix, size_t* level) const {
  return HasNumber(name, prefix, level) &&
         *level < static_cast<size_t>(family_->store()->options().num_levels);
}

bool PropertyReader::Text(const std::string& name, std::string* value) {
  if (IsInt(name)) {
    uint64_t number = 0;
    if (!Int(name, &number)) return false;
    *value = std::to_string(number);
    return true;
  }
  using P = rocksdb::DB::Properties;
  Collect();
  size_t level = 0;
  if (IsLevelOf(name, P::kNumFilesAtLevelPrefix, &level)) {
    *value = std::to_string(level < levels_.size() ? levels_[level].tables : 0);
  } else if (IsLevelOf(name, P::kCompressionRatioAtLevelPrefix, &level)) {
    const bool any = level < levels_.size() && levels_[level].data_bytes > 0;
    *value = any ? CLocaleToString(static_cast<double>(levels_[level].raw_bytes) /
                                  static_cast<double>(levels_[level].data_bytes))
                 : "-1";
  } else if (HasNumber(name, P::kLiveSstFilesSizeAtTemperature, &level)) {
    *value = std::to_string(level == 0 ? Sum().total_bytes : 0);
  } else if (name == P::kLevelStats) {
    *value = LevelStatsText();
  } else if (name == P::kStats) {
    *value = CFStats() + DBStats();
  } else if (name == P::kCFStats || name == P::kCFStatsNoFileHistogram) {
    *value = CFStats();
  } else if (name == P::kDBStats) {
    *value = DBStats();
  } else if (name == P::kSSTables) {
    *value = Tables();
  } else if (name == P::kAggregatedTableProperties) {
    *value = TableTotals(-1).ToString();
  } else if (IsLevelOf(name, P::kAggregatedTablePropertiesAtLevel, &level)) {
    *value = TableTotals(static_cast<int>(level)).ToString();
  } else if (name == P::kOptionsStatistics) {
    const auto& statistics = db_->config_.options.statistics;
    if (statistics == nullptr) return false;
    *value = statistics->ToString();
  } else if (name == P::kBlobStats) {
    const ValueStats values = view_->Values();
    const uint64_t live = std::max<uint64_t>(1, values.total_bytes - values.dead_bytes);
    char text[256];
    CLocaleSnprintf(text, sizeof(text),
             "Number of blob files: %llu\nTotal size of blob files: %llu\n"
             "Total size of garbage in blob files: %llu\nBlob file space amplification: %.3f\n",
             static_cast<unsigned long long>(values.files),
             static_cast<unsigned long long>(values.total_bytes),
             static_cast<unsigned long long>(values.dead_bytes),
             static_cast<double>(values.total_bytes) / static_cast<double>(live));
    *value = text;
  } else if (name == "compassdb.wal-damage") {
    *value = db_->wal_damage_;
  } else if (name == "compassdb.stats") {
    *value = CompassStats();
  } else if (name == "compassdb.stats-json") {
    *value = CompassStatsJson();
  } else {
    return false;
  }
  return true;
}

bool PropertyReader::Map(const std::string& name, std::map<std::string, std::string>* value) {
  using P = rocksdb::DB::Properties;
  value->clear();
  Collect();
  size_t level = 0;
  if (name == P::kCFStats) {
    CFStatsMap(value);
  } else if (name == P::kDBStats) {
    DBStatsMap(value);
  } else if (name == P::kAggregatedTableProperties || IsLevelOf(name, P::kAggregatedTablePropertiesAtLevel, &level)) {
    const int wanted = name == P::kAggregatedTableProperties ? -1 : static_cast<int>(level);
    for (const auto& [key, number] : TableTotals(wanted).GetAggregatablePropertiesAsMap()) {
      (*value)[key] = std::to_string(number);
    }
  } else {
    return false;
  }
  return true;
}

bool DBImpl::GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) {
  value->clear();
  return PropertyReader(this, FamilyOf(handle)).Text(property.ToString(), value);
}

bool DBImpl::GetMapProperty(ColumnFamilyHandle* handle, const Slice& property,
                            std::map<std::string, std::string>* value) {
  return PropertyReader(this, FamilyOf(handle)).Map(property.ToString(), value);
}

bool DBImpl::GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) {
  return PropertyReader(this, FamilyOf(handle)).Int(property.ToString(), value);
}

bool DBImpl::GetAggregatedIntProperty(const Slice& property, uint64_t* value) {
  *value = 0;
  const std::string name = property.ToString();
  if (!PropertyReader::IsInt(name)) return false;
  for (const auto& family : families_.All()) {
    uint64_t part = 0;
    if (PropertyReader(this, family.get()).Int(name, &part)) *value += part;
  }
  return true;
}

Status DBImpl::ResetStats() {
  for (const auto& family : families_.All()) {
    ColumnFamily::Counters& c = family->counters;
    c.flush_bytes = c.flushes = c.flush_micros = 0;
    c.compact_read_bytes = c.compact_write_bytes = c.compactions = c.compact_micros = 0;
    for (auto* const by_reason : {&c.slowdowns, &c.stops}) {
      for (auto& n : *by_reason) n = 0;
    }
  }
  for (auto* const n : {&written_.bytes, &written_.keys, &written_.by_self, &written_.by_other,
                        &written_.with_wal, &written_.stall_micros}) {
    *n = 0;
  }
  return Status::OK();
}

}  // namespace compassdb
