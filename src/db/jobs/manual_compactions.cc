// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/manual_compactions.h"

#include <algorithm>

#include "db/jobs/table_compaction.h"
#include "format/user_timestamp.h"
#include "store/levels.h"
#include "store/value_space.h"
#include "util/no_memory.h"

namespace compassdb {
namespace {

constexpr std::chrono::milliseconds kConflictLook{50};

// The deepest level that has tables in the range; -1: none has.
int DeepestLevel(ColumnFamily* family, const Slice* begin, const Slice* end) {
  const rocksdb::Comparator* comparator = family->user_comparator();
  int deepest = -1;
  family->read_state()->View()->ForEachTable([&](int level, const TphMeta& tph) {
    if (begin != nullptr && comparator->Compare(tph.largest, *begin) < 0) return;
    if (end != nullptr && comparator->Compare(tph.smallest, *end) > 0) return;
    deepest = std::max(deepest, level);
  });
  return deepest;
}

// Whether tables have a record of the range. True if that cannot be read, or if range deletions may
// be in it.
bool HasRecords(ColumnFamily* family, const Slice& begin, const Slice& end) {
  ReadStatePin state(family->read_state());
  RangeTombstoneSet tombstones(family->user_comparator());
  std::vector<InternalIteratorPtr> tables;
  BlockReadOptions read;
  read.fill_cache = false;
  if (!state->view->AddIterators(read, &tables, &tombstones).ok() || !tombstones.empty()) return true;
  const LookupKey first(begin, kMaxSequenceNumber);
  for (const InternalIteratorPtr& it : tables) {
    it->Seek(first.internal_key());
    if (!it->status().ok()) return true;
    if (it->Valid() && family->user_comparator()->Compare(ExtractUserKey(it->key()), end) <= 0) {
      return true;
    }
  }
  return false;
}

// While it exists, no collection of the family's values begins, if that was requested and there are values.
class CollectionHold {
 public:
  CollectionHold(BackgroundJobs* jobs, Mutex* mu, std::shared_ptr<ColumnFamily> family, bool wanted)
      : jobs_(jobs), mu_(mu), family_(std::move(family)), values_(wanted ? family_->store()->values() : nullptr) {
    if (values_ == nullptr) return;
    MutexLock lock(mu_);
    values_->HoldCollections();
  }
  ~CollectionHold() {
    if (values_ == nullptr) return;
    MutexLock lock(mu_);
    values_->UnholdCollections();
    jobs_->MaybeSchedule();
  }
  CollectionHold(const CollectionHold&) = delete;
  CollectionHold& operator=(const CollectionHold&) = delete;

