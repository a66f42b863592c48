// SPDX-License-Identifier: Apache-2.0
// Decides which records of a flush or compaction are written.
//
// Snapshots cut the versions of a key into stripes: versions without a snapshot
// between them, so that every reader sees either none of a stripe or its top.
// One version per stripe is written, merge operands are folded within their
// stripe, and tombstones are written while there is something to hide.
//
// Two callbacks describe records outside the job. `may_exist_outside`: an older
// record of the key may remain in this table or deeper. Then the job's newest
// record of the key is never just dropped: it becomes a tombstone at its own
// sequence. `is_stale`: a newer record exists outside. Then no record of the key
// counts as its newest: it is not filtered, its sequence is not zeroed, and
// tombstones stay. Stale implies the former.
//
// With user-defined timestamps, versions of a key at times from `history_low` on are keys of their own, and
// their tombstones stay; all older ones together are versions of one key.
//
// The caller writes range tombstones: this class only drops the records that
// they cover within a stripe.
//
// Thread safety: none. Invariants: output is in internal-key order. Of one key
// at most one stripe's merge operands and one tombstone per stripe are
// held in memory.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "iter/internal_iterator.h"
#include "iter/merge_helper.h"
#include "iter/range_tombstone_set.h"
#include "iter/value_resolver.h"
#include "rocksdb/compaction_filter.h"

namespace compassdb {

struct CompactionIteratorOptions {
  const Comparator* comparator = nullptr;
  std::vector<SequenceNumber> snapshots;    // ascending
  RangeTombstoneSet* tombstones = nullptr;  // of the whole job; null: none
  MergeEnv merge;
  const rocksdb::CompactionFilter* filter = nullptr;
  int level = 0;  // for the filter
  // Without `may_exist_outside`: nothing older is outside the job.
  bool bottommost = false;
  // The job rewrites whole tables at the bottom: sequences of values that all
  // readers see may become 0.
  bool allow_zero_sequence = false;
  std::string history_low;  // a timestamp; empty: the comparator has none, or all history stays
  std::string trim_to;      // a timestamp; newer records are dropped. Empty: none are
  std::function<bool(const Slice& user_key)> may_exist_outside;
  std::function<bool(const Slice& user_key)> is_stale;
  // Fetches separated values for filters and merges; null: there are none.
  const ValueResolver* values = nullptr;
  // Called for a record with a separated value that is not written again. `superseded`: a newer record of
  // the key hides it. May be null.
  std::function<void(const Slice& user_key, const Slice& ref, bool superseded)> dropped_value;
  // A SingleDelete that meets a Deletion is Corruption, as in RocksDB.
  bool enforce_single_delete_contracts = false;
  // SingleDelete pairs newer than this leave a tombstone, which transactions
  // need to see conflicts. kMaxSequenceNumber: no such reader.
  SequenceNumber earliest_write_conflict_snapshot = kMaxSequenceNumber;
};

struct CompactionIteratorStats {
  uint64_t records_in = 0;
  uint64_t records_out = 0;
  uint64_t deletions_in = 0;           // tombstones
  uint64_t dropped_hidden = 0;         // a newer version in the same stripe
  uint64_t dropped_tombstones = 0;     // nothing is left for them to hide; the filter's, too
  uint64_t dropped_early = 0;          // of these, not at the bottom
  uint64_t dropped_range_deleted = 0;  // covered by a range tombstone
  uint64_t dropped_by_filter = 0;
  uint64_t single_delete_pairs = 0;  // annihilated
  uint64_t merged_operands = 0;      // folded into values or other operands
  uint64_t single_delete_mismatches = 0;  // a SingleDelete met a Deletion
  uint64_t single_deletes_alone = 0;      // met nothing
  uint64_t raw_key_bytes_in = 0;
  uint64_t raw_value_bytes_in = 0;
  uint64_t values_read = 0;  // separated ones, for filters and merges
  uint64_t value_bytes_read = 0;  // of these, uncompressed
  uint64_t filter_nanos = 0;  // where the statistics want timers

  void Add(const CompactionIteratorStats& other);
};

class CompactionIterator {
 public:
  // `input` is borrowed: merged inputs of the job in internal-key order.
  CompactionIterator(InternalIterator* input, CompactionIteratorOptions options);

  void SeekToFirst();
  bool Valid() const { return valid_; }
  void Next();  // requires Valid()

  // The current record, valid until the iterator moves.
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  Slice user_key() const { return ExtractUserKey(key_); }
  // A newer record of the key exists outside the job.
  bool stale() const { return out_stale_; }
  // The record is made of records that hide nothing by themselves (merges, records that range tombstones cover),
  // and hides older records of the key, also outside of the job.
  bool made() const { return out_made_; }

