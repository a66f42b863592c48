// SPDX-License-Identifier: Apache-2.0
// The point records of a memtable, or of a part of the keys of one that is split (memtable.h): a list in arenas
// of its own, which are freed with it.
//
// Thread safety and invariants: as MemTable. Memtables that share a part take turns: only the newest adds records.
// Lock order: logs_mu_ is innermost.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "format/internal_key.h"
#include "format/key_hash.h"
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
  uint32_t parts = 1;  // by key hash
  KeyHasher hasher;
};

// Of records that were added.
struct RecordCounters {
  std::atomic<uint64_t> entries{0}, deletes{0}, merges{0}, bytes{0}, separated{0};
  std::atomic<uint64_t> in_log{0}, bytes_in_log{0};  // values
  std::atomic<SequenceNumber> first{kMaxSequenceNumber}, largest{0};

  // Adds to a counter that other threads read at any time. Either this thread is the only writer, or several writers
  // add concurrently.
  static void Bump(std::atomic<uint64_t>* counter, uint64_t n, bool concurrent) {
    if (concurrent) {
      counter->fetch_add(n, std::memory_order_release);
    } else {
      counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_release);
    }
  }
  void Count(SequenceNumber sequence, ValueType type, size_t size, bool concurrent);
};

class MemTablePart {
 public:
  explicit MemTablePart(const MemTableOptions& options);
  MemTablePart(const MemTablePart&) = delete;
  MemTablePart& operator=(const MemTablePart&) = delete;
  ~MemTablePart();

  // Released after the part's memory.
  void Hold(std::shared_ptr<const void> held) { held_ = std::move(held); }

  // Of a point record; AddAddress: of one with the address of its value.
  Status Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value, bool concurrent);
  Status AddAddress(SequenceNumber sequence, const Slice& key, const LogRef& address, bool concurrent);
  void KeepLog(uint64_t number, const std::shared_ptr<const void>& log) EXCLUDES(logs_mu_);

  void Get(const LookupKey& key, GetContext* ctx, const ValueResolver* log_values) const;
  InternalIteratorPtr NewIterator() const;

  // A record. It stays as long as the part.
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
    friend class MemTablePart;
    Record(const char* entry, const IndexEntries* index) : entry_(entry), index_(index) {}
    const char* entry_;
    const IndexEntries* index_;
  };
  // All in order.
  template <class F>
  void ForEach(F f) const {
    OnPoints([&]<class L>(const L& points) {
      typename L::Iterator it(&points);
      for (it.SeekToFirst(); it.Valid(); it.Next()) f(Record(it.entry(), index_.get()));
    });
  }
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

  const RecordCounters& counters() const { return counters_; }
  uint64_t EstimateCount(const Slice& internal_key) const;  // of records before it
  // The keys of one in kBranching to the power of `level`, in order.
  void AddSamples(int level, std::vector<Slice>* keys) const;

  size_t ApproximateMemoryUsage() const {
    return arena_.ApproximateMemoryUsage() + values_.ApproximateMemoryUsage() + FilterBytes();
  }
  size_t MemoryAllocatedBytes() const {
    return arena_.MemoryAllocatedBytes() + values_.MemoryAllocatedBytes() + FilterBytes();
  }
  ConcurrentArena* arena() { return &arena_; }
  ConcurrentArena* values() { return &values_; }
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
  void Search(const L& points, const Entries& entries, const LookupKey& key, GetContext* ctx,
              const ValueResolver* log_values) const;
  size_t FilterBytes() const {
    return filter_ == nullptr ? 0
                              : filter_->BytesInUse(counters_.entries.load(std::memory_order_relaxed));
  }

  std::shared_ptr<const void> held_;
  const InternalKeyComparator comparator_;
  const size_t separated_from_;
  ConcurrentArena arena_;
  ConcurrentArena values_;  // those that are not in their entries
  const PlainEntries plain_;
  const std::unique_ptr<IndexEntries> index_;  // if the memtable indexes the log, and is not huge
  std::optional<List> points_;             // one of these two: the second with index_
  std::optional<IndexList> index_points_;
  // Holds the keys; null if equal keys may have different bytes.
  std::unique_ptr<MemTableFilter> filter_;
  RecordCounters counters_;

  Mutex logs_mu_;
  std::vector<std::shared_ptr<const void>> logs_ GUARDED_BY(logs_mu_);
  std::atomic<uint64_t> last_log_{0};  // of these
};

}  // namespace compassdb
