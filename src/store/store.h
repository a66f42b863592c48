// SPDX-License-Identifier: Apache-2.0
// The interface between the database (WAL, memtables, manifest, threads) and
// what keeps a column family's flushed data. A store decides where data is on
// disk; db/ decides when work runs and commits its edits.
//
// Lock order: the database mutex is outermost. Methods marked [mutex] are
// called with it held and must not do I/O; the others without it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "compassdb/data_order.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "filter/table_filter.h"
#include "format/key_hash.h"
#include "format/user_timestamp.h"
#include "iter/compaction_iterator.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "iter/range_tombstone_set.h"
#include "iter/value_resolver.h"
#include "manifest/extent_ledger.h"
#include "manifest/job_record.h"
#include "manifest/version_edit.h"
#include "memtable/memtable.h"
#include "perfect_hash/build_options.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/statistics.h"
#include "store/page_options.h"
#include "store/value_options.h"
#include "store/victim_order.h"
#include "table/directory/index_cache.h"
#include "table/directory/index_memory.h"
#include "table/file/file_cache.h"
#include "table/file/files_ahead.h"
#include "table/piece/piece_collectors.h"
#include "table/read_options.h"

namespace rocksdb {
class FileChecksumGenFactory;
}  // namespace rocksdb

namespace compassdb {

struct SalvageReport;

// What all stores of one database share. Outlives them.
struct StoreContext {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  FileCache* files = nullptr;
  ExtentLedger* ledger = nullptr;
  bool read_only = false;  // a primary may write the same files concurrently
  FilesAhead* files_ahead = nullptr;  // null: each job creates its file and syncs the directory
  KeyHasher hasher;
  rocksdb::Statistics* statistics = nullptr;
  FileOptions write_options;                         // of compaction files
  // Completes the record of a job; its edit is set. False: the family is not known yet. Without the mutex; may be null.
  std::function<bool(JobRecord*)> describe_job;
  std::function<uint64_t()> new_number;              // files, pieces, tables; thread safe
  std::function<void(const std::string&)> log_info;  // one line to the info log
  // A table wants PickCompaction to be called. Without the mutex; may be null.
  std::function<void()> compaction_wanted;
  // The live snapshots, ascending. Under any lock; null: none.
  std::function<std::vector<SequenceNumber>()> snapshots;
  std::function<SequenceNumber()> oldest_snapshot;  // kMaxSequenceNumber if there is none
  std::atomic<uint64_t>* pinned_value_runs = nullptr;  // ValueContext::pinned_runs
  // A file of pages that is not needed any more; from any thread, under any lock.
  std::function<void(const std::string& path)> delete_later;
  rocksdb::FileChecksumGenFactory* checksums = nullptr;  // of new compaction files; null: none
  std::atomic<uint32_t> max_subcompactions{1};  // threads of one compaction
  std::atomic<uint64_t> bytes_per_sync{0};      // of compaction files
  // Charges background writes; may be null. Bytes, then true for flush priority.
  std::function<void(uint64_t, bool)> throttle;
};

// Options of one family, projected from rocksdb::ColumnFamilyOptions by db/.
struct StoreOptions {
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
  int level0_trigger = 4;
  uint64_t level1_max_bytes = 256ull << 20;
  double level_multiplier = 10;
  std::vector<int> level_multiplier_additional;
  uint64_t target_table_bytes = 32ull << 20;  // live data of a table; split at four to eight times that
  uint64_t max_compaction_bytes = 1600ull << 20;
  uint64_t group_compaction_bytes = 64ull << 20;  // of victims of one job; 0: one victim
  VictimOrder victim_order = VictimOrder::kLeastOverlap;  // if merges rewrite tables
  // New tables have no directory: reads use filters and separators. Needs `leveled`.
  bool filter_index = false;
  // A merge rewrites the tables that it overlaps, whole, and levels have their configured sizes.
  bool leveled = false;
  uint32_t max_pieces = 16;
  bool hash_range = false;  // tables of new levels are cut by hash
  bool one_level = false;  // memtables merge straight into the one level that holds data
  // A table whose data bytes exceed its live bytes by more is collected, percent.
  uint32_t max_dead_percent = 46;
  // Dead bytes in files that punching cannot free, percent of live bytes; above, files are vacated. 0: never.
  uint32_t max_dead_space_percent = 10;
  DataOrder data_order = DataOrder::kKey;  // of new pieces
  perfect_hash::Kind perfect_hash = perfect_hash::Kind::kPilot;
  unsigned perfect_hash_threads = 1;
  uint64_t ttl_seconds = 0;       // 0: off; tables with older data are rewritten whole
  uint64_t periodic_seconds = 0;  // 0: off
  FilterOptions filter;           // of new pieces; without one, filters of old pieces are not used
  CollectorFactories collectors;  // the application's, of table properties
  // For new files: newer data in the first ones. Empty: the file cache's first directory.
  std::vector<TablePath> paths;
  ValueOptions values;
  PageOptions pages;
  // Bytes of rewriting that a disk read lost by a scan pays for; 0: scans change nothing.
  uint64_t scan_bytes_per_read = 16 << 10;
};

// Of separated values.
struct ValueStats {
  uint64_t runs = 0;
  uint64_t files = 0;
  uint64_t values = 0;
  uint64_t total_bytes = 0;  // extents
  uint64_t dead_bytes = 0;   // of them garbage, estimated
  uint64_t pinned_bytes = 0;  // of them only for snapshots, estimated
  uint64_t held_bytes = 0;    // in addition: replaced, and still on disk for readers
  uint64_t uncommitted_bytes = 0;  // in addition: written by jobs that are not committed yet
  uint64_t raw_bytes = 0;
  // How evenly the values, garbage included, are spread over the groups; a wide group counts as its parts.
  uint64_t groups = 0;
  uint64_t least_in_group = 0, most_in_group = 0;
};

// Of a table-less store.
struct PageStats {
  uint64_t page_bytes = 0;
  uint64_t pages = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of records, encoded
  uint64_t overflow_records = 0;
  uint64_t overflow_bytes = 0;
  uint64_t overflow_index_bytes = 0;
  uint64_t pending_pages = 0;  // in journals, to be written in place
  // Since open:
  uint64_t pages_in_place = 0;     // written in place, one page each time
  uint64_t unjournaled_pages = 0;  // of them without a journal
  uint64_t overflow_written = 0;   // records that flushes, rehashes and rewriting appended to the overflow store
  uint64_t rehashes = 0;           // of one section each
  uint64_t stored_bytes = 0;   // of files of pages, journals and overflow runs
};

struct LevelStats {
  uint64_t tables = 0;
  uint64_t pieces = 0;
  uint64_t files = 0;       // physical files that hold them
  uint64_t total_bytes = 0;  // extents, directories included
  uint64_t data_bytes = 0;
  uint64_t live_data_bytes = 0;
  uint64_t records = 0;
  uint64_t keys = 0;  // directory entries
  uint64_t deletions = 0;
  uint64_t range_tombstones = 0;
  uint64_t raw_bytes = 0;
  // Since open:
  uint64_t compactions = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t value_bytes_read = 0;     // of both, separated values
  uint64_t value_bytes_written = 0;
  uint64_t bytes_in_upper = 0;  // delta bytes that came from above
  uint64_t micros = 0;
  uint64_t consolidations = 0;  // of the compactions, those for scans
  uint64_t consolidated_bytes = 0;
  // All but `files`: levels may share them.
  LevelStats& operator+=(const LevelStats& o) {
    for (const auto field :
         {&LevelStats::tables, &LevelStats::pieces, &LevelStats::total_bytes, &LevelStats::data_bytes,
          &LevelStats::live_data_bytes, &LevelStats::records, &LevelStats::keys, &LevelStats::deletions,
          &LevelStats::range_tombstones, &LevelStats::raw_bytes, &LevelStats::compactions,
          &LevelStats::bytes_read, &LevelStats::bytes_written, &LevelStats::value_bytes_read,
          &LevelStats::value_bytes_written, &LevelStats::bytes_in_upper,
          &LevelStats::micros, &LevelStats::consolidations, &LevelStats::consolidated_bytes}) {
      this->*field += o.*field;
    }
    return *this;
  }
};

// One key of a MultiGet on its way through a store.
struct PointLookup {
  Slice user_key;
  KeyHash hash;
  GetContext* ctx = nullptr;
  Status status;
};

// An immutable state of a store, pinned by readers. Thread safe.
class StoreView {
 public:
  virtual ~StoreView() = default;
  // Feeds ctx the versions of user_key that it may see, newest first.
  virtual Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                     GetContext* ctx) const = 0;
  // Get for each, with their memory accesses and their reads overlapped.
  virtual void MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const = 0;
  // Appends iterators that together have every record, and every list of range
  // tombstones. They may be used as long as the view is pinned.
  virtual Status AddIterators(const BlockReadOptions& read,
                              std::vector<InternalIteratorPtr>* iterators,
                              RangeTombstoneSet* tombstones) const = 0;
  // Fetches the values that its records name. Null if it has none. May be used as long as the view is pinned.
  virtual std::unique_ptr<ValueResolver> NewValueResolver(const BlockReadOptions& read) const = 0;
  virtual ValueStats Values() const = 0;
  // With their files and garbage: each run's share of its group's, so that they add up to Values().
  virtual void ForEachValueRun(const std::function<void(const ValueRunMeta&, uint64_t dead_bytes)>& f) const = 0;
  virtual uint64_t ApproximateSize(const Slice& begin, const Slice& end) const = 0;
  virtual std::vector<LevelStats> Levels() const = 0;
  // Of all indexes in memory, of every state.
  virtual IndexMemory Index() const = 0;
  // Loads what reads would load. With a limit on memory, parts may be evicted again.
  virtual Status LoadIndex() const = 0;
  // All tables with their level: for metadata, live files and properties.
  virtual void ForEachTable(const std::function<void(int level, const TphMeta&)>& f) const = 0;
  // All pieces with their tables, until `f` returns an error. It may read the piece.
  using PieceVisitor = std::function<Status(const TphMeta&, const Piece&)>;
  virtual Status ForEachPiece(const PieceVisitor& f) const = 0;
  // Reads and checks everything.
  virtual Status Verify() const = 0;
  virtual PageStats Pages() const { return {}; }
  // Paths of files that are written in place: to be copied, never linked, while Store::WritesInPlace is false.
  virtual std::vector<std::string> FilesInPlace() const { return {}; }
};

