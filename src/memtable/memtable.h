// SPDX-License-Identifier: Apache-2.0
// The newest writes of one column family, in memory and in order (entries.h).
//
// If the memtable indexes the log, a value may be the address of a value there. Such a record has the
// type kTypeBlobIndex. Entries and links are then as small as possible: there are millions.
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
// Lock order: tombstones_mu_ and logs_mu_ are innermost.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "format/internal_key.h"
#include "format/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "iter/value_resolver.h"
#include "memtable/entries.h"
#include "memtable/memtable_filter.h"
#include "memtable/skip_list.h"
#include "util/concurrent_arena.h"
#include "util/mutex.h"

namespace compassdb {

struct MemTableOptions {
  const Comparator* comparator = nullptr;
  size_t arena_block_size = 1 << 20;
  size_t filter_for = SIZE_MAX;  // the memtable's size in bytes for which the filter is made, if less than its limit
  size_t write_buffer_size = 64 << 20;
  size_t separated_from = SIZE_MAX;  // values of this size will be separated
  const ValueResolver* log_values = nullptr;  // finds the values of records of type kTypeBlobIndex
};

class MemTable {
 public:
  MemTable(const MemTableOptions& options, uint64_t id);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;
  ~MemTable();

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
  void KeepLog(uint64_t number, std::shared_ptr<const void> log) EXCLUDES(logs_mu_);

  // Feeds ctx: the covering range tombstone, then the versions of the key that
  // it may see, newest first, until it has enough.
  void Get(const LookupKey& key, GetContext* ctx) const;

  // Point records. The iterator sees concurrent adds.
  InternalIteratorPtr NewIterator() const;
  // One of them. It stays as long as the memtable.
  class Record {
   public:
    // As PlainEntries has it.
    explicit Record(const char* entry) : entry_(entry), index_(nullptr) {}
    Slice user_key() const {
      return index_ == nullptr ? PlainEntries::UserKey(entry_) : index_->UserKey(entry_);
    }
    uint64_t trailer() const {
      return index_ == nullptr ? PlainEntries::Trailer(entry_) : index_->Trailer(entry_);
    }
    SequenceNumber sequence() const { return trailer() >> 8; }
    ValueType type() const { return static_cast<ValueType>(trailer() & 0xff); }
    // `room`: memory for an address.
    Slice value(std::string* room) const {
      return index_ == nullptr ? PlainEntries::Value(entry_) : index_->Value(entry_, room);
    }

