// SPDX-License-Identifier: Apache-2.0
#include "value_store/value_store.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "util/no_memory.h"

namespace compassdb {

namespace {

// At least 64 groups, so that the copy of one is small compared to the store. Only 16 if memtables are so small
// that a group's share of one is not worth a write.
constexpr uint32_t kMinGroupBits = 6;
constexpr uint32_t kFewestGroupBits = 4;
constexpr uint64_t kWorthAWrite = 16 << 10;
constexpr uint32_t kMaxGroupBits = 9;
static_assert(kMaxGroupBits <= kMaxValueGroupBits);
// After this time without writes there is time for collections.
constexpr uint64_t kIdleSeconds = 5;
// Groups are by hash, so that a few of them represent all.
constexpr uint32_t kCounts = 4;
// Estimates may be wrong by this part of a group.
constexpr uint64_t kTolerance = 32;
// What a run takes in addition to its values, about.
constexpr uint64_t kRunBytes = 80;

struct Sum {
  int64_t ended = 0;  // for readers of the newest
  void Add(const ValueHints& h) { ended += h.dead + h.pinned; }
};

}  // namespace

ValueStore::ValueStore(std::shared_ptr<const ValueContext> context)
    : context_(std::move(context)),
      version_(std::make_shared<const ValueVersion>(context_, std::vector<ValueRunRef>())),
      newest_(std::make_shared<NewestValues>(version_)),
      random_(context_->cache_space) {}

void ValueStore::SetVersion(std::vector<ValueRunRef> runs) {
  version_ = VersionOf(std::move(runs));
  newest_->Set(version_);
}

Status ValueStore::ApplyRecovered(const VersionEdit& edit) {
  for (uint64_t id : edit.deleted_values) {
    if (recovered_.erase(id) == 0) {
      return Status::Corruption("manifest: deletes a run of values that does not exist",
                                std::to_string(id));
    }
  }
  for (const ValueRunMeta& meta : edit.added_values) {
    if (const char* broken = meta.BrokenInvariant()) {
      return Status::Corruption("manifest: values " + std::to_string(meta.run_id), broken);
    }
    if (!recovered_.emplace(meta.run_id, meta).second) {
      return Status::Corruption("manifest: adds a run of values twice", std::to_string(meta.run_id));
    }
  }
  return Status::OK();
}

void ValueStore::Open(const std::map<uint64_t, uint64_t>& data_ends) {
  std::vector<ValueRunRef> runs;
  std::vector<Extent> extents;
  for (const auto& [id, meta] : recovered_) {
    runs.push_back(std::make_shared<ValueRun>(context_, meta));
    extents.push_back(meta.extent);
  }
  context_->ledger->AddRecovered(std::move(extents), data_ends);
  recovered_.clear();
  SetVersion(std::move(runs));
}

std::vector<ValueRunRef> ValueStore::Prepare(const VersionEdit& edit) const {
  std::vector<ValueRunRef> runs;
  for (const ValueRunMeta& meta : edit.added_values) {
    runs.push_back(std::make_shared<ValueRun>(context_, meta));
  }
  return runs;
}

// Runs whose values and notices are all dead are removed by a collection, like others.
void ValueStore::Install(const VersionEdit& edit, const std::vector<ValueRunRef>& prepared) {
  if (edit.deleted_values.empty() && prepared.empty()) return;
  const std::unordered_set<uint64_t> deleted(edit.deleted_values.begin(),
                                             edit.deleted_values.end());
  std::vector<ValueRunRef> runs;
  runs.reserve(version_->runs().size() + prepared.size());
  for (const ValueRunRef& run : version_->runs()) {
    if (deleted.count(run->meta().run_id) == 0) {
      runs.push_back(run);
    } else {
      run->MarkObsolete();
    }
  }
  for (const ValueRunRef& run : prepared) {
    context_->ledger->Add(run->meta().extent);
    runs.push_back(run);
  }
  std::sort(runs.begin(), runs.end(), [](const ValueRunRef& a, const ValueRunRef& b) {
    return a->meta().run_id < b->meta().run_id;
  });
  SetVersion(std::move(runs));
  for (const auto& bytes : edit.uncommitted_values) bytes->End();
  for (const ValueRunRef& run : prepared) {
    if (run->events() > 0) counts_due_ = kCounts;
  }
}

void ValueStore::Snapshot(VersionEdit* edit) const {
  for (const ValueRunRef& run : version_->runs()) edit->added_values.push_back(run->meta());
}

void ValueStore::MarkDropped() {
  for (const ValueRunRef& run : version_->runs()) run->MarkObsolete();
}

ValueGroups ValueStore::Choose(std::vector<ValueVersion::Group> groups, const ValueOptions& options,
                               uint64_t now_seconds, Random* random) const {
  ValueGcInput input = InputOf(std::move(groups));
  input.now_seconds = now_seconds;
  if (options.force_threshold < 1) input.old_until = version_->OldUntil(options.old_share);
  ValueOptions now = options;
  if (options.collects_when_idle() && now_seconds >= written_at_ + kIdleSeconds) {
    now.reserve_percent = options.idle_reserve_percent;
    now.flush_bytes = 0;
  }
  return PickValueGroups(input, now, random);
}

ValueGroups ValueStore::MarkBusy(ValueGroups groups) {
  if (!groups.empty()) busy_.push_back(groups);
  return groups;
}

ValueGroups ValueStore::PickGroups(const ValueOptions& options, uint64_t now_seconds) {
  if (version_->superseded_bytes() == 0) return {};
  return MarkBusy(Choose(version_->Groups(), options, now_seconds, &random_));
}

ValueGroups ValueStore::PickGroupToCount(const ValueOptions& options) {
  if (!CountsDue(options)) return {};
  const std::optional<ValueGroup> picked = compassdb::PickGroupToCount(InputOf(version_->Groups()));
  return picked ? MarkBusy({*picked}) : ValueGroups();
}

ValueGroups ValueStore::PickGroupsToMerge(const ValueOptions& options) {
  if (version_->most_small_runs() <= kMaxSmallRuns) return {};
  return MarkBusy(compassdb::PickGroupsToMerge(InputOf(version_->Groups()), options));
}

ValueGroups ValueStore::PickFrom(const ValueOptions& options, uint64_t* from, uint64_t old_until, bool* wait) {
  *wait = false;
  const ValueGcInput input = InputOf(version_->Groups());
  const ValueLoad load(input.groups);
  const bool room = MayCopy(input, load, options);
  ValueGroups picked;
  uint64_t bytes = 0;
  for (const ValueVersion::Group& g : input.groups) {
    if (g.oldest_run > old_until) continue;
    const uint32_t shift = kMaxValueGroupBits - g.group.bits;
    if (uint64_t{g.group.prefix} << shift < *from || (g.dead_bytes == 0 && g.events == 0)) continue;
    bytes += g.bytes - g.dead_bytes;
    if (!picked.empty() && bytes > load.JobBytes()) break;
    if (!room || Busy(g.group)) {
      *wait = picked.empty();
      break;
    }
    *from = (uint64_t{g.group.prefix} + 1) << shift;
    picked.push_back(g.group);
  }
  return MarkBusy(std::move(picked));
}

// Without memory the groups keep their old sums until the next version.
void ValueStore::Recount() {
  UnlessOutOfMemory(false, [this] {
    SetVersion(version_->runs());
    return true;
  });
}

void ValueStore::Counted(const std::vector<ValueRunRef>& runs, const std::vector<ValueHints>& hints) {
  Sum believed, found;
  uint64_t bytes = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    believed.Add(runs[i]->hints());
    found.Add(hints[i]);
    bytes += runs[i]->meta().extent.length;
    runs[i]->SetHints(hints[i]);
    runs[i]->SetCounted();
  }
  const bool wrong = static_cast<uint64_t>(std::abs(found.ended - believed.ended)) > bytes / kTolerance;
  counts_due_ = wrong ? kCounts : counts_due_ - std::min(counts_due_, 1u);
}