struct JobReport;

// Notified of a job's progress, by the threads that do the work, without locks. (A thread that needs a file
// which is being created waits for FileBegins.)
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  // A file is about to be created; `values`: for the value store.
  virtual void FileBegins(const std::string& path, bool values) = 0;
  // Of a job that threads share: the files that they have written, and what is in them. Before PartEnds.
  virtual void FilesEnd(const JobReport& done) = 0;
  // Of such a job: the part of one thread, counted from 0.
  virtual void PartBegins(int part) = 0;
  // `done` names the files that the part has written to, if status is OK, with the part's bytes in them.
  virtual void PartEnds(int part, const JobReport& done, const Status& status) = 0;
};

// What a flush or compaction did, for listeners, statistics and LOG.
struct JobReport {
  JobObserver* observer = nullptr;  // set by the caller that runs the job
  int input_level = 0;
  int output_level = 0;
  std::string reason;
  bool trivial_move = false;
  bool full = false;  // all tables of the family take part
  uint64_t bytes_read = 0;       // data and index bytes read, separated values, too
  uint64_t bytes_written = 0;    // compaction file bytes, the value store's, too
  uint64_t values_read = 0;      // separated values: by collections, for filters and for merges
  uint64_t value_bytes_read = 0;
  uint64_t bytes_in_upper = 0;   // live delta bytes that came from the input level
  uint64_t records_in = 0;
  uint64_t records_out = 0;
  uint64_t records_dropped = 0;
  CompactionIteratorStats merged;  // of jobs that merge
  uint64_t range_deletions_dropped = 0;  // by them, as nothing is below; one per part that drops it
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;  // of all threads of the job
  std::vector<uint64_t> input_files;   // physical
  std::vector<uint64_t> output_files;
  // Their names: a file may be deleted before listeners are notified.
  std::vector<std::string> input_paths;
  std::vector<std::string> output_paths;
  std::vector<int> input_file_levels;   // as input_files: of the first table there that takes part
  std::vector<uint64_t> output_bytes;   // as output_files: their sizes
  std::vector<TphMeta> inputs;          // only for an observer
  // Of the value store; not among the above.
  struct ValueFile {
    uint64_t number = 0;
    std::string path;
    uint64_t values = 0;
    uint64_t bytes = 0;
  };
  std::vector<ValueFile> value_files;
  std::vector<ValueFile> value_garbage;  // of existing files: what the job moved away from them or dropped
  std::vector<TphMeta> outputs;
  std::vector<FileChecksum> checksums;  // of the new files; empty: they have none

