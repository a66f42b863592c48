// SPDX-License-Identifier: Apache-2.0
#include "db/read/db_iter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "api/wide_column_codec.h"
#include "db/report/statistics_util.h"
#include "env/perf_cpu_span.h"
#include "format/user_timestamp.h"
#include "trace/tracing.h"
#include "util/arena.h"
#include "util/perf_span.h"
#include "util/process.h"
#include "value_store/value_ref.h"

namespace compassdb {

namespace {

using rocksdb::Statistics;

// Only of damaged data: a seek did not get past the key.
Status OutOfOrder(const Slice& user_key) {
  return Status::Corruption("keys are out of order near", user_key.ToString(/*hex=*/true));
}

// Where the internal iterator stands while the user's is valid:
//
//   forward, one entry     at the entry that is the result
//   forward, merged        behind the last entry that went into the result
//   backward               at the last entry before those of the present key
//
// saved_key_ is the present user key in all cases; the value is the internal
// iterator's in the first, saved_value_ in the others. Of an entity columns_ refers to it.
class DBIter final : public rocksdb::Iterator {
 public:
  DBIter(DBIterOptions options, DBIterSource source)
      : options_(std::move(options)),
        bytewise_(options_.comparator == rocksdb::BytewiseComparator()),
        timestamp_size_(options_.comparator->timestamp_size()),
        bytes_may_differ_(timestamp_size_ == 0 && options_.comparator->CanKeysWithDifferentByteContentsBeEqual()),
        history_(!options_.start_timestamp.empty()),
        source_(std::move(source)) {
    if (timestamp_size_ != 0) source_.tombstones.CountUpTo(options_.timestamp);
  }

  ~DBIter() override {
    Tick(rocksdb::NUMBER_DB_NEXT, counts_.next);
    Tick(rocksdb::NUMBER_DB_NEXT_FOUND, counts_.next_found);
    Tick(rocksdb::NUMBER_DB_PREV, counts_.prev);
    Tick(rocksdb::NUMBER_DB_PREV_FOUND, counts_.prev_found);
    Tick(rocksdb::ITER_BYTES_READ, counts_.bytes);
    Tick(rocksdb::NUMBER_ITER_SKIP, counts_.skipped);
    Tick(rocksdb::NO_ITERATOR_DELETED, 1);
    AskLevel();
    TellPerfContext();
  }

  COMPASSDB_DELETED_BY_ITS_PROCESS(DBIter, process_)

  bool Valid() const override { return valid_ && !process_.Inherited(); }

