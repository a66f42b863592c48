// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/delta_split.h"

#include <cassert>
#include <cstring>

#include "format/internal_key.h"

namespace compassdb {

class RecordBufferIterator : public InternalIterator {
 public:
  explicit RecordBufferIterator(const std::vector<RecordBuffer::Record>* records)
      : records_(records), at_(records->size()) {}
  bool Valid() const override { return at_ < records_->size(); }
  void SeekToFirst() override { at_ = 0; }
  void Next() override { ++at_; }
  void SeekToLast() override { assert(false); }
  void Seek(const Slice&) override { assert(false); }
  void SeekForPrev(const Slice&) override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override { return {(*records_)[at_].data, (*records_)[at_].key_size}; }
  Slice value() const override {
    const RecordBuffer::Record& r = (*records_)[at_];
    return {r.data + r.key_size, r.value_size};
  }
  Status status() const override { return Status::OK(); }

 private:
  const std::vector<RecordBuffer::Record>* const records_;
  size_t at_;
};

void RecordBuffer::Add(const Slice& key, const Slice& value) {
  const size_t size = key.size() + value.size();
  char* data = arena_->Allocate(size);
  memcpy(data, key.data(), key.size());
  if (!value.empty()) memcpy(data + key.size(), value.data(), value.size());
  records_.push_back(
      {data, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
  bytes_ += size;
}

InternalIteratorPtr RecordBuffer::NewIterator() const {
  return std::make_unique<RecordBufferIterator>(&records_);
}

uint32_t SearchKeyOf::operator()(const Slice& user_key) {
  if (!any_ || Slice(user_key_) != user_key) {
    any_ = true;
    user_key_.assign(user_key.data(), user_key.size());
    search_key_ = SearchKey(hasher_(user_key));
  }
  return search_key_;
}

}  // namespace compassdb