  // Null: the file has none.
  const FileChecksum* ChecksumOf(uint64_t file_number) const {
    for (const FileChecksum& c : checksums) {
      if (c.file_number == file_number) return &c;
    }
    return nullptr;
  }
  uint64_t value_bytes_written() const {
    uint64_t bytes = 0;
    for (const ValueFile& file : value_files) bytes += file.bytes;
    return bytes;
  }
  void AddFile(uint64_t number, const std::string& path, uint64_t bytes) {
    output_files.push_back(number);
    output_paths.push_back(path);
    output_bytes.push_back(bytes);
    bytes_written += bytes;
  }
  void AddMerged(const CompactionIteratorStats& records) {
    records_in += records.records_in;
    records_out += records.records_out;
    AddValuesRead(records.values_read, records.value_bytes_read);
    merged.Add(records);
  }
  void AddValuesRead(uint64_t values, uint64_t bytes) {
    bytes_read += bytes;
    values_read += values;
    value_bytes_read += bytes;
  }
  // The work of a part of the job, without the files, which are the whole job's.
  void Add(const JobReport& part) {
    bytes_read += part.bytes_read;
    values_read += part.values_read;
    value_bytes_read += part.value_bytes_read;
    records_in += part.records_in;
    records_out += part.records_out;
    merged.Add(part.merged);
    range_deletions_dropped += part.range_deletions_dropped;
    outputs.insert(outputs.end(), part.outputs.begin(), part.outputs.end());
  }
};

