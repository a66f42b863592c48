// SPDX-License-Identifier: Apache-2.0
// A column family's levels.
//
// Thread safety: methods marked [mutex] in store.h run under the database
// mutex, which guards version_ and busy_ (it is the caller's, so the
// fields carry no annotation). handles_mu_ guards the maps of open handles and
// the pins; it is a leaf.
//
// Invariants: a table in busy_ is input or base of exactly one running task
// (rule 5); every table of the current version is in the manifest.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lsm/policy/picker.h"
#include "lsm/version/lsm_version.h"
#include "store/levels.h"
#include "store/salvage_report.h"
#include "store/store.h"
#include "store/value_space.h"
#include "util/mutex.h"
#include "value_store/value_store.h"

namespace compassdb {

class LsmStore : public Store, private ValueSpace, private Levels {
 public:
  LsmStore(const StoreContext* context, const StoreOptions& options);
  ~LsmStore() override;

  ValueSpace* values() override { return this; }
  Levels* levels() override { return this; }
  void SetOptions(const StoreOptions& changed) override;
  Status ApplyRecovered(const VersionEdit& edit) override;
  Status Open() override;
  Status Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed,
                 SalvageReport* report) override;  // salvage.cc
  Status Flush(const FlushRequest& request, VersionEdit* edit, JobReport* report) override;
  Status Prepare(const VersionEdit& edit, std::unique_ptr<Prepared>* prepared) override;
  void Install(const VersionEdit& edit, std::unique_ptr<Prepared> prepared) override;
  void Abandon(const VersionEdit& edit) override;
  std::shared_ptr<const StoreView> view() const override { return version_; }
  void Snapshot(VersionEdit* edit) const override;
  std::unique_ptr<CompactionTask> PickCompaction() override;
  bool NeedsCompaction() const override;
  SequenceNumber KeptUntil(SequenceNumber oldest) const override;
  std::unique_ptr<CompactionTask> PickManual(const ManualCompaction& request,
                                             bool* conflict) override;
  void MarkForCompaction(const KeyRange& range) override;  // requests.cc
  void Release(CompactionTask* task) override;
  int Level0Runs() const override { return static_cast<int>(version_->levels()[0].size()); }
  uint64_t PendingCompactionBytes() const override;
  void MarkDropped() override;

  const StoreContext* context() const { return context_; }
  // The options, with the changes of SetOptions.
  std::shared_ptr<const StoreOptions> current() const EXCLUDES(handles_mu_) {
    MutexLock lock(&handles_mu_);
    return current_;
  }
  // A finished job's file stays pinned in the ledger until Install adds its extents, or Abandon.
  void PinUntilInstalled(const JobReport& report);
  void RecordJob(const JobReport& report);
  // Adds the files that hold a table of the level to the input of a job.
  void ListFiles(const TphMeta& meta, int level, JobReport* report) const;

 private:
  // ValueSpace (value_gc_task.cc).
  std::shared_ptr<const StoreView> ViewForJob() override { return VersionForJob(); }
  uint64_t ValueBound() const override;
  ValueRoom FlushRoom() const override;
  bool AwaitsCollection(uint64_t flush_bytes) override;
  std::unique_ptr<CompactionTask> PickCollection(bool for_room) override;
  bool NeedsCollection(bool for_room) const override;
  std::unique_ptr<CompactionTask> PickValues(ValueCollection* collection, bool* conflict) override;
  void HoldCollections() override { ++collections_held_; }
  void UnholdCollections() override { --collections_held_; }
  bool WantsIdleLooks() const override {
    return !dropped_ && current()->values.collects_when_idle();
  }

  // Levels (requests.cc, ingest.cc; BaseLevel and PickFlush as PickCompaction).
  int BaseLevel() const override;
  std::unique_ptr<CompactionTask> PickFlush(const FlushRequest& request) override;
  std::unique_ptr<CompactionTask> PickDrop(std::span<const KeyRange> ranges,
                                           bool include_end) override;
  Status PickMove(int from, int to, std::unique_ptr<CompactionTask>* task,
                  bool* conflict) override;
  std::unique_ptr<CompactionTask> PickIngest(IngestRequest request, IngestPlace place) override;
  Status CheckIngestBehind(const Slice& smallest, const Slice& largest) const override;
  bool NeedSequence(const Slice& smallest, const Slice& largest) const override;

