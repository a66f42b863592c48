// SPDX-License-Identifier: Apache-2.0
// The snapshots of applications, and the sequences of iterators.
//
// Thread safety: all methods; holds a leaf lock of its own. The end of a snapshot
// or of a hold may take the database mutex. Invariant: a
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

#include "db/jobs/background_work.h"
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

// The sequence of an iterator. `hold`, if not null, keeps the sequence like a snapshot.
struct HeldSequence {
  SequenceNumber sequence = 0;
  std::shared_ptr<void> hold = nullptr;
};

class SnapshotList {
 public:
  // `mu`: the database mutex.
  SnapshotList(const std::atomic<SequenceNumber>* last_sequence, Mutex* mu, BackgroundWork* work)
      : last_sequence_(*last_sequence), database_mu_(mu), work_(work) {}
  ~SnapshotList();
  SnapshotList(const SnapshotList&) = delete;
  SnapshotList& operator=(const SnapshotList&) = delete;

  const SnapshotImpl* New(int64_t unix_time);  // null after GiveNone
  // Background work checks whether the records that the snapshot kept are worth a rewrite or a
  // collection. It does so once the oldest sequence reaches that of AwaitOldest, and while there
  // are values that only snapshots see.
  void Release(const rocksdb::Snapshot* snapshot) EXCLUDES(database_mu_);
  // A family is updated in place, and has no versions for snapshots.
  void GiveNone() { given_ = false; }

  // Keeps a sequence for an iterator like a snapshot of the application: that of a snapshot, or the last
  // one.
  HeldSequence Hold(const rocksdb::Snapshot* snapshot);

  // Groups of separated values that have some which only snapshots see. The stores count them.
  std::atomic<uint64_t>* pinned_value_runs() { return &pinned_value_runs_; }

  // The oldest that is held; kMaxSequenceNumber if there is none.
  SequenceNumber Oldest() const;
  // Notifies background work once the oldest is `sequence` or more. This replaces an earlier call. False if it is
  // already; then there is no notification. kMaxSequenceNumber: none is wanted.
  bool AwaitOldest(SequenceNumber sequence);

  std::vector<SequenceNumber> Sequences() const;  // ascending, distinct; holds among them
  size_t count() const;

  // If there are none, New waits until Open. If there are some, returns false and does nothing.
  bool CloseIfEmpty();
  void Open();

  // Of the oldest snapshot; 0 without snapshots.
  SequenceNumber OldestSequence() const;
  int64_t OldestTime() const;

 private:
  void ReleaseHold(SequenceNumber sequence) EXCLUDES(database_mu_);
  void LookForWork() EXCLUDES(database_mu_);
  SequenceNumber OldestHeld() const REQUIRES(mu_);
  bool Reached() REQUIRES(mu_);

  const std::atomic<SequenceNumber>& last_sequence_;
  Mutex* const database_mu_;
  BackgroundWork* const work_;
  std::atomic<bool> given_{true};
  std::atomic<uint64_t> pinned_value_runs_{0};
  mutable Mutex mu_;
  CondVar opened_{&mu_};
  bool closed_ GUARDED_BY(mu_) = false;
  SequenceNumber awaited_ GUARDED_BY(mu_) = kMaxSequenceNumber;
  // Also by pointer, because many may be of one sequence.
  std::map<std::pair<SequenceNumber, const rocksdb::Snapshot*>, const SnapshotImpl*> snapshots_ GUARDED_BY(mu_);
  std::multiset<SequenceNumber> holds_ GUARDED_BY(mu_);
};

}  // namespace compassdb
