// SPDX-License-Identifier: Apache-2.0
#include "db/snapshot_list.h"

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
  for (const auto& [sequence, snapshot] : snapshots_) {
    if (sequences.empty() || sequences.back() != sequence) sequences.push_back(sequence);
  }
  return sequences;
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