void ValueStore::Collected(const std::vector<ValueRunRef>& runs) {
  for (const ValueRunRef& run : runs) {
    run->ResetHints();
    run->SetCounted();
  }
}

bool ValueStore::HasGroupToCountOrMerge(const ValueOptions& options) const {
  const bool many = version_->most_small_runs() > kMaxSmallRuns;
  const bool counts = CountsDue(options);
  if (!many && !counts) return false;
  const ValueGcInput input = InputOf(version_->Groups());
  return (counts && compassdb::PickGroupToCount(input)) ||
         (many && !compassdb::PickGroupsToMerge(input, options).empty());
}

bool ValueStore::HasGroupToCollect(const ValueOptions& options, uint64_t now_seconds) const {
  if (version_->superseded_bytes() == 0) return false;
  Random random(1);
  return !Choose(version_->Groups(), options, now_seconds, &random).empty();
}

bool ValueStore::AwaitsCollection(const ValueOptions& options, uint64_t flush_bytes,
                                  uint64_t now_seconds) {
  incoming_bytes_ = flushing_bytes_ = FlushedBytes(options, flush_bytes);
  if (version_->superseded_bytes() == 0) return false;
  std::vector<ValueVersion::Group> groups = version_->Groups();
  const ValueLoad load(groups);
  const uint64_t copies = load.CopyRoom(options, std::max<size_t>(busy_.size(), 1) + 1);
  if (load.bytes + copies + incoming_bytes_ <= load.Bound(options)) return false;
  Random random(1);
  if (busy_.empty() && Choose(std::move(groups), options, now_seconds, &random).empty()) return false;
  flushing_bytes_ = 0;
  return true;
}

