// SPDX-License-Identifier: Apache-2.0
// A column family: its options, store, memtables and the state that readers pin.
//
// Thread safety: fields are guarded as their comments say, where "mutex" is the
// database mutex and "front" is the front of the write queue (WriteThread).
// `mem` is changed with both held and may be read with either.
// Invariants: data not yet in the store is in `immutables` (older) and `mem`;
// `mem_log_number` is the oldest write-ahead log that may hold a record of `mem`.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "family/flush_pace.h"
#include "family/read_state.h"
#include "family/stall_controller.h"
#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "store/store.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {


// A sealed memtable on its way into the store.
struct ImmutableMemTable {
  std::shared_ptr<MemTable> mem;
  uint64_t log_number = 0;  // the oldest log that may hold a record of it
  uint64_t prepared_log = UINT64_MAX;  // the oldest log with a prepared section of its data
  bool flushing = false;
};

class ColumnFamily {
 public:
  ColumnFamily(uint32_t id, std::string name, const rocksdb::ColumnFamilyOptions& options,
               std::unique_ptr<Store> store,
               std::shared_ptr<rocksdb::WriteBufferManager> write_buffers);

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  Store* store() const { return store_.get(); }
  const InternalKeyComparator* comparator() const { return &comparator_; }
  const rocksdb::Comparator* user_comparator() const { return comparator_.user_comparator(); }
  // Bytes at the end of each key that are its timestamp.
  size_t timestamp_size() const { return timestamp_size_; }
  const rocksdb::MergeOperator* merge_operator() const { return merge_operator_.get(); }
  // The memtable is one of those that hash by prefix: iterators without total order see one bucket.
  bool hashes_prefixes() const { return hashes_prefixes_; }

  // Options; SetOptions replaces them.
  rocksdb::ColumnFamilyOptions options() const EXCLUDES(options_mu_);
  void set_options(const rocksdb::ColumnFamilyOptions& options) EXCLUDES(options_mu_);

  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor() const EXCLUDES(options_mu_);

  // The options that hot paths look at.
  struct Settings {
    std::atomic<size_t> write_buffer_size{0};
    std::atomic<int> max_write_buffer_number{2};
    std::atomic<int> min_write_buffers_to_merge{1};
    std::atomic<bool> disable_auto_compactions{false};
    std::atomic<int> level0_trigger{4};
    std::atomic<int> level0_slowdown{20};
    std::atomic<int> level0_stop{36};
    std::atomic<uint64_t> soft_pending_bytes{0};
    std::atomic<uint64_t> hard_pending_bytes{0};
    std::atomic<uint64_t> max_sequential_skip{8};
    std::atomic<bool> paranoid{false};
    std::atomic<bool> prefix_seeks{false};  // seeks for a prefix may leave out what has no such key
    // For point reads whose tables' filters have prefixes only, or null. It stays as long as the family.
    std::atomic<const rocksdb::SliceTransform*> point_prefixes{nullptr};
  };
  Settings settings;

  // Null without timestamps; shared with the store.
  std::shared_ptr<HistoryLow> history;

  void CheckInvariants() const;  // [mutex]

  // A fresh, empty `mem`, charged to the write buffer manager while it lives.
  void StartMemTable();  // front
  // Front: reports the size of `mem` to the write buffer manager.
  void ChargeMemTable();

  // [mutex] The oldest log that may hold a record newer than those of the n oldest sealed memtables.
  uint64_t LogBehind(size_t n) const { return n < immutables.size() ? immutables[n].log_number : mem_log_number; }
  // [mutex, front] The active memtable becomes immutable; records from now on
  // are in log `log_number` or later. Without memory (std::bad_alloc) nothing changes.
  void SealMemTable(uint64_t log_number, std::vector<ReadState*>* garbage);
  // [mutex] Publishes memtables and store view to readers.
  void InstallReadState(std::vector<ReadState*>* garbage);

  // [mutex] The oldest write-ahead log that this family still needs: for the
  // records of its memtables, and for what was prepared before its commit.
  uint64_t OldestLogNeeded() const;
  uint64_t OldestRecordLog() const;
  // [mutex] The second alone. Memtables with records only in logs before that one do not count.
  uint64_t OldestPreparedLog(uint64_t records_from) const;
  // [mutex] The store changed: memtables may hold as much of separated values as their bound allows now.
  void LimitMemTable();
  // [mutex] Of the immutables, as many as separated values have room for, at least one; *value_load (may be null) is
  // what they take of it.
  size_t FitForFlush(uint64_t* value_load) const;
  // [mutex] Memtables to be flushed now: those that fit, or all that wait, if there are enough or
  // a flush was asked for; they are marked.
  std::vector<std::shared_ptr<MemTable>> PickFlush(bool all);
  bool FlushPending() const;  // [mutex]
  // [mutex] The first n immutables are in the store (or go back to waiting).
  void FlushCommitted(size_t n);
  void FlushFailed();
  size_t MemTableBytes(bool with_immutables) const;  // [mutex]

