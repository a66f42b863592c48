// SPDX-License-Identifier: Apache-2.0
#include "lsm/level_iterator.h"

#include <algorithm>
#include <utility>

#include "base/internal_key.h"

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

namespace {

constexpr uint64_t kLeastStep = 128 << 10;  // bytes of loss between two questions to the picker

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
                const BlockReadOptions& read, const ScanAccounting* accounting, bool above_others)
      : cmp_(cmp),
        tables_(tables),
        read_(read),
        accounting_(accounting),
        above_others_(above_others) {
    if (accounting_->bytes_per_read > 0) read_.seeks = &seek_;
  }
  ~LevelIterator() override { Charge(); }

  bool Valid() const override { return current_ != nullptr && current_->Valid(); }
  Slice key() const override { return current_->key(); }
  Slice value() const override { return current_->value(); }
  Status status() const override {
    return current_ != nullptr ? current_->status() : Status::OK();
  }

  void SeekToFirst() override {
    Open(0);
    if (current_ != nullptr) current_->SeekToFirst();
    SkipForward();
  }
  void SeekToLast() override {
    Open(static_cast<int>(tables_.size()) - 1);
    if (current_ != nullptr) current_->SeekToLast();
    SkipBackward();
  }
  void Seek(const Slice& target) override {
    Open(std::max(0, FindTable(cmp_, tables_, ExtractUserKey(target))));
    if (current_ != nullptr) current_->Seek(target);
    SkipForward();
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
  void Prev() override {
    current_->Prev();
    SkipBackward();
  }

 private:
  void Open(int index) {
    Charge();
    if (index < 0 || index >= static_cast<int>(tables_.size())) {
      index_ = -1;
      current_.reset();
    } else if (index != index_ || current_ == nullptr || !current_->status().ok()) {
      index_ = index;
      current_ = tables_[index]->tph().NewIterator(read_);
    }
  }
  // What the last seek cost goes to the table where it went.
  void Charge() {
    if (seek_.from_file + seek_.from_cache == 0) return;
    const SeekCounter seek = std::exchange(seek_, SeekCounter());
    if (!Sample()) return;
    const TableHandle& table = *tables_[index_];
    const uint64_t step = std::max<uint64_t>(kLeastStep, table.live_bytes() / 8);
    if (table.scan_cost()->Add(seek, accounting_->bytes_per_read, above_others_, step) &&
        accounting_->wake) {
      accounting_->wake();
    }
  }
  void SkipForward() {
    while (current_ != nullptr && !current_->Valid() && current_->status().ok()) {
      Open(index_ + 1);
      if (current_ != nullptr) current_->SeekToFirst();
    }
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
  const ScanAccounting* const accounting_;
  const bool above_others_;
  SeekCounter seek_;  // of the table at index_
  int index_ = -1;
  InternalIteratorPtr current_;
};

}  // namespace

InternalIteratorPtr NewLevelIterator(const Comparator* cmp, std::span<const TableRef> tables,
                                     const BlockReadOptions& read,
                                     const ScanAccounting* accounting, bool above_others) {
  return std::make_unique<LevelIterator>(cmp, tables, read, accounting, above_others);
}

}  // namespace compassdb
