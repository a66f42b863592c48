// SPDX-License-Identifier: Apache-2.0
// The memtables of a column family: the active one takes the writes, the immutable ones wait for a
// flush.
//
// Thread safety: state changes with the database mutex held, and all but the constructor and what
// is marked [front] is called with it. Once writers exist, the active memtable and its logs change
// with both, the mutex and the front of the write queue, and may be read with either. [front]: may
// be called at the front without the mutex.
// Invariants: what is not yet in the store is in the immutable memtables (older) and in the active
// one. The log number of a memtable is the oldest write-ahead log that may hold a record of it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "family/flush_pace.h"
#include "family/read_state.h"
#include "memtable/memtable.h"
#include "rocksdb/listener.h"
#include "rocksdb/write_buffer_manager.h"
#include "store/value_options.h"
#include "util/mutex.h"

namespace compassdb {

class MemTables {
 public:
  using List = std::vector<std::shared_ptr<MemTable>>;

  // `mu`: the database mutex. `write_buffers`, which may be null, is charged for memtables while
  // they live.
  MemTables(Mutex* mu, const MemTableOptions& options,
            std::shared_ptr<rocksdb::WriteBufferManager> write_buffers);

  void CheckInvariants() const;

  // --- The active memtable
  // [front]
  const std::shared_ptr<MemTable>& active() const NO_THREAD_SAFETY_ANALYSIS { return active_.mem; }
  uint64_t active_log() const;
  // Nothing in it is older.
  SequenceNumber earliest_sequence() const;
  // [front] Reports its size to the write buffer manager.
  void Charge() NO_THREAD_SAFETY_ANALYSIS;
  // It becomes immutable; the next one takes records of this log and later ones. Without memory
  // (std::bad_alloc) nothing changes.
  void Seal(const MemTableOptions& next, uint64_t log_number, SequenceNumber earliest_sequence);
  // The same of only a part of the active memtable: the one with the oldest records. The others stay active. The part
  // may be in the store before older records of others, so these must be in logs that are durable then.
  bool MaySealPart() const;
  void SealPart(const MemTableOptions& next, uint64_t log_number);
  // Another one, which is empty, takes its place; its data is in the store or not wanted.
  void Replace(const MemTableOptions& next);
  // It is empty, and its records will be in this log or later ones.
  void MoveToLog(uint64_t log_number);
  // The same. There are no other memtables, and the manifest will have that number.
  void BeginAt(uint64_t log_number, SequenceNumber earliest_sequence);
  // It gets records of a section that was prepared in this log.
  void KeepPreparedLog(uint64_t log_number);
  // It and the immutable ones may hold as much of separated values as the store has room for.
  void SetValueRoom(const ValueRoom& room);
  const ValueRoom& value_room() const;

  // --- Logs
  // As the manifest has it: the store has what older logs hold. Also read by recovery, when there
  // are no jobs.
  uint64_t log_number() const NO_THREAD_SAFETY_ANALYSIS { return log_number_; }
  void set_log_number(uint64_t log_number);
  // The oldest log that is still needed: for records, and for what was prepared before its commit.
  uint64_t OldestLogNeeded() const;
  uint64_t OldestRecordLog() const { return LogBehind(0); }
  // Memtables with records only in logs before `records_from` do not count.
  uint64_t OldestPreparedLog(uint64_t records_from) const;
  // The oldest log that may hold a record newer than those of the n oldest immutable memtables.
  uint64_t LogBehind(size_t n) const;

  // --- Flushes of the immutable memtables, oldest first
  size_t immutable_count() const;
  // The same as memory: in full memtables, of which the active one is one if it is sealed in parts.
  size_t full_count() const;
  // Memtables sealed so far; of these, in the store; of these, listeners were notified.
  uint64_t sealed_count() const;
  uint64_t flushed_count() const;
  uint64_t announced_count() const;

  // Immutable memtables do not wait for more.
  void RequestFlush();
  // The same if one may have records of that log or an older one, unless a flush runs.
  void RequestFlushOfLog(uint64_t log_number);
  bool flush_requested() const;
  // Why the newest was sealed. Only memtables that were full wait for more.
  void SetFlushReason(rocksdb::FlushReason reason);
  rocksdb::FlushReason flush_reason() const;
  // Whether a flush should begin. It takes at least that many, unless it was requested. With
  // `pairs`, a merge should take two if no writer waits longer then.
  bool FlushPending(int at_least, bool pairs) const;
  // As many as separated values have room for, at least one; *value_load (may be null) is what they
  // take of it.
  size_t FitForFlush(uint64_t* value_load) const;
  // Begins a flush of those that fit, or of all.
  List PickFlush(bool all);
  bool flush_running() const;
  // What PickFlush returned is in the store, or has to wait for another flush.
  void FlushCommitted();
  void FlushFailed();
  // Listeners were notified of the first n sealed memtables.
  void Announced(uint64_t n);
  // In a database that follows another one, its manifest says what is in the store.
  void ForgetFlushed(const MemTableOptions& next);
  FlushPace& pace();

  // Adds all to a state for readers, which has room for them.
  void AddTo(ReadState* state) const;

 private:
  struct InLogs {
    std::shared_ptr<MemTable> mem;
    uint64_t log_number = 0;             // the oldest log that may hold a record of it
    uint64_t prepared_log = UINT64_MAX;  // the oldest log with a prepared section of its data
  };
  struct MemoryCharge;

  using Charges = std::vector<std::shared_ptr<MemoryCharge>>;

  MemTableOptions Limited(MemTableOptions options) const;
  std::shared_ptr<MemoryCharge> NewCharge(MemTablePart* part) const;
  std::shared_ptr<MemTable> New(const MemTableOptions& options, Charges* charges) REQUIRES(*mu_);

  Mutex* const mu_;
  const std::shared_ptr<rocksdb::WriteBufferManager> write_buffers_;
  InLogs active_ GUARDED_BY(*mu_);
  Charges charges_ GUARDED_BY(*mu_);                 // of the parts of the active memtable
  std::vector<uint64_t> part_logs_ GUARDED_BY(*mu_);  // as their log_number
  SequenceNumber earliest_sequence_ GUARDED_BY(*mu_) = 0;
  uint64_t next_id_ GUARDED_BY(*mu_) = 1;
  ValueRoom value_room_ GUARDED_BY(*mu_);
  uint64_t log_number_ GUARDED_BY(*mu_) = 0;
  std::deque<InLogs> immutables_ GUARDED_BY(*mu_);  // oldest first
  size_t flushing_ GUARDED_BY(*mu_) = 0;            // the oldest of these, which a flush writes
  uint64_t sealed_count_ GUARDED_BY(*mu_) = 0;
  uint64_t flushed_count_ GUARDED_BY(*mu_) = 0;
  uint64_t announced_count_ GUARDED_BY(*mu_) = 0;
  bool flush_requested_ GUARDED_BY(*mu_) = false;
  rocksdb::FlushReason flush_reason_ GUARDED_BY(*mu_) = rocksdb::FlushReason::kOthers;
  FlushPace pace_ GUARDED_BY(*mu_);
};

}  // namespace compassdb