 private:
  BackgroundJobs* const jobs_;
  Mutex* const mu_;
  const std::shared_ptr<ColumnFamily> family_;
  ValueSpace* const values_;
};

}  // namespace

Status ManualCompactions::RunJob(const std::shared_ptr<ColumnFamily>& family, std::unique_ptr<CompactionTask> task,
                                 const std::atomic<bool>* cancel, JobReport* report) {
  TableCompaction job(env_, family, std::move(task), /*manual=*/true, cancel);
  const Status s = job.Run();
  if (report != nullptr) *report = job.TakeReport();
  return s;
}

Status ManualCompactions::RunRequest(const std::shared_ptr<ColumnFamily>& family, const ManualCompaction& request,
                                     const std::atomic<bool>* cancel, const Done& done) {
  return RunPicked(
      family, [&](bool* conflict) { return family->store()->PickManual(request, conflict); }, cancel, done);
}

Status ManualCompactions::CollectValues(const std::shared_ptr<ColumnFamily>& family, double age_cutoff,
                                        const std::atomic<bool>* cancel) {
  ValueSpace* const values = family->store()->values();
  if (values == nullptr) return Status::OK();
  ValueCollection collection;
  if (age_cutoff >= 0 && age_cutoff <= 1) collection.old_share = age_cutoff;
  return RunPicked(
      family, [&](bool* conflict) { return values->PickValues(&collection, conflict); }, cancel, nullptr);
}

Status ManualCompactions::MayBegin(const ColumnFamily& family) const {
  if (*env_.shutting_down) return Status::ShutdownInProgress("CompactRange");
  if (env_.errors->background_stopped()) return env_.errors->error();
  if (family.dropped()) return Status::ColumnFamilyDropped(family.name());
  return Status::OK();
}

Status ManualCompactions::RunPicked(const std::shared_ptr<ColumnFamily>& family, const Pick& pick,
                                    const std::atomic<bool>* cancel, const Done& done) {
  while (true) {
    std::unique_ptr<CompactionTask> task;
    {
      MutexLock lock(mu_);
      while (task == nullptr) {
        if (Status s = MayBegin(*family); !s.ok()) return s;
        if (disabled_ > 0 || (cancel != nullptr && cancel->load())) {
          return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
        }
        bool conflict = false;
        Status looked = CatchOutOfMemory("a compaction", [&] {
          task = pick(&conflict);
          return Status::OK();
        });
        if (!looked.ok()) return looked;
        if (task == nullptr && !conflict) return Status::OK();
        if (task == nullptr) env_.changed->WaitFor(kConflictLook);
      }
      jobs_.ManualJobBegins();
    }
    JobReport report;
    Status s = RunJob(family, std::move(task), cancel != nullptr ? cancel : &cancelled_, &report);
    if (s.ok() && done) done(report);
    {
      MutexLock lock(mu_);
      jobs_.ManualJobEnds();
    }
    if (!s.ok()) return s;
  }
}

Status ManualCompactions::Check(const rocksdb::CompactRangeOptions& options, const ColumnFamily& family,
                                const Slice* begin, const Slice* end) {
  const StoreOptions& store = family.store()->options();
  if (options.target_path_id >= store.paths.size()) return Status::InvalidArgument("Invalid target path ID");
  if (options.change_level && store.fifo) {
    return Status::NotSupported("FIFO compaction does not support change_level.");
  }
  if (options.change_level && options.target_level > store.last_job_level()) {
    return Status::InvalidArgument("Target level exceeds number of levels");
  }
  if (options.full_history_ts_low != nullptr && !options.full_history_ts_low->empty() &&
      (begin != nullptr || end != nullptr)) {
    return Status::InvalidArgument("Cannot specify compaction range with full_history_ts_low");
  }
  return Status::OK();
}

Status ManualCompactions::CompactRange(const rocksdb::CompactRangeOptions& options,
                                       const std::shared_ptr<ColumnFamily>& family, const Slice* user_begin,
                                       const Slice* user_end) {
  const TimedRange range(user_begin, user_end, /*with_end=*/true, family->timestamp_size());
  const Slice* const begin = range.begin();
  const Slice* const end = range.end();
  if (begin != nullptr && end != nullptr &&
      family->user_comparator()->Compare(*begin, *end) > 0) {
    return Status::OK();  // an empty range
  }
  if (disabled_ > 0 || (options.canceled != nullptr && options.canceled->load())) {
    return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
  }

  using Collections = rocksdb::BlobGarbageCollectionPolicy;
  const CollectionHold hold(&jobs_, mu_, family, options.blob_garbage_collection_policy == Collections::kDisable);
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = options.allow_write_stall;
  Families families{family};
  if (env_.config.options.atomic_flush) families = env_.families.All();
  if (Status s = flusher_.Flush(families, flush, rocksdb::FlushReason::kManualCompaction); !s.ok()) {
    return s;
  }
  const ManualTurn turn(&jobs_, options.exclusive_manual_compaction);
  Status s = CompactLevels(options, family, begin, end);
  if (s.ok() && options.blob_garbage_collection_policy == Collections::kForce) {
    s = CollectValues(family, options.blob_garbage_collection_age_cutoff, options.canceled);
  }
  return s;
}

Status ManualCompactions::CompactLevels(const rocksdb::CompactRangeOptions& options,
                                        const std::shared_ptr<ColumnFamily>& family, const Slice* begin,
                                        const Slice* end) {
  if (family->store()->options().fifo) return RunRequest(family, ManualCompaction(), options.canceled);
  // As in RocksDB, tables around the range that have no key in it are not a reason for a job.
  if (begin != nullptr && end != nullptr && !HasRecords(family.get(), *begin, *end)) return Status::OK();
  ManualCompaction request;
  request.begin = begin;
  request.end = end;
  request.path = options.target_path_id;
  request.threads = options.max_subcompactions;
  // Tables that this call writes need no second rewrite by it.
  request.created_before = env_.commits->NewNumber();
  const int last = family->store()->options().last_job_level();
  const int occupied = DeepestLevel(family.get(), begin, end);
  int base = 1;
  if (family->store()->options().dynamic_levels) {
    MutexLock lock(mu_);
    base = family->store()->levels()->BaseLevel();
  }
  const int deepest = std::min(std::max(occupied, base), last);
  Status s;
  for (int level = 0; s.ok() && level < deepest; ++level) {
    request.input_level = level;
    request.output_level = level + 1;
    request.to_base = level == 0 && base > 1;
    s = RunRequest(family, request, options.canceled);
  }
  using Bottommost = rocksdb::BottommostLevelCompaction;
  const rocksdb::ColumnFamilyOptions family_options = family->options();
  const bool filtered = family_options.compaction_filter != nullptr ||
                        family_options.compaction_filter_factory != nullptr;
  const Bottommost bottommost = options.bottommost_level_compaction;
  if (s.ok() && (bottommost == Bottommost::kForce || bottommost == Bottommost::kForceOptimized ||
                 (bottommost == Bottommost::kIfHaveCompactionFilter && filtered))) {
    request.input_level = request.output_level = deepest;
    // Data from level 0 is written once into a level that was empty, as in RocksDB.
    if (bottommost == Bottommost::kForce && occupied == deepest) request.created_before = 0;
    // Tables rewritten now are newer than this number, so the loop ends.
    if (request.created_before == 0) request.created_before = env_.commits->NewNumber();
    s = RunRequest(family, request, options.canceled);
  } else if (s.ok() && bottommost != Bottommost::kSkip && deepest > 0) {
    request.input_level = request.output_level = deepest;
    request.created_before = 0;
    request.released = true;
    s = RunRequest(family, request, options.canceled);
  }
  if (!s.ok()) return s;
  return options.change_level ? ChangeLevel(family, deepest, options.target_level)
                              : SettleLastLevel(family, deepest, begin, end);
}

void ManualCompactions::Disable() {
  // If EnableManualCompaction came first, this call undoes it.
  if (disabled_.fetch_add(1) < 0) return;
  cancelled_.store(true);
  jobs_.AwaitManual();
}

void ManualCompactions::Enable() {
  if (disabled_.fetch_sub(1) == 1 && !*env_.shutting_down) cancelled_.store(false);
}

}  // namespace compassdb
