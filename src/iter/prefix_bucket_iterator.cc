// SPDX-License-Identifier: Apache-2.0
#include "iter/prefix_bucket_iterator.h"

#include <string>
#include <utility>

#include "format/internal_key.h"
#include "format/user_timestamp.h"

namespace compassdb {
namespace {

class PrefixBucketIterator final : public InternalIterator {
 public:
  PrefixBucketIterator(InternalIteratorPtr all,
                       std::shared_ptr<const rocksdb::SliceTransform> extractor,
                       size_t timestamp_size)
      : all_(std::move(all)), extractor_(std::move(extractor)), timestamp_size_(timestamp_size) {}

  bool Valid() const override { return valid_; }
  void SeekToFirst() override { valid_ = false; }
  void SeekToLast() override { valid_ = false; }
  void Seek(const Slice& internal_key) override {
    Enter(internal_key);
    all_->Seek(internal_key);
    Look();
  }
  void SeekForPrev(const Slice& internal_key) override {
    Enter(internal_key);
    all_->Seek(internal_key);
    Look();
    // Behind the last key of a bucket, Prev is not possible.
    if (has_bucket_ && !valid_) return;
    all_->SeekForPrev(internal_key);
    Look();
  }
  void Next() override {
    all_->Next();
    Look();
  }
  void Prev() override {
    all_->Prev();
    Look();
  }
  Slice key() const override { return all_->key(); }
  Slice value() const override { return all_->value(); }
  Status status() const override { return all_->status(); }

 private:
  bool PrefixOf(const Slice& internal_key, Slice* prefix) const {
    const Slice key = StripTimestamp(ExtractUserKey(internal_key), timestamp_size_);
    if (!extractor_->InDomain(key)) return false;
    *prefix = extractor_->Transform(key);
    return true;
  }
  void Enter(const Slice& target) {
    Slice prefix;
    has_bucket_ = PrefixOf(target, &prefix);
    bucket_ = prefix.ToString();
  }
  void Look() {
    Slice prefix;
    valid_ = all_->Valid() &&
             (!has_bucket_ || (PrefixOf(all_->key(), &prefix) && prefix == bucket_));
  }

  const InternalIteratorPtr all_;
  const std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  const size_t timestamp_size_;
  bool valid_ = false;
  bool has_bucket_ = false;
  std::string bucket_;  // the prefix that is shown
};

}  // namespace

InternalIteratorPtr NewPrefixBucketIterator(
    InternalIteratorPtr all, std::shared_ptr<const rocksdb::SliceTransform> extractor,
    size_t timestamp_size) {
  return std::make_unique<PrefixBucketIterator>(std::move(all), std::move(extractor),
                                                timestamp_size);
}

}  // namespace compassdb
