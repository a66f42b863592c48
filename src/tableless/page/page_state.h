// SPDX-License-Identifier: Apache-2.0
// State that all views of one table-less store share.
#pragma once

#include <atomic>
#include <memory>

#include "store/store.h"
#include "tableless/page/in_flight_pages.h"
#include "tableless/page/page_cache.h"
#include "tableless/page/page_format.h"
#include "util/mutex.h"
#include "wal/log_values.h"

namespace compassdb {

class TablelessView;

// Thread safe. Lock order: mu_ is a leaf.
class PageState {
 public:
  // `statistics` and `log_values` may be null, else they outlive this. `read_only`: a primary may
  // write pages.
  PageState(std::shared_ptr<rocksdb::Cache> cache, std::shared_ptr<const rocksdb::MergeOperator> merge_operator,
            rocksdb::Statistics* statistics, bool read_only, const LogValues* log_values = nullptr)
      : read_only_(read_only),
        log_values_(log_values),
        statistics_(statistics),
        cache_(std::move(cache), statistics),
        merge_operator_(std::move(merge_operator)) {}
  bool read_only() const { return read_only_; }
  rocksdb::Statistics* statistics() const { return statistics_; }
  const LogValues* log_values() const { return log_values_; }
  PageCache* cache() { return &cache_; }
  const rocksdb::MergeOperator* merge_operator() const { return merge_operator_.get(); }

  // Pages may hold versions up to this sequence. Raised before the view that has them is current, and
  // so before any of them is written in place.
  SequenceNumber folded() const { return folded_.load(std::memory_order_acquire); }
  // Flushed records, which count in the sections, go up to this. Pages that were written without a journal may be
  // newer: of a flush that is running, or has failed, or that a crash interrupted. The logs have all of that.
  SequenceNumber committed() const { return committed_.load(std::memory_order_acquire); }
  // With the turn (TablelessStore), or before the first reader.
  void RaiseInPlace(SequenceNumber folded) {
    if (folded > this->folded()) folded_.store(folded, std::memory_order_release);
  }
  void RaiseCommitted(SequenceNumber committed) {
    RaiseInPlace(committed);
    if (committed > this->committed()) committed_.store(committed, std::memory_order_release);
  }
  // The records of a page, as CheckPage returned them, do not count in their section yet; nor does *change.
  bool Uncounted(const Slice& records, PageChange* change) const {
    return WrittenInPlace(records, change) && FoldedOf(records) > committed();
  }
  // Likewise: a primary wrote the page after this open. If this database may write, no primary exists: the file then is
  // newer than the manifest. (Pages of a flush, in a journal or in place, are above neither limit: both are raised
  // before such a page can be read.)
  bool WrittenByPrimary(const Slice& records) const {
    return FoldedOf(records) > (WrittenInPlace(records) ? folded() : committed());
  }

  InFlightPages* in_flight() { return &in_flight_; }
  // Pages written without a journal, since open.
  uint64_t unjournaled() const { return unjournaled_.load(std::memory_order_relaxed); }
  void CountUnjournaled(uint64_t pages) { unjournaled_.fetch_add(pages, std::memory_order_relaxed); }
  // Likewise: pages from journals, records appended to the overflow store, finished rehashes of a section.
  uint64_t journaled() const { return journaled_.load(std::memory_order_relaxed); }
  void CountJournaled(uint64_t pages) { journaled_.fetch_add(pages, std::memory_order_relaxed); }
  uint64_t overflow_written() const { return overflow_written_.load(std::memory_order_relaxed); }
  void CountOverflowWritten(uint64_t records) { overflow_written_.fetch_add(records, std::memory_order_relaxed); }
  uint64_t rehashes() const { return rehashes_.load(std::memory_order_relaxed); }
  void CountRehash() { rehashes_.fetch_add(1, std::memory_order_relaxed); }

  // Null once the store is destroyed.
  std::shared_ptr<const TablelessView> current() const {
    MutexLock lock(&mu_);
    return current_;
  }
  void SetCurrent(std::shared_ptr<const TablelessView> view) {
    MutexLock lock(&mu_);
    current_.swap(view);  // the old one is destroyed outside of the lock
    number_.fetch_add(1, std::memory_order_release);
  }
  // The number of the view that is current, or becomes it.
  uint64_t number() const { return number_.load(std::memory_order_acquire); }

 private:
  const bool read_only_;
  const LogValues* const log_values_;
  rocksdb::Statistics* const statistics_;
  PageCache cache_;
  const std::shared_ptr<const rocksdb::MergeOperator> merge_operator_;
  InFlightPages in_flight_;
  std::atomic<uint64_t> unjournaled_{0};
  std::atomic<uint64_t> journaled_{0};
  std::atomic<uint64_t> overflow_written_{0};
  std::atomic<uint64_t> rehashes_{0};
  std::atomic<SequenceNumber> folded_{0};
  std::atomic<SequenceNumber> committed_{0};
  std::atomic<uint64_t> number_{0};
  mutable Mutex mu_;
  std::shared_ptr<const TablelessView> current_ GUARDED_BY(mu_);
};

}  // namespace compassdb
