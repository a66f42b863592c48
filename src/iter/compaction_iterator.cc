// SPDX-License-Identifier: Apache-2.0
#include "iter/compaction_iterator.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "format/user_timestamp.h"

namespace compassdb {

using rocksdb::CompactionFilter;

namespace {

// Adds a scope's time to a sum, where the statistics want timers.
class FilterTimer {
 public:
  FilterTimer(const rocksdb::Statistics* statistics, uint64_t* nanos)
      : nanos_(statistics != nullptr && statistics->get_stats_level() > rocksdb::kExceptDetailedTimers
                   ? nanos
                   : nullptr) {
    if (nanos_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  ~FilterTimer() {
    if (nanos_ == nullptr) return;
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    *nanos_ += static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  }
  FilterTimer(const FilterTimer&) = delete;
  FilterTimer& operator=(const FilterTimer&) = delete;

 private:
  uint64_t* const nanos_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

void CompactionIteratorStats::Add(const CompactionIteratorStats& other) {
  records_in += other.records_in;
  records_out += other.records_out;
  deletions_in += other.deletions_in;
  dropped_hidden += other.dropped_hidden;
  dropped_tombstones += other.dropped_tombstones;
  dropped_early += other.dropped_early;
  dropped_range_deleted += other.dropped_range_deleted;
  dropped_by_filter += other.dropped_by_filter;
  single_delete_pairs += other.single_delete_pairs;
  merged_operands += other.merged_operands;
  single_delete_mismatches += other.single_delete_mismatches;
  single_deletes_alone += other.single_deletes_alone;
  raw_key_bytes_in += other.raw_key_bytes_in;
  raw_value_bytes_in += other.raw_value_bytes_in;
  values_read += other.values_read;
  value_bytes_read += other.value_bytes_read;
  filter_nanos += other.filter_nanos;
}

CompactionIterator::CompactionIterator(InternalIterator* input, CompactionIteratorOptions options)
    : input_(input),
      options_(std::move(options)),
      timestamp_size_(options_.comparator->timestamp_size()) {
  assert(std::is_sorted(options_.snapshots.begin(), options_.snapshots.end()));
  // Newer ones are part of the history that stays.
  if (timestamp_size_ != 0 && options_.tombstones != nullptr) {
    options_.tombstones->CountBelow(options_.history_low);
  }
}

void CompactionIterator::SeekToFirst() {
  status_ = Status::OK();
  in_key_ = skipping_ = skip_key_ = valid_ = from_queue_ = live_ready_ = false;
  queue_.clear();
  pending_.clear();
  if (options_.filter != nullptr && !options_.filter->IgnoreSnapshots()) {
    status_ = Status::NotSupported(
        "CompactionFilter::IgnoreSnapshots() = false is not supported anymore.",
        options_.filter->Name());
    return;
  }
  input_->SeekToFirst();
  Advance();
}

void CompactionIterator::Next() {
  assert(valid_);
  if (from_queue_) {
    queue_.pop_front();
    from_queue_ = false;
  } else {
    StepInput(Fate::kWritten);  // past the live record
  }
  Advance();
}

// Brings the next record into key_ and value_.
void CompactionIterator::Advance() {
  while (status_.ok() && queue_.empty() && !live_ready_) {
    ParsedInternalKey version;
    if (!ParseInput(&version)) {
      if (!status_.ok() || !in_key_) break;
      FinishKey();
      continue;
    }
    if (Trimmed(version.user_key)) {
      StepInput(Fate::kDropped);
      continue;
    }
    if (in_key_ && !InKey(version.user_key)) {
      FinishKey();
      continue;
    }
    if (!in_key_) StartKey(version.user_key);
    ProcessVersion(version);
  }
  valid_ = status_.ok() && (!queue_.empty() || live_ready_);
  if (!valid_) return;
  ++stats_.records_out;
  if (!queue_.empty()) {
    const Record& r = queue_.front();
    key_ = r.key;
    value_ = r.value;
    out_stale_ = r.stale;
    out_made_ = r.made;
    from_queue_ = true;
  } else {
    live_ready_ = false;
    key_ = live_key_;
    value_ = live_value_;
    out_stale_ = live_stale_;
    out_made_ = false;
  }
}

// False at the end of the input and on errors.
bool CompactionIterator::ParseInput(ParsedInternalKey* version) {
  if (!input_->Valid()) {
    status_ = input_->status();
    return false;
  }
  const Slice key = input_->key();
  if (!ParseInternalKey(key, version) || !IsPointType(version->type)) {
    status_ = Status::Corruption("compaction input has a malformed internal key",
                                 key.ToString(/*hex=*/true));
    return false;
  }
  return true;
}

void CompactionIterator::StepInput(Fate fate) {
  const ValueType type = ExtractType(input_->key());
  if (fate != Fate::kWritten && options_.dropped_value && type == kTypeBlobIndex) {
    options_.dropped_value(ExtractUserKey(input_->key()), input_->value(), fate == Fate::kHidden);
  }
  ++stats_.records_in;
  if (type == kTypeDeletion || type == kTypeSingleDeletion) ++stats_.deletions_in;
  stats_.raw_key_bytes_in += input_->key().size();
  stats_.raw_value_bytes_in += input_->value().size();
  input_->Next();
}

bool CompactionIterator::BelowHistory(const Slice& user_key) const {
  return !options_.history_low.empty() &&
         options_.comparator->CompareTimestamp(TimestampOf(user_key, timestamp_size_),
                                               options_.history_low) < 0;
}

bool CompactionIterator::Trimmed(const Slice& user_key) const {
  return !options_.trim_to.empty() &&
         options_.comparator->CompareTimestamp(TimestampOf(user_key, timestamp_size_),
                                               options_.trim_to) > 0;
}

// Whether a record is of the current key.
bool CompactionIterator::InKey(const Slice& user_key) const {
  if (timestamp_size_ == 0 || keeps_history_) {
    return options_.comparator->Compare(user_key_, user_key) == 0;
  }
  return IsSameKey(options_.comparator, user_key_, user_key);  // the older ones follow the newest
}

void CompactionIterator::AddPending(const ParsedInternalKey& version, Pending tombstone) {
  if (timestamp_size_ != 0) {
    tombstone.timestamp = TimestampOf(version.user_key, timestamp_size_).ToString();
    if (keeps_history_ && !tombstone.for_outside_only) tombstone.for_conflicts = true;
  }
  pending_.push_back(std::move(tombstone));
}

void CompactionIterator::StartKey(const Slice& user_key) {
  user_key_.assign(user_key.data(), user_key.size());
  in_key_ = true;
  keeps_history_ = timestamp_size_ != 0 && !BelowHistory(user_key);
  first_version_ = true;
  have_stripe_ = false;
  lone_single_delete_ = false;
  outside_ = stale_ = Answer::kUnknown;
  if (skipping_ && options_.comparator->Compare(user_key_, skip_until_) >= 0) skipping_ = false;
  skip_key_ = skipping_ && !Stale();  // records of a stale key are not filtered
}

void CompactionIterator::FinishKey() {
  if (lone_single_delete_) ++stats_.single_deletes_alone;
  FlushPending(/*older_output_follows=*/false);
  in_key_ = false;
}

bool CompactionIterator::Stale() {
  if (stale_ == Answer::kUnknown) {
    stale_ = options_.is_stale && options_.is_stale(user_key_) ? Answer::kYes : Answer::kNo;
  }
  return stale_ == Answer::kYes;
}

bool CompactionIterator::MayExistOutside() {
  if (outside_ == Answer::kUnknown) {
    const bool outside = Stale() || (options_.may_exist_outside
                                         ? options_.may_exist_outside(user_key_)
                                         : !options_.bottommost);
    outside_ = outside ? Answer::kYes : Answer::kNo;
  }
  return outside_ == Answer::kYes;
}

// The index of the earliest snapshot that sees `seq`.
size_t CompactionIterator::StripeOf(SequenceNumber seq) const {
  const auto& snapshots = options_.snapshots;
  return static_cast<size_t>(std::lower_bound(snapshots.begin(), snapshots.end(), seq) -
                             snapshots.begin());
}

void CompactionIterator::ProcessVersion(const ParsedInternalKey& version) {
  if (skip_key_) {
    if (first_version_) {
      AddPending(version, {version.sequence, kTypeDeletion, false, true, false});
      first_version_ = false;
    }
    ++stats_.dropped_by_filter;
    StepInput(Fate::kDropped);
    return;
  }
  const size_t stripe = StripeOf(version.sequence);
  if (have_stripe_ && stripe == stripe_) {
    ProcessHidden(version);
    return;
  }
  have_stripe_ = true;
  stripe_ = stripe;
  lone_single_delete_ = false;
  ProcessTop(version);
}

// A version that a newer one of its stripe hides.
void CompactionIterator::ProcessHidden(const ParsedInternalKey& version) {
  if (lone_single_delete_ && version.type != kTypeSingleDeletion) {
    // Nothing was emitted since the SingleDelete: it is the last one pending.
    Pending& tombstone = pending_.back();
    if (version.type == kTypeDeletion) {
      ++stats_.single_delete_mismatches;
      if (options_.enforce_single_delete_contracts) {
        status_ = Status::Corruption(
            "Found SD and type: kTypeDeletion on the same key, violating the contract of "
            "SingleDelete",
            Slice(user_key_).ToString(/*hex=*/true));
        return;
      }
    } else {
      ++stats_.single_delete_pairs;
      tombstone.for_conflicts = tombstone.sequence > options_.earliest_write_conflict_snapshot;
    }
    // Its partner was dropped: it may hide another record now.
    tombstone.type = kTypeDeletion;
    lone_single_delete_ = false;
  }
  ++stats_.dropped_hidden;
  StepInput(Fate::kHidden);
}

// The newest version of a stripe.
void CompactionIterator::ProcessTop(const ParsedInternalKey& version) {
  const bool first = first_version_;
  const SequenceNumber seq = version.sequence;
  first_version_ = false;
  if (RangeDeleted(version, stripe_)) {
    ++stats_.dropped_range_deleted;
    // An older time, which the range tombstone does not cover, may have been written later.
    const bool hides_times = timestamp_size_ != 0 && !keeps_history_;
    if ((first || hides_times) && !Stale()) AddPending(version, {seq, kTypeDeletion, false, !hides_times, false});
    StepInput(Fate::kDropped);
    return;
  }
  if (version.type == kTypeMerge) {
    ProcessMerge(version, first);
    return;
  }
  if (!IsValueType(version.type)) {
    AddPending(version, {seq, version.type, true, false, false});
    lone_single_delete_ = version.type == kTypeSingleDeletion;
    StepInput(Fate::kDropped);
    return;
  }
  Decision decision = Decision::kKeep;
  // Entities are not shown to filters.
  if (first && options_.filter != nullptr && version.type != kTypeWideColumnEntity && !Stale()) {
    decision = AskFilterOfValue(version);
  }
  switch (decision) {
    case Decision::kKeep:
      EmitLive(version, input_->value());
      return;
    case Decision::kChangeValue:
      Emit(version.user_key, seq, kTypeValue, std::move(filter_value_));
      StepInput(Fate::kDropped);
      return;
    case Decision::kRemove:
    case Decision::kPurge:
      ++stats_.dropped_by_filter;
      AddPending(version,
                 {seq, decision == Decision::kRemove ? kTypeDeletion : kTypeSingleDeletion, true,
                  false, false});
      lone_single_delete_ = decision == Decision::kPurge;
      StepInput(Fate::kDropped);
      return;
    case Decision::kRemoveAndSkipUntil:
      StartSkipping(version);
      ++stats_.dropped_by_filter;
      StepInput(Fate::kDropped);
      return;
    default:
      return;  // AskFilter has set the status
  }
}

// False if the value is missing: it was superseded outside of the job, and collected since. Also false,
// with the status, if it cannot be read.
bool CompactionIterator::FetchSeparated(const Slice& ref, rocksdb::PinnableSlice* value) {
  if (options_.values == nullptr) return false;  // all were collected
  Status s = options_.values->Resolve(user_key_, ref, value);
  if (s.ok()) {
    ++stats_.values_read;
    stats_.value_bytes_read += value->size();
    return true;
  }
  if (!s.IsNotFound()) status_ = std::move(s);
  return false;
}

CompactionIterator::Decision CompactionIterator::AskFilterOfValue(
    const ParsedInternalKey& version) {
  if (version.type == kTypeValue) {
    return AskFilter(CompactionFilter::ValueType::kValue, input_->value());
  }
  filter_value_.clear();
  filter_skip_.clear();
  const Decision by_key = [&] {
    const FilterTimer timer(options_.merge.statistics, &stats_.filter_nanos);
    return options_.filter->FilterBlobByKey(options_.level, user_key_, &filter_value_, &filter_skip_);
  }();
  if (by_key != Decision::kUndetermined) return CheckDecision(by_key);
  rocksdb::PinnableSlice value;
  if (!FetchSeparated(input_->value(), &value)) return Decision::kKeep;
  return AskFilter(CompactionFilter::ValueType::kValue, value);
}

// Returns only decisions that the callers handle, or sets the status.
CompactionIterator::Decision CompactionIterator::AskFilter(CompactionFilter::ValueType type,
                                                           const Slice& value) {
  filter_value_.clear();
  filter_skip_.clear();
  const Decision decision = [&] {
    const FilterTimer timer(options_.merge.statistics, &stats_.filter_nanos);
    return options_.filter->FilterV2(options_.level, user_key_, type, value, &filter_value_,
                                     &filter_skip_);
  }();
  return CheckDecision(decision);
}

CompactionIterator::Decision CompactionIterator::CheckDecision(Decision decision) {
  switch (decision) {
    case Decision::kKeep:
    case Decision::kRemove:
    case Decision::kChangeValue:
    case Decision::kPurge:
      return decision;
    case Decision::kRemoveAndSkipUntil:
      // A target at or before the key skips nothing.
      return options_.comparator->Compare(filter_skip_, user_key_) > 0 ? decision
                                                                       : Decision::kKeep;
    case Decision::kIOError:
      status_ = Status::IOError("compaction filter failed", options_.filter->Name());
      return decision;
    default:
      status_ = Status::NotSupported(
          "compaction filter returned a decision that FilterV2 must not return",
          options_.filter->Name());
      return Decision::kUndetermined;
  }
}

void CompactionIterator::StartSkipping(const ParsedInternalKey& newest) {
  skip_until_ = filter_skip_;
  skipping_ = skip_key_ = true;
  AddPending(newest, {newest.sequence, kTypeDeletion, false, true, false});
}

// Decides on the pending tombstones of the key, once the next record is known.
void CompactionIterator::FlushPending(bool older_output_follows) {
  for (const Pending& p : pending_) {
    const bool keep = p.for_conflicts || (older_output_follows && !p.for_outside_only) ||
                      MayExistOutside();
    if (!keep) {
      if (p.counted) ++stats_.dropped_tombstones;
      if (p.counted && !options_.bottommost) ++stats_.dropped_early;
      continue;
    }
    Record record;
    const Slice key = StripTimestamp(user_key_, timestamp_size_);
    record.key.assign(key.data(), key.size());
    AppendInternalKey(&record.key, p.timestamp, p.sequence, p.type);
    record.stale = Stale();
    record.made = !p.counted;
    queue_.push_back(std::move(record));
  }
  pending_.clear();
}

SequenceNumber CompactionIterator::OutputSequence(const Slice& user_key, SequenceNumber seq,
                                                  ValueType type) {
  if (!options_.allow_zero_sequence || !IsValueType(type)) return seq;
  if (!options_.snapshots.empty() && seq > options_.snapshots.front()) return seq;
  if (MayExistOutside()) return seq;
  // An older tombstone that the caller may keep must not cover the value.
  if (options_.tombstones != nullptr) {
    const SequenceNumber oldest = options_.tombstones->MinCovering(user_key);
    if (oldest != 0 && oldest <= seq) return seq;
  }
  return 0;
}

void CompactionIterator::Emit(const Slice& user_key, SequenceNumber seq, ValueType type,
                              std::string value, bool made) {
  FlushPending(/*older_output_follows=*/true);
  Record record;
  AppendInternalKey(&record.key, user_key, OutputSequence(user_key, seq, type), type);
  record.value = std::move(value);
  record.stale = Stale();
  record.made = made;
  queue_.push_back(std::move(record));
}

// A value in the input's memory: the input advances with the output.
void CompactionIterator::EmitLive(const ParsedInternalKey& version, const Slice& value) {
  FlushPending(/*older_output_follows=*/true);
  live_key_.clear();
  AppendInternalKey(&live_key_, version.user_key,
                    OutputSequence(version.user_key, version.sequence, version.type), version.type);
  live_value_ = value;
  live_stale_ = Stale();
  live_ready_ = true;
}

void CompactionIterator::ProcessMerge(const ParsedInternalKey& top, bool first) {
  if (options_.merge.op == nullptr) {
    status_ = MissingMergeOperator();
    return;
  }
  std::vector<Operand> operands;
  Operand removed{0, {}};  // the newest that the filter removed
  const StripeEnd end = CollectOperands(top.sequence, &operands, &removed);
  if (!status_.ok() || end == StripeEnd::kStopped) return;

  if (operands.empty()) {
    if (end == StripeEnd::kBase || end == StripeEnd::kEntity || end == StripeEnd::kNoBase) {
      // Without operands, their base is the top of the stripe.
      have_stripe_ = false;
      first_version_ = first;
      return;
    }
    // Taking the operand away must neither uncover nor delete records
    // outside: leave it to a job that sees the whole history.
    if (!first || !MayExistOutside()) return;
    operands.push_back(std::move(removed));
    --stats_.dropped_by_filter;
  }

  if (end == StripeEnd::kBase) {
    rocksdb::PinnableSlice separated;
    Slice base = input_->value();
    if (ExtractType(input_->key()) == kTypeBlobIndex) {
      if (!FetchSeparated(base, &separated)) {
        if (!status_.ok()) return;
        EmitOperands(&operands);  // the base stays unchanged, below them
        have_stripe_ = false;
        return;
      }
      base = separated;
    }
    FoldBase(&operands, &base);
  } else if (end == StripeEnd::kNoBase) {
    FoldBase(&operands, nullptr, /*made=*/true);
  } else if (end == StripeEnd::kEntity) {
    // They cannot be folded, and reads return the error. The entity below them stays, too.
    EmitOperands(&operands);
    have_stripe_ = false;
    return;
  } else if (end == StripeEnd::kEndOfKey && !MayExistOutside()) {
    FoldBase(&operands, nullptr);
    return;
  } else {
    EmitOperands(&operands);
    return;
  }
  // The current record is part of the result, or hidden by it.
  if (status_.ok()) StepInput(Fate::kDropped);
}

// Walks the stripe's operands. On kBase and kNoBase the input is at the
// version that ends them: a value, or a record that leaves nothing below.
CompactionIterator::StripeEnd CompactionIterator::CollectOperands(SequenceNumber top,
                                                                  std::vector<Operand>* operands,
                                                                  Operand* removed) {
  ParsedInternalKey version;
  while (ParseInput(&version)) {
    if (options_.comparator->Compare(version.user_key, user_key_) != 0) {
      return StripeEnd::kEndOfKey;
    }
    if (StripeOf(version.sequence) != stripe_) return StripeEnd::kNextStripe;
    if (RangeDeleted(version, stripe_)) return StripeEnd::kNoBase;
    if (version.type == kTypeValue || version.type == kTypeBlobIndex) return StripeEnd::kBase;
    if (version.type == kTypeWideColumnEntity) return StripeEnd::kEntity;
    if (version.type != kTypeMerge) return StripeEnd::kNoBase;
    if (!TakeOperand(top, version.sequence, operands, removed)) return StripeEnd::kStopped;
    StepInput(Fate::kDropped);
  }
  return StripeEnd::kEndOfKey;
}

// False if the filter failed or ends the key.
bool CompactionIterator::TakeOperand(SequenceNumber top, SequenceNumber seq,
                                     std::vector<Operand>* operands, Operand* removed) {
  Decision decision = Decision::kKeep;
  // Operands that a snapshot sees are not shown to the filter.
  const bool protected_by_snapshot =
      !options_.snapshots.empty() && seq <= options_.snapshots.back();
  if (options_.filter != nullptr && !protected_by_snapshot && !Stale()) {
    decision = AskFilter(CompactionFilter::ValueType::kMergeOperand, input_->value());
  }
  switch (decision) {
    case Decision::kKeep:
      operands->push_back({seq, input_->value().ToString()});
      return true;
    case Decision::kChangeValue:
      operands->push_back({seq, std::move(filter_value_)});
      return true;
    case Decision::kRemove:
    case Decision::kPurge:
      if (removed->sequence == 0) *removed = {seq, input_->value().ToString()};
      ++stats_.dropped_by_filter;
      return true;
    case Decision::kRemoveAndSkipUntil:
      stats_.dropped_by_filter += operands->size();
      operands->clear();
      StartSkipping({user_key_, top, kTypeMerge});  // the current record is skipped with the others
      return false;
    default:
      return false;  // AskFilter has set the status
  }
}

void CompactionIterator::FoldBase(std::vector<Operand>* operands, const Slice* base, bool made) {
  std::vector<Slice> oldest_first;
  oldest_first.reserve(operands->size());
  for (auto it = operands->rbegin(); it != operands->rend(); ++it) {
    oldest_first.emplace_back(it->value);
  }
  std::string result;
  Status s = FullMerge(options_.merge, user_key_, base, oldest_first, &result);
  if (!s.ok()) {
    status_ = s.IsCorruption() ? Status(Status::kCorruption, Status::kMergeOperatorFailed, Status::kNoError,
                                        "Could not perform merge of key " + Slice(user_key_).ToString(/*hex=*/true))
                               : s;
    return;
  }
  stats_.merged_operands += operands->size();
  Emit(user_key_, operands->front().sequence, kTypeValue, std::move(result), made);
}

// The base is not in the input: combine the operands if the operator can.
void CompactionIterator::EmitOperands(std::vector<Operand>* operands) {
  std::deque<Slice> oldest_first;
  for (const Operand& operand : *operands) oldest_first.emplace_front(operand.value);
  std::string combined;
  if (PartialMerge(options_.merge, user_key_, oldest_first, &combined)) {
    stats_.merged_operands += operands->size() - 1;
    Emit(user_key_, operands->front().sequence, kTypeMerge, std::move(combined));
    return;
  }
  for (Operand& operand : *operands) {
    Emit(user_key_, operand.sequence, kTypeMerge, std::move(operand.value));
  }
}

}  // namespace compassdb
