// SPDX-License-Identifier: Apache-2.0
// Garbage collection of the value store as a background task: no table is its input or output.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "lsm/compaction/job_file.h"
#include "lsm/lsm_store_impl.h"
#include "store/job_reasons.h"
#include "table/read_stats.h"
#include "value_store/value_gc.h"

namespace compassdb {

class LsmStore::ValueGcTask final : public CompactionTask {
 public:
  ValueGcTask(LsmStore* store, const ValueGroup& group, ValueGcKind kind,
              std::unordered_set<uint64_t> vacated, uint64_t old_until)
      : store_(store),
        options_(store->current()),
        values_(store->values_.newest()),
        group_(group),
        inputs_(store->values_.version()->RunsOf(group)),
        kind_(kind),
        vacated_(std::move(vacated)),
        tail_(kind == ValueGcKind::kCollect && vacated_.empty() &&
              options_->values.policy == ValueGcPolicy::kOldestFirst),
        old_until_(tail_ ? store->values_.TailUntil(group, options_->values) : old_until),
        retain_above_(store->values_.OldestLateJob()),
        group_bits_(store->values_.GroupBits(options_->values)) {
    for (const ValueVersion::Group& g : store->values_.version()->Groups()) {
      if (g.group == group_) believed_dead_ = g.dead_bytes;
    }
    if (kind == ValueGcKind::kForced) believed_dead_ = 2;
    // A log's tail is moved with any garbage, or none.
    if (kind == ValueGcKind::kMerge || tail_) believed_dead_ = 0;
  }

  bool silent() const override { return kind_ == ValueGcKind::kCount; }
  bool collects() const override { return true; }
  int input_level() const override { return store_->options_.num_levels - 1; }
  int output_level() const override { return input_level(); }
  std::string Describe() const override {
    return "values: group " + std::to_string(group_.prefix) + "/" + std::to_string(group_.bits);
  }

  void ListInputs(JobReport* report) const override {
    CompactionTask::ListInputs(report);
    report->reason = kValuesReason;
  }

  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override {
    const uint64_t start = store_->context_->clock->NowNanos();
    edit->column_family = store_->options_.column_family_id;
    ListInputs(report);
    const size_t last_path = options_->paths.empty() ? 0 : options_->paths.size() - 1;
    JobFile file(store_->context_, options_.get(), 0, /*flush=*/false, report->observer,
                 /*values=*/true);
    JobFile cold_file(store_->context_, options_.get(), last_path, /*flush=*/false,
                      report->observer, /*values=*/true);
    ValueGcJob job;
    job.group = group_;
    job.inputs = inputs_;
    job.count = kind_ == ValueGcKind::kCount;
    job.merge = kind_ == ValueGcKind::kMerge;
    job.believed_dead = believed_dead_;
    job.snapshots = snapshots;
    job.retain_above = retain_above_;
    job.vacated = vacated_;
    job.old_until = old_until_;
    job.tail = tail_;
    job.read_span = options_->values.read_span;
    job.statistics = store_->context_->statistics;
    // A forced job takes all runs with garbage, at any cost. Cold values stay cold.
    if (options_->values.hot_cold && kind_ != ValueGcKind::kForced) job.updates = values_->Get()->updates();
    job.keep_cold = options_->values.hot_cold;
    job.group_bits = group_bits_;
    job.uncommitted_bytes = values_->Get()->uncommitted_bytes();
    job.file = [&](CompactionFileWriter** writer) { return file.Writer(writer); };
    if (last_path > 0) {
      job.cold_file = [&](CompactionFileWriter** writer) { return cold_file.Writer(writer); };
    }
    job.new_number = store_->context_->new_number;
    job.pause = [&] {
      file.Throttle();
      cold_file.Throttle();
      return cancel != nullptr && cancel->load(std::memory_order_relaxed)
                 ? Status::ShutdownInProgress("collection of values cancelled")
                 : Status::OK();
    };
    ValueGcReport& done = done_;
    Status s = CollectValueGroup(job, edit, &done);
    if (s.ok()) values_->Get()->LearnNoticeWorth(done.notices, done.ended_bytes);
    report->AddValuesRead(done.values_moved, done.bytes_read);
    if (s.ok() && done.counted) {
      ran_ = true;
      return s;
    }
    if (s.ok()) s = file.Finish(edit);
    if (s.ok()) s = cold_file.Finish(edit);
    if (!s.ok()) {
      file.Abandon();
      return s;
    }
    ran_ = true;
    gone_.insert(edit->deleted_values.begin(), edit->deleted_values.end());
    ReportValueFile(file, *edit, report);
    ReportValueFile(cold_file, *edit, report);
    ReportGarbage(report);
    store_->PinUntilInstalled(*report);
    Tick(job.statistics, rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED, done.values_moved);
    Tick(job.statistics, rocksdb::BLOB_DB_GC_BYTES_RELOCATED, done.bytes_moved);
    report->records_in = done.values_in;
    report->records_out = done.values_moved;
    report->micros = (store_->context_->clock->NowNanos() - start) / 1000;
    store_->RecordJob(*report);
    return s;
  }

  const ValueGroup& group() const { return group_; }
  // The store is notified, under the mutex, once the edit is installed. (If its commit failed, the garbage is the same.)
  void NotifyStore() const {
    if (!ran_) return;
    if (done_.counted) {
      store_->values_.Counted(inputs_, done_.hints);
    } else if (std::ranges::none_of(store_->values_.version()->runs(),
                                    [&](const ValueRunRef& run) { return gone_.contains(run->meta().run_id); })) {
      store_->values_.Collected(inputs_);
    }
  }