  void SeekToFirst() override {
    if (process_.Inherited()) return;
    const PerfCpuSpan cpu(AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (!CatchUp()) return;
    if (options_.lower_bound != nullptr) {
      Trace(*options_.lower_bound, /*for_prev=*/false);
      SeekForward(*options_.lower_bound, options_.lower_bound);
    } else {
      Begin(/*forward=*/true);
      PerfSpan seeking(level_, &rocksdb::PerfContext::seek_internal_seek_time);
      source_.iter->SeekToFirst();
      seeking.End();
      FindNextUserEntry(/*skipping=*/false);
    }
    if (valid_) TakePrefix(Bare(saved_key_));
    FinishSeek();
  }

  void SeekToLast() override {
    if (process_.Inherited()) return;
    const PerfCpuSpan cpu(AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (RefuseBackward("SeekToLast")) return;
    Begin(/*forward=*/false);
    PerfSpan seeking(level_, &rocksdb::PerfContext::seek_internal_seek_time);
    if (options_.upper_bound != nullptr) {
      Trace(*options_.upper_bound, /*for_prev=*/true);
      TakePrefix(*options_.upper_bound);  // as RocksDB: the bound is where the walk starts
      source_.iter->SeekForPrev(BeforeAllOf(*options_.upper_bound));
    } else {
      source_.iter->SeekToLast();
    }
    seeking.End();
    FindPrevUserEntry();
    if (valid_) TakePrefix(Bare(saved_key_));
    FinishSeek();
  }

  void Seek(const Slice& target) override {
    if (process_.Inherited()) return;
    const StopWatch watch(options_.clock, options_.statistics.get(), rocksdb::DB_SEEK);
    const PerfCpuSpan cpu(AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    Trace(target, /*for_prev=*/false);
    if (!CatchUp()) return;
    const Slice* from = &target;
    if (options_.lower_bound != nullptr && CompareBare(target, *options_.lower_bound) < 0) {
      from = options_.lower_bound;
    }
    SeekForward(*from, &target);
    FinishSeek();
  }

  void SeekForPrev(const Slice& target) override {
    if (process_.Inherited()) return;
    const StopWatch watch(options_.clock, options_.statistics.get(), rocksdb::DB_SEEK);
    const PerfCpuSpan cpu(AskLevel(), &rocksdb::PerfContext::iter_seek_cpu_nanos);
    if (RefuseBackward("SeekForPrev")) return;
    Trace(target, /*for_prev=*/true);
    Begin(/*forward=*/false);
    TakePrefix(target);
    // In automatic mode the answer may have another prefix, and steps forward from it, too.
    if (options_.prefix_seek != nullptr && !options_.prefix_seek->automatic) StartPrefixSeek(target);
    PerfSpan seeking(level_, &rocksdb::PerfContext::seek_internal_seek_time);
    if (options_.upper_bound != nullptr && CompareBare(target, *options_.upper_bound) >= 0) {
      source_.iter->SeekForPrev(BeforeAllOf(*options_.upper_bound));
    } else {
      source_.iter->SeekForPrev(BehindAllOf(target));
    }
    seeking.End();
    FindPrevUserEntry();
    FinishSeek();
  }

  void Next() override {
    assert(valid_);
    if (!Valid()) return;
    if (AskLevel() >= rocksdb::kEnableTimeExceptForMutex) [[unlikely]] return TimedNext();
    StepForward(/*timed=*/false);
    if (tell_) [[unlikely]] TellPerfContext();
  }

  void Prev() override {
    assert(valid_);
    if (!Valid() || RefuseBackward("Prev")) return;
    {
      const PerfCpuSpan cpu(AskLevel(), &rocksdb::PerfContext::iter_prev_cpu_nanos);
      StepBackward();
    }
    if (tell_ || level_ >= rocksdb::kEnableTimeExceptForMutex) TellPerfContext();
  }

  Slice key() const override {
    assert(valid_);
    if (options_.pin_data) return pinned_key_;
    return timestamp_size_ == 0 ? Slice(saved_key_) : ShownKey();
  }
  Slice timestamp() const override {
    assert(valid_ && timestamp_size_ != 0);
    return TimestampOf(saved_key_, timestamp_size_);
  }
  Slice value() const override {
    assert(valid_);
    if (entity_) [[unlikely]] {
      const bool has = !columns_.empty() && columns_.front().name().empty();
      return has ? columns_.front().value() : Slice();
    }
    if (!forward_ || merged_) return saved_value_;
    return separated_ ? Slice(separated_value_) : source_.iter->value();
  }
  const rocksdb::WideColumns& columns() const override {
    if (!entity_) columns_.assign(1, rocksdb::WideColumn(rocksdb::kDefaultWideColumnName, value()));
    return columns_;
  }

  Status status() const override {
    if (process_.Inherited()) return InheritedStatus();
    return status_.ok() && source_.iter != nullptr ? source_.iter->status() : status_;
  }

  Status Refresh() override {
    if (process_.Inherited()) return InheritedStatus();
    if (!options_.refresh || options_.outdated) {
      return Status::NotSupported("Creating renew iterator is not allowed.");
    }
    return Renew();
  }

  Status GetProperty(std::string name, std::string* prop) override {
    if (process_.Inherited()) return InheritedStatus();
    if (prop == nullptr) return Status::InvalidArgument("prop is nullptr");
    if (name == "rocksdb.iterator.super-version-number") {
      *prop = std::to_string(source_.super_version_number);
    } else if (name == "rocksdb.iterator.is-key-pinned") {
      *prop = !valid_ ? "Iterator is not valid." : options_.pin_data ? "1" : "0";
    } else if (name == "rocksdb.iterator.internal-key") {
      *prop = saved_key_;
    } else {
      return Status::InvalidArgument("Unidentified property.");
    }
    return Status::OK();
  }

 private:
  [[gnu::cold, gnu::noinline]] void TimedNext() {
    const PerfCpuSpan cpu(level_, &rocksdb::PerfContext::iter_next_cpu_nanos);
    StepForward(/*timed=*/true);
    TellPerfContext();
  }
  [[gnu::always_inline]] void StepForward(bool timed) {
    ++counts_.next;
    skipped_ = 0;
    if (options_.outdated) tail_ = saved_key_;
    if (!forward_) {
      // Stand at the present key's first entry; all of it is skipped below.
      forward_ = true;
      walked_values_ = 0;
      ++walked_.unpassed;
      source_.iter->Seek(BeforeSaved());
    } else if (!merged_) {
      source_.iter->Next();
    } else {
      ++walked_.unpassed;
    }
    merged_ = false;
    timed ? FindNextUserEntry(/*skipping=*/true) : FindNext(/*skipping=*/true);
    if (!valid_ && status_.ok() && options_.outdated && options_.outdated(source_) && CatchUp()) {
      // Perhaps there is more by now.
      saved_key_ = tail_;
      source_.iter->Seek(BeforeSaved());
      FindNextUserEntry(/*skipping=*/true);
    }
    if (valid_) {
      ++counts_.next_found;
      counts_.bytes += key().size() + value().size();
    }
  }

  void StepBackward() {
    ++counts_.prev;
    skipped_ = 0;
    if (forward_) {
      forward_ = false;
      merged_ = false;
      walked_values_ = 0;
      if (options_.prefix_seek != nullptr && options_.prefix_seek->automatic) {
        options_.prefix_seek->Stop();
      }
      source_.iter->SeekForPrev(BeforeSaved());
    }
    FindPrevUserEntry();
    if (valid_) {
      ++counts_.prev_found;
      counts_.bytes += key().size() + value().size();
    }
  }

  // Of the ends of the range, too, if they are bounds: they are seeks then.
  void Trace(const Slice& target, bool for_prev) const {
    if (options_.tracing == nullptr || !options_.tracing->running()) return;
    options_.tracing->Seek(options_.family_id, target, for_prev, options_.lower_bound,
                           options_.upper_bound);
  }
  Status Renew() {
    DBIterSource fresh(options_.comparator);
    Status s = options_.refresh(&fresh);
    if (!s.ok()) return s;
    // The old iterators go before what pins their memory.
    scout_.reset();  // it walks on what goes
    std::swap(source_, fresh);
    if (timestamp_size_ != 0) source_.tombstones.CountUpTo(options_.timestamp);
    fresh.iter.reset();
    valid_ = merged_ = false;
    status_ = Status::OK();
    return s;
  }
  // Tailing: sees what was written since. False if that failed.
  bool CatchUp() {
    if (!options_.outdated || !options_.outdated(source_)) return true;
    Status s = Renew();
    if (!s.ok()) Fail(s);
    return s.ok();
  }
  bool RefuseBackward(const char* method) {
    if (!options_.outdated) return false;
    Fail(Status::NotSupported("a tailing iterator only goes forward", method));
    return true;
  }

  // After so many keys in a row under range tombstones a jump is tried.
  static constexpr uint64_t kCoveredRun = 16;

  struct Counts {
    uint64_t next = 0, next_found = 0, prev = 0, prev_found = 0, bytes = 0, skipped = 0;
  };
  // For the thread's PerfContext, which is told of it at the end of a seek and of the iterator; in a walk where
  // times are wanted, or where it met more than entries that are returned.
  struct Walked {
    uint64_t passed = 0;     // entries of keys that are done with, besides one for each Next
    uint64_t unpassed = 0;   // a Next that passed none
    uint64_t deletions = 0;  // and what range deletions hide
    uint64_t recent = 0;     // entries that the snapshot does not see
    uint64_t merged = 0;
  };

  rocksdb::PerfLevel AskLevel() { return level_ = CurrentPerfLevel(); }
  void CountUnusual(uint64_t Walked::* counter) {
    ++(walked_.*counter);
    tell_ = true;
  }
  void TellPerfContext(uint64_t sought_bytes = 0) {
    tell_ = false;
    const Walked walked = std::exchange(walked_, Walked());
    const uint64_t steps = counts_.next - std::exchange(told_steps_, counts_.next);
    const uint64_t bytes = sought_bytes + counts_.bytes - std::exchange(told_bytes_, counts_.bytes);
    if (level_ < rocksdb::kEnableCount) return;
    rocksdb::PerfContext* const perf = CurrentPerfContext();
    perf->iter_read_bytes += bytes;
    perf->internal_key_skipped_count += walked.passed + steps - walked.unpassed;
    perf->internal_delete_skipped_count += walked.deletions;
    perf->internal_recent_skipped_count += walked.recent;
    perf->internal_merge_count += walked.merged;
  }

  // Of keys as they are stored. Versions of one key are equal, unless all are shown.
  int Compare(const Slice& a, const Slice& b) const {
    if (bytewise_) return a.compare(b);
    return timestamp_size_ == 0 || history_ ? options_.comparator->Compare(a, b)
                                            : options_.comparator->CompareWithoutTimestamp(a, b);
  }
  // Of a stored key and a bound; of two bounds or targets: these have no timestamps.
  int CompareBound(const Slice& key, const Slice& bound) const {
    return bytewise_ ? key.compare(bound)
                     : options_.comparator->CompareWithoutTimestamp(key, timestamp_size_ != 0,
                                                                    bound, false);
  }
  int CompareBare(const Slice& a, const Slice& b) const {
    return options_.comparator->CompareWithoutTimestamp(a, false, b, false);
  }
  Slice Bare(const Slice& user_key) const { return StripTimestamp(user_key, timestamp_size_); }
  Slice ShownKey() const { return history_ ? Slice(internal_key_) : Bare(saved_key_); }
  bool TooNew(const ParsedInternalKey& ikey) const {
    return timestamp_size_ != 0 &&
           options_.comparator->CompareTimestamp(TimestampOf(ikey.user_key, timestamp_size_),
                                                 options_.timestamp) > 0;
  }
  bool TooOld(const ParsedInternalKey& ikey) const {
    return history_ &&
           options_.comparator->CompareTimestamp(TimestampOf(ikey.user_key, timestamp_size_),
                                                 options_.start_timestamp) < 0;
  }

  void Tick(uint32_t ticker, uint64_t count) {
    if (options_.statistics != nullptr && count != 0) {
      options_.statistics->recordTick(ticker, count);
    }
  }

  // Seek targets, valid until the next is made, from keys without timestamps.
  Slice Target(const Slice& key, const Slice& timestamp, SequenceNumber seq, ValueType type) {
    target_.assign(key.data(), key.size());
    AppendInternalKey(&target_, timestamp, seq, type);
    return target_;
  }
  Slice FirstVisible(const Slice& key) {
    return Target(key, options_.timestamp, source_.snapshot, kValueTypeForSeek);
  }
  Slice BeforeAllOf(const Slice& key) {
    if (timestamp_size_ == 0) return Target(key, Slice(), kMaxSequenceNumber, kValueTypeForSeek);
    return Target(BeforeAllTimes(key, timestamp_size_), Slice(), kMaxSequenceNumber,
                  kValueTypeForSeek);
  }
  Slice BehindAllOf(const Slice& key) {
    if (timestamp_size_ == 0) return Target(key, Slice(), 0, kTypeDeletion);
    return Target(BehindAllTimes(key, timestamp_size_), Slice(), 0, kTypeDeletion);
  }
  // The same around what goes with saved_key_: in a history, one version.
  Slice BeforeSaved() {
    return history_ ? Target(saved_key_, Slice(), kMaxSequenceNumber, kValueTypeForSeek)
                    : BeforeAllOf(Bare(saved_key_));
  }
  Slice FirstVisibleOfSaved() {
    return history_ ? Target(saved_key_, Slice(), source_.snapshot, kValueTypeForSeek)
                    : FirstVisible(Bare(saved_key_));
  }
  Slice BehindSaved() {
    return history_ ? Target(saved_key_, Slice(), 0, kTypeDeletion) : BehindAllOf(Bare(saved_key_));
  }
  // It gives the key at hand something to show.
  bool ShowsValue(ValueType type) const {
    return IsValueType(type) || (history_ && type != kTypeMerge);
  }

  void Begin(bool forward) {
    status_ = Status::OK();
    valid_ = merged_ = false;
    forward_ = forward;
    skipped_ = walked_values_ = 0;
    has_prefix_ = false;
    if (options_.prefix_seek != nullptr) options_.prefix_seek->Stop();
  }

  void SeekForward(const Slice& from, const Slice* prefix_of) {
    Begin(/*forward=*/true);
    if (prefix_of != nullptr) {
      TakePrefix(*prefix_of);
      if (options_.prefix_seek != nullptr) StartPrefixSeek(from);
    }
    PerfSpan seeking(level_, &rocksdb::PerfContext::seek_internal_seek_time);
    source_.iter->Seek(FirstVisible(from));
    seeking.End();
    FindNextUserEntry(/*skipping=*/false);
  }

  void FinishSeek() {
    TellPerfContext(valid_ ? key().size() + value().size() : 0);
    if (options_.statistics == nullptr) return;
    Tick(rocksdb::NUMBER_DB_SEEK, 1);
    if (valid_) {
      Tick(rocksdb::NUMBER_DB_SEEK_FOUND, 1);
      Tick(rocksdb::ITER_BYTES_READ, key().size() + value().size());
    }
  }

  void StartPrefixSeek(const Slice& from) {
    options_.prefix_seek->Start(from, options_.upper_bound, options_.comparator);
  }
  // Under prefix_same_as_start: from here on only keys with key's prefix count.
  void TakePrefix(const Slice& key) {
    if (!options_.prefix_same_as_start || options_.prefix_extractor == nullptr) return;
    has_prefix_ = options_.prefix_extractor->InDomain(key);
    if (has_prefix_) {
      const Slice prefix = options_.prefix_extractor->Transform(key);
      prefix_.assign(prefix.data(), prefix.size());
    }
  }
  bool HasPrefix(const Slice& key) const {
    if (!has_prefix_) return true;
    const Slice bare = Bare(key);
    return options_.prefix_extractor->InDomain(bare) &&
           options_.prefix_extractor->Transform(bare) == Slice(prefix_);
  }

  void Fail(Status s) {
    status_ = std::move(s);
    valid_ = false;
  }

  // Counts an entry that is looked at. False (and Incomplete) past the limit.
  bool CountEntry() {
    if (options_.max_skippable_internal_keys > 0 &&
        skipped_ > options_.max_skippable_internal_keys) {
      Fail(Status::Incomplete("Too many internal keys skipped."));
      return false;
    }
    ++skipped_;
    return true;
  }
  // What lies under a range tombstone is jumped over: RocksDB's iterators never see it.
  void UncountEntry() {
    --skipped_;
  }

  bool Parse(ParsedInternalKey* ikey) {
    if (ParseInternalKey(source_.iter->key(), ikey) && IsPointType(ikey->type) &&
        ikey->user_key.size() >= timestamp_size_) {
      return true;
    }
    Fail(Status::Corruption("corrupted internal key in DBIter",
                            source_.iter->key().ToString(/*hex=*/true)));
    return false;
  }

  bool Visible(const ParsedInternalKey& ikey) const {
    return ikey.sequence <= source_.snapshot &&
           (timestamp_size_ == 0 || (!TooNew(ikey) && !TooOld(ikey)));
  }
  bool Covered(const ParsedInternalKey& ikey) {
    return !source_.tombstones.empty() &&
           source_.tombstones.Covers(ikey.user_key, ikey.sequence, source_.snapshot);
  }

  void SaveKey(const Slice& user_key) { saved_key_.assign(user_key.data(), user_key.size()); }
  void FoundKey() {
    valid_ = true;
    if (!options_.pin_data) return;
    const Slice shown = ShownKey();
    char* copy = pinned_.Allocate(shown.size());
    if (!shown.empty()) memcpy(copy, shown.data(), shown.size());
    pinned_key_ = Slice(copy, shown.size());
  }
  // The version at hand is the result, or in a history one of the results.
  void SaveVersion(const ParsedInternalKey& ikey) {
    if (timestamp_size_ == 0) return;
    SaveKey(ikey.user_key);
    if (!history_) return;
    internal_key_.clear();
    AppendInternalKey(&internal_key_, saved_key_, ikey.sequence,
                      ikey.type == kTypeDeletion ? kTypeDeletionWithTimestamp : ikey.type);
  }

  // The value of saved_key_ that `ref` names; fetched_ tells of it. False on errors.
  bool FetchSeparated(const Slice& ref, rocksdb::PinnableSlice* value) {
    value->Reset();
    fetched_ = ValueResolver::Version();
    Status s = source_.values == nullptr
                   ? Status::NotFound()
                   : source_.values->ResolveVersion(Bare(saved_key_), ref, value, &fetched_);
    if (s.ok()) return true;
    if (s.IsNotFound()) s = SeparatedValueIsGone(saved_key_);
    Fail(std::move(s));
    return false;
  }
  // Of operands, newest first, those that the fetched value has in it already are dropped.
  template <typename Sequences, typename Operands>
  void DropMerged(Sequences* sequences, Operands* operands) const {
    while (!sequences->empty() && sequences->back() <= fetched_.sequence) {
      sequences->pop_back();
      operands->pop_back();
    }
  }
  // Backward, saved_value_ is a reference: the value takes its place.
  bool FetchSaved() {
    if (++walked_values_ > kWalkBeforeReadAhead) LookAhead();
    if (!FetchSeparated(saved_value_, &separated_value_)) return false;
    saved_value_.assign(separated_value_.data(), separated_value_.size());
    return true;
  }

  // Values of a walk, either way, are read together, in growing windows (HashKV 3.6), two at a time: the second is
  // under way while the first is walked. Each is a sixth of what was walked, so that a walk that ends reads little in
  // vain. Those of long walks are not put into caches, which they would empty of what is asked for by key.
  static constexpr uint64_t kWalkBeforeReadAhead = 2;
  static constexpr size_t kFirstWindow = 4, kLargestWindow = 64;
  static constexpr uint64_t kWindowBytes = 1 << 20;
  static constexpr uint64_t kLongWalk = 128;
  void LookAhead();
  void CollectComing(size_t window, bool unknown);
  // In the direction of the walk.
  bool LiesBehind(const Slice& key, const Slice& mark) const {
    const int order = Compare(key, mark);
    return forward_ ? order > 0 : order < 0;
  }

  [[gnu::always_inline]] void FindNextUserEntry(bool skipping) {
    if (level_ < rocksdb::kEnableTimeExceptForMutex) [[likely]] return FindNext(skipping);
    const PerfSpan span(level_, &rocksdb::PerfContext::find_next_user_entry_time);
    FindNext(skipping);
  }
  void FindNext(bool skipping);
  void SkipCovered();
  void MergeForward();
  void FindPrevUserEntry();
  void FoundEntity(const Slice& stored);
  bool ResolveBackward(bool* found);
  bool ResolveBySeek(bool* found);
  bool StepBeforeSavedKey();
  bool MergeOperands(const Slice* base);

  const ProcessMark process_;
  const DBIterOptions options_;
  const bool bytewise_;
  const size_t timestamp_size_;
  const bool bytes_may_differ_;  // of keys that the comparator calls equal
  const bool history_;  // all versions are shown
  DBIterSource source_;
  Status status_;
  bool valid_ = false;
  bool forward_ = true;
  bool entity_ = false;
  bool merged_ = false;  // forward, and the value is in saved_value_
  bool separated_ = false;  // forward, and the value is separated_value_
  rocksdb::PinnableSlice separated_value_;
  ValueResolver::Version fetched_;
  uint64_t walked_values_ = 0;  // in a row, in one direction
  bool ahead_forward_ = true;   // the direction of the last window
  std::string ahead_from_, ahead_until_;  // keys of the first and the last of the last window
  bool scout_done_ = false;               // nothing comes after it
  InternalIteratorPtr scout_;
  std::vector<ValueResolver::Coming> coming_;  // their slices point into
  std::string coming_bytes_[2];
  size_t last_coming_ = 0;  // of these
  bool has_prefix_ = false;
  std::string prefix_;
  std::string saved_key_;
  std::string internal_key_;  // in a history, what key() shows
  std::string tail_;  // of a tailing iterator: the key before the present one
  std::string saved_value_;
  std::string target_;
  std::vector<std::string> operands_;  // of the key being merged, newest first
  uint64_t skipped_ = 0;               // entries looked at in this call
  Counts counts_;
  Walked walked_;
  bool tell_ = false;          // of walked_, at the end of this step
  uint64_t told_bytes_ = 0;    // of counts_.bytes
  uint64_t told_steps_ = 0;    // of counts_.next
  rocksdb::PerfLevel level_ = rocksdb::kDisable;  // when the present call began
  mutable rocksdb::WideColumns columns_;  // of an entity, or made by columns()
  Arena pinned_;  // under pin_data: every key that was returned
  Slice pinned_key_;
};

// From the internal iterator's position on, finds the first user key with a
// value. With `skipping`, entries up to and including saved_key_ do not count.
void DBIter::FindNext(bool skipping) {
  valid_ = entity_ = separated_ = false;
  uint64_t run = 0;      // entries of one user key skipped in a row
  uint64_t covered = 0;  // keys under range tombstones in a row
  int reseeks = 0;       // for one user key
  bool hidden = false;   // that key lies under a range tombstone
  InternalIterator* const iter = source_.iter.get();
  bool have_saved = skipping;
  while (iter->Valid()) {
    ParsedInternalKey ikey;
    if (!Parse(&ikey)) return;
    if (options_.upper_bound != nullptr && CompareBound(ikey.user_key, *options_.upper_bound) >= 0) {
      return;
    }
    if (!HasPrefix(ikey.user_key)) return;
    if (!CountEntry()) return;
    const bool old_key = have_saved && Compare(ikey.user_key, saved_key_) <= 0;
    if (!old_key) {
      SaveKey(ikey.user_key);
      have_saved = true;
      skipping = hidden = false;
      run = 0;
      reseeks = 0;
    } else if (bytes_may_differ_ && !skipping && Visible(ikey)) {
      SaveKey(ikey.user_key);  // a newer version of other bytes is not this reader's
    }
    if (skipping) {
      if (hidden) UncountEntry();
      ++run;
      ++counts_.skipped;
      ++walked_.passed;
    } else if (!Visible(ikey)) {
      ++run;
      CountUnusual(&Walked::recent);
    } else if (Covered(ikey)) {
      UncountEntry();
      skipping = hidden = true;
      run = 0;
      ++counts_.skipped;
      CountUnusual(&Walked::deletions);
      // (Versions of newer times than the tombstone's may lie beneath it.)
      if (++covered > kCoveredRun && timestamp_size_ == 0) {
        covered = 0;
        SkipCovered();
        continue;
      }
    } else if ((ikey.type == kTypeDeletion || ikey.type == kTypeSingleDeletion) && !history_) {
      skipping = true;
      run = covered = 0;
      ++counts_.skipped;
      CountUnusual(&Walked::deletions);
    } else if (ikey.type == kTypeMerge) {
      MergeForward();
      return;
    } else if (ikey.type == kTypeWideColumnEntity) {
      FoundEntity(iter->value());
      return;
    } else {
      SaveVersion(ikey);
      if (ikey.type == kTypeBlobIndex) {
        if (++walked_values_ > kWalkBeforeReadAhead) LookAhead();
        if (!FetchSeparated(iter->value(), &separated_value_)) return;
        if (fetched_.entity) return FoundEntity(separated_value_);
        if (fetched_.gone) {
          skipping = true;
          run = covered = 0;
          ++counts_.skipped;
          iter->Next();
          continue;
        }
      }
      separated_ = ikey.type == kTypeBlobIndex;
      FoundKey();
      return;
    }
    // A version that is seen may lie on either side of one that only the snapshot does not see.
    if (run > options_.max_sequential_skip &&
        (skipping || timestamp_size_ == 0 || (!history_ && TooNew(ikey)))) {
      run = 0;
      // One leads past the key's versions or to what is seen of them.
      if (++reseeks > 2) return Fail(OutOfOrder(saved_key_));
      iter->Seek(skipping ? BehindSaved() : FirstVisibleOfSaved());
      Tick(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION, 1);
    } else {
      iter->Next();
    }
  }
}

// The walk has come to a separated value, of saved_key_. Begins to read it and those that come, unless that was done:
// where reads overlap, the next ones as soon as the last ones are asked for.
void DBIter::LookAhead() {
  if (!source_.scout) return;
  const bool first = walked_values_ == kWalkBeforeReadAhead + 1;
  const bool unknown =
      first || scout_ == nullptr || ahead_forward_ != forward_ || LiesBehind(saved_key_, ahead_until_);
  if (!unknown && (scout_done_ || !source_.values->overlaps() || LiesBehind(ahead_from_, saved_key_))) return;
  const size_t window =
      first ? kFirstWindow : std::clamp<size_t>(walked_values_ / 6, kFirstWindow, kLargestWindow);
  if (scout_ == nullptr) scout_ = source_.scout();
  ahead_forward_ = forward_;
  if (unknown && forward_) {
    scout_->Seek(source_.iter->key());
  } else if (unknown) {
    scout_->SeekForPrev(BehindSaved());
  }
  CollectComing(window, unknown);
  if (coming_.empty()) {
    if (unknown) ahead_until_ = saved_key_;
    return;  // the last window stays
  }
  last_coming_ = 1 - last_coming_;
  ahead_from_.assign(coming_.front().user_key.data(), coming_.front().user_key.size());
  ahead_until_.assign(coming_.back().user_key.data(), coming_.back().user_key.size());
  source_.values->ReadAhead(coming_, /*keep=*/walked_values_ < kLongWalk);
}

// Into coming_, with the bytes that the last window does not use, what the scout meets: of each key the newest
// separated value that is seen, be it under merge operands, which need it, or forward, in vain, under a deletion.
void DBIter::CollectComing(size_t window, bool unknown) {
  std::array<std::pair<size_t, size_t>, kLargestWindow> ends;  // of key and reference in the bytes
  size_t n = 0;
  uint64_t bytes = 0;
  std::string& coming_bytes = coming_bytes_[1 - last_coming_];
  coming_bytes.clear();
  const auto begin_of = [&](size_t i) { return i == 0 ? 0 : ends[i - 1].second; };
  const auto key_at = [&](size_t i) {
    return Slice(coming_bytes.data() + begin_of(i), ends[i].first - begin_of(i));
  };
  const auto ref_at = [&](size_t i) {
    return Slice(coming_bytes.data() + ends[i].first, ends[i].second - ends[i].first);
  };
  scout_done_ = true;
  for (; scout_->Valid(); forward_ ? scout_->Next() : scout_->Prev()) {
    ParsedInternalKey ikey;
    if (!ParseInternalKey(scout_->key(), &ikey)) break;
    const Slice* const bound = forward_ ? options_.upper_bound : options_.lower_bound;
    if (bound != nullptr) {
      const int order = CompareBound(ikey.user_key, *bound);
      if (forward_ ? order >= 0 : order < 0) break;
    }
    if (ikey.sequence > source_.snapshot || ikey.type == kTypeMerge) continue;
    if (n > 0 && Compare(ikey.user_key, key_at(n - 1)) == 0) {
      if (forward_) continue;
      bytes -= ReferredSize(ref_at(--n));  // this one is newer
      coming_bytes.resize(begin_of(n));
    } else if (n == 0 && !unknown && !LiesBehind(ikey.user_key, ahead_until_)) {
      continue;
    }
    if (ikey.type != kTypeBlobIndex) continue;
    if (n == window || bytes >= kWindowBytes) {
      scout_done_ = false;
      break;
    }
    const Slice ref = scout_->value();
    coming_bytes.append(ikey.user_key.data(), ikey.user_key.size());
    ends[n].first = coming_bytes.size();
    coming_bytes.append(ref.data(), ref.size());
    ends[n++].second = coming_bytes.size();
    bytes += ReferredSize(ref);
  }
  coming_.clear();
  for (size_t i = 0; i < n; ++i) coming_.push_back({key_at(i), ref_at(i)});
}

// A range tombstone covers saved_key_, where the internal iterator stands:
// lets the sources that hold nothing newer jump to the tombstone's end. With
// its sequence the entries of saved_key_ itself may be passed over as well.
void DBIter::SkipCovered() {
  Slice end;
  const SequenceNumber seq = source_.tombstones.MaxCovering(saved_key_, source_.snapshot, &end);
  const std::string before = source_.iter->key().ToString();
  source_.iter->SkipCovered(BeforeAllOf(end), seq);
  // No source could: go on by steps.
  if (source_.iter->Valid() && source_.iter->key() == Slice(before)) source_.iter->Next();
}

bool DBIter::MergeOperands(const Slice* base) {
  if (operands_.empty() && base != nullptr) {
    saved_value_.assign(base->data(), base->size());
    return true;
  }
  Record(options_.statistics.get(), rocksdb::READ_NUM_MERGE_OPERANDS, operands_.size());
  Status s = FullMergeNewestFirst(options_.merge, saved_key_, base, operands_, &saved_value_);
  operands_.clear();
  if (s.ok()) return true;
  Fail(std::move(s));
  return false;
}

// The internal iterator stands at the newest visible version of saved_key_, a
// merge operand: collects down to the base and leaves it behind that.
void DBIter::MergeForward() {
  InternalIterator* const iter = source_.iter.get();
  if (options_.merge.op == nullptr) {
    Fail(MissingMergeOperator());
    return;
  }
  operands_.clear();
  operands_.push_back(iter->value().ToString());
  std::vector<SequenceNumber> sequences{ExtractSequence(iter->key())};
  bool merged = false;
  for (iter->Next(); iter->Valid() && !merged; iter->Next()) {
    ParsedInternalKey ikey;
    if (!Parse(&ikey)) return;
    if (Compare(ikey.user_key, saved_key_) != 0) break;
    if (!CountEntry()) return;
    if (ikey.type == kTypeMerge && !Covered(ikey)) {
      operands_.push_back(iter->value().ToString());
      sequences.push_back(ikey.sequence);
      CountUnusual(&Walked::merged);
      continue;
    }
    const bool covered = Covered(ikey);
    if (ikey.type == kTypeWideColumnEntity && !covered) return Fail(MergeOntoEntity());
    const bool separated = ikey.type == kTypeBlobIndex && !covered;
    bool has_base = (ikey.type == kTypeValue || separated) && !covered;
    Slice base = has_base ? iter->value() : Slice();
    if (separated) {
      if (!FetchSeparated(base, &separated_value_)) return;
      base = separated_value_;
      has_base = !fetched_.gone;
      DropMerged(&sequences, &operands_);
      if (fetched_.entity) {
        return operands_.empty() ? FoundEntity(separated_value_) : Fail(MergeOntoEntity());
      }
    }
    if (!MergeOperands(has_base ? &base : nullptr)) return;
    merged = true;
  }
  if (!iter->Valid() && !iter->status().ok()) return;  // status() tells
  if (!merged && !MergeOperands(nullptr)) return;
  merged_ = true;
  FoundKey();
}

// From the internal iterator's position backward, finds the last user key with
// a value, and leaves the internal iterator before all entries of that key.
void DBIter::FindPrevUserEntry() {
  valid_ = entity_ = false;
  InternalIterator* const iter = source_.iter.get();
  while (iter->Valid()) {
    ParsedInternalKey ikey;
    if (!Parse(&ikey)) return;
    if (options_.lower_bound != nullptr && CompareBound(ikey.user_key, *options_.lower_bound) < 0) {
      return;
    }
    if (!HasPrefix(ikey.user_key)) return;
    SaveKey(ikey.user_key);
    bool found = false;
    if (!ResolveBackward(&found)) return;
    if (!StepBeforeSavedKey()) return;
    if (found) {
      if (entity_) return FoundEntity(saved_value_);
      FoundKey();
      return;
    }
  }
}

// The result is an entity, whose stored form stays where it is while the iterator does.
void DBIter::FoundEntity(const Slice& stored) {
  Status s = DecodeWideColumns(stored, &columns_);
  if (!s.ok()) return Fail(std::move(s));
  entity_ = true;
  FoundKey();
}

// The internal iterator stands at the oldest entry of saved_key_. Walks to the
// newest visible one, keeping the outcome so far. False on errors.
bool DBIter::ResolveBackward(bool* found) {
  InternalIterator* const iter = source_.iter.get();
  enum { kNothing, kPlain, kEntity } base = kNothing;
  bool reference = false;  // saved_value_ names a separated value
  std::deque<std::string> newest_first;
  std::deque<SequenceNumber> sequences;  // of these
  for (uint64_t run = 0; iter->Valid(); iter->Prev(), ++run) {
    ParsedInternalKey ikey;
    if (!Parse(&ikey)) return false;
    if (Compare(ikey.user_key, saved_key_) != 0) break;
    if (!Visible(ikey)) {
      if (timestamp_size_ == 0 || TooNew(ikey)) break;
      continue;  // the snapshot does not see this one; a newer time may be older in sequence
    }
    if (!CountEntry()) return false;
    if (run >= options_.max_sequential_skip) return ResolveBySeek(found);
    ++walked_.passed;
    const bool covered = Covered(ikey);
    if (covered) UncountEntry();
    if (covered || (!ShowsValue(ikey.type) && ikey.type != kTypeMerge)) {
      CountUnusual(&Walked::deletions);
      base = kNothing;
      newest_first.clear();
      sequences.clear();
    } else if (ShowsValue(ikey.type)) {
      base = ikey.type == kTypeWideColumnEntity ? kEntity : kPlain;
      newest_first.clear();
      sequences.clear();
      const Slice value = iter->value();
      saved_value_.assign(value.data(), value.size());
      reference = ikey.type == kTypeBlobIndex;
      SaveVersion(ikey);
    } else {
      CountUnusual(&Walked::merged);
      newest_first.push_front(iter->value().ToString());
      sequences.push_front(ikey.sequence);
    }
  }
  if (!iter->Valid() && !iter->status().ok()) return false;
  if (base == kPlain && reference) {
    if (!FetchSaved()) return false;
    if (fetched_.entity) base = kEntity;
    if (fetched_.gone) base = kNothing;
    DropMerged(&sequences, &newest_first);
  }
  *found = base != kNothing || !newest_first.empty();
  entity_ = base == kEntity;
  if (newest_first.empty()) return true;
  if (base == kEntity) {
    Fail(MergeOntoEntity());
    return false;
  }
  if (options_.merge.op == nullptr) {
    Fail(MissingMergeOperator());
    return false;
  }
  operands_.assign(std::make_move_iterator(newest_first.begin()),
                   std::make_move_iterator(newest_first.end()));
  const std::string base_value = base == kPlain ? std::move(saved_value_) : std::string();
  const Slice base_slice(base_value);
  return MergeOperands(base == kPlain ? &base_slice : nullptr);
}

// The key has many versions: looks at it from the newest visible one down. The
// internal iterator ends somewhere within the key or behind it.
bool DBIter::ResolveBySeek(bool* found) {
  InternalIterator* const iter = source_.iter.get();
  Tick(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION, 1);
  *found = false;
  iter->Seek(FirstVisibleOfSaved());
  if (!iter->Valid()) {
    // The entries were here a moment ago.
    if (iter->status().ok()) Fail(Status::Corruption("DBIter: key vanished", saved_key_));
    return false;
  }
  ParsedInternalKey ikey;
  if (!Parse(&ikey)) return false;
  while (Compare(ikey.user_key, saved_key_) == 0 && !Visible(ikey)) {
    iter->Next();
    if (!iter->Valid() || !Parse(&ikey)) return false;
  }
  if (Compare(ikey.user_key, saved_key_) == 0 && !Covered(ikey)) {
    if (ShowsValue(ikey.type)) {
      const Slice value = iter->value();
      saved_value_.assign(value.data(), value.size());
      entity_ = ikey.type == kTypeWideColumnEntity;
      SaveVersion(ikey);
      *found = true;
      if (ikey.type == kTypeBlobIndex) {
        if (!FetchSaved()) return false;
        entity_ = fetched_.entity;
        *found = !fetched_.gone;
      }
    } else if (ikey.type == kTypeMerge) {
      MergeForward();
      if (!valid_) return false;
      valid_ = merged_ = false;
      *found = true;
    }
  }
  // The merge may have gone off the end, or anywhere: StepBeforeSavedKey needs
  // a position to step from.
  iter->SeekForPrev(BeforeSaved());
  return true;
}

// Moves back to before all entries of saved_key_. False on errors.
bool DBIter::StepBeforeSavedKey() {
  InternalIterator* const iter = source_.iter.get();
  for (uint64_t run = 0; iter->Valid(); ++run) {
    ParsedInternalKey ikey;
    if (!Parse(&ikey)) return false;
    if (Compare(ikey.user_key, saved_key_) < 0) return true;
    if (!CountEntry()) return false;
    if (run > options_.max_sequential_skip) {  // also where the seek went
      Fail(OutOfOrder(saved_key_));
      return false;
    }
    if (run == options_.max_sequential_skip) {
      iter->SeekForPrev(BeforeSaved());
      Tick(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION, 1);
    } else {
      ++counts_.skipped;
      iter->Prev();
    }
  }
  return iter->status().ok();
}

}  // namespace

rocksdb::Iterator* NewDBIterator(DBIterOptions options, DBIterSource source) {
  return new DBIter(std::move(options), std::move(source));
}

}  // namespace compassdb
