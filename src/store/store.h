// SPDX-License-Identifier: Apache-2.0
// The interface between the database (WAL, memtables, manifest, threads) and
// what keeps a column family's flushed data. A store decides where data is on
// disk; db/ decides when work runs and commits its edits. What only some stores
// can do is a facet: value_space.h, levels.h, pages.h.
//
// Lock order: the database mutex is outermost. Methods marked [mutex] are
// called with it held and must not do I/O; the others without it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "memtable/memtable.h"
#include "store/compaction_task.h"
#include "store/store_options.h"
#include "store/store_view.h"

namespace compassdb {

class Levels;
class Pages;
class ValueSpace;
struct SalvageReport;

struct FlushRequest {
  std::vector<std::shared_ptr<MemTable>> memtables;  // oldest first
  std::vector<SequenceNumber> snapshots;             // ascending
  uint32_t threads = 1;                              // that a merge may take, at least
  // Called regularly by each thread of a merge, with the part (0 to 1) of its share that is done and
  // the bytes that are left. True: write the rest in the quickest way, as a run on level 0, because
  // writers wait. May be null.
  std::function<bool(double, uint64_t)> hurry;
  // ValueSpace::ViewForJob, when the flush began. May be null if no values are separated.
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

struct ManualCompaction {
  const Slice* begin = nullptr;  // null: unbounded
  const Slice* end = nullptr;
  int input_level = 0;
  int output_level = 0;
  bool to_base = false;  // level 0 moves to Levels::BaseLevel, if that is deeper than output_level
  uint64_t created_before = 0;  // bottommost: only tables holding a piece with a smaller id; 0: all
  std::optional<size_t> path;   // of StoreOptions::paths, for the files; none: as usual
  const std::unordered_set<uint64_t>* tables = nullptr;  // only these, by id; null: all
  // For the rewrite of a level: only tables with enough bytes that snapshots kept and no longer need.
  bool released = false;
  uint32_t threads = 0;  // at most; 0: as the options have it
};

class Store {
 public:
  explicit Store(const StoreOptions& options) : options_(options) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  // As at open, without the changes of SetOptions.
  const StoreOptions& options() const { return options_; }

  // Facets: what not every store has. Null: this one has not. They live as long as the store.
  virtual ValueSpace* values() { return nullptr; }
  virtual Levels* levels() { return nullptr; }
  virtual Pages* pages() { return nullptr; }

  // [mutex] Jobs picked from now on use `changed`: the shape of tables and levels, compression and
  // age. The other fields are ignored.
  virtual void SetOptions(const StoreOptions& changed) = 0;

  // Recovery, one thread: edits in manifest order, then Open, which opens every table named.
  virtual Status ApplyRecovered(const VersionEdit& edit) = 0;
  virtual Status Open() = 0;

  // For RepairDB, on a store that was opened empty: reads everything of the state `recovered`. The
  // edit removes damaged tables and adds what can be read of them, in new files. Only damaged and
  // missing files count as damage: any other error is returned, and says nothing about the file's
  // contents.
  virtual Status Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed,
                         SalvageReport* report) = 0;

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
  // [mutex] The edit of a job was not installed, and no manifest names its files: they may be
  // deleted.
  virtual void Abandon(const VersionEdit& edit) = 0;
  // [mutex] The current view.
  virtual std::shared_ptr<const StoreView> view() const = 0;
  // [mutex] An edit that recreates the current state (for a new manifest).
  virtual void Snapshot(VersionEdit* edit) const = 0;

  // [mutex] Work that the current state needs; null if there is none that is not running yet.
  // The task's inputs are marked busy until Release.
  virtual std::unique_ptr<CompactionTask> PickCompaction() = 0;
  virtual bool NeedsCompaction() const = 0;
  // [mutex] While the oldest snapshot is `oldest`: the sequence that it must reach for
  // PickCompaction to find more work; kMaxSequenceNumber if snapshots keep nothing.
  virtual SequenceNumber KeptUntil(SequenceNumber oldest) const = 0;
  // [mutex] Moves tables that overlap the range from input_level to output_level.
  // Null with *conflict set: inputs are busy, try again later; null without: nothing to do.
  virtual std::unique_ptr<CompactionTask> PickManual(const ManualCompaction& request,
                                                     bool* conflict) = 0;
  // [mutex] Tables that overlap the range are compacted soon, if they are on level 0 or
  // anything is below them.
  virtual void MarkForCompaction(const KeyRange& range) = 0;
  // [mutex] After Install, or after the task failed.
  virtual void Release(CompactionTask* task) = 0;

  // [mutex] Write-stall inputs. Level0Runs: the tables of level 0, or five for each pending journal.
  virtual int Level0Runs() const = 0;
  virtual uint64_t PendingCompactionBytes() const = 0;
  // [mutex] The family was dropped: nothing may be picked; extents are released with the last view.
  virtual void MarkDropped() = 0;

 protected:
  const StoreOptions options_;
};

}  // namespace compassdb