struct FlushRequest {
  std::vector<std::shared_ptr<MemTable>> memtables;  // oldest first
  std::vector<SequenceNumber> snapshots;             // ascending
  uint32_t threads = 1;                              // that a merge may take, at least
  // Called regularly by each thread of a merge, with the part (0 to 1) of its share that is done and
  // the bytes that are left. True: write the rest in the quickest way, as a run on level 0, because
  // writers wait. May be null.
  std::function<bool(double, uint64_t)> hurry;
  // The store's ViewForJob, when the flush began. May be null if no values are separated.
  std::shared_ptr<const StoreView> view = {};
  bool recovery = false;  // the memtables are from the log
  uint64_t log_number = 0;  // logs below have nothing newer; 0: not known
  // For a store that changes data in place before the flush's own edit: syncs the logs, so that they have all
  // records of the memtables and all earlier ones, and commits the edit. *logged is false, and nothing was
  // committed, if the memtables may have more than the logs. Null: they may.
  std::function<Status(VersionEdit edit, bool* logged)> commit_ahead = {};
};

// A picked unit of background work, and what is needed to run it.
class CompactionTask {
 public:
  virtual ~CompactionTask() = default;
  // Does the work; on success the caller must commit the edit. Polls
  // `cancel` and returns ShutdownInProgress or Incomplete when it is set.
  virtual Status Run(const std::vector<SequenceNumber>& snapshots,
                     const std::atomic<bool>* cancel, VersionEdit* edit, JobReport* report) = 0;
  virtual int input_level() const = 0;
  virtual int output_level() const = 0;
  // It writes nothing, only looks for work; listeners are not notified.
  virtual bool silent() const { return false; }
  // Collects separated values: no table is its input or output.
  virtual bool collects() const { return false; }
  // The tables that are busy until Release, by id.
  virtual std::vector<uint64_t> BusyTables() const { return {}; }
  // The report's fields about input, which Run sets too.
  virtual void ListInputs(JobReport* report) const {
    report->input_level = input_level();
    report->output_level = output_level();
    report->input_files.clear();
    report->input_paths.clear();
    report->input_file_levels.clear();
    report->inputs.clear();
  }
  virtual std::string Describe() const = 0;
};

// User keys from begin to end; null: unbounded.
struct KeyRange {
  const Slice* begin = nullptr;
  const Slice* end = nullptr;
};

