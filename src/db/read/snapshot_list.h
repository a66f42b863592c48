// SPDX-License-Identifier: Apache-2.0
// The snapshots that applications hold.
//
// Thread safety: all methods; holds a leaf lock of its own. Invariant: a
// sequence read inside New, under the lock, is at least every sequence that an
// earlier Sequences() call saw as published, so a job that copied the list
// never drops what a later snapshot must see.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "format/internal_key.h"
#include "rocksdb/snapshot.h"
#include "util/mutex.h"

namespace compassdb {

class SnapshotImpl final : public rocksdb::Snapshot {
 public:
  SnapshotImpl(SequenceNumber sequence, int64_t unix_time)
      : sequence_(sequence), unix_time_(unix_time) {}
  ~SnapshotImpl() override = default;
  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return unix_time_; }
  uint64_t GetTimestamp() const override { return UINT64_MAX; }  // no user timestamps

 private:
  const SequenceNumber sequence_;
  const int64_t unix_time_;
};

// What an iterator reads at. `hold`, if not null, keeps the sequence as a snapshot would.
struct HeldSequence {
  SequenceNumber sequence = 0;
  std::shared_ptr<void> hold = nullptr;
};

class SnapshotList {
 public:
  SnapshotList() = default;
  ~SnapshotList();
  SnapshotList(const SnapshotList&) = delete;
  SnapshotList& operator=(const SnapshotList&) = delete;

  const SnapshotImpl* New(const std::atomic<SequenceNumber>& last_sequence, int64_t unix_time);
  // True if the oldest sequence has come to where AwaitOldest wants it, which it tells only once.
  bool Release(const rocksdb::Snapshot* snapshot);

  // Keeps a sequence for an iterator as a snapshot would, though it is none that the application holds:
  // the last one, or one that is held by somebody now.
  SequenceNumber HoldLast(const std::atomic<SequenceNumber>& last_sequence);
  void Hold(SequenceNumber sequence);
  bool ReleaseHold(SequenceNumber sequence);  // as Release

  // Of all that are held; kMaxSequenceNumber if there are none.
  SequenceNumber Oldest() const;
  // Says that somebody waits for the oldest to be `sequence` or more, which takes the place of what was said
  // before. False if it is already, and nobody will be told; kMaxSequenceNumber: nobody waits.
  bool AwaitOldest(SequenceNumber sequence);

  std::vector<SequenceNumber> Sequences() const;  // ascending, distinct; holds among them
  size_t count() const;

  // Where there are none, nobody gets one until Open: New waits. False, and nothing else, if there are some.
  bool CloseIfEmpty();
  void Open();

  // Of the oldest snapshot; 0 without snapshots.
  SequenceNumber OldestSequence() const;
  int64_t OldestTime() const;

 private:
  SequenceNumber OldestHeld() const REQUIRES(mu_);
  bool Reached() REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar opened_{&mu_};
  bool closed_ GUARDED_BY(mu_) = false;
  SequenceNumber awaited_ GUARDED_BY(mu_) = kMaxSequenceNumber;
  // By the pointers, too, that are given back: many may be of one sequence.
  std::map<std::pair<SequenceNumber, const rocksdb::Snapshot*>, const SnapshotImpl*> snapshots_ GUARDED_BY(mu_);
  std::multiset<SequenceNumber> holds_ GUARDED_BY(mu_);
};

}  // namespace compassdb
