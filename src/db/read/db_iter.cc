// SPDX-License-Identifier: Apache-2.0
// A state machine: `position_` is the position of the internal iterator, which decides how a step begins. ForwardWalk
// and BackwardWalk walk to the next and the previous result. Their results are in the parts that they
// share.
#include "db/read/db_iter.h"

#include <cassert>
#include <string>
#include <utility>

#include "db/read/backward_walk.h"
#include "db/read/forward_walk.h"
#include "db/read/walk_parts.h"
#include "env/perf_cpu_span.h"
#include "trace/tracing.h"
#include "util/checked.h"
#include "util/process.h"

namespace compassdb {

namespace {

class DBIter final : public rocksdb::Iterator {
 public:
  DBIter(const DBIterOptions& options, DBIterSource source, std::unique_ptr<DBIterRenewer> renewer)
      : renewer_(std::move(renewer)),
        tailing_(options.tailing),
        clock_(options.clock),
        tracing_(options.tracing),
        family_id_(options.family_id),
        parts_(options, std::move(source)) {}

  COMPASSDB_DELETED_BY_ITS_PROCESS(DBIter, process_)

  bool Valid() const override { return position_ != WalkPosition::kInvalid && !process_.Inherited(); }

  void SeekToFirst() override {
    if (process_.Inherited()) return;
    const PerfCpuSpan cpu(parts_.counts.AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (!CatchUp()) return;
    if (const Slice* const lower = parts_.range.lower()) {
      Trace(*lower, /*for_prev=*/false);
      SeekForward(*lower, *lower);
    } else {
      Restart();
      PerfSpan seeking(parts_.counts.level(), &rocksdb::PerfContext::seek_internal_seek_time);
      iter().SeekToFirst();
      seeking.End();
      FindNext(/*skipping=*/false);
    }
    FinishSeekToEnd();
  }

  void SeekToLast() override {
    if (process_.Inherited()) return;
    const PerfCpuSpan cpu(parts_.counts.AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (RefuseBackward("SeekToLast")) return;
    Restart();
    PerfSpan seeking(parts_.counts.level(), &rocksdb::PerfContext::seek_internal_seek_time);
    if (const Slice* const upper = parts_.range.upper()) {
      Trace(*upper, /*for_prev=*/true);
      parts_.range.TakePrefix(*upper);  // as RocksDB: the bound is where the walk starts
      iter().SeekForPrev(parts_.target.Before(*upper));
    } else {
      iter().SeekToLast();
    }
    seeking.End();
    FindPrev();
    FinishSeekToEnd();
  }

  void Seek(const Slice& target) override {
    if (process_.Inherited()) return;
    const StopWatch watch(clock_, parts_.counts.statistics(), rocksdb::DB_SEEK);
    const PerfCpuSpan cpu(parts_.counts.AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    Trace(target, /*for_prev=*/false);
    if (!CatchUp()) return;
    const Slice* const lower = parts_.range.lower();
    const bool below = lower != nullptr && parts_.order.CompareBare(target, *lower) < 0;
    SeekForward(below ? *lower : target, target);
    FinishSeek();
  }

  void SeekForPrev(const Slice& target) override {
    if (process_.Inherited()) return;
    const StopWatch watch(clock_, parts_.counts.statistics(), rocksdb::DB_SEEK);
    const PerfCpuSpan cpu(parts_.counts.AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (RefuseBackward("SeekForPrev")) return;
    Trace(target, /*for_prev=*/true);
    Restart();
    parts_.range.TakePrefix(target);
    parts_.range.StartPrefixSeekBackward(target);
    PerfSpan seeking(parts_.counts.level(), &rocksdb::PerfContext::seek_internal_seek_time);
    const Slice* const upper = parts_.range.upper();
    const bool above = upper != nullptr && parts_.order.CompareBare(target, *upper) >= 0;
    iter().SeekForPrev(above ? parts_.target.Before(*upper) : parts_.target.Behind(target));
    seeking.End();
    FindPrev();
    FinishSeek();
  }

  void Next() override {
    assert(Valid());
    if (!Valid()) return;
    parts_.counts.AskLevel();
    if (parts_.counts.timed()) [[unlikely]] return TimedNext();
    StepForward();
    if (parts_.counts.MustUpdate()) [[unlikely]] parts_.counts.UpdatePerfContext();
  }

  void Prev() override {
    assert(Valid());
    if (!Valid() || RefuseBackward("Prev")) return;
    {
      const PerfCpuSpan cpu(parts_.counts.AskLevel(), &rocksdb::PerfContext::iter_prev_cpu_nanos);
      StepBackward();
    }
    if (parts_.counts.MustUpdate() || parts_.counts.timed()) parts_.counts.UpdatePerfContext();
  }

  Slice key() const override {
    assert(Valid());
    return parts_.key.shown();
  }
  Slice timestamp() const override {
    assert(Valid() && parts_.order.has_timestamps());
    return parts_.key.timestamp();
  }
  Slice value() const override {
    assert(Valid());
    return parts_.value.Get(iter());
  }
  const rocksdb::WideColumns& columns() const override { return parts_.value.Columns(iter()); }

  Status status() const override {
    if (process_.Inherited()) return InheritedStatus();
    return parts_.status.ok() ? iter().status() : parts_.status;
  }

  Status Refresh() override {
    if (process_.Inherited()) return InheritedStatus();
    if (renewer_ == nullptr || tailing_) {
      return Status::NotSupported("Creating renew iterator is not allowed.");
    }
    return Renew();
  }

  Status GetProperty(std::string name, std::string* prop) override {
    if (process_.Inherited()) return InheritedStatus();
    if (prop == nullptr) return Status::InvalidArgument("prop is nullptr");
    if (name == "rocksdb.iterator.super-version-number") {
      *prop = std::to_string(parts_.entries.source().super_version_number);
    } else if (name == "rocksdb.iterator.is-key-pinned") {
      *prop = !Valid() ? "Iterator is not valid." : parts_.key.pins() ? "1" : "0";
    } else if (name == "rocksdb.iterator.internal-key") {
      *prop = parts_.key.stored();
    } else {
      return Status::InvalidArgument("Unidentified property.");
    }
    return Status::OK();
  }

 private:
  InternalIterator& iter() const { return *parts_.entries.iter(); }

  void Restart() {
    parts_.status = Status::OK();
    position_ = WalkPosition::kInvalid;
    parts_.limit.Restart();
    parts_.separated.Restart();
    parts_.range.Restart();
  }
  // From `from` on, for the prefix of `target`.
  void SeekForward(const Slice& from, const Slice& target) {
    Restart();
    parts_.range.TakePrefix(target);
    parts_.range.StartPrefixSeek(from);
    PerfSpan seeking(parts_.counts.level(), &rocksdb::PerfContext::seek_internal_seek_time);
    iter().Seek(parts_.target.FirstVisible(from, parts_.entries.source().snapshot));
    seeking.End();
    FindNext(/*skipping=*/false);
  }
  void FinishSeekToEnd() {
    if (position_ != WalkPosition::kInvalid) parts_.range.TakePrefix(parts_.key.bare());
    FinishSeek();
  }
  void FinishSeek() {
    CheckInvariants();
    const bool found = position_ != WalkPosition::kInvalid;
    parts_.counts.SeekEnds(found, found ? BytesShown() : 0);
  }
  size_t BytesShown() const { return key().size() + value().size(); }

  [[gnu::cold, gnu::noinline]] void TimedNext() {
    const PerfCpuSpan cpu(parts_.counts.level(), &rocksdb::PerfContext::iter_next_cpu_nanos);
    StepForward();
    parts_.counts.UpdatePerfContext();
  }
  [[gnu::always_inline]] void StepForward() {
    parts_.counts.Next();
    parts_.limit.Restart();
    if (tailing_) tail_ = parts_.key.stored();
    if (position_ == WalkPosition::kAtResult) [[likely]] {
      iter().Next();
    } else {
      parts_.counts.NextPassedNone();
      if (position_ == WalkPosition::kBeforeKey) {
        // Go to the current key's first entry; all of the key is skipped below.
        parts_.separated.Restart();
        iter().Seek(parts_.target.BeforeStored(parts_.key.stored()));
      }
    }
    FindNext(/*skipping=*/true);
    if (position_ == WalkPosition::kInvalid && tailing_) [[unlikely]] FollowTail();
    CheckInvariants();
    if (position_ != WalkPosition::kInvalid) parts_.counts.NextFound(BytesShown());
  }
  void StepBackward() {
    parts_.counts.Prev();
    parts_.limit.Restart();
    if (position_ != WalkPosition::kBeforeKey) {
      // All runs seek: turning the heap where it stands would need their earlier records, too.
      parts_.separated.Restart();
      parts_.range.TurnBackward();
      iter().SeekForPrev(parts_.target.BeforeStored(parts_.key.stored()));
    }
    FindPrev();
    CheckInvariants();
    if (position_ != WalkPosition::kInvalid) parts_.counts.PrevFound(BytesShown());
  }

  [[gnu::always_inline]] void FindNext(bool skipping) {
    if (parts_.counts.timed()) [[unlikely]] {
      const PerfSpan span(parts_.counts.level(), &rocksdb::PerfContext::find_next_user_entry_time);
      position_ = forward_.FindNext(skipping);
    } else {
      position_ = forward_.FindNext(skipping);
    }
    if (position_ != WalkPosition::kInvalid) parts_.key.Found();
  }
  void FindPrev() {
    position_ = backward_.FindPrev();
    if (position_ != WalkPosition::kInvalid) parts_.key.Found();
  }

  Status Renew() {
    DBIterSource fresh(parts_.order.comparator());
    Status s = renewer_->Renew(&fresh);
    if (!s.ok()) return s;
    parts_.separated.ForgetSource();
    parts_.entries.Replace(std::move(fresh));
    position_ = WalkPosition::kInvalid;
    parts_.status = Status::OK();
    return s;
  }
  // Tailing: sees what was written since. False if that failed.
  bool CatchUp() {
    if (!tailing_ || !renewer_->IsOutdated(parts_.entries.source())) return true;
    Status s = Renew();
    if (!s.ok()) position_ = parts_.Fail(s);
    return s.ok();
  }
  // The walk is at its end. There may be more entries by now.
  void FollowTail() {
    if (!parts_.status.ok() || !renewer_->IsOutdated(parts_.entries.source()) || !CatchUp()) return;
    parts_.key.Set(tail_);
    iter().Seek(parts_.target.BeforeStored(tail_));
    FindNext(/*skipping=*/true);
  }
  bool RefuseBackward(const char* method) {
    if (!tailing_) return false;
    position_ = parts_.Fail(Status::NotSupported("a tailing iterator only goes forward", method));
    return true;
  }

  // After each move: the position is that of the internal iterator.
  void CheckInvariants() const {
    if constexpr (!kChecked) return;
    if (position_ == WalkPosition::kInvalid) return;
    COMPASSDB_INVARIANT(parts_.status.ok(), "an iterator with an error is at no key");
    const Slice key(parts_.key.stored());
    COMPASSDB_INVARIANT(!parts_.range.IsAbove(key), "the key is below the upper bound");
    COMPASSDB_INVARIANT(!parts_.range.IsBelow(key), "the key is not below the lower bound");
    COMPASSDB_INVARIANT(parts_.range.HasPrefix(key), "the key has the prefix of the seek");
    const Slice at = iter().Valid() ? iter().key() : Slice();
    if (position_ == WalkPosition::kAtResult) {
      COMPASSDB_INVARIANT(!at.empty() && ExtractUserKey(at) == key, "the entry at hand is the result");
      COMPASSDB_INVARIANT(ExtractSequence(at) <= parts_.entries.source().snapshot, "the snapshot sees the result");
    } else if (position_ == WalkPosition::kBeforeKey) {
      COMPASSDB_INVARIANT(at.empty() || parts_.order.Compare(ExtractUserKey(at), key) < 0, "the entry at hand is before the key");
    }
  }

  // Also for the ends of the range, if they are bounds: they are seeks then.
  void Trace(const Slice& target, bool for_prev) const {
    if (tracing_ == nullptr || !tracing_->running()) return;
    tracing_->Seek(family_id_, target, for_prev, parts_.range.lower(), parts_.range.upper());
  }

  const ProcessMark process_;
  const std::unique_ptr<DBIterRenewer> renewer_;  // null: it cannot be refreshed
  const bool tailing_;
  Clock* const clock_;
  Tracing* const tracing_;
  const uint32_t family_id_;
  WalkParts parts_;
  ForwardWalk forward_{&parts_};
  BackwardWalk backward_{&parts_, &forward_};
  WalkPosition position_ = WalkPosition::kInvalid;
  std::string tail_;  // of a tailing iterator: the key before the current one
};

}  // namespace

rocksdb::Iterator* NewDBIterator(const DBIterOptions& options, DBIterSource source,
                                 std::unique_ptr<DBIterRenewer> renewer) {
  return new DBIter(options, std::move(source), std::move(renewer));
}

}  // namespace compassdb