// Records from outside that are to become tables.
struct IngestRequest {
  InternalIteratorPtr records;  // in internal-key order
  std::vector<RangeTombstone> tombstones;
  std::string smallest, largest;  // user keys; bounds of the records
};

enum class IngestPlace {
  kTop,      // level 0
  kDeepest,  // the deepest level where neither it nor a level above has data in the range
  kBehind,   // the last level, below all
};

// A forced collection of separated values, group by group.
struct ValueCollection {
  double old_share = -1;   // ValueOptions::old_share; negative: as the family has it
  uint64_t from = 0;       // where the next group is looked for, of all groups
  std::optional<uint64_t> old_until;  // the id of the youngest run that is old enough; of the first pick
};

struct ManualCompaction {
  const Slice* begin = nullptr;  // null: unbounded
  const Slice* end = nullptr;
  int input_level = 0;
  int output_level = 0;
  uint64_t created_before = 0;  // bottommost: only tables holding a piece with a smaller id; 0: all
  std::optional<size_t> path;   // of StoreOptions::paths, for the files; none: as usual
  const std::unordered_set<uint64_t>* tables = nullptr;  // only these, by id; null: all
  // Where a level is rewritten: only tables of which released snapshots have left enough to give back.
  bool released = false;
};

class Store {
 public:
  virtual ~Store() = default;
  // As at open, without the changes of SetOptions.
  virtual const StoreOptions& options() const = 0;
  // [mutex] Jobs picked from now on use `changed`: the shape of tables and levels, compression and
  // age. The other fields are ignored.
  virtual void SetOptions(const StoreOptions& changed) = 0;

  // Recovery, one thread: edits in manifest order, then Open, which opens every table named.
  virtual Status ApplyRecovered(const VersionEdit& edit) = 0;
  virtual Status Open() = 0;