  class IngestTask;
  class EditTask;
  std::unique_ptr<CompactionTask> PickFifo();  // requests.cc
  class ValueGcTask;
  // kMerge: small runs only. kForced: at any gain above none.
  enum class ValueGcKind { kCollect, kCount, kMerge, kForced };
  class Salvager;
  struct PreparedTables : Prepared {
    std::vector<std::pair<int, TableRef>> tables;
    std::vector<ValueRunRef> values;
  };
  using OpenPieces = std::unordered_map<uint64_t, std::shared_ptr<Piece>>;  // by id
  // Reads no file. Takes open pieces from `open`, and adds the others to it.
  Status OpenTable(TphMeta meta, int level, OpenPieces* open, TableRef* table);
  // In the order of a level.
  void SortLevel(size_t level, std::vector<TableRef>* tables) const;
  // Bits of the family's paths that have files of the table; 0 if there is one path.
  uint32_t PathsOf(const TphMeta& meta) const;
  // The files of the recovered tables exist, and are as long as the manifest says.
  Status CheckFiles(std::map<uint64_t, uint64_t>* data_ends) const;
  Status CheckRecovered(const TphMeta& meta) const;
  // Edits say what files say: of a primary, or before Open what a repair has found.
  bool FollowsFiles() const { return context_->read_only || !recovered_.empty(); }
  void CheckInvariants() const EXCLUDES(handles_mu_);  // [mutex]
  // Files with more dead bytes than allowed that cannot be punched: of tables, of values.
  std::unordered_set<uint64_t> FilesToVacate() const;
  std::unordered_set<uint64_t> ValueFilesToVacate() const;  // value_gc_task.cc
  std::vector<ExtentLedger::SparseFile> SparseFiles() const;
  std::unordered_set<uint64_t> ToVacate(std::vector<ExtentLedger::SparseFile> sparse,
                                        const std::unordered_set<uint64_t>& own,
                                        uint64_t live) const;
  PickerInput MakePickerInput() const;
  PickerConfig MakePickerConfig() const;
  // `flushed` (may be null): memtables that are merged with the plan's inputs.
  std::unique_ptr<CompactionTask> MakeTask(const CompactionPlan& plan, bool manual,
                                           const FlushRequest* flushed, bool* conflict);
  // The deepest level that tables of this range may be ingested into.
  int DeepestFor(const TphMeta& range) const;
  void Unpin(uint64_t file_number) REQUIRES(handles_mu_);
  void UnpinAdded(const VersionEdit& edit) REQUIRES(handles_mu_);
  void SetVersion(std::vector<std::vector<TableRef>> levels) EXCLUDES(handles_mu_);
  std::shared_ptr<const LsmVersion> VersionForJob();
  SequenceNumber OldestSnapshot() const {
    return context_->oldest_snapshot ? context_->oldest_snapshot() : kMaxSequenceNumber;
  }
  // The table is not shared yet, and is added to a level; `gone`: tables that the same edit deletes.
  void NoteCovered(const LsmVersion& version, int level, const std::unordered_set<uint64_t>& gone,
                   TableHandle* table) const;
  // Range deletions that all snapshots see hide enough values to compact them.
  bool CoversTooMuch(SequenceNumber oldest_snapshot) const;
  // The table is added to a level: notes it if snapshots keep enough of it.
  void NoteKept(int level, const TableRef& table);
  void NoteAllKept();
  bool MayCollect() const { return collections_held_ == 0 || flush_waits_; }
  // For groups that are marked as busy; it takes their runs up to `old_until`.
  std::unique_ptr<CompactionTask> NewValueGcTask(const ValueGroups& groups, ValueGcKind kind,
                                                 std::unordered_set<uint64_t> vacated,
                                                 uint64_t old_until = UINT64_MAX);
  // A late job (ValueStore), until Release.
  void NoteLateJob(const CompactionTask* task);

  const StoreContext* const context_;
  TableContextRef table_context_;
  ValueStore values_;
  std::unordered_map<const CompactionTask*, ValueStore::LateJob> late_jobs_;
  struct Collecting {
    ValueGroups groups;
    std::function<void()> done;  // at Release
  };
  std::unordered_map<const CompactionTask*, Collecting> collecting_;
  int collections_held_ = 0;
  bool flush_waits_ = false;  // for a collection
  std::shared_ptr<const LsmVersion> version_;
  std::shared_ptr<const LsmVersion> job_version_;  // the same for jobs, once one needs it
  std::unordered_set<uint64_t> busy_;  // table ids
  // Where running tasks will add tables. A task with several inputs may span a
  // gap without busy tables: no other task may write there until it ends.
  struct Claim {
    const CompactionTask* task;
    int level;
    TphMeta range;  // only the bounds, of keys and hashes
  };
  std::vector<Claim> claims_;
  bool dropped_ = false;
  // The tables to be rewritten, by id, once snapshots older than a sequence are released: their newest sequence
  // below level 0, or that of their oldest range tombstone that hides something.
  std::set<std::pair<SequenceNumber, uint64_t>> kept_;

  // Recovery only: tables by level and id.
  std::vector<std::map<uint64_t, TphMeta>> recovered_;

  mutable Mutex handles_mu_;
  std::shared_ptr<const StoreOptions> current_ GUARDED_BY(handles_mu_);
  std::unordered_map<uint64_t, std::weak_ptr<TableHandle>> table_handles_ GUARDED_BY(handles_mu_);
  std::set<uint64_t> pinned_files_ GUARDED_BY(handles_mu_);
  std::weak_ptr<const LsmVersion> newest_version_ GUARDED_BY(handles_mu_);  // version_, for threads without the mutex
  size_t sweep_at_ GUARDED_BY(handles_mu_) = 256;  // entries in the map

  const std::shared_ptr<JobCounters> counters_;
  ScanAccounting accounting_;
};

}  // namespace compassdb
