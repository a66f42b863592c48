// SPDX-License-Identifier: Apache-2.0
#include "db/read/snapshot_list.h"

#include <algorithm>

namespace compassdb {

SnapshotList::~SnapshotList() {
  for (auto& [place, snapshot] : snapshots_) delete snapshot;
}

const SnapshotImpl* SnapshotList::New(const std::atomic<SequenceNumber>& last_sequence,
                                      int64_t unix_time) {
  MutexLock lock(&mu_);
  while (closed_) opened_.Wait();
  const auto* snapshot =
      new SnapshotImpl(last_sequence.load(std::memory_order_acquire), unix_time);
  snapshots_.emplace(std::pair(snapshot->GetSequenceNumber(), snapshot), snapshot);
  return snapshot;
}

bool SnapshotList::Release(const rocksdb::Snapshot* snapshot) {
  if (snapshot == nullptr) return false;
  MutexLock lock(&mu_);
  const auto it = snapshots_.find({snapshot->GetSequenceNumber(), snapshot});
  if (it == snapshots_.end()) return false;
  delete it->second;
  snapshots_.erase(it);
  return Reached();
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

SequenceNumber SnapshotList::HoldLast(const std::atomic<SequenceNumber>& last_sequence) {
  MutexLock lock(&mu_);
  const SequenceNumber sequence = last_sequence.load(std::memory_order_acquire);
  holds_.insert(sequence);
  return sequence;
}

void SnapshotList::Hold(SequenceNumber sequence) {
  MutexLock lock(&mu_);
  holds_.insert(sequence);
}

bool SnapshotList::ReleaseHold(SequenceNumber sequence) {
  MutexLock lock(&mu_);
  holds_.erase(holds_.find(sequence));
  return Reached();
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
