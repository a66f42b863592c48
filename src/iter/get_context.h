// SPDX-License-Identifier: Apache-2.0
// The state of one point read on its way through memtables and tables.
#pragma once

#include <string>
#include <vector>

#include "format/internal_key.h"
#include "iter/value_resolver.h"
#include "rocksdb/cleanable.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Status;

// Sources feed versions of one user key in decreasing sequence order, each
// at most once, none above the snapshot. Not thread safe. (A store that changes in place may feed a value
// into which operands fed before are merged already: those that are not newer are forgotten.)
class GetContext {
 public:
  enum class State { kSearching, kFound, kDeleted, kMerging };

  // `value` (may be null: existence only) receives the result, pinned where
  // the source allows it.
  GetContext(const Slice& user_key, SequenceNumber snapshot,
             const rocksdb::MergeOperator* merge_operator, rocksdb::PinnableSlice* value);

  const Slice& user_key() const { return user_key_; }
  SequenceNumber snapshot() const { return snapshot_; }
  State state() const { return state_; }
  rocksdb::PinnableSlice* value() const { return value_; }
  // The error of a deferred value.
  void Fail(Status s) { error_ = std::move(s); }
  bool done() const { return state_ == State::kFound || state_ == State::kDeleted; }

  // A source adds a range tombstone over the key before it feeds versions
  // that the tombstone may cover.
  void AddCoveringTombstone(SequenceNumber seq) {
    if (seq > covering_ && !ignore_tombstones_) covering_ = seq;
  }
  // ReadOptions::ignore_range_deletions: those that sources add do not count.
  void IgnoreTombstones(bool ignore) { ignore_tombstones_ = ignore; }
  SequenceNumber covering_tombstone() const { return covering_; }

  // Takes a version. Returns true if older versions are needed. Moves `pin` (may
  // be null) if the value is kept without a copy; a null
  // pin means copy.
  bool Add(SequenceNumber seq, ValueType type, const Slice& value, rocksdb::Cleanable* pin);

  // All sources are exhausted or done(): OK (value filled), NotFound, or the
  // error of the merge operator.
  Status Finish();

  // The log and statistics of the merge operator; either may be null.
  void SetMergeSinks(rocksdb::Logger* logger, rocksdb::Statistics* statistics) {
    logger_ = logger;
    statistics_ = statistics;
  }

  // A separated value that is the result is not fetched: *ref receives its reference, and the caller
  // fetches it. Null: it is fetched.
  void DeferSeparated(std::string* ref) { deferred_ = ref; }
  // The values of the source that feeds versions next; null: it has no separated values.
  void SetValues(const ValueResolver* values) { values_ = values; }

  // GetEntity: `value` receives an entity as it is stored, and found_entity() says so. Otherwise it
  // receives the value of the entity's default column.
  void KeepEntities() { keep_entities_ = true; }
  bool found_entity() const { return found_entity_; }

  // GetMergeOperands: collect operands (newest first) instead of merging.
  void CollectOperandsOnly(std::vector<std::string>* operands);
  SequenceNumber found_sequence() const { return found_sequence_; }  // of the newest version seen

 private:
  void AddEntity(const Slice& stored, rocksdb::Cleanable* pin);
  void AddSeparated(const Slice& ref);
  void Keep(const Slice& value, rocksdb::Cleanable* pin);
  bool AddOperand(SequenceNumber seq, const Slice& value);
  void DropMerged(SequenceNumber seq);
  void AddBase(const Slice* base);

  Slice user_key_;
  SequenceNumber snapshot_;
  const rocksdb::MergeOperator* merge_operator_;
  rocksdb::PinnableSlice* value_;
  const ValueResolver* values_ = nullptr;
  std::string* deferred_ = nullptr;
  State state_ = State::kSearching;
  bool keep_entities_ = false;
  bool found_entity_ = false;
  bool ignore_tombstones_ = false;
  SequenceNumber covering_ = 0;
  SequenceNumber found_sequence_ = 0;
  rocksdb::Logger* logger_ = nullptr;
  rocksdb::Statistics* statistics_ = nullptr;
  std::vector<std::string> operands_;  // newest first
  std::vector<Slice> newest_first_;    // those, or the collected ones, for ShouldMerge
  std::vector<SequenceNumber> operand_sequences_;  // of those, or of the collected ones
  std::vector<std::string>* collect_ = nullptr;
  Status error_;
};

}  // namespace compassdb
