// SPDX-License-Identifier: Apache-2.0
#include "transactions/timestamped_snapshots.h"

#include <string>

namespace compassdb {

namespace {

// A snapshot of the database that has a timestamp of the program's.
class TimestampedSnapshot final : public Snapshot {
 public:
  TimestampedSnapshot(rocksdb::DB* db, TxnTimestamp ts)
      : db_(db), snapshot_(db->GetSnapshot()), timestamp_(ts) {}
  ~TimestampedSnapshot() override { db_->ReleaseSnapshot(snapshot_); }
  bool taken() const { return snapshot_ != nullptr; }
  rocksdb::SequenceNumber GetSequenceNumber() const override { return snapshot_->GetSequenceNumber(); }
  int64_t GetUnixTime() const override { return snapshot_->GetUnixTime(); }
  uint64_t GetTimestamp() const override { return timestamp_; }

 private:
  rocksdb::DB* const db_;
  const Snapshot* const snapshot_;
  const TxnTimestamp timestamp_;
};

}  // namespace

TimestampedSnapshots::~TimestampedSnapshots() {
  MutexLock lock(&mu_);
  timestamped_.clear();
}

std::pair<Status, std::shared_ptr<const Snapshot>> TimestampedSnapshots::Create(
    TxnTimestamp ts) {
  if (process_.Inherited()) return {InheritedStatus(), nullptr};
  if (ts == rocksdb::kMaxTxnTimestamp) {
    return {Status::InvalidArgument("CreateTimestampedSnapshot: no timestamp"), nullptr};
  }
  MutexLock lock(&mu_);
  auto fresh = std::make_shared<TimestampedSnapshot>(db_, ts);
  if (!fresh->taken()) {
    return {Status::NotSupported("CreateTimestampedSnapshot: with inplace_update_support"), nullptr};
  }
  if (!timestamped_.empty()) {
    const auto& [newest_ts, newest] = *timestamped_.rbegin();
    if (newest_ts > ts) {
      return {Status::InvalidArgument("snapshot exists with larger timestamp " +
                                      std::to_string(newest_ts) + " > " + std::to_string(ts)),
              nullptr};
    }
    if (newest_ts == ts) {
      if (newest->GetSequenceNumber() == fresh->GetSequenceNumber()) return {Status::OK(), newest};
      return {Status::InvalidArgument("there were writes since the snapshot with timestamp " +
                                      std::to_string(ts)),
              nullptr};
    }
  }
  timestamped_.emplace(ts, fresh);
  return {Status::OK(), std::move(fresh)};
}

std::shared_ptr<const Snapshot> TimestampedSnapshots::Get(TxnTimestamp ts) const {
  if (process_.Inherited()) return nullptr;
  MutexLock lock(&mu_);
  if (timestamped_.empty()) return nullptr;
  if (ts == rocksdb::kMaxTxnTimestamp) return timestamped_.rbegin()->second;
  auto it = timestamped_.find(ts);
  return it == timestamped_.end() ? nullptr : it->second;
}

void TimestampedSnapshots::ReleaseOlderThan(TxnTimestamp ts) {
  if (process_.Inherited()) return;
  std::vector<std::shared_ptr<const Snapshot>> released;  // after the lock
  MutexLock lock(&mu_);
  while (!timestamped_.empty() && timestamped_.begin()->first < ts) {
    released.push_back(timestamped_.begin()->second);
    timestamped_.erase(timestamped_.begin());
  }
}

Status TimestampedSnapshots::GetRange(
    TxnTimestamp from, TxnTimestamp to,
    std::vector<std::shared_ptr<const Snapshot>>& snapshots) const {
  if (process_.Inherited()) return InheritedStatus();
  if (from >= to) {
    return Status::InvalidArgument("timestamp lower bound must be smaller than upper bound");
  }
  snapshots.clear();
  MutexLock lock(&mu_);
  for (auto it = timestamped_.lower_bound(from); it != timestamped_.end() && it->first < to; ++it) {
    snapshots.push_back(it->second);
  }
  return Status::OK();
}

}  // namespace compassdb
