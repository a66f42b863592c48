// SPDX-License-Identifier: Apache-2.0
#include "db/snapshot_list.h"

#include <algorithm>

namespace compassdb {

SnapshotList::~SnapshotList() {
  for (auto& [sequence, snapshot] : snapshots_) delete snapshot;
}

const SnapshotImpl* SnapshotList::New(const std::atomic<SequenceNumber>& last_sequence,
                                      int64_t unix_time) {
  MutexLock lock(&mu_);
  const auto* snapshot =
      new SnapshotImpl(last_sequence.load(std::memory_order_acquire), unix_time);
  snapshots_.emplace(snapshot->GetSequenceNumber(), snapshot);
  return snapshot;
}

void SnapshotList::Release(const rocksdb::Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  MutexLock lock(&mu_);
  auto [it, end] = snapshots_.equal_range(snapshot->GetSequenceNumber());
  for (; it != end; ++it) {
    if (it->second == snapshot) {
      delete it->second;
      snapshots_.erase(it);
      return;
    }
  }
}

std::vector<SequenceNumber> SnapshotList::Sequences() const {
  MutexLock lock(&mu_);
  std::vector<SequenceNumber> sequences;
  for (const auto& [sequence, snapshot] : snapshots_) sequences.push_back(sequence);
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

void SnapshotList::ReleaseHold(SequenceNumber sequence) {
  MutexLock lock(&mu_);
  holds_.erase(holds_.find(sequence));
}

size_t SnapshotList::count() const {
  MutexLock lock(&mu_);
  return snapshots_.size();
}

SequenceNumber SnapshotList::OldestSequence() const {
  MutexLock lock(&mu_);
  return snapshots_.empty() ? 0 : snapshots_.begin()->first;
}

int64_t SnapshotList::OldestTime() const {
  MutexLock lock(&mu_);
  return snapshots_.empty() ? 0 : snapshots_.begin()->second->GetUnixTime();
}

}  // namespace compassdb
