// SPDX-License-Identifier: Apache-2.0
// The interface between the database (WAL, memtables, manifest, threads) and
// what keeps a column family's flushed data. A store decides where data is on
// disk; db/ decides when work runs and commits its edits.
//
// Lock order: the database mutex is outermost. Methods marked [mutex] are
// called with it held and must not do I/O; the others without it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "memtable/memtable.h"
#include "store/compaction_task.h"
#include "store/store_options.h"
#include "store/store_view.h"

namespace compassdb {

struct SalvageReport;

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
