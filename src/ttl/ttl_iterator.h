// SPDX-License-Identifier: Apache-2.0
// An iterator that takes the time of writing off the values, and ends with
// Corruption at one that has none.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>

#include "rocksdb/iterator.h"
#include "rocksdb/wide_columns.h"
#include "ttl/ttl_value.h"

namespace compassdb {

class TtlIterator final : public rocksdb::Iterator {
 public:
  explicit TtlIterator(rocksdb::Iterator* base) : base_(base) {}

  bool Valid() const override { return damage_.ok() && base_->Valid(); }
  void SeekToFirst() override {
    base_->SeekToFirst();
    Check();
  }
  void SeekToLast() override {
    base_->SeekToLast();
    Check();
  }
  void Seek(const Slice& target) override {
    base_->Seek(target);
    Check();
  }
  void SeekForPrev(const Slice& target) override {
    base_->SeekForPrev(target);
    Check();
  }
  void Next() override {
    base_->Next();
    Check();
  }
  void Prev() override {
    base_->Prev();
    Check();
  }
  Slice key() const override { return base_->key(); }
  Slice value() const override { return WithoutTtlTime(base_->value()); }
  const rocksdb::WideColumns& columns() const override {
    columns_.assign(1, rocksdb::WideColumn(rocksdb::kDefaultWideColumnName, value()));
    return columns_;
  }
  Status status() const override { return damage_.ok() ? base_->status() : damage_; }
  Status Refresh() override {
    damage_ = Status::OK();
    return base_->Refresh();
  }
  Status GetProperty(std::string name, std::string* value) override {
    return base_->GetProperty(std::move(name), value);
  }

 private:
  void Check() { damage_ = base_->Valid() ? CheckTtlTime(base_->value()) : Status::OK(); }

  const std::unique_ptr<rocksdb::Iterator> base_;
  Status damage_;
  mutable rocksdb::WideColumns columns_;
};

}  // namespace compassdb
