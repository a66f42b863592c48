// SPDX-License-Identifier: Apache-2.0
// A family's separated values (HashKV, with changes; docs/design/values.md).
//
// Thread safety: methods marked [mutex] run under the database mutex, which guards the fields; the
// others are for recovery's one thread, or touch nothing that changes.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "manifest/version_edit.h"
#include "util/random.h"
#include "value_store/value_gc_policy.h"
#include "store/value_options.h"
#include "value_store/newest_values.h"
#include "value_store/value_version.h"

namespace compassdb {

// For new runs: so that groups have about their target size.
uint32_t ValueGroupBits(const ValueVersion& version, const ValueOptions& options);

class ValueStore {
 public:
  explicit ValueStore(std::shared_ptr<const ValueContext> context);

  Status ApplyRecovered(const VersionEdit& edit);
  const std::map<uint64_t, ValueRunMeta>& recovered() const { return recovered_; }
  // The runs that the edits left become the version.
  // `data_ends`: as ExtentLedger::AddRecovered.
  void Open(const std::map<uint64_t, uint64_t>& data_ends);

  std::vector<ValueRunRef> Prepare(const VersionEdit& edit) const;
  // A version of these runs, in ascending order of their ids.
  std::shared_ptr<const ValueVersion> VersionOf(std::vector<ValueRunRef> runs) const {
    return std::make_shared<const ValueVersion>(context_, std::move(runs));
  }
  // [mutex] The edit is committed.
  void Install(const VersionEdit& edit, const std::vector<ValueRunRef>& prepared);
  // [mutex]
  std::shared_ptr<const ValueVersion> version() const { return version_; }
  // For jobs: holding it pins no run.
  std::shared_ptr<const NewestValues> newest() const { return newest_; }
  void Snapshot(VersionEdit* edit) const;
  void MarkDropped();

  // [mutex] The groups to be collected by one job, marked busy until Release; empty if there is none.
  ValueGroups PickGroups(const ValueOptions& options, uint64_t now_seconds);
  // [mutex] The group whose garbage is to be counted, marked busy likewise. After each flush a few are counted;
  // if their estimates were wrong, the others too. None with kOldestFirst: each collection counts the log.
  ValueGroups PickGroupToCount(const ValueOptions& options);
  // [mutex] The groups whose small runs are to be merged, marked busy likewise.
  ValueGroups PickGroupsToMerge(const ValueOptions& options);
  // [mutex] The first groups from *from on, of 2^kMaxValueGroupBits, in which there may be garbage and a run up
  // to that id, marked busy; *from is then behind them. None, and *wait, if the first is busy or running jobs leave no
  // room.
  ValueGroups PickFrom(const ValueOptions& options, uint64_t* from, uint64_t old_until, bool* wait);
  // [mutex] The counted garbage of each run. Recount follows.
  void Counted(const std::vector<ValueRunRef>& runs, const std::vector<ValueHints>& hints);
  // [mutex] Runs of a collected group: the hints of those that stay are right again with the written ones. Recount
  // follows.
  void Collected(const std::vector<ValueRunRef>& runs);
  // [mutex] Sums the hints again.
  void Recount();
  // [mutex] What PickGroups, and PickGroupToCount or PickGroupsToMerge, would find.
  bool HasGroupToCollect(const ValueOptions& options, uint64_t now_seconds) const;
  bool HasGroupToCountOrMerge(const ValueOptions& options) const;
  // Those of one job that are not busy and have runs in the files; empty if none has, or their copy does not fit.
  ValueGroups GroupsWithRunsIn(const ValueOptions& options, const std::unordered_set<uint64_t>& files) const;
  // Returns them.
  ValueGroups MarkBusy(ValueGroups groups);
  void Release(const ValueGroups& groups);
  // The bound would be passed, and a collection runs or is needed.
  // Until that flush is written, collections make room for it.
  bool AwaitsCollection(const ValueOptions& options, uint64_t flush_bytes, uint64_t now_seconds);

  // [mutex] How much flushes may add at a time so that the bound can be kept.
  ValueRoom FlushRoom(const ValueOptions& options) const;

  // [mutex] A job that may add values of records that were flushed before it began.
  using LateJob = std::multiset<SequenceNumber>::iterator;
  LateJob BeginLateJob() { return late_jobs_.insert(flushed_through_); }
  void EndLateJob(LateJob job) { late_jobs_.erase(job); }
  // Newer notices are still of use to those jobs.
  SequenceNumber OldestLateJob() const {
    return late_jobs_.empty() ? kMaxSequenceNumber : *late_jobs_.begin();
  }
  // Something was written at that time.
  void NoteWritten(uint64_t now_seconds) {
    written_at_ = now_seconds;
    incoming_bytes_ = flushing_bytes_ = 0;
  }
  void NoteFlushed(SequenceNumber largest) {
    flushed_through_ = std::max(flushed_through_, largest);
  }
  // [mutex] With kOldestFirst: the youngest run that a collection of the group takes.
  uint64_t TailUntil(const ValueGroup& group, const ValueOptions& options) const {
    return version_->TailUntil(group, ValueLoad(version_->Groups()).TailBytes(options));
  }
  uint32_t GroupBits(const ValueOptions& options) const { return ValueGroupBits(*version_, options); }

 private:
  // With kOldestFirst each collection counts the log.
  bool CountsDue(const ValueOptions& options) const {
    return counts_due_ > 0 && options.policy != ValueGcPolicy::kOldestFirst;
  }
  void SetVersion(std::vector<ValueRunRef> runs);
  // What a flush of so many bytes of values adds.
  uint64_t FlushedBytes(const ValueOptions& options, uint64_t value_bytes) const;
  bool Busy(const ValueGroup& group) const {
    return std::ranges::any_of(busy_, [&](const ValueGroups& job) { return Overlaps(job, group); });
  }
  ValueGcInput InputOf(std::vector<ValueVersion::Group> groups) const {
    return {std::move(groups), busy_, 0, UINT64_MAX, incoming_bytes_, flushing_bytes_};
  }
  // Among the version's groups, with the figures of that time.
  ValueGroups Choose(std::vector<ValueVersion::Group> groups, const ValueOptions& options, uint64_t now_seconds,
                     Random* random) const;

  const std::shared_ptr<const ValueContext> context_;
  std::map<uint64_t, ValueRunMeta> recovered_;  // by id; until Open
  std::shared_ptr<const ValueVersion> version_;
  const std::shared_ptr<NewestValues> newest_;
  std::vector<ValueGroups> busy_;  // by job
  std::multiset<SequenceNumber> late_jobs_;
  SequenceNumber flushed_through_ = 0;
  uint64_t written_at_ = 0;  // seconds since 1970
  uint32_t counts_due_ = 0;  // groups to be counted
  uint64_t incoming_bytes_ = 0;  // of the next flush
  uint64_t flushing_bytes_ = 0;  // the same once it may begin
  Random random_;
};

}  // namespace compassdb
