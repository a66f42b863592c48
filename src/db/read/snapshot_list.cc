// SPDX-License-Identifier: Apache-2.0
#include "db/read/snapshot_list.h"

#include <algorithm>

namespace compassdb {

SnapshotList::~SnapshotList() {
  for (auto& [place, snapshot] : snapshots_) delete snapshot;
}

const SnapshotImpl* SnapshotList::New(int64_t unix_time) {
  if (!given_) return nullptr;
  MutexLock lock(&mu_);
  while (closed_) opened_.Wait();
  const auto* snapshot =
      new SnapshotImpl(last_sequence_.load(std::memory_order_acquire), unix_time);
  snapshots_.emplace(std::pair(snapshot->GetSequenceNumber(), snapshot), snapshot);
  return snapshot;
}

void SnapshotList::Release(const rocksdb::Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  bool reached = false;
  {
    MutexLock lock(&mu_);
    const auto it = snapshots_.find({snapshot->GetSequenceNumber(), snapshot});
    if (it != snapshots_.end()) {
      delete it->second;
      snapshots_.erase(it);
      reached = Reached();
    }
  }
  if (reached || pinned_value_runs_.load(std::memory_order_relaxed) > 0) LookForWork();
}

void SnapshotList::LookForWork() {
  MutexLock lock(database_mu_);
  work_->MaybeSchedule();
}

SequenceNumber SnapshotList::OldestHeld() const {
  SequenceNumber oldest = kMaxSequenceNumber;
  if (!snapshots_.empty()) oldest = snapshots_.begin()->first.first;
  if (!holds_.empty()) oldest = std::min(oldest, *holds_.begin());
  return oldest;
}

bool SnapshotList::Reached() {
  if (awaited_ == kMaxSequenceNumber || OldestHeld() < awaited_) return false;
  awaited_ = kMaxSequenceNumber;
  return true;
}

SequenceNumber SnapshotList::Oldest() const {
  MutexLock lock(&mu_);
  return OldestHeld();
}

bool SnapshotList::AwaitOldest(SequenceNumber sequence) {
  MutexLock lock(&mu_);
  awaited_ = sequence;
  return !Reached();
}

std::vector<SequenceNumber> SnapshotList::Sequences() const {
  MutexLock lock(&mu_);
  std::vector<SequenceNumber> sequences;
  for (const auto& [place, snapshot] : snapshots_) sequences.push_back(place.first);
  if (!holds_.empty()) {
    sequences.insert(sequences.end(), holds_.begin(), holds_.end());
    std::sort(sequences.begin(), sequences.end());
  }
  sequences.erase(std::unique(sequences.begin(), sequences.end()), sequences.end());
  return sequences;
}

HeldSequence SnapshotList::Hold(const rocksdb::Snapshot* snapshot) {
  HeldSequence held;
  {
    MutexLock lock(&mu_);
    held.sequence = snapshot != nullptr ? snapshot->GetSequenceNumber()
                                        : last_sequence_.load(std::memory_order_acquire);
    holds_.insert(held.sequence);
  }
  held.hold = std::shared_ptr<void>(this, [sequence = held.sequence](void* list) {
    static_cast<SnapshotList*>(list)->ReleaseHold(sequence);
  });
  return held;
}

void SnapshotList::ReleaseHold(SequenceNumber sequence) {
  bool reached = false;
  {
    MutexLock lock(&mu_);
    holds_.erase(holds_.find(sequence));
    reached = Reached();
  }
  if (reached) LookForWork();
}

size_t SnapshotList::count() const {
  MutexLock lock(&mu_);
  return snapshots_.size();
}

bool SnapshotList::CloseIfEmpty() {
  MutexLock lock(&mu_);
  closed_ = snapshots_.empty();
  return closed_;
}

void SnapshotList::Open() {
  MutexLock lock(&mu_);
  closed_ = false;
  opened_.SignalAll();
}

SequenceNumber SnapshotList::OldestSequence() const {
  MutexLock lock(&mu_);
  return snapshots_.empty() ? 0 : snapshots_.begin()->first.first;
}

int64_t SnapshotList::OldestTime() const {
  MutexLock lock(&mu_);
  if (snapshots_.empty()) return 0;
  const SequenceNumber oldest = snapshots_.begin()->first.first;
  int64_t time = INT64_MAX;
  for (auto it = snapshots_.begin(); it != snapshots_.end() && it->first.first == oldest; ++it) {
    time = std::min(time, it->second->GetUnixTime());
  }
  return time;
}

}  // namespace compassdb