  // For RepairDB, on a store that was opened empty: reads everything of the state `recovered`. The edit removes
  // damaged tables and adds what can be read of them, in new files. Only damaged and missing files count
  // as damage: any other error is returned, and says nothing about the file's contents.
  virtual Status Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed,
                         SalvageReport* report) = 0;

  // On an open store, before its first use: the edit has what the options require and the state lacks. The
  // caller commits it.
  virtual Status Complete(VersionEdit* /*edit*/, bool* changed) {
    *changed = false;
    return Status::OK();
  }

  // Writes memtables as one sorted run; the edit adds it. With several flushes
  // under way the caller commits them in memtable order (rule 5).
  // An empty result (all records dropped) leaves the edit without tables.
  virtual Status Flush(const FlushRequest& request, VersionEdit* edit, JobReport* report) = 0;

  // Opens the tables that an edit adds (I/O, so without the mutex), to be passed to Install.
  struct Prepared {
    virtual ~Prepared() = default;
  };
  virtual Status Prepare(const VersionEdit& edit, std::unique_ptr<Prepared>* prepared) = 0;
  // [mutex] The edit is committed: makes the new view current.
  virtual void Install(const VersionEdit& edit, std::unique_ptr<Prepared> prepared) = 0;
  // [mutex] The current view.
  virtual std::shared_ptr<const StoreView> view() const = 0;
  // [mutex] The same for FlushRequest: holding it keeps no separated value on disk.
  virtual std::shared_ptr<const StoreView> ViewForJob() { return view(); }
  // [mutex] An edit that recreates the current state (for a new manifest).
  virtual void Snapshot(VersionEdit* edit) const = 0;

  // [mutex] Work that the current state needs; null if there is none that is not running yet.
  // The task's inputs are marked busy until Release.
  virtual std::unique_ptr<CompactionTask> PickCompaction() = 0;
  virtual bool NeedsCompaction() const = 0;
  // [mutex] The same, collections of separated values only; `for_room`: only those that a flush may wait for.
  virtual std::unique_ptr<CompactionTask> PickCollection(bool /*for_room*/) { return nullptr; }
  virtual bool NeedsCollection(bool /*for_room*/) const { return false; }
  // [mutex] While the oldest snapshot is `oldest`: the sequence that it must reach for PickCompaction to
  // find more work; kMaxSequenceNumber if snapshots keep nothing.
  virtual SequenceNumber KeptUntil(SequenceNumber oldest) const = 0;
  // [mutex] The next group of separated values that may have garbage; *collection then points behind it.
  // Null: there is none, or with *conflict, it is being collected.
  virtual std::unique_ptr<CompactionTask> PickValues(ValueCollection* /*collection*/, bool* conflict) {
    *conflict = false;
    return nullptr;
  }
  // [mutex] While they are held, PickCompaction returns collections of separated values only if a flush
  // waits for room (AwaitsCollection).
  virtual void HoldCollections() {}
  virtual void UnholdCollections() {}
  // [mutex] Moves tables that overlap the range from input_level to output_level.
  // Null with *conflict set: inputs are busy, try again later; null without: nothing to do.
  virtual std::unique_ptr<CompactionTask> PickManual(const ManualCompaction& request,
                                                     bool* conflict) = 0;
  // [mutex] Drops all tables that are inside one of the ranges, on levels below 0 and not busy,
  // by the manifest alone. Null: there are none.
  virtual std::unique_ptr<CompactionTask> PickDrop(std::span<const KeyRange> ranges,
                                                   bool include_end) = 0;
  // [mutex] Moves all tables of a level to another, by the manifest alone. That level and those
  // between must be empty, and tables of level 0 must share no key: otherwise NotSupported. Null
  // with OK: nothing to do; with *conflict set: a job uses them, try again later.
  virtual Status PickMove(int from, int to, std::unique_ptr<CompactionTask>* task,
                          bool* conflict) = 0;
  // [mutex] Tables that overlap the range are compacted soon, if anything is below them.
  virtual void MarkForCompaction(const KeyRange& range) = 0;
  // [mutex] A task that writes the request as tables. Null if the family was dropped.
  virtual std::unique_ptr<CompactionTask> PickIngest(IngestRequest request, IngestPlace place) = 0;
  // [mutex] Whether records of the range, with sequence 0, may be added to the last level, and if not, why.
  virtual Status CheckIngestBehind(const Slice& smallest, const Slice& largest) const = 0;
  // [mutex] Records of the range must not have sequence 0: a table overlaps the range, or there are separated
  // values, whose groups remember deletions that the tables have dropped.
  virtual bool NeedSequence(const Slice& smallest, const Slice& largest) const = 0;
  // [mutex] After Install, or after the task failed.
  virtual void Release(CompactionTask* task) = 0;

  // [mutex] A task that merges the memtables into the store instead of Flush; null: use Flush.
  // If the task fails, Flush is used.
  virtual std::unique_ptr<CompactionTask> PickFlush(const FlushRequest& request) = 0;

  // [mutex] Write-stall inputs.
  virtual int Level0Runs() const = 0;
  virtual uint64_t PendingCompactionBytes() const = 0;
  // [mutex] How much each memtable may add to separated values, so that these keep their bound.
  virtual ValueRoom FlushRoom() const { return {}; }
  // [mutex] A flush of so many bytes (as ValueRoom counts them) would exceed the bound of separated values, and
  // collections that run, or that PickCompaction would return, can make room.
  virtual bool AwaitsCollection(uint64_t flush_bytes) = 0;
  // [mutex] The edit of a job was not installed, and no manifest names its files: they may be deleted.
  virtual void Abandon(const VersionEdit& edit) = 0;
  // [mutex] PickCompaction may find work after an idle time.
  virtual bool WantsIdleLooks() const = 0;
  // [mutex] The bound of separated values, bytes; 0: none.
  virtual uint64_t ValueBound() const = 0;
  // [mutex] The family was dropped: nothing may be picked; extents are released with the last view.
  virtual void MarkDropped() = 0;

  // --- Of stores that change in place ---

  // [mutex] The edit of the last successful Flush will not be installed.
  virtual void ForgetFlush() {}
  // [mutex] A task or a flush writes pages in place. None begins while deletions are disabled.
  virtual bool WritesInPlace() const { return false; }
  // [mutex] Sections that are being rehashed, or will be.
  virtual uint64_t Rehashing() const { return 0; }
  // [mutex] Long work that PickCompaction does not return: neither waits for the other. Null: there is none, or
  // it is running.
  virtual std::unique_ptr<CompactionTask> PickLongWork() { return nullptr; }
  virtual bool NeedsLongWork() const { return false; }
  // Iterators hold their sequence as a snapshot.
  virtual bool NeedsHeldSnapshots() const { return false; }
};

}  // namespace compassdb
