// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/compaction_job.h"

#include <algorithm>
#include <utility>

#include "format/user_timestamp.h"
#include "lsm/policy/gc_policy.h"
#include "table/stat_timer.h"
#include "util/helper_threads.h"
#include "util/no_memory.h"

namespace compassdb {

namespace {

// In hash range, records of the delta held in memory at a time. In addition each thread holds those of one
// table that it splits.
constexpr uint64_t kDeltaBytes = 128 << 20;
// If tables are rewritten, a region has bases of this many target sizes: enough regions to share
// between threads, few enough that their ends cost little.
constexpr uint64_t kRegionTables = 32;
// Threads that share a file hold incomplete pieces in memory: enough for all but one to
// continue while that one writes.
constexpr uint64_t kLeastHeldEach = 8 << 20;
constexpr uint64_t kMostHeld = 128 << 20;

}  // namespace

CompactionJob::CompactionJob(const CompactionJobInput& input,
                             const std::vector<SequenceNumber>& snapshots,
                             const std::atomic<bool>* cancel)
    : in_(input),
      snapshots_(snapshots),
      cancel_(cancel),
      cmp_(input.options->comparator),
      delta_(cmp_, input.rewrite ? std::vector<TableRef>() : input.inputs,
             input.input_level > 0 && !input.inputs.empty() &&
                 !input.inputs.front()->meta().hash_range,
             input.memtables,
             input.context->clock->NowMicros() / 1000000),
      files_(input.context, input.options, input.path, /*flush=*/false, input.observer) {}

Status CompactionJob::Run(VersionEdit* edit, JobReport* report) {
  const uint64_t cpu = ThreadCpuNanos();
  Status s = CatchOutOfMemory("a compaction", [&] { return RunParts(report); });
  if (s.ok()) s = CatchOutOfMemory("a compaction", [&] { return Gather(edit, report); });
  if (!s.ok()) {
    for (size_t i = 0; i < workers_.size(); ++i) NotifyEnd(i, s);
    files_.Abandon();
  }
  report->cpu_micros += (ThreadCpuNanos() - cpu + other_cpu_nanos_) / 1000;
  return s;
}

Status CompactionJob::RunParts(JobReport* report) {
  report_ = report;
  Status s;
  if (!in_.rewrite) {
    s = delta_.LoadTombstones(snapshots_);
    records_ = delta_.NewIterator(CompactionReads());
    if (s.ok()) {
      const StatTimer timer(in_.context->statistics, rocksdb::SUBCOMPACTION_SETUP_TIME);
      s = CutRegions();
    }
  }
  if (!s.ok()) return s;
  const size_t workers = Workers();
  if (workers > 1) {
    const uint64_t each = std::max<uint64_t>(in_.options->target_table_bytes, kLeastHeldEach);
    files_.Share(std::min<uint64_t>((workers - 1) * each, kMostHeld));
  }
  for (size_t i = 0; i < workers; ++i) {
    begun_.push_back(0);
    workers_.push_back(std::make_unique<RegionMerge>(in_, delta_, snapshots_, cancel_, &files_));
  }
  if (workers_.size() > 1 && in_.context->statistics != nullptr) {
    in_.context->statistics->recordInHistogram(rocksdb::NUM_SUBCOMPACTIONS_SCHEDULED, workers_.size());
  }
  s = in_.rewrite ? Rewrite() : (in_.hash_range ? RunHashRegions() : RunRegions());
  if (s.ok()) s = Share(0, workers_.size(), [this](size_t, size_t i) { return workers_[i]->Finish(); });
  return s;
}

// Joins the workers' results and makes them durable.
Status CompactionJob::Gather(VersionEdit* edit, JobReport* report) {
  for (const TableRef& t : in_.inputs) {
    if (!in_.rewrite) edit->deleted.push_back({in_.input_level, t->meta().tph_id});
  }
  for (const std::unique_ptr<RegionMerge>& worker : workers_) {
    const VersionEdit& done = worker->edit();
    edit->deleted.insert(edit->deleted.end(), done.deleted.begin(), done.deleted.end());
    edit->added.insert(edit->added.end(), done.added.begin(), done.added.end());
    edit->added_values.insert(edit->added_values.end(), done.added_values.begin(),
                              done.added_values.end());
    edit->uncommitted_values.insert(edit->uncommitted_values.end(), done.uncommitted_values.begin(),
                                    done.uncommitted_values.end());
    report->Add(worker->report());
  }
  Status s = files_.Finish(edit, report);
  if (!s.ok()) return s;
  report->checksums = edit->file_checksums;
  if (in_.observer != nullptr) in_.observer->FilesEnd(*report);
  for (size_t i = 0; i < workers_.size(); ++i) NotifyEnd(i, s);
  return s;
}

void CompactionJob::NotifyBegin(size_t worker) {
  if (in_.observer == nullptr || std::exchange(begun_[worker], 1) != 0) return;
  in_.observer->PartBegins(static_cast<int>(worker));
}

void CompactionJob::NotifyEnd(size_t worker, const Status& status) {
  if (std::exchange(begun_[worker], 0) == 0) return;
  in_.observer->PartEnds(static_cast<int>(worker), workers_[worker]->report(), status);
}

size_t CompactionJob::Workers() const {
  const uint32_t option = in_.max_threads != 0 ? in_.max_threads : in_.context->max_subcompactions.load();
  const size_t max = std::max({option, in_.threads, 1u});
  if (in_.rewrite) return std::min(max, in_.inputs.size());
  const uint64_t shares =
      1 + delta_.Bytes(std::nullopt, std::nullopt) / std::max<uint64_t>(in_.options->target_table_bytes / 2, 1);
  return std::min({max, regions_.size(), static_cast<size_t>(shares)});
}

Status CompactionJob::Share(size_t begin, size_t end,
                            const std::function<Status(size_t, size_t)>& f) {
  if (begin == end) return Status::OK();
  const size_t n = std::min(workers_.size(), end - begin);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<Status> results(n);
  const auto work = [&](size_t worker) {
    for (size_t i = begin + worker; i < end && !failed; i = next.fetch_add(1)) {
      results[worker] = CatchOutOfMemory("a compaction", [&] { return f(worker, i); });
      if (!results[worker].ok()) failed = true;
    }
  };
  std::atomic<bool> counted{false};  // it is known how many threads there are
  HelperThreads threads(n - 1, [&](size_t i) {
    counted.wait(false);
    work(i + 1);
    other_cpu_nanos_ += ThreadCpuNanos();
  });
  next = begin + 1 + threads.count();
  counted = true;
  counted.notify_all();
  work(0);
  threads.Join();
  for (const Status& s : results) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status CompactionJob::Rewrite() {
  return Share(0, in_.inputs.size(), [this](size_t worker, size_t i) {
    NotifyBegin(worker);
    return workers_[worker]->Rewrite(in_.inputs[i]);
  });
}

// Neighbouring regions with about the same share of the delta go to one worker.
Status CompactionJob::RunRegions() {
  report_->bytes_read += delta_.stored_bytes();
  uint64_t total = 0;
  for (Region& region : regions_) {
    region.delta_bytes = delta_.Bytes(region.lower, region.upper);
    total += *region.delta_bytes;
  }
  const size_t n = workers_.size();
  std::vector<size_t> ends;
  uint64_t sum = 0;
  for (size_t i = 0; i < regions_.size(); ++i) {
    sum += *regions_[i].delta_bytes;
    if (ends.size() + 1 < n && sum * n >= total * (ends.size() + 1)) ends.push_back(i + 1);
  }
  ends.push_back(regions_.size());
  return Share(0, ends.size(), [&](size_t worker, size_t i) {
    return RunRange(worker, i == 0 ? 0 : ends[i - 1], ends[i]);
  });
}

Status CompactionJob::RunRange(size_t worker, size_t begin, size_t end) {
  if (begin == end) return Status::OK();
  NotifyBegin(worker);
  const InternalIteratorPtr records = delta_.NewIterator(CompactionReads());
  if (begin == 0) {
    records->SeekToFirst();
  } else {
    std::string target;
    AppendInternalKey(&target, *regions_[begin].lower, kMaxSequenceNumber, kValueTypeForSeek);
    records->Seek(target);
  }
  Status s = records->status();
  uint64_t total = 0, done = 0;
  for (size_t i = begin; i < end; ++i) total += *regions_[i].delta_bytes;
  for (size_t i = begin; s.ok() && i < end; ++i) {
    if (i > begin && in_.hurry != nullptr && total > 0 &&
        in_.hurry(static_cast<double>(done) / static_cast<double>(total), total - done)) {
      Region rest;
      rest.lower = regions_[i].lower;
      rest.upper = regions_[end - 1].upper;
      return workers_[worker]->RunRest(rest, records.get());
    }
    s = workers_[worker]->Run(regions_[i], records.get());
    done += *regions_[i].delta_bytes;
  }
  return s;
}

// The end of the regions that have the base of region `begin`, if it is cut into several.
size_t CompactionJob::EndOfBase(size_t begin) const {
  size_t end = begin + 1;
  while (end < regions_.size() && regions_[end].part && !regions_[end].first_part) ++end;
  return end;
}

// Each pass over the delta buffers its records of as many regions as fit.
Status CompactionJob::RunHashRegions() {
  Status s;
  for (size_t begin = 0, end = 0; s.ok() && begin < regions_.size(); begin = end) {
    std::vector<size_t> groups;  // the first region of each base
    uint64_t bytes = 0;
    while (end < regions_.size()) {
      const size_t next = EndOfBase(end);
      for (size_t i = end; i < next; ++i) bytes += *regions_[i].delta_bytes;
      if (end > begin && bytes > kDeltaBytes) break;
      groups.push_back(end);
      end = next;
    }
    std::vector<RecordBuffer> delta(end - begin);
    report_->bytes_read += delta_.stored_bytes();
    s = Distribute(records_.get(), begin, &delta);
    if (!s.ok()) break;
    s = Share(0, groups.size(), [&](size_t worker, size_t g) {
      const size_t first = groups[g];
      return RunHashGroup(worker, first, std::span(delta).subspan(first - begin, EndOfBase(first) - first));
    });
  }
  return s;
}

Status CompactionJob::RunHashGroup(size_t worker, size_t first, std::span<RecordBuffer> delta) {
  NotifyBegin(worker);
  std::vector<std::vector<RecordBuffer>> pieces;  // of a base that is cut: the records of each region
  if (regions_[first].part) {
    for (const auto& piece : regions_[first].bases[0]->tph().pieces()) {
      const InternalIteratorPtr records = piece->NewIterator(CompactionReads());
      Status s = Distribute(records.get(), first, &pieces.emplace_back(delta.size()));
      if (!s.ok()) return s;
    }
  }
  Status s;
  for (size_t i = 0; s.ok() && i < delta.size(); ++i) {
    Region& region = regions_[first + i];
    const RecordBuffer records = std::move(delta[i]);
    std::vector<RecordBuffer> base;
    for (std::vector<RecordBuffer>& piece : pieces) base.push_back(std::move(piece[i]));
    region.delta_bytes = records.bytes();
    region.base_records = &base;
    const InternalIteratorPtr it = records.NewIterator();
    it->SeekToFirst();
    s = workers_[worker]->Run(region, it.get());
    region.base_records = nullptr;
  }
  return s;
}

Status CompactionJob::Distribute(InternalIterator* records, size_t begin, std::vector<RecordBuffer>* buffers) {
  SearchKeyOf search_key_of(in_.context->hasher);
  const auto first = regions_.begin() + static_cast<ptrdiff_t>(begin);
  const auto last = first + static_cast<ptrdiff_t>(buffers->size());
  uint64_t n = 0;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const uint32_t search_key = search_key_of(ExtractUserKey(records->key()));
    const auto after = std::partition_point(
        first, last, [&](const Region& r) { return r.search.first <= search_key; });
    if (after != first && std::prev(after)->search.Contains(search_key)) {
      (*buffers)[static_cast<size_t>(after - first) - 1].Add(records->key(), records->value());
    }
    if ((++n & 0xfff) == 0 && cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
      return Status::ShutdownInProgress("compaction cancelled");
    }
  }
  return records->status();
}

bool CompactionJob::FirstDeltaKeyAfter(const std::string& key, std::string* found, Status* s) {
  // The seek key with sequence 0 sorts behind every version of `key`.
  std::string target;
  AppendInternalKey(&target, key, 0, kTypeDeletion);
  records_->Seek(target);
  while (records_->Valid() && cmp_->Compare(ExtractUserKey(records_->key()), key) == 0) {
    records_->Next();
  }
  *s = records_->status();
  if (!records_->Valid()) return false;
  *found = StartOfKey(cmp_, ExtractUserKey(records_->key()));
  return true;
}

Status CompactionJob::CutRegions() {
  if (!in_.hash_range) return CutByKeys();
  CutByHash();
  return Status::OK();
}

// Each base is a region, and each gap between bases.
void CompactionJob::CutByHash() {
  SearchRange hull{UINT32_MAX, 0};
  for (const TableRef& t : in_.inputs) {
    hull.first = std::min(hull.first, t->meta().search.first);
    hull.last = std::max(hull.last, t->meta().search.last);
  }
  if (!in_.memtables.empty()) hull = SearchRange();
  uint64_t next = hull.first;
  for (const TableRef& base : in_.bases) {
    const SearchRange& range = base->meta().search;
    if (range.first > next) {
      AddHashRegions(nullptr, {static_cast<uint32_t>(next), range.first - 1}, hull);
    }
    AddHashRegions(base, range, hull);
    next = uint64_t{range.last} + 1;
  }
  if (next <= hull.last) {
    AddHashRegions(nullptr, {static_cast<uint32_t>(next), hull.last}, hull);
  }
}

// Halves a range until its parts have about the target size.
void CompactionJob::AddHashRegions(const TableRef& base, const SearchRange& range,
                                   const SearchRange& hull) {
  const uint64_t target = in_.options->target_table_bytes;
  const double delta = static_cast<double>(delta_.Bytes(std::nullopt, std::nullopt)) /
                       static_cast<double>(hull.width());
  const auto delta_in = [&](const SearchRange& r) -> uint64_t {
    if (!r.Overlaps(hull)) return 0;
    const SearchRange common{std::max(r.first, hull.first), std::min(r.last, hull.last)};
    return static_cast<uint64_t>(delta * static_cast<double>(common.width()));
  };
  const uint64_t bytes = delta_in(range) + (base != nullptr ? base->live_bytes() : 0);
  uint64_t parts = 1;
  if (bytes > (base != nullptr ? SplitBytes(base->meta(), *in_.options) : target + target / 2)) {
    while (bytes / parts > target + target / 2 && 2 * parts <= range.width()) parts *= 2;
  }
  for (uint64_t i = 0; i < parts; ++i) {
    Region& region = regions_.emplace_back();
    if (base != nullptr) region.bases = {base};
    region.hash_range = true;
    region.search.first = static_cast<uint32_t>(range.first + range.width() * i / parts);
    region.search.last = static_cast<uint32_t>(range.first + range.width() * (i + 1) / parts - 1);
    region.part = base != nullptr && parts > 1;
    region.first_part = i == 0;
    region.delta_bytes = delta_in(region.search);
  }
}

void CompactionJob::AddRegion(std::vector<TableRef> bases, const std::optional<std::string>& lower,
                              const std::optional<std::string>& upper) {
  Region& region = regions_.emplace_back();
  region.bases = std::move(bases);
  region.lower = lower;
  region.upper = upper;
}

// Between two fences, the delta overlaps in_.bases from `first` to `end`.
Status CompactionJob::CutByKeys() {
  Status s;
  std::optional<std::string> lower;
  size_t first = 0;
  for (size_t f = 0; s.ok() && f <= in_.fences.size(); ++f) {
    std::optional<std::string> upper;
    if (f < in_.fences.size()) upper = in_.fences[f];
    size_t end = first;
    while (end < in_.bases.size() &&
           (!upper || cmp_->Compare(in_.bases[end]->meta().smallest, *upper) < 0)) {
      ++end;
    }
    if (in_.options->leveled) {
      CutRewritten(first, end, lower, upper);
    } else {
      s = CutBetween(first, end, lower, upper);
    }
    first = end;
    lower = upper;
  }
  return s;
}

// All tables are rewritten, so several bases are cut again together: fewer tables, of even size.
void CompactionJob::CutRewritten(size_t first, size_t end, std::optional<std::string> lower,
                                 const std::optional<std::string>& upper) {
  const uint64_t enough = kRegionTables * in_.options->target_table_bytes;
  std::vector<TableRef> bases;
  uint64_t bytes = 0;
  for (size_t i = first; i < end; ++i) {
    bases.push_back(in_.bases[i]);
    bytes += in_.bases[i]->live_bytes();
    if (bytes < enough || i + 1 == end) continue;
    const std::string& next = in_.bases[i + 1]->meta().smallest;
    AddRegion(std::exchange(bases, {}), lower, next);
    lower = next;
    bytes = 0;
  }
  AddRegion(std::move(bases), lower, upper);
}

// A base owns the keys from its smallest to the next base's; the first owns
// what comes before it, too. A gap with enough data becomes tables of its own,
// from its first key on, so that appending does not make the last table swell.
Status CompactionJob::CutBetween(size_t first, size_t end, std::optional<std::string> lower,
                                 const std::optional<std::string>& last) {
  const auto add = [this](const TableRef& base, const std::optional<std::string>& low,
                          const std::optional<std::string>& high) {
    AddRegion(base == nullptr ? std::vector<TableRef>() : std::vector<TableRef>{base}, low, high);
  };
  if (first == end) {
    add(nullptr, lower, last);
    return Status::OK();
  }
  const uint64_t enough = in_.options->target_table_bytes / 4;
  if (delta_.Bytes(lower, in_.bases[first]->meta().smallest) >= enough) {
    const std::string& smallest = in_.bases[first]->meta().smallest;
    add(nullptr, lower, smallest);
    lower = smallest;
  }
  for (size_t i = first; i < end; ++i) {
    std::optional<std::string> upper = last;
    if (i + 1 < end) upper = in_.bases[i + 1]->meta().smallest;
    const std::string& largest = in_.bases[i]->meta().largest;
    std::string gap;
    Status s;
    if (delta_.Bytes(largest, upper) >= enough && FirstDeltaKeyAfter(largest, &gap, &s) &&
        (!upper || cmp_->Compare(gap, *upper) < 0)) {
      add(in_.bases[i], lower, gap);
      add(nullptr, gap, upper);
    } else {
      add(in_.bases[i], lower, upper);
    }
    if (!s.ok()) return s;
    lower = upper;
  }
  return Status::OK();
}

}  // namespace compassdb
