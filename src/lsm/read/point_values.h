// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "iter/value_resolver.h"
#include "value_store/newest_values.h"

namespace compassdb {

// Fetches the values of one key, whose hash is known. Its arguments outlive it.
class PointValues final : public ValueResolver {
 public:
  PointValues(const ValueVersion& values, const BlockReadOptions& read, const KeyHash& hash)
      : values_(values), read_(read), hash_(hash) {}
  rocksdb::Status Resolve(const Slice& user_key, const Slice& ref,
                          rocksdb::PinnableSlice* value) const override {
    return values_.Read(read_, user_key, hash_, ref, value);
  }

 private:
  const ValueVersion& values_;
  const BlockReadOptions& read_;
  const KeyHash& hash_;
};

// Fetches the values of a job, each from its place at that time.
class JobValues final : public ValueResolver {
 public:
  JobValues(std::shared_ptr<const NewestValues> values, KeyHasher hasher, const BlockReadOptions& read)
      : values_(std::move(values)), hasher_(hasher), read_(read) {}
  rocksdb::Status Resolve(const Slice& user_key, const Slice& ref,
                          rocksdb::PinnableSlice* value) const override {
    return values_->Get()->Read(read_, user_key, hasher_(user_key), ref, value);
  }

 private:
  const std::shared_ptr<const NewestValues> values_;
  const KeyHasher hasher_;
  const BlockReadOptions read_;
};

// Fetches the values of one iterator, those it announces in batches. One thread. The version outlives
// it.
class IteratorValues final : public ValueResolver {
 public:
  IteratorValues(const ValueVersion& values, KeyHasher hasher, const BlockReadOptions& read)
      : values_(values), hasher_(hasher), read_(read) {}
  rocksdb::Status Resolve(const Slice& user_key, const Slice& ref,
                          rocksdb::PinnableSlice* value) const override;
  bool overlaps() const override { return overlaps_; }
  void ReadAhead(std::span<const Upcoming> coming, bool keep) override;

 private:
  struct Ahead {
    Slice ref;
    rocksdb::PinnableSlice value;
  };
  // Values that are read together.
  struct Window {
    // In their order. Entries behind `coming` are kept to reuse their memory.
    std::deque<Ahead> ahead;
    size_t coming = 0;
    size_t next = 0;
    bool under_way = false;
    std::vector<ValueRequest> requests;
    ValueReads reads;  // destroyed first
  };
  const ValueVersion& values_;
  const KeyHasher hasher_;
  const BlockReadOptions read_;
  // The last one that was begun, and the one before.
  mutable Window windows_[2];
  size_t last_ = 0;
  bool overlaps_ = true;  // not if the reads of the last one were done at once, from the page cache
};

}  // namespace compassdb