  Status status() const { return status_; }
  const CompactionIteratorStats& stats() const { return stats_; }

 private:
  struct Record {
    std::string key;
    std::string value;
    bool stale = false;
    bool made = false;
  };
  // A tombstone that is written only if something is left for it to hide.
  struct Pending {
    SequenceNumber sequence;
    ValueType type;
    bool counted;           // a tombstone of the input or the filter's, not one made here
    bool for_outside_only;  // it hides nothing in the stripes below
    bool for_conflicts;     // kept in any case
    std::string timestamp = {};  // empty without timestamps
  };
  struct Operand {
    SequenceNumber sequence;
    std::string value;
  };

  void Advance();
  enum class Fate : uint8_t { kWritten, kHidden, kDropped };  // of the record that was passed
  void StepInput(Fate fate);
  bool FetchSeparated(const Slice& ref, rocksdb::PinnableSlice* value);
  void AddPending(const ParsedInternalKey& version, Pending tombstone);
  bool InKey(const Slice& user_key) const;
  bool BelowHistory(const Slice& user_key) const;
  bool Trimmed(const Slice& user_key) const;
  void StartKey(const Slice& user_key);
  void FinishKey();
  void ProcessVersion(const ParsedInternalKey& version);
  void ProcessHidden(const ParsedInternalKey& version);
  void ProcessTop(const ParsedInternalKey& version);
  bool ParseInput(ParsedInternalKey* version);

  // Merging. Operands are newest first.
  enum class StripeEnd { kBase, kEntity, kNoBase, kNextStripe, kEndOfKey, kStopped };
  void ProcessMerge(const ParsedInternalKey& top, bool first);
  StripeEnd CollectOperands(SequenceNumber top, std::vector<Operand>* operands,
                            Operand* removed);
  bool TakeOperand(SequenceNumber top, SequenceNumber seq, std::vector<Operand>* operands,
                   Operand* removed);
  void FoldBase(std::vector<Operand>* operands, const Slice* base, bool made = false);
  void EmitOperands(std::vector<Operand>* operands);

  // The filter.
  using Decision = rocksdb::CompactionFilter::Decision;
  Decision AskFilter(rocksdb::CompactionFilter::ValueType type, const Slice& value);
  Decision AskFilterOfValue(const ParsedInternalKey& version);
  Decision CheckDecision(Decision decision);
  void StartSkipping(const ParsedInternalKey& newest);

  void FlushPending(bool older_output_follows);
  void Emit(const Slice& user_key, SequenceNumber seq, ValueType type, std::string value, bool made = false);
  void EmitLive(const ParsedInternalKey& version, const Slice& value);
  SequenceNumber OutputSequence(const Slice& user_key, SequenceNumber seq, ValueType type);
  bool MayExistOutside();
  bool Stale();
  size_t StripeOf(SequenceNumber seq) const;
  SequenceNumber StripeUpper(size_t stripe) const {
    return stripe < options_.snapshots.size() ? options_.snapshots[stripe] : kMaxSequenceNumber;
  }
  bool RangeDeleted(const ParsedInternalKey& version, size_t stripe) {
    return options_.tombstones != nullptr && !options_.tombstones->empty() &&
           options_.tombstones->Covers(version.user_key, version.sequence, StripeUpper(stripe));
  }

  InternalIterator* const input_;
  CompactionIteratorOptions options_;
  const size_t timestamp_size_;
  Status status_;
  CompactionIteratorStats stats_;

  // The key being worked on.
  bool in_key_ = false;
  std::string user_key_;  // of its first version
  bool keeps_history_ = false;  // its time is not below history_low
  bool first_version_ = false;  // no version of it was seen yet
  bool have_stripe_ = false;
  size_t stripe_ = 0;            // of the last version
  bool lone_single_delete_ = false;  // the stripe's top is a SingleDelete without partner
  std::vector<Pending> pending_;     // newest first
  enum class Answer : uint8_t { kUnknown, kNo, kYes };
  Answer outside_ = Answer::kUnknown;
  Answer stale_ = Answer::kUnknown;

  // The filter's last decision.
  std::string filter_value_;
  std::string filter_skip_;
  // It asked to remove all keys before skip_until_.
  std::string skip_until_;
  bool skipping_ = false;
  bool skip_key_ = false;  // the present key is among them

  // Output. Records that own their bytes precede the live one, whose value
  // is the input's: the input has not moved past it.
  std::deque<Record> queue_;
  bool live_ready_ = false;
  std::string live_key_;
  Slice live_value_;
  bool live_stale_ = false;

  bool valid_ = false;
  bool from_queue_ = false;
  Slice key_, value_;
  bool out_stale_ = false;
  bool out_made_ = false;
};

}  // namespace compassdb
