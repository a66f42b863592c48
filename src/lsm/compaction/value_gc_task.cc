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
  ValueGcTask(LsmStore* store, const ValueGroups& groups, ValueGcKind kind,
              std::unordered_set<uint64_t> vacated, uint64_t old_until)
      : store_(store),
        options_(store->current()),
        values_(store->values_.newest()),
        kind_(kind),
        vacated_(std::move(vacated)),
        tail_(kind == ValueGcKind::kCollect && vacated_.empty() &&
              options_->values.policy == ValueGcPolicy::kOldestFirst),
        old_until_(tail_ ? store->values_.TailUntil(groups.front(), options_->values) : old_until),
        retain_above_(store->values_.OldestLateJob()),
        group_bits_(store->values_.GroupBits(options_->values)) {
    const std::shared_ptr<const ValueVersion> version = store->values_.version();
    const std::vector<ValueVersion::Group> all = version->Groups();
    for (const ValueGroup& group : groups) {
      Part& part = parts_.emplace_back();
      part.group = group;
      part.inputs = version->RunsOf(group);
      const auto known = std::ranges::find(all, group, &ValueVersion::Group::group);
      if (known != all.end()) part.believed_dead = known->dead_bytes;
      if (kind == ValueGcKind::kForced) part.believed_dead = 2;
      // A log's tail is moved with any garbage, or none.
      if (kind == ValueGcKind::kMerge || tail_) part.believed_dead = 0;
    }
  }

  bool silent() const override { return kind_ == ValueGcKind::kCount; }
  bool collects() const override { return true; }
  int input_level() const override { return store_->options_.num_levels - 1; }
  int output_level() const override { return input_level(); }
  std::string Describe() const override {
    const ValueGroup& first = parts_.front().group;
    std::string text = "values: group " + std::to_string(first.prefix) + "/" + std::to_string(first.bits);
    if (parts_.size() > 1) text += " and " + std::to_string(parts_.size() - 1) + " more";
    return text;
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
    job.count = kind_ == ValueGcKind::kCount;
    job.merge = kind_ == ValueGcKind::kMerge;
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
    Status s;
    ValueGcReport sum;
    for (Part& part : parts_) {
      job.group = part.group;
      job.inputs = part.inputs;
      job.believed_dead = part.believed_dead;
      s = CollectValueGroup(job, edit, &part.done);
      const ValueGcReport& done = part.done;
      report->AddValuesRead(done.values_moved, done.bytes_read);
      if (!s.ok()) break;
      values_->Get()->LearnNoticeWorth(done.notices, done.ended_bytes);
      sum.values_in += done.values_in;
      sum.values_moved += done.values_moved;
      sum.bytes_moved += done.bytes_moved;
    }
    if (s.ok() && std::ranges::all_of(parts_, [](const Part& part) { return part.done.counted; })) {
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
    Tick(job.statistics, rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED, sum.values_moved);
    Tick(job.statistics, rocksdb::BLOB_DB_GC_BYTES_RELOCATED, sum.bytes_moved);
    report->records_in = sum.values_in;
    report->records_out = sum.values_moved;
    report->micros = (store_->context_->clock->NowNanos() - start) / 1000;
    store_->RecordJob(*report);
    return s;
  }

  // The store is notified, under the mutex, once the edit is installed. (If its commit failed, the garbage is the same.)
  void NotifyStore() const {
    if (!ran_) return;
    ValueStore& values = store_->values_;
    const bool installed = std::ranges::none_of(
        values.version()->runs(), [&](const ValueRunRef& run) { return gone_.contains(run->meta().run_id); });
    for (const Part& part : parts_) {
      if (part.done.counted) {
        values.Counted(part.inputs, part.done.hints);
      } else if (installed) {
        values.Collected(part.inputs);
      }
    }
    values.Recount();
  }

 private:
  struct Part {
    ValueGroup group;
    std::vector<ValueRunRef> inputs;
    uint64_t believed_dead = 0;
    ValueGcReport done;
  };
  // All bytes of the deleted runs: their live values have another place now.
  void ReportGarbage(JobReport* report) const {
    std::map<uint64_t, JobReport::ValueFile> files;
    for (const Part& part : parts_) {
      for (const ValueRunRef& run : part.inputs) {
        const ValueRunMeta& meta = run->meta();
        if (!gone_.contains(meta.run_id)) continue;
        JobReport::ValueFile& file = files[meta.extent.file_number];
        file.values += meta.num_values;
        file.bytes += meta.extent.length;
      }
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
  const ValueGcKind kind_;
  const std::unordered_set<uint64_t> vacated_;  // files
  const bool tail_;
  const uint64_t old_until_;
  const SequenceNumber retain_above_;
  const uint32_t group_bits_;
  std::vector<Part> parts_;  // by group; one commit for all
  bool ran_ = false;
  std::unordered_set<uint64_t> gone_;  // ids of the inputs that its edit deletes
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
                       !values_.GroupsWithRunsIn(current()->values, ValueFilesToVacate()).empty());
}

std::unique_ptr<CompactionTask> LsmStore::PickCollection(bool for_room) {
  if (dropped_ || !MayCollect()) return nullptr;
  const uint64_t now = context_->clock->NowMicros() / 1000000;
  const std::shared_ptr<const StoreOptions> options = current();
  ValueGroups groups = values_.PickGroups(options->values, now);
  std::unordered_set<uint64_t> vacated;
  auto kind = ValueGcKind::kCollect;
  if (groups.empty() && for_room) return nullptr;
  if (groups.empty()) {
    groups = values_.PickGroupToCount(options->values);
    if (!groups.empty()) kind = ValueGcKind::kCount;
  }
  if (groups.empty()) {
    groups = values_.PickGroupsToMerge(options->values);
    if (!groups.empty()) kind = ValueGcKind::kMerge;
  }
  if (groups.empty()) {
    vacated = ValueFilesToVacate();
    groups = values_.MarkBusy(values_.GroupsWithRunsIn(options->values, vacated));
    if (groups.empty()) return nullptr;
  }
  return NewValueGcTask(groups, kind, std::move(vacated));
}

std::unique_ptr<CompactionTask> LsmStore::NewValueGcTask(const ValueGroups& groups, ValueGcKind kind,
                                                         std::unordered_set<uint64_t> vacated,
                                                         uint64_t old_until) {
  try {
    auto task = std::make_unique<ValueGcTask>(this, groups, kind, std::move(vacated), old_until);
    collecting_.emplace(task.get(), Collecting{groups, [task = task.get()] { task->NotifyStore(); }});
    return task;
  } catch (const std::bad_alloc&) {
    values_.Release(groups);  // or they would stay busy
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
  const ValueGroups groups = values_.PickFrom(current()->values, &collection->from, *collection->old_until, conflict);
  if (groups.empty()) return nullptr;
  return NewValueGcTask(groups, ValueGcKind::kForced, {}, *collection->old_until);
}

}  // namespace compassdb
