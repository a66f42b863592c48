// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/iterator.h"

#include "rocksdb/snapshot.h"

namespace ROCKSDB_NAMESPACE {

namespace {

class IteratorWithoutEntries : public Iterator {
 public:
  explicit IteratorWithoutEntries(const Status& status) : status_(status) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice& /*target*/) override {}
  void SeekForPrev(const Slice& /*target*/) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override {
    assert(false);
    return Slice();
  }
  Slice value() const override {
    assert(false);
    return Slice();
  }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Status Iterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("Iterator::GetProperty: prop is null");
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    prop->assign(1, '0');
    return Status::OK();
  }
  return Status::InvalidArgument("no iterator property of this name", prop_name);
}

Iterator* NewEmptyIterator() { return new IteratorWithoutEntries(Status::OK()); }

Iterator* NewErrorIterator(const Status& status) { return new IteratorWithoutEntries(status); }

Snapshot::~Snapshot() = default;

}  // namespace ROCKSDB_NAMESPACE
