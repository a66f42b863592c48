// SPDX-License-Identifier: Apache-2.0
// A column family: its options, store, memtables and the state that readers pin.
//
// Thread safety: methods marked [mutex] are called with the database mutex held, those marked
// [front] at the front of the write queue, the others from everywhere.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "family/memtables.h"
#include "family/read_state.h"
#include "family/stall_controller.h"
#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "store/store.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

class ColumnFamily {
 public:
  // `mu`: the database mutex.
  ColumnFamily(uint32_t id, std::string name, const rocksdb::ColumnFamilyOptions& options,
               std::unique_ptr<Store> store, std::shared_ptr<HistoryLow> history, Mutex* mu,
               std::shared_ptr<rocksdb::WriteBufferManager> write_buffers);

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  Store* store() const { return store_.get(); }
  const InternalKeyComparator* comparator() const { return &comparator_; }
  const rocksdb::Comparator* user_comparator() const { return comparator_.user_comparator(); }
  // Null without timestamps; shared with the store.
  const std::shared_ptr<HistoryLow>& history() const { return history_; }
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

  MemTables& memtables() { return memtables_; }
  const MemTables& memtables() const { return memtables_; }
  // As the options are now.
  MemTableOptions NewMemTableOptions() const EXCLUDES(options_mu_);
  // [mutex, front] The active memtable becomes immutable (MemTables::Seal), or a part of it, if it may.
  void SealMemTable(uint64_t log_number, SequenceNumber earliest_sequence,
                    std::vector<ReadState*>* garbage, bool part = false);
  // [mutex] Publishes memtables and store view to readers.
  void InstallReadState(std::vector<ReadState*>* garbage);
  // [mutex] The store changed: memtables may hold as much of separated values as their bound allows
  // now.
  void LimitMemTables();
  bool FlushPending() const;  // [mutex]

  ReadStateHolder* read_state() { return &read_state_; }

  bool dropped() const { return dropped_; }
  void MarkDropped() { dropped_ = true; }  // [mutex, front]
  // Tables may have records up to it that are newer than memtables.
  SequenceNumber last_ingested() const { return last_ingested_; }
  // [front] Before readers see it.
  void SetLastIngested(SequenceNumber sequence) { last_ingested_ = sequence; }

  // Of all levels together, since open or ResetStats, for properties. LevelStats has the jobs of each
  // level.
  struct Counters {
    std::atomic<uint64_t> flush_bytes{0}, flushes{0};
    std::atomic<uint64_t> compact_read_bytes{0}, compact_write_bytes{0}, compactions{0};
    // By StallReason, as a number.
    std::array<std::atomic<uint64_t>, kStallReasons> slowdowns{}, stops{};
    static uint64_t Sum(const std::array<std::atomic<uint64_t>, kStallReasons>& by_reason) {
      uint64_t sum = 0;
      for (const auto& n : by_reason) sum += n;
      return sum;
    }
  };
  Counters counters;
  std::vector<LevelStats> levels_at_reset;  // mutex; empty without a ResetStats
  // Mutex. Background compactions that failed, and whose next attempt is not due: until then none begins.
  int failed_compactions = 0;

 private:
  // [mutex] With room for one more memtable than there are, and for the old states in `garbage`.
  std::unique_ptr<ReadState> NewReadState(std::vector<ReadState*>* garbage) const;
  void Install(std::unique_ptr<ReadState> state, std::vector<ReadState*>* garbage);

  const uint32_t id_;
  const std::string name_;
  const InternalKeyComparator comparator_;
  const size_t timestamp_size_ = comparator_.user_comparator()->timestamp_size();
  const bool hashes_prefixes_;
  const std::shared_ptr<rocksdb::MergeOperator> merge_operator_;
  const std::unique_ptr<Store> store_;
  const std::shared_ptr<HistoryLow> history_;
  mutable Mutex options_mu_;  // a leaf lock
  rocksdb::ColumnFamilyOptions options_ GUARDED_BY(options_mu_);
  // All that there were: filters know them by their addresses.
  std::vector<std::shared_ptr<const rocksdb::SliceTransform>> extractors_ GUARDED_BY(options_mu_);
  std::atomic<bool> dropped_{false};
  std::atomic<SequenceNumber> last_ingested_{0};
  MemTables memtables_;
  ReadStateHolder read_state_;  // last: its states hold views of the store
};

using Families = std::vector<std::shared_ptr<ColumnFamily>>;

// The live families. Thread safety: lookups take a leaf lock; Add and Remove
// are called with the database mutex held and, once the database is open, at
// the front of the write queue. ByIdAtFront is for those at the front.
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
