// SPDX-License-Identifier: Apache-2.0
#include "lsm/read/level_iterator.h"

#include <algorithm>
#include <utility>

#include "filter/prefix_seek.h"
#include "format/internal_key.h"
#include "format/user_timestamp.h"

namespace compassdb {

int FindTable(const Comparator* cmp, std::span<const TableRef> tables, const Slice& user_key) {
  int lo = 0, hi = static_cast<int>(tables.size());
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    if (cmp->Compare(tables[mid]->meta().smallest, user_key) <= 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo - 1;
}

int FindTable(const std::vector<TableRef>& tables, uint32_t search_key) {
  const auto after = std::partition_point(
      tables.begin(), tables.end(),
      [search_key](const TableRef& t) { return t->meta().search.first <= search_key; });
  return static_cast<int>(after - tables.begin()) - 1;
}

namespace {

constexpr uint64_t kLeastStep = 128 << 10;  // bytes of loss between two calls of the picker

// One seek in ScanCost::kSampled, at random, so that no pattern of seeks escapes.
bool Sample() {
  thread_local uint32_t state = 0x9e3779b9u;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % ScanCost::kSampled == 0;
}

class LevelIterator final : public InternalIterator {
 public:
  LevelIterator(const Comparator* cmp, std::span<const TableRef> tables,
                const BlockReadOptions& read, const LevelScan& scan)
      : cmp_(cmp), tables_(tables), read_(read), scan_(scan) {
    read_.seeks = &seek_;
  }
  ~LevelIterator() override { Charge(); }

  bool Valid() const override { return current_ != nullptr && current_->Valid(); }
  Slice key() const override { return current_->key(); }
  Slice value() const override { return current_->value(); }
  Status status() const override {
    return current_ != nullptr ? current_->status() : Status::OK();
  }

  void PrefetchSeek(const Slice* target) override {
    OpenFor(target);
    if (current_ != nullptr) current_->PrefetchSeek(target);
    prepared_ = true;
  }
  void PrepareSeek(const Slice* target, ReadBatch* batch) override {
    if (!prepared_) OpenFor(target);
    if (current_ != nullptr) current_->PrepareSeek(target, batch);
    prepared_ = true;
  }
  void SeekToFirst() override {
    if (!std::exchange(prepared_, false)) OpenFor(nullptr);
    if (current_ != nullptr) current_->SeekToFirst();
    SkipForward();
  }
  void SeekToLast() override {
    Open(static_cast<int>(tables_.size()) - 1);
    if (current_ != nullptr) current_->SeekToLast();
    SkipBackward();
  }
  void Seek(const Slice& target) override {
    if (!std::exchange(prepared_, false)) OpenFor(&target);
    if (current_ != nullptr) current_->Seek(target);
    SkipForward(/*seeking=*/true);
  }
  void SeekForPrev(const Slice& target) override {
    Open(FindTable(cmp_, tables_, ExtractUserKey(target)));
    if (current_ != nullptr) current_->SeekForPrev(target);
    SkipBackward();
  }
  void Next() override {
    current_->Next();
    SkipForward();
  }
  bool NextKey(Slice* key) override {
    if (current_->NextKey(key)) return true;
    SkipForward();
    if (!Valid()) return false;
    *key = current_->key();
    return true;
  }
  void Prev() override {
    current_->Prev();
    SkipBackward();
  }
  // Tables before the target are not opened.
  void SkipCovered(const Slice& target, uint64_t seq) override {
    const auto older = [&](int i) { return tables_[i]->meta().largest_seq < seq; };
    int to = index_;
    while (older(to) && cmp_->Compare(tables_[to]->meta().largest, ExtractUserKey(target)) < 0) {
      if (++to == static_cast<int>(tables_.size())) return Open(to);
    }
    const bool stay = to == index_;
    Open(to);
    if (older(to)) {
      current_->Seek(target);
    } else if (stay) {
      current_->SkipCovered(target, seq);
    } else {
      current_->SeekToFirst();
    }
    SkipForward();
  }

 private:
  // The table in which Seek(*target) begins.
  void OpenFor(const Slice* target) {
    Open(target == nullptr ? 0 : std::max(0, FindTable(cmp_, tables_, ExtractUserKey(*target))));
  }
  void Open(int index) {
    Charge();
    prepared_ = false;
    if (index < 0 || index >= static_cast<int>(tables_.size())) {
      index_ = -1;
      current_.reset();
    } else if (index != index_ || current_ == nullptr || !current_->status().ok()) {
      index_ = index;
      current_ = tables_[index]->tph().NewIterator(read_);
    }
  }
  // The cost of the last seek is charged to its table.
  void Charge() {
    const ScanAccounting& accounting = *scan_.accounting;
    WalkLength& walk = accounting.walks[scan_.level];
    const SeekCounter seek = std::exchange(seek_, SeekCounter{.expected_bytes = walk.expected()});
    const uint32_t pieces = seek.from_file + seek.from_cache;
    if (pieces == 0 || !Sample()) return;
    walk.Note(seek.walked_bytes);
    if (accounting.bytes_per_read == 0) return;
    const TableHandle& table = *tables_[index_];
    const uint64_t step = std::max<uint64_t>(kLeastStep, table.live_bytes() / 8);
    if (table.scan_cost()->Add(seek, accounting.bytes_per_read, scan_.above_others,
                               table.dead_share(), step) &&
        accounting.wake) {
      accounting.wake();
    }
  }
  // A seek for a prefix does not read tables behind it, even if the table of its target was skipped.
  void SkipForward(bool seeking = false) {
    while (current_ != nullptr && !current_->Valid() && current_->status().ok()) {
      const size_t next = static_cast<size_t>(index_) + 1;
      const bool wanted = next < tables_.size() &&
                          (read_.upper_bound == nullptr ||
                           cmp_->Compare(tables_[next]->meta().smallest, *read_.upper_bound) < 0) &&
                          !(seeking && PastPrefix(tables_[next]->meta().smallest));
      Open(wanted ? static_cast<int>(next) : -1);
      if (current_ != nullptr) current_->SeekToFirst();
    }
  }
  bool PastPrefix(const Slice& user_key) const {
    return read_.prefix_seek != nullptr && read_.prefix_seek->active &&
           read_.prefix_seek->IsPast(StripTimestamp(user_key, cmp_->timestamp_size()));
  }
  void SkipBackward() {
    while (current_ != nullptr && !current_->Valid() && current_->status().ok()) {
      Open(index_ - 1);
      if (current_ != nullptr) current_->SeekToLast();
    }
  }

  const Comparator* const cmp_;
  const std::span<const TableRef> tables_;
  BlockReadOptions read_;
  const LevelScan scan_;
  SeekCounter seek_;  // of the table at index_
  int index_ = -1;
  bool prepared_ = false;  // the next seek begins in the table at index_
  InternalIteratorPtr current_;
};

}  // namespace

InternalIteratorPtr NewLevelIterator(const Comparator* cmp, std::span<const TableRef> tables,
                                     const BlockReadOptions& read, const LevelScan& scan) {
  return std::make_unique<LevelIterator>(cmp, tables, read, scan);
}

}  // namespace compassdb
