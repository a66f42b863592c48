// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "iter/value_resolver.h"
#include "value_store/value_version.h"

namespace compassdb {

// Fetches the values of one key, whose hash is known. What it is given outlives it.
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

}  // namespace compassdb
