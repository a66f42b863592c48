// SPDX-License-Identifier: Apache-2.0
// Compactions: the store says what and does the work; here it is given a
// thread and its edit is committed. Manual compactions run in the caller's thread.
#include <algorithm>

#include "db/db_impl.h"
#include "db/jobs/run_task.h"
#include "db/jobs/table_compaction.h"
#include "format/user_timestamp.h"
#include "store/pages.h"
#include "store/value_space.h"

namespace compassdb {

void DBImpl::BackgroundCompaction() { RunPicked(&DBImpl::PickCompaction, &background_.compactions_scheduled, nullptr); }

void DBImpl::BackgroundCollection() {
  RunPicked(&DBImpl::PickCollection, &background_.collections.scheduled, &background_.collections.running);
}

void DBImpl::BackgroundLongWork() {
  RunPicked(&DBImpl::PickLongWork, &background_.long_work.scheduled, &background_.long_work.running);
}

void DBImpl::RunPicked(Picked (DBImpl::*pick)(), int* scheduled, int* beside) {
  Picked picked;
  bool collects = false;
  {
    MutexLock lock(&mu_);
    --*scheduled;
    if (beside != nullptr) ++*beside;
    ++background_.compactions_running;
    picked = (this->*pick)();
    collects = picked.task != nullptr && picked.task->collects();
    if (collects) ++background_.collections_running;
    BackgroundBegins(picked.family.get());
  }
  const Status s = RunInBackground(picked.family, std::move(picked.task), picked.status);
  MutexLock lock(&mu_);
  if (TableCompaction::Failed(s)) WaitAfterFailure();
  --background_.compactions_running;
  if (beside != nullptr) --*beside;
  if (collects) --background_.collections_running;
  BackgroundEnds(std::move(picked.family), s);
}

bool DBImpl::PickOf(const std::shared_ptr<ColumnFamily>& family, const char* what,
                    const std::function<std::unique_ptr<CompactionTask>(Store*)>& look, Picked* picked) {
  if (!MayCompact(*family)) return false;
  picked->status = CatchOutOfMemory(what, [&] {
    picked->task = look(family->store());
    return Status::OK();
  });
  if (picked->task == nullptr) return false;
  picked->family = family;
  return true;
}

namespace {

std::unique_ptr<CompactionTask> PickCollectionOf(Store* store, bool for_room) {
  ValueSpace* const values = store->values();
  return values == nullptr ? nullptr : values->PickCollection(for_room);
}

}  // namespace

DBImpl::Picked DBImpl::PickCompaction() {
  Picked picked;
  const bool all = background_.exclusive_manual == 0;
  const auto look = [all](Store* store) {
    return all ? store->PickCompaction() : PickCollectionOf(store, /*for_room=*/false);
  };
  while (!background_.compaction_queue.empty()) {
    const std::shared_ptr<ColumnFamily> family = std::move(background_.compaction_queue.front());
    background_.compaction_queue.pop_front();
    family->compaction_queued = false;
    if (PickOf(family, "a compaction", look, &picked)) break;
  }
  return picked;
}

// For a flush that still waits.
DBImpl::Picked DBImpl::PickCollection() {
  Picked picked;
  const auto look = [](Store* store) { return PickCollectionOf(store, /*for_room=*/true); };
  for (const auto& family : families_.All()) {
    const bool waits = family->FlushPending() && !family->flush_queued;
    if (waits && PickOf(family, "a collection", look, &picked)) break;
  }
  return picked;
}

DBImpl::Picked DBImpl::PickLongWork() {
  Picked picked;
  if (background_.exclusive_manual > 0) return picked;
  Families families = families_.All();
  const uint32_t last = background_.last_long_work;
  std::stable_partition(families.begin(), families.end(), [last](const auto& f) { return f->id() > last; });
  const auto look = [](Store* store) {
    Pages* const pages = store->pages();
    return pages == nullptr ? nullptr : pages->PickLongWork();
  };
  for (const auto& family : families) {
    if (!PickOf(family, "long work", look, &picked)) continue;
    background_.last_long_work = family->id();
    break;
  }
  return picked;
}

bool DBImpl::MayCompact(const ColumnFamily& family) const {
  return !family.dropped && !shutting_down_ && background_.paused == 0 && !errors_.background_stopped() &&
         !family.settings.disable_auto_compactions;
}

void DBImpl::BackgroundBegins(ColumnFamily* family) {
  if (family == nullptr) return;
  ++family->compactions_running;
  MaybeSchedule();  // perhaps there is work for another thread beside this
}

Status DBImpl::RunInBackground(const std::shared_ptr<ColumnFamily>& family, std::unique_ptr<CompactionTask> task,
                               const Status& looked) {
  if (task == nullptr) return looked;
  return task->silent() ? RunSilently(family, std::move(task))
                        : RunCompaction(family, std::move(task), /*manual=*/false, &shutting_down_);
}

void DBImpl::BackgroundEnds(std::shared_ptr<ColumnFamily> family, const Status& s) {
  if (family != nullptr || !s.ok()) {
    if (family != nullptr) --family->compactions_running;
    family.reset();
    BackgroundDone();  // without memory for a look, too: a flush may wait for what was to be found
  } else {
    // Not MaybeSchedule: it might find the same again, that nothing can be done about now.
    StartQueued();
    background_changed_.SignalAll();
  }
}

Status DBImpl::RunSilently(const std::shared_ptr<ColumnFamily>& family,
                           std::unique_ptr<CompactionTask> task) {
  VersionEdit none;
  JobReport report;
  const Status s = RunTask(task.get(), snapshots_.Sequences(), &shutting_down_, &none, &report);
  {
    MutexLock lock(&mu_);
    family->store()->Release(task.get());
    background_changed_.SignalAll();
  }
  if (!s.ok() && !s.IsShutdownInProgress()) {
    SetBackgroundError(s, rocksdb::BackgroundErrorReason::kCompaction);
  }
  return s;
}

Status DBImpl::RunCompaction(const std::shared_ptr<ColumnFamily>& family, std::unique_ptr<CompactionTask> task,
                             bool manual, const std::atomic<bool>* cancel, JobReport* report) {
  TableCompaction job(job_environment_, family, std::move(task), manual, cancel);
  Status s = job.Run();
  if (report != nullptr) *report = job.TakeReport();
  return s;
}

int DBImpl::DeepestLevel(ColumnFamily* family, const Slice* begin, const Slice* end) {
  const rocksdb::Comparator* comparator = family->user_comparator();
  int deepest = -1;
  family->read_state()->View()->ForEachTable([&](int level, const TphMeta& tph) {
    if (begin != nullptr && comparator->Compare(tph.largest, *begin) < 0) return;
    if (end != nullptr && comparator->Compare(tph.smallest, *end) > 0) return;
    deepest = std::max(deepest, level);
  });
  return deepest;
}

Status DBImpl::RunManual(const std::shared_ptr<ColumnFamily>& family,
                         const ManualCompaction& request, const std::atomic<bool>* cancel,
                         const std::function<void(const JobReport&)>& done) {
  return RunPicked(
      family, [&](bool* conflict) { return family->store()->PickManual(request, conflict); }, cancel, done);
}

Status DBImpl::CollectValues(const std::shared_ptr<ColumnFamily>& family, double age_cutoff,
                             const std::atomic<bool>* cancel) {
  ValueSpace* const values = family->store()->values();
  if (values == nullptr) return Status::OK();
  ValueCollection collection;
  if (age_cutoff >= 0 && age_cutoff <= 1) collection.old_share = age_cutoff;
  return RunPicked(
      family, [&](bool* conflict) { return values->PickValues(&collection, conflict); }, cancel, nullptr);
}

// While it lives no collection of the family's values is begun, if that was wanted and there are values.
class DBImpl::CollectionHold {
 public:
  CollectionHold(DBImpl* db, std::shared_ptr<ColumnFamily> family, bool wanted)
      : db_(db), family_(std::move(family)), values_(wanted ? family_->store()->values() : nullptr) {
    if (values_ == nullptr) return;
    MutexLock lock(&db_->mu_);
    values_->HoldCollections();
  }
  ~CollectionHold() {
    if (values_ == nullptr) return;
    MutexLock lock(&db_->mu_);
    values_->UnholdCollections();
    db_->MaybeSchedule();
  }
  CollectionHold(const CollectionHold&) = delete;
  CollectionHold& operator=(const CollectionHold&) = delete;