 private:
  // All bytes of the deleted runs: their live values have another place now.
  void ReportGarbage(JobReport* report) const {
    std::map<uint64_t, JobReport::ValueFile> files;
    for (const ValueRunRef& run : inputs_) {
      const ValueRunMeta& meta = run->meta();
      if (!gone_.contains(meta.run_id)) continue;
      JobReport::ValueFile& file = files[meta.extent.file_number];
      file.values += meta.num_values;
      file.bytes += meta.extent.length;
    }
    for (auto& [number, file] : files) {
      file.number = number;
      file.path = store_->context_->files->PathOf(number);
      report->value_garbage.push_back(std::move(file));
    }
  }

  LsmStore* const store_;
  const std::shared_ptr<const StoreOptions> options_;
  const std::shared_ptr<const NewestValues> values_;
  const ValueGroup group_;
  const std::vector<ValueRunRef> inputs_;
  const ValueGcKind kind_;
  const std::unordered_set<uint64_t> vacated_;  // files
  const bool tail_;
  const uint64_t old_until_;
  const SequenceNumber retain_above_;
  const uint32_t group_bits_;
  uint64_t believed_dead_ = 0;
  bool ran_ = false;
  std::unordered_set<uint64_t> gone_;  // ids of the inputs that its edit deletes
  ValueGcReport done_;
};

ValueRoom LsmStore::FlushRoom() const {
  const std::shared_ptr<const StoreOptions> options = current();
  const bool any = options->values.enabled || !values_.version()->empty();
  return any && options->values.collect ? values_.FlushRoom(options->values) : ValueRoom();
}

bool LsmStore::AwaitsCollection(uint64_t flush_bytes) {
  const std::shared_ptr<const StoreOptions> options = current();
  flush_waits_ = !dropped_ && options->values.enabled && options->values.collect &&
                 values_.AwaitsCollection(options->values, flush_bytes,
                                          context_->clock->NowMicros() / 1000000);
  return flush_waits_;
}

uint64_t LsmStore::ValueBound() const {
  const std::shared_ptr<const StoreOptions> options = current();
  const ValueVersion& version = *values_.version();
  if (version.empty() || !options->values.collect) return 0;
  return ValueLoad(version.Groups()).Bound(options->values);
}

std::unordered_set<uint64_t> LsmStore::ValueFilesToVacate() const {
  const ValueVersion& version = *values_.version();
  if (version.empty() || !current()->values.collect) return {};
  std::vector<ExtentLedger::SparseFile> sparse = SparseFiles();
  if (sparse.empty()) return {};
  std::unordered_set<uint64_t> own;
  for (const ValueRunRef& run : version.runs()) own.insert(run->meta().extent.file_number);
  return ToVacate(std::move(sparse), own, version.total_bytes());
}

bool LsmStore::NeedsCollection(bool for_room) const {
  if (dropped_ || !MayCollect()) return false;
  const uint64_t now = context_->clock->NowMicros() / 1000000;
  if (values_.HasGroupToCollect(current()->values, now)) return true;
  return !for_room && (values_.HasGroupToCountOrMerge(current()->values) ||
                       values_.GroupWithRunsIn(ValueFilesToVacate()).has_value());
}

std::unique_ptr<CompactionTask> LsmStore::PickCollection(bool for_room) {
  if (dropped_ || !MayCollect()) return nullptr;
  const uint64_t now = context_->clock->NowMicros() / 1000000;
  const std::shared_ptr<const StoreOptions> options = current();
  std::optional<ValueGroup> group = values_.PickGroup(options->values, now);
  std::unordered_set<uint64_t> vacated;
  auto kind = ValueGcKind::kCollect;
  if (!group && for_room) return nullptr;
  if (!group) {
    group = values_.PickGroupToCount(options->values);
    if (group) kind = ValueGcKind::kCount;
  }
  if (!group) {
    group = values_.PickGroupToMerge();
    if (group) kind = ValueGcKind::kMerge;
  }
  if (!group) {
    vacated = ValueFilesToVacate();
    group = values_.GroupWithRunsIn(vacated);
    if (!group) return nullptr;
    values_.MarkBusy(*group);
  }
  return NewValueGcTask(*group, kind, std::move(vacated));
}

std::unique_ptr<CompactionTask> LsmStore::NewValueGcTask(const ValueGroup& group, ValueGcKind kind,
                                                         std::unordered_set<uint64_t> vacated,
                                                         uint64_t old_until) {
  try {
    auto task = std::make_unique<ValueGcTask>(this, group, kind, std::move(vacated), old_until);
    collecting_.emplace(task.get(), Collecting{group, [task = task.get()] { task->NotifyStore(); }});
    return task;
  } catch (const std::bad_alloc&) {
    values_.Release(group);  // or it would stay busy
    throw;
  }
}

std::unique_ptr<CompactionTask> LsmStore::PickValues(ValueCollection* collection, bool* conflict) {
  *conflict = false;
  if (dropped_) return nullptr;
  if (!collection->old_until) {
    const double share = collection->old_share < 0 ? current()->values.old_share : collection->old_share;
    collection->old_until = values_.version()->OldUntil(share);
  }
  const std::optional<ValueGroup> group = values_.PickFrom(&collection->from, *collection->old_until, conflict);
  if (!group) return nullptr;
  return NewValueGcTask(*group, ValueGcKind::kForced, {}, *collection->old_until);
}

}  // namespace compassdb