  ReadStateHolder* read_state() { return &read_state_; }

  std::shared_ptr<MemTable> mem;                // mutex + front
  uint64_t mem_log_number = 0;                  // mutex + front
  SequenceNumber mem_earliest_sequence = 0;     // mutex + front; nothing in mem is older
  uint64_t mem_prepared_log = UINT64_MAX;       // mutex + front; as in ImmutableMemTable
  // Written at the front, before readers see it: tables may have records up to it that are newer than memtables.
  std::atomic<SequenceNumber> last_ingested{0};
  std::deque<ImmutableMemTable> immutables;     // mutex; oldest first
  uint64_t log_number = 0;                      // mutex; as the manifest has it
  uint64_t sealed_count = 0;                    // mutex; memtables sealed so far
  uint64_t flushed_count = 0;                   // mutex; of these, in the store
  uint64_t announced_count = 0;                 // mutex; of these, listeners were notified
  bool flush_requested = false;                 // mutex; do not wait for more memtables
  bool flush_running = false;                   // mutex
  bool flush_queued = false;                    // mutex
  bool compaction_queued = false;               // mutex
  int compactions_running = 0;                  // mutex
  std::atomic<bool> dropped{false};             // written with mutex + front
  FlushPace pace;                               // mutex
  // Written with the mutex.
  std::atomic<rocksdb::WriteStallCondition> stall{rocksdb::WriteStallCondition::kNormal};
  rocksdb::FlushReason flush_reason = rocksdb::FlushReason::kOthers;           // mutex

  // Since open, for properties.
  struct Counters {
    std::atomic<uint64_t> flush_bytes{0}, flushes{0}, flush_micros{0};
    std::atomic<uint64_t> user_bytes{0};
    std::atomic<uint64_t> compact_read_bytes{0}, compact_write_bytes{0}, compactions{0},
        compact_micros{0};
    // By StallReason, as a number.
    std::array<std::atomic<uint64_t>, kStallReasons> slowdowns{}, stops{};
    static uint64_t Sum(const std::array<std::atomic<uint64_t>, kStallReasons>& by_reason) {
      uint64_t sum = 0;
      for (const auto& n : by_reason) sum += n;
      return sum;
    }
  };
  Counters counters;

 private:
  const uint32_t id_;
  const std::string name_;
  const InternalKeyComparator comparator_;
  const size_t timestamp_size_ = comparator_.user_comparator()->timestamp_size();
  const bool hashes_prefixes_;
  const std::shared_ptr<rocksdb::MergeOperator> merge_operator_;
  const std::unique_ptr<Store> store_;
  const std::shared_ptr<rocksdb::WriteBufferManager> write_buffers_;
  mutable Mutex options_mu_;  // a leaf lock
  rocksdb::ColumnFamilyOptions options_ GUARDED_BY(options_mu_);
  // All that there were: filters know them by their addresses.
  std::vector<std::shared_ptr<const rocksdb::SliceTransform>> extractors_ GUARDED_BY(options_mu_);
  ValueRoom value_room_;  // mutex
  struct MemTableCharge;
  std::shared_ptr<MemTable> NewMemTable(std::shared_ptr<MemTableCharge>* charge);
  std::unique_ptr<ReadState> NewReadState() const;
  uint64_t next_memtable_id_ = 1;           // front
  std::shared_ptr<MemTableCharge> charge_;  // front; of `mem`
  ReadStateHolder read_state_;  // last: its states hold views of the store
};

using Families = std::vector<std::shared_ptr<ColumnFamily>>;

// The live families. Thread safety: lookups take a leaf lock; Add and Remove
// are called with the database mutex held and, once the database is open, at
// the front of the write queue. ByIdUnlocked is for those at the front.
class ColumnFamilySet {
 public:
  std::shared_ptr<ColumnFamily> ById(uint32_t id) const;
  std::shared_ptr<ColumnFamily> ByName(const std::string& name) const;
  ColumnFamily* ByIdAtFront(uint32_t id) const NO_THREAD_SAFETY_ANALYSIS;
  void ChargeAllAtFront() NO_THREAD_SAFETY_ANALYSIS;
  Families All() const;  // by id
  size_t size() const;
  void Add(std::shared_ptr<ColumnFamily> family);
  void Remove(uint32_t id);

 private:
  mutable Mutex mu_;
  std::map<uint32_t, std::shared_ptr<ColumnFamily>> families_ GUARDED_BY(mu_);
};

// The answers to a call with a timestamp, or without one, that the family does not take.
Status TimestampsDisabled(const ColumnFamily& family);
Status TimestampsEnabled(const ColumnFamily& family);
Status TimestampSizeMismatch(size_t wanted, size_t given);

}  // namespace compassdb
