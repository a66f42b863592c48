// SPDX-License-Identifier: Apache-2.0
#include "lsm/level_iterator.h"

#include "base/internal_key.h"

namespace compassdb {

int FindTable(const Comparator* cmp, const std::vector<TableRef>& tables, const Slice& user_key) {
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

class LevelIterator : public InternalIterator {
 public:
  LevelIterator(const Comparator* cmp, const std::vector<TableRef>* tables,
                const BlockReadOptions& read)
      : cmp_(cmp), tables_(tables), read_(read) {}

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
    Open(static_cast<int>(tables_->size()) - 1);
    if (current_ != nullptr) current_->SeekToLast();
    SkipBackward();
  }
  void Seek(const Slice& target) override {
    Open(std::max(0, FindTable(cmp_, *tables_, ExtractUserKey(target))));
    if (current_ != nullptr) current_->Seek(target);
    SkipForward();
  }
  void SeekForPrev(const Slice& target) override {
    Open(FindTable(cmp_, *tables_, ExtractUserKey(target)));
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
    if (index < 0 || index >= static_cast<int>(tables_->size())) {
      index_ = -1;
      current_.reset();
    } else if (index != index_ || current_ == nullptr || !current_->status().ok()) {
      index_ = index;
      current_ = (*tables_)[index]->tph().NewIterator(read_);
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
  const std::vector<TableRef>* const tables_;
  const BlockReadOptions read_;
  int index_ = -1;
  InternalIteratorPtr current_;
};

}  // namespace

InternalIteratorPtr NewLevelIterator(const Comparator* cmp, const std::vector<TableRef>* tables,
                                     const BlockReadOptions& read) {
  return std::make_unique<LevelIterator>(cmp, tables, read);
}

}  // namespace compassdb
