// SPDX-License-Identifier: Apache-2.0
// The counts of an iterator. The database's statistics get them when it is destroyed. The thread's PerfContext gets
// them at the end of a seek, and during a walk if times are wanted, or if the walk passed entries that it did not
// return.
#pragma once

#include <memory>
#include <utility>

#include "db/report/statistics_util.h"
#include "rocksdb/statistics.h"
#include "util/perf_span.h"

namespace compassdb {

class WalkCounts {
 public:
  explicit WalkCounts(std::shared_ptr<rocksdb::Statistics> statistics)
      : statistics_(std::move(statistics)) {}
  ~WalkCounts() {
    Tick(rocksdb::NUMBER_DB_NEXT, next_);
    Tick(rocksdb::NUMBER_DB_NEXT_FOUND, next_found_);
    Tick(rocksdb::NUMBER_DB_PREV, prev_);
    Tick(rocksdb::NUMBER_DB_PREV_FOUND, prev_found_);
    Tick(rocksdb::ITER_BYTES_READ, bytes_);
    Tick(rocksdb::NUMBER_ITER_SKIP, skipped_);
    Tick(rocksdb::NO_ITERATOR_DELETED, 1);
    AskLevel();
    UpdatePerfContext();
  }
  WalkCounts(const WalkCounts&) = delete;
  WalkCounts& operator=(const WalkCounts&) = delete;

  rocksdb::Statistics* statistics() const { return statistics_.get(); }
  // When a call begins.
  rocksdb::PerfLevel AskLevel() { return level_ = CurrentPerfLevel(); }
  rocksdb::PerfLevel level() const { return level_; }
  bool timed() const { return level_ >= rocksdb::kEnableTimeExceptForMutex; }

  void Next() { ++next_; }
  void NextFound(uint64_t bytes) {
    ++next_found_;
    bytes_ += bytes;
  }
  void Prev() { ++prev_; }
  void PrevFound(uint64_t bytes) {
    ++prev_found_;
    bytes_ += bytes;
  }
  void SeekEnds(bool found, uint64_t bytes) {
    UpdatePerfContext(found ? bytes : 0);
    Tick(rocksdb::NUMBER_DB_SEEK, 1);
    if (!found) return;
    Tick(rocksdb::NUMBER_DB_SEEK_FOUND, 1);
    Tick(rocksdb::ITER_BYTES_READ, bytes);
  }
  void Reseek() { Tick(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION, 1); }

  // Entries of finished keys, in addition to one for each Next; a Next that passed none.
  void Passed() { ++passed_; }
  void NextPassedNone() { ++passed_none_; }
  void Skipped() { ++skipped_; }
  void Deletion() { CountUnusual(&deletions_); }  // or what a range tombstone hides
  void Recent() { CountUnusual(&recent_); }       // the snapshot does not see it
  void Merged() { CountUnusual(&merged_); }

  bool MustUpdate() const { return unusual_; }
  void UpdatePerfContext(uint64_t sought_bytes = 0) {
    unusual_ = false;
    const uint64_t steps = next_ - std::exchange(reported_next_, next_);
    const uint64_t passed = std::exchange(passed_, 0) + steps - std::exchange(passed_none_, 0);
    const uint64_t bytes = sought_bytes + bytes_ - std::exchange(reported_bytes_, bytes_);
    const uint64_t deletions = std::exchange(deletions_, 0);
    const uint64_t recent = std::exchange(recent_, 0);
    const uint64_t merged = std::exchange(merged_, 0);
    if (level_ < rocksdb::kEnableCount) return;
    rocksdb::PerfContext* const perf = CurrentPerfContext();
    perf->iter_read_bytes += bytes;
    perf->internal_key_skipped_count += passed;
    perf->internal_delete_skipped_count += deletions;
    perf->internal_recent_skipped_count += recent;
    perf->internal_merge_count += merged;
  }

 private:
  void CountUnusual(uint64_t* counter) {
    ++*counter;
    unusual_ = true;
  }
  void Tick(uint32_t ticker, uint64_t count) {
    if (count != 0) compassdb::Tick(statistics_.get(), ticker, count);
  }

  const std::shared_ptr<rocksdb::Statistics> statistics_;  // null: none
  rocksdb::PerfLevel level_ = rocksdb::kDisable;
  uint64_t next_ = 0, next_found_ = 0, prev_ = 0, prev_found_ = 0, bytes_ = 0, skipped_ = 0;
  // Since the last UpdatePerfContext.
  uint64_t passed_ = 0, passed_none_ = 0, deletions_ = 0, recent_ = 0, merged_ = 0;
  bool unusual_ = false;  // one of the last three is not 0
  uint64_t reported_bytes_ = 0, reported_next_ = 0;
};

}  // namespace compassdb