   private:
    friend class MemTable;
    Record(const char* entry, const IndexEntries* index) : entry_(entry), index_(index) {}
    const char* entry_;
    const IndexEntries* index_;
  };
  // All in order, each with its address if the memtable indexes the log, and 0 otherwise.
  template <class F>
  void ForEachWithAddress(F f) const {
    if (index_ == nullptr) {
      ForEach([&](const Record& record) { f(record, uint32_t{0}); });
    } else {
      index_points_->ForEachLink([&](uint32_t address, const char* entry) { f(Record(entry, index_.get()), address); });
    }
  }
  // Of such an address, which is not 0.
  Record At(uint32_t address) const { return Record(index_points_->EntryOf(address), index_.get()); }
  // All in order.
  template <class F>
  void ForEach(F f) const {
    OnPoints([&]<class L>(const L& points) {
      typename L::Iterator it(&points);
      for (it.SeekToFirst(); it.Valid(); it.Next()) f(Record(it.entry(), index_.get()));
    });
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
    return arena_.ApproximateMemoryUsage() + values_.ApproximateMemoryUsage() + FilterBytes();
  }
  size_t MemoryAllocatedBytes() const {
    return arena_.MemoryAllocatedBytes() + values_.MemoryAllocatedBytes() + FilterBytes();
  }
  bool ShouldFlush() const {
    const size_t limit = write_buffer_size_.load(std::memory_order_relaxed);
    return ApproximateMemoryUsage() >= limit || size_in_log() >= kLogPerIndex * limit ||
           ValuesFull();
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
  uint64_t num_entries() const { return num_entries_.load(std::memory_order_relaxed); }
  uint64_t num_merges() const { return num_merges_.load(std::memory_order_relaxed); }
  uint64_t num_deletes() const { return num_deletes_.load(std::memory_order_relaxed); }
  uint64_t num_range_deletes() const {
    return num_range_deletes_.load(std::memory_order_acquire);
  }
  uint64_t data_size() const { return data_size_.load(std::memory_order_relaxed); }
  // The part of data_size that will be separated.
  uint64_t separated_size() const { return separated_size_.load(std::memory_order_relaxed); }
  uint64_t table_size() const { return data_size() - std::min(data_size(), separated_size()); }
  // Values that are in logs.
  uint64_t num_in_log() const { return num_in_log_.load(std::memory_order_relaxed); }
  uint64_t size_in_log() const { return size_in_log_.load(std::memory_order_relaxed); }
  bool empty() const { return num_entries() == 0; }
  // The sequences of the records added; 0 while there are none.
  SequenceNumber first_sequence() const;
  SequenceNumber largest_sequence() const {
    return largest_sequence_.load(std::memory_order_acquire);
  }

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
  using IndexList = SkipList<IndexOrder, uint32_t>;
  template <class L, class Entries>
  class Iterator;

  template <class F>
  decltype(auto) OnPoints(F f) const {
    return index_ != nullptr ? f(*index_points_) : f(*points_);
  }
  template <class L>
  Status AddPlain(L* list, size_t prefix, SequenceNumber sequence, ValueType type, const Slice& key,
                  const Slice& value, bool concurrent);
  template <class L, class Entries>
  void Search(const L& points, const Entries& entries, const LookupKey& key, GetContext* ctx) const;

  bool ValuesFull() const {
    const uint64_t room = value_room_.load(std::memory_order_relaxed);
    return room != UINT64_MAX && ValueLoad(room_per_deletion_.load(std::memory_order_relaxed)) >= room;
  }
  size_t timestamp_size() const { return comparator_.user_comparator()->timestamp_size(); }
  size_t FilterBytes() const {
    return filter_ == nullptr ? 0 : filter_->BytesInUse(num_entries());
  }
  SequenceNumber CoveringTombstone(const Slice& user_key, SequenceNumber snapshot) const;
  void Fragment() const REQUIRES(tombstones_mu_);
  void Count(SequenceNumber sequence, ValueType type, size_t bytes, bool concurrent);

  const InternalKeyComparator comparator_;
  const uint64_t id_;
  const size_t separated_from_;
  const ValueResolver* const log_values_;
  std::atomic<size_t> write_buffer_size_;
  std::atomic<uint64_t> value_room_{UINT64_MAX};
  std::atomic<uint64_t> room_per_deletion_{0};
  ConcurrentArena arena_;
  ConcurrentArena values_;  // those that are not in their entries
  const PlainEntries plain_;
  const std::unique_ptr<IndexEntries> index_;  // if the memtable indexes the log, and is not huge
  std::optional<List> points_;             // one of these two: the second with index_
  std::optional<IndexList> index_points_;
  List ranges_;
  // Holds the keys of the points; null if equal keys may have different bytes.
  std::unique_ptr<MemTableFilter> filter_;

  std::atomic<uint64_t> num_entries_{0};
  std::atomic<uint64_t> num_deletes_{0};
  std::atomic<uint64_t> num_merges_{0};
  std::atomic<uint64_t> num_range_deletes_{0};
  std::atomic<uint64_t> num_in_log_{0}, size_in_log_{0};
  std::atomic<uint64_t> data_size_{0};
  std::atomic<uint64_t> separated_size_{0};
  std::atomic<SequenceNumber> first_sequence_{kMaxSequenceNumber};
  std::atomic<SequenceNumber> largest_sequence_{0};
  std::atomic<bool> immutable_{false};

  Mutex logs_mu_;
  std::vector<std::shared_ptr<const void>> logs_ GUARDED_BY(logs_mu_);
  std::atomic<uint64_t> last_log_{0};  // of these

  mutable Mutex tombstones_mu_;
  // Together these have every range tombstone that num_range_deletes_ counts.
  mutable std::shared_ptr<const RangeTombstoneList> tombstones_ GUARDED_BY(tombstones_mu_);
  mutable std::vector<RangeTombstone> recent_ GUARDED_BY(tombstones_mu_);
};

}  // namespace compassdb
