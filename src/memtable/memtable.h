// SPDX-License-Identifier: Apache-2.0
// The newest writes of one column family, in memory and in order (entries.h).
//
// If the memtable indexes the log, a value may be the address of a value there. Such a record has the
// type kTypeBlobIndex. Entries and links are then as small as possible: there are millions.
//
// A memtable may be split into parts by key hash. Then one part can be sealed and flushed while the others take
// more writes (SealPart). Sealed and new memtable share parts, so a reader of any of them misses nothing.
//
// Range tombstones are in a list of their own (start -> end). Point reads use a
// fragmented copy of most of them, and check the last few one by one. So a
// reader after each DeleteRange does not fragment all of them each time.
//
// Thread safety: reads may be concurrent with everything. Adds with concurrent ==
// true may be concurrent with each other, one with concurrent == false not. The
// caller publishes a sequence to readers after the adds up to it have returned.
// Invariants: nothing is removed; after MarkImmutable nothing is added. Readers
// hold a std::shared_ptr to the memtable as long as they use what it returned.
// Lock order: tombstones_mu_ is innermost.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "format/internal_key.h"
#include "format/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "memtable/memtable_part.h"
#include "memtable/skip_list.h"
#include "util/mutex.h"

namespace compassdb {

class MemTable {
 public:
  MemTable(const MemTableOptions& options, uint64_t id);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;
  ~MemTable();

  // Of a memtable that is split, has no range tombstones, and takes no more writes: a memtable with this part alone,
  // and one with the others, which takes writes.
  struct Sealed;
  Sealed SealPart(size_t part, const MemTableOptions& options, uint64_t next_id) const;
  size_t part_count() const { return parts_.size(); }
  MemTablePart& part(size_t i) const { return *parts_[i]; }
  // Others have records of the same time.
  bool is_part() const { return is_part_; }

  // TryAgain if this key and sequence are present already; Corruption for a
  // type that is no record. For kTypeRangeDeletion key and value are begin and end.
  Status Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value,
             bool concurrent);

  // Values may be in logs: up to kLogPerIndex times write_buffer_size. AddAddress is Add of such a
  // value, after KeepLog, which holds its log open as long as the memtable lives.
  static constexpr uint64_t kLogPerIndex = 32;
  bool indexes_log() const { return log_values_ != nullptr; }
  Status AddAddress(SequenceNumber sequence, const Slice& key, const LogRef& address,
                    bool concurrent);
  // Concurrent with everything.
  void KeepLog(uint64_t number, const std::shared_ptr<const void>& log);

  // Feeds ctx: the covering range tombstone, then the versions of the key that
  // it may see, newest first, until it has enough.
  void Get(const LookupKey& key, GetContext* ctx) const;

  // Point records. The iterator sees concurrent adds.
  InternalIteratorPtr NewIterator() const;
  using Record = MemTablePart::Record;  // stays as long as the memtable
  // All, in the order of each part.
  template <class F>
  void ForEach(F f) const {
    for (const auto& part : parts_) part->ForEach(f);
  }

  // The present range tombstones, for lookups; never null.
  std::shared_ptr<const RangeTombstoneList> RangeTombstones() const;
  // The same as they were added.
  std::vector<RangeTombstone> RawRangeTombstones() const;

  // Estimated number and bytes of the records in [begin, end).
  void ApproximateStats(const Slice& begin, const Slice& end, uint64_t* count,
                        uint64_t* bytes) const;

  // Some of the keys, in order and evenly spread: all of a small memtable's, and at least a few
  // hundred. (Range tombstones are not among them.)
  std::vector<Slice> SampleKeys() const;

  size_t ApproximateMemoryUsage() const {
    return Sum([](const MemTablePart& part) { return part.ApproximateMemoryUsage(); });
  }
  size_t MemoryAllocatedBytes() const {
    return Sum([](const MemTablePart& part) { return part.MemoryAllocatedBytes(); });
  }
  bool ShouldFlush() const {
    const size_t limit = write_buffer_size_.load(std::memory_order_relaxed);
    // Each record asks. What parts have not used yet is little, but much to add up.
    const size_t used = parts_.size() == 1 ? ApproximateMemoryUsage() : MemoryAllocatedBytes();
    return used >= limit || size_in_log() >= kLogPerIndex * limit || ValuesFull();
  }
  // How much its flush may add to separated values (ValueSpace::FlushRoom): in bytes, and the
  // bytes that a deletion counts.
  void SetValueRoom(uint64_t bytes, uint64_t per_deletion) {
    value_room_.store(bytes, std::memory_order_relaxed);
    room_per_deletion_.store(per_deletion, std::memory_order_relaxed);
  }
  uint64_t ValueLoad(uint64_t per_deletion) const { return separated_size() + num_deletes() * per_deletion; }
  void SetWriteBufferSize(size_t bytes) {
    write_buffer_size_.store(bytes, std::memory_order_relaxed);
  }

