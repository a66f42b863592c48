// SPDX-License-Identifier: Apache-2.0
#include "db/copy/log_iterator.h"

#include <algorithm>
#include <cassert>

#include "batch/write_batch_internal.h"
#include "env/missing.h"

namespace compassdb {
namespace {

// How many sequences a batch takes. Prepared records take theirs at the commit.
class SequenceCounter final : public rocksdb::WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice&, const Slice&) override { return Count(); }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override { return Count(); }
  Status DeleteCF(uint32_t, const Slice&) override { return Count(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Count(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Count(); }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Count(); }
  Status MarkBeginPrepare(bool) override {
    prepared_ = true;
    return Status::OK();
  }
  Status MarkEndPrepare(const Slice&) override {
    prepared_ = false;
    return Status::OK();
  }
  Status MarkNoop(bool) override { return Status::OK(); }
  Status MarkRollback(const Slice&) override { return Status::OK(); }
  Status MarkCommit(const Slice&) override {
    commits = true;
    return Status::OK();
  }
  Status MarkCommitWithTimestamp(const Slice&, const Slice&) override {
    commits = true;
    return Status::OK();
  }

  uint64_t count = 0;
  bool commits = false;

 private:
  Status Count() {
    if (!prepared_) ++count;
    return Status::OK();
  }
  bool prepared_ = false;
};

Status NewTail() { return Status::TryAgain("Create a new iterator to fetch the new tail."); }

}  // namespace

LogIterator::LogIterator(const Source& source, std::vector<WalFileInfo> logs, rocksdb::SequenceNumber since)
    : source_(source), logs_(std::move(logs)), since_(since) {
  SeekToStart();
}

void LogIterator::SeekToStart() {
  first_ = last_ = 0;
  if (logs_.empty() || !OpenLog(0, 0)) return;
  size_t candidate_log = 0;  // of a batch that may reach to `since`
  uint64_t candidate = 0;
  while (Read()) {
    if (refused_) continue;
    if (last_ >= since_ || first_ > since_) break;
    candidate = open_ended_ ? offset_ : 0;
    candidate_log = index_;
  }
  if (batch_ == nullptr) return;  // the end, or an error
  if (candidate != 0 && first_ > since_) {
    last_ = 0;  // the read-ahead may have everything that is published
    if (!OpenLog(candidate_log, candidate) || !Read()) return;
  }
  started_ = valid_ = true;
}

void LogIterator::Next() {
  if (process_.Inherited()) return;
  valid_ = false;
  if (!status_.ok()) return;
  if (!started_) {
    SeekToStart();
    return;
  }
  do {
    const rocksdb::SequenceNumber expected = last_ + 1;
    const bool exact = !open_ended_;
    if (!Read()) return;
    if (first_ < expected || (exact && first_ != expected)) {
      status_ = Status::NotFound("Gap in sequence numbers");
      return;
    }
  } while (refused_);
  valid_ = true;
}

bool LogIterator::Read() {
  batch_.reset();
  fresh_ = false;
  while (true) {
    // Loaded before the log is read, so all that is published can be read.
    const rocksdb::SequenceNumber latest = source_.latest.load(std::memory_order_acquire);
    if (last_ >= latest) return false;
    const LogRead read = ReadFromLog();
    if (read == LogRead::kRecord) return true;
    if (read == LogRead::kError) return false;
    if (index_ + 1 < logs_.size()) {
      if (!OpenLog(index_ + 1, 0)) return false;
      continue;
    }
    // The last log may have grown since its last block was read.
    if (!fresh_) {
      if (!OpenLog(index_, reader_->EndOffset())) {
        if (IsMissing(status_)) status_ = NewTail();
        return false;
      }
      fresh_ = true;
      continue;
    }
    AtEnd();
    return false;
  }
}

// Something is published that these logs do not have.
void LogIterator::AtEnd() {
  if (open_ended_ && source_.wals.current_number() == logs_.back().number) return;  // that may be all
  if (!started_) return;  // nothing was logged from `since` on, or not here
  status_ = NewTail();
}

LogRead LogIterator::ReadFromLog() {
  const bool newest = index_ + 1 == logs_.size();
  // The rest of an older log is not searched for each new batch.
  reader_->SearchLeftovers(fresh_);
  Slice record;
  const LogRead read = reader_->ReadBatch(&record);
  switch (read) {
    case LogRead::kRecord:
      status_ = Parse(record);
      return status_.ok() ? LogRead::kRecord : LogRead::kError;
    case LogRead::kCorruption:
      // The block may be older than the sequence that it was compared with.
      if (!newest || !fresh_) return LogRead::kEnd;
      status_ = reader_->status();
      return LogRead::kError;
    case LogRead::kError:
      status_ = reader_->status();
      return LogRead::kError;
    default:
      return LogRead::kEnd;
  }
}

Status LogIterator::Parse(const Slice& record) {
  auto batch = std::make_unique<rocksdb::WriteBatch>();
  if (Status s = WriteBatchInternal::SetContents(batch.get(), record); !s.ok()) return s;
  SequenceCounter counter;
  if (Status s = batch->Iterate(&counter); !s.ok()) return s;
  first_ = WriteBatchInternal::Sequence(batch.get());
  last_ = first_ + counter.count - 1;
  open_ended_ = counter.commits;
  offset_ = reader_->RecordOffset();
  refused_ = offset_ >= std::min(acknowledged_end_, source_.wals.AcknowledgedEnd(logs_[index_].number));
  batch_ = std::move(batch);
  return Status::OK();
}

bool LogIterator::OpenLog(size_t index, uint64_t offset) {
  index_ = index;
  fresh_ = false;
  status_ = OpenWalFile(source_.fs, source_.wal_dir, offset, &logs_[index], &reader_);
  if (status_.ok()) status_ = FindAcknowledgedEnd();
  return status_.ok();
}

Status LogIterator::FindAcknowledgedEnd() {
  acknowledged_end_ = UINT64_MAX;
  if (index_ + 1 == logs_.size()) return Status::OK();
  std::unique_ptr<WalReader> next;
  Status s = OpenWalFile(source_.fs, source_.wal_dir, 0, &logs_[index_ + 1], &next);
  if (s.ok() && next->ReadHeader() != LogRead::kRecord) {
    s = next->status();
  } else if (s.ok() && next->header().predecessor == logs_[index_].number) {
    acknowledged_end_ = next->header().predecessor_acknowledged;
  }
  // Other errors of that log are reported at its turn.
  return s.IsIOError() && !IsMissing(s) ? s : Status::OK();
}

rocksdb::BatchResult LogIterator::GetBatch() {
  assert(valid_);
  rocksdb::BatchResult result;
  result.sequence = first_;
  result.writeBatchPtr = std::move(batch_);
  return result;
}

}  // namespace compassdb
