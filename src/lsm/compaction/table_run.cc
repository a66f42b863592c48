// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/table_run.h"

#include <algorithm>
#include <cassert>

namespace compassdb {

namespace {

class TableRunIterator final : public InternalIterator {
 public:
  TableRunIterator(const Comparator* cmp, const std::vector<TableRef>& tables,
                   const BlockReadOptions& read)
      : cmp_(cmp), read_(read) {
    for (const TableRef& t : tables) tables_.push_back(t.get());
  }

  bool Valid() const override { return current_ != nullptr && current_->Valid(); }
  Slice key() const override { return current_->key(); }
  Slice value() const override { return current_->value(); }
  Status status() const override {
    return current_ != nullptr ? current_->status() : Status::OK();
  }
  void SeekToFirst() override {
    Open(0);
    if (current_ != nullptr) current_->SeekToFirst();
    Settle();
  }
  void Seek(const Slice& target) override {
    const auto table = std::partition_point(
        tables_.begin(), tables_.end(), [&](const TableHandle* t) {
          return cmp_->Compare(t->meta().largest, ExtractUserKey(target)) < 0;
        });
    Open(static_cast<size_t>(table - tables_.begin()));
    if (current_ != nullptr) current_->Seek(target);
    Settle();
  }
  void Next() override {
    current_->Next();
    Settle();
  }
  void SeekToLast() override { assert(false); }
  void SeekForPrev(const Slice&) override { assert(false); }
  void Prev() override { assert(false); }

 private:
  void Open(size_t index) {
    index_ = index;
    current_ = index < tables_.size() ? tables_[index]->tph().NewIterator(read_) : nullptr;
  }
  void Settle() {
    while (current_ != nullptr && !current_->Valid() && current_->status().ok()) {
      Open(index_ + 1);
      if (current_ != nullptr) current_->SeekToFirst();
    }
  }

  const Comparator* const cmp_;
  const BlockReadOptions read_;
  std::vector<const TableHandle*> tables_;
  size_t index_ = 0;
  InternalIteratorPtr current_;
};

}  // namespace

InternalIteratorPtr NewTableRunIterator(const Comparator* comparator,
                                        const std::vector<TableRef>& tables,
                                        const BlockReadOptions& read) {
  return std::make_unique<TableRunIterator>(comparator, tables, read);
}

}  // namespace compassdb