  // Records of all kinds, range tombstones included.
  uint64_t num_entries() const { return num_range_deletes() + Counted(&RecordCounters::entries); }
  uint64_t num_merges() const { return Counted(&RecordCounters::merges); }
  uint64_t num_deletes() const { return Counted(&RecordCounters::deletes); }
  uint64_t num_range_deletes() const { return ranges_added_.entries.load(std::memory_order_acquire); }
  uint64_t data_size() const {
    return ranges_added_.bytes.load(std::memory_order_relaxed) + Counted(&RecordCounters::bytes);
  }
  // The part of data_size that will be separated.
  uint64_t separated_size() const { return Counted(&RecordCounters::separated); }
  uint64_t table_size() const { return data_size() - std::min(data_size(), separated_size()); }
  // Values that are in logs.
  uint64_t num_in_log() const { return Counted(&RecordCounters::in_log); }
  uint64_t size_in_log() const { return Counted(&RecordCounters::bytes_in_log); }
  bool empty() const { return num_entries() == 0; }
  // The sequences of the records added; 0 while there are none.
  SequenceNumber first_sequence() const;
  // From which sequence on this memtable and newer ones have all records of the key: parts are flushed at different
  // times. 0: not known.
  SequenceNumber first_sequence_of(const Slice& user_key) const;
  // Of a part that was sealed alone, the sequence up to which it has all records of its keys.
  SequenceNumber largest_sequence() const;
  // The newer one has only newer records of each key.
  bool Precedes(const MemTable& newer) const;

  uint64_t id() const { return id_; }

  void MarkImmutable() {
    CheckInvariants();
    immutable_.store(true, std::memory_order_release);
  }
  bool immutable() const { return immutable_.load(std::memory_order_acquire); }

  const InternalKeyComparator& comparator() const { return comparator_; }

  void CheckInvariants() const;  // not concurrent with adds

 private:
  using List = SkipList<PlainEntries>;
  using Parts = std::vector<std::shared_ptr<MemTablePart>>;

  MemTable(const MemTable& from, uint64_t id, Parts parts, bool is_part);

  template <class F>
  size_t Sum(F f) const {
    size_t sum = 0;
    for (const auto& part : parts_) sum += f(*part);
    return sum;
  }
  uint64_t Counted(std::atomic<uint64_t> RecordCounters::* counter) const {
    return Sum([=](const MemTablePart& part) { return (part.counters().*counter).load(std::memory_order_acquire); });
  }
  MemTablePart& PartOf(const Slice& user_key) const;
  Status AddRange(SequenceNumber sequence, const Slice& begin, const Slice& end, bool concurrent);

  bool ValuesFull() const {
    const uint64_t room = value_room_.load(std::memory_order_relaxed);
    return room != UINT64_MAX && ValueLoad(room_per_deletion_.load(std::memory_order_relaxed)) >= room;
  }
  size_t timestamp_size() const { return comparator_.user_comparator()->timestamp_size(); }
  SequenceNumber CoveringTombstone(const Slice& user_key, SequenceNumber snapshot) const;
  void Fragment() const REQUIRES(tombstones_mu_);

  const InternalKeyComparator comparator_;
  const uint64_t id_;
  const ValueResolver* const log_values_;
  const KeyHasher hasher_;
  std::atomic<size_t> write_buffer_size_;
  std::atomic<uint64_t> value_room_{UINT64_MAX};
  std::atomic<uint64_t> room_per_deletion_{0};
  const Parts parts_;   // by key hash; one, if it is not split
  const bool is_part_;  // sealed alone
  const SequenceNumber all_until_ = 0;  // then
  List ranges_;         // in the arenas of the first part
  RecordCounters ranges_added_;
  std::atomic<bool> immutable_{false};
  std::atomic<uint64_t> last_log_{0};  // that all parts hold

  mutable Mutex tombstones_mu_;
  // Together these have every range tombstone that num_range_deletes counts.
  mutable std::shared_ptr<const RangeTombstoneList> tombstones_ GUARDED_BY(tombstones_mu_);
  mutable std::vector<RangeTombstone> recent_ GUARDED_BY(tombstones_mu_);
};

struct MemTable::Sealed {
  std::unique_ptr<MemTable> sealed, next;
};

}  // namespace compassdb