// With keys and places, and the rest of each run.
uint64_t ValueStore::FlushedBytes(const ValueOptions& options, uint64_t value_bytes) const {
  const uint64_t runs = (uint64_t{1} << GroupBits(options)) * (options.hot_cold ? 2 : 1);
  const uint64_t values = value_bytes / std::max<uint64_t>(options.min_size, 1);
  return version_->Stored(value_bytes) + std::min(runs, values) * kRunBytes;
}

ValueRoom ValueStore::FlushRoom(const ValueOptions& options) const {
  const uint64_t worth = version_->NoticeWorth();
  // A value that a deletion ends is no longer live, and its part of the reserve is lost.
  return {ValueLoad(version_->Groups()).FlushRoom(options), worth + worth * options.reserve_percent / 100};
}

ValueGroups ValueStore::GroupsWithRunsIn(const ValueOptions& options,
                                         const std::unordered_set<uint64_t>& files) const {
  ValueGroups picked;
  if (files.empty()) return picked;
  std::vector<const ValueRunMeta*> wanted, others;  // that such a job copies, too
  const uint32_t bits = GroupBits(options);
  for (const ValueRunRef& run : version_->runs()) {
    const ValueRunMeta& meta = run->meta();
    if (Busy(meta.group)) continue;
    if (files.count(meta.extent.file_number) != 0) {
      wanted.push_back(&meta);
    } else if (meta.group.bits != bits || NeverStays(meta)) {
      others.push_back(&meta);
    }
  }
  if (wanted.empty()) return picked;
  const ValueGcInput input = InputOf(version_->Groups());
  const ValueLoad load(input.groups);
  if (!MayCopy(input, load, options)) return picked;
  uint64_t bytes = 0;
  // As they are collected: a narrow group may be part of a wider one.
  for (const ValueVersion::Group& g : input.groups) {
    if (Busy(g.group)) continue;
    const auto in_group = [&](const ValueRunMeta* run) { return run->group.Overlaps(g.group); };
    if (std::ranges::none_of(wanted, in_group)) continue;
    for (const auto* runs : {&wanted, &others}) {
      for (const ValueRunMeta* run : *runs) bytes += in_group(run) ? run->extent.length : 0;
    }
    if (!picked.empty() && bytes > load.JobBytes()) break;
    picked.push_back(g.group);
  }
  return picked;
}

void ValueStore::Release(const ValueGroups& groups) {
  const auto it = std::find(busy_.begin(), busy_.end(), groups);
  if (it != busy_.end()) busy_.erase(it);
}

uint32_t ValueGroupBits(const ValueVersion& version, const ValueOptions& options) {
  if (options.policy == ValueGcPolicy::kOldestFirst) return 0;
  const uint64_t live = version.total_bytes() - version.superseded_bytes();
  const uint64_t groups = live / std::max<uint64_t>(options.group_bytes, 1);
  const auto bits = static_cast<uint32_t>(std::bit_width(groups));
  const auto worth = static_cast<uint32_t>(std::bit_width(options.flush_bytes / kWorthAWrite));
  return std::clamp(bits, std::clamp(worth, kFewestGroupBits, kMinGroupBits), kMaxGroupBits);
}

}  // namespace compassdb