 private:
  DBImpl* const db_;
  const std::shared_ptr<ColumnFamily> family_;
  ValueSpace* const values_;
};

DBImpl::ManualTurn::ManualTurn(DBImpl* db, bool exclusive) : db_(db), exclusive_(exclusive) {
  MutexLock lock(&db_->mu_);
  Background& background = db_->background_;
  if (exclusive_) ++background.exclusive_manual;
  ++background.manual_running;
  while (exclusive_ && background.compactions_running > background.collections_running) {
    db_->background_changed_.Wait();
  }
}

DBImpl::ManualTurn::~ManualTurn() {
  MutexLock lock(&db_->mu_);
  if (exclusive_) --db_->background_.exclusive_manual;
  --db_->background_.manual_running;
  db_->BackgroundDone();
}

Status DBImpl::RunPicked(const std::shared_ptr<ColumnFamily>& family,
                         const std::function<std::unique_ptr<CompactionTask>(bool*)>& pick,
                         const std::atomic<bool>* cancel,
                         const std::function<void(const JobReport&)>& done) {
  while (true) {
    std::unique_ptr<CompactionTask> task;
    {
      MutexLock lock(&mu_);
      while (task == nullptr) {
        if (shutting_down_) return Status::ShutdownInProgress("CompactRange");
        if (errors_.background_stopped()) return errors_.error();
        if (family->dropped) return Status::ColumnFamilyDropped(family->name());
        if (manual_disabled_ > 0 || (cancel != nullptr && cancel->load())) {
          return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
        }
        bool conflict = false;
        Status looked = CatchOutOfMemory("a compaction", [&] {
          task = pick(&conflict);
          return Status::OK();
        });
        if (!looked.ok()) return looked;
        if (task == nullptr && !conflict) return Status::OK();
        if (task == nullptr) background_changed_.WaitFor(std::chrono::milliseconds(50));
      }
      ++family->compactions_running;
      ++background_.manual_jobs;
    }
    JobReport report;
    Status s = RunCompaction(family, std::move(task), /*manual=*/true,
                             cancel != nullptr ? cancel : &manual_cancelled_, &report);
    if (s.ok() && done) done(report);
    {
      MutexLock lock(&mu_);
      --family->compactions_running;
      --background_.manual_jobs;
      BackgroundDone();
    }
    if (!s.ok()) {
      if (s.IsIncomplete()) return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
      return s;
    }
  }
}

Status DBImpl::CompactRange(const rocksdb::CompactRangeOptions& options,
                            ColumnFamilyHandle* handle, const Slice* user_begin,
                            const Slice* user_end) {
  if (Status s = CheckWritable("CompactRange"); !s.ok()) return s;
  const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
  if (options.target_path_id >= family->store()->options().paths.size()) {
    return Status::InvalidArgument("Invalid target path ID");
  }
  if (options.change_level && options.target_level > family->store()->options().last_job_level()) {
    return Status::InvalidArgument("Target level exceeds number of levels");
  }
  if (options.full_history_ts_low != nullptr && !options.full_history_ts_low->empty()) {
    if (user_begin != nullptr || user_end != nullptr) {
      return Status::InvalidArgument("Cannot specify compaction range with full_history_ts_low");
    }
    Status s = family_histories_.Raise(family, options.full_history_ts_low->ToString());
    if (!s.ok()) return s;
  }
  const TimedRange range(user_begin, user_end, /*with_end=*/true, family->timestamp_size());
  const Slice* const begin = range.begin();
  const Slice* const end = range.end();
  if (begin != nullptr && end != nullptr &&
      family->user_comparator()->Compare(*begin, *end) > 0) {
    return Status::OK();  // an empty range
  }
  if (manual_disabled_ > 0) return Status::Incomplete(Status::SubCode::kManualCompactionPaused);

  using Collections = rocksdb::BlobGarbageCollectionPolicy;
  const CollectionHold hold(this, family, options.blob_garbage_collection_policy == Collections::kDisable);
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = options.allow_write_stall;
  Families families{family};
  if (config_.options.atomic_flush) families = families_.All();
  if (Status s = FlushFamilies(families, flush, rocksdb::FlushReason::kManualCompaction); !s.ok()) {
    return s;
  }
  const ManualTurn turn(this, options.exclusive_manual_compaction);

  ManualCompaction request;
  request.begin = begin;
  request.end = end;
  request.path = options.target_path_id;
  // Tables that this call writes need not be rewritten by it once more.
  request.created_before = commits_.NewNumber();
  const int last = family->store()->options().last_job_level();
  const int occupied = DeepestLevel(family.get(), begin, end);
  const int deepest = std::min(std::max(occupied, std::min(1, last)), last);
  Status s;
  for (int level = 0; s.ok() && level < deepest; ++level) {
    request.input_level = level;
    request.output_level = level + 1;
    s = RunManual(family, request, options.canceled);
  }
  using Bottommost = rocksdb::BottommostLevelCompaction;
  const rocksdb::ColumnFamilyOptions family_options = family->options();
  const bool filtered = family_options.compaction_filter != nullptr ||
                        family_options.compaction_filter_factory != nullptr;
  const Bottommost bottommost = options.bottommost_level_compaction;
  if (s.ok() && (bottommost == Bottommost::kForce || bottommost == Bottommost::kForceOptimized ||
                 (bottommost == Bottommost::kIfHaveCompactionFilter && filtered))) {
    request.input_level = request.output_level = deepest;
    // What comes from level 0 into a level that was empty is written once, as in RocksDB.
    if (bottommost == Bottommost::kForce && occupied == deepest) request.created_before = 0;
    // Tables rewritten now are newer than this number, so the loop ends.
    if (request.created_before == 0) request.created_before = commits_.NewNumber();
    s = RunManual(family, request, options.canceled);
  } else if (s.ok() && bottommost != Bottommost::kSkip && deepest > 0) {
    request.input_level = request.output_level = deepest;
    request.created_before = 0;
    request.released = true;
    s = RunManual(family, request, options.canceled);
  }
  if (s.ok() && options.change_level) {
    s = ChangeLevel(family, deepest, options.target_level);
  } else if (s.ok()) {
    s = SettleLastLevel(family, deepest, begin, end);
  }
  if (s.ok() && options.blob_garbage_collection_policy == Collections::kForce) {
    s = CollectValues(family, options.blob_garbage_collection_age_cutoff, options.canceled);
  }
  return s;
}

void DBImpl::DisableManualCompaction() {
  // An EnableManualCompaction that came first is what this one undoes.
  if (manual_disabled_.fetch_add(1) < 0) return;
  manual_cancelled_.store(true);
  MutexLock lock(&mu_);
  background_changed_.SignalAll();
  while (background_.manual_running > 0) background_changed_.Wait();
}

void DBImpl::EnableManualCompaction() {
  if (manual_disabled_.fetch_sub(1) == 1 && !shutting_down_) manual_cancelled_.store(false);
}

}  // namespace compassdb
