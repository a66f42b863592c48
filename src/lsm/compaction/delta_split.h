// SPDX-License-Identifier: Apache-2.0
// Hash range (paper 3.4): one pass over a delta, or over a table that is split, distributes its
// records to the ranges of search keys that they belong to.
//
// One thread, but a full buffer may be read by another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/key_hash.h"
#include "iter/internal_iterator.h"
#include "util/arena.h"

namespace compassdb {

// Records in the order in which they were added.
class RecordBuffer {
 public:
  void Add(const Slice& key, const Slice& value);
  uint64_t bytes() const { return bytes_; }
  // Forward only. The buffer outlives it, and must not change until then.
  InternalIteratorPtr NewIterator() const;

 private:
  friend class RecordBufferIterator;
  struct Record {
    const char* data;  // key, then value
    uint32_t key_size, value_size;
  };
  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
  std::vector<Record> records_;
  uint64_t bytes_ = 0;
};

// The search key of the user key of each record in turn; the versions of one key are hashed once.
class SearchKeyOf {
 public:
  explicit SearchKeyOf(const KeyHasher& hasher) : hasher_(hasher) {}
  uint32_t operator()(const Slice& user_key);

 private:
  const KeyHasher hasher_;
  bool any_ = false;
  std::string user_key_;
  uint32_t search_key_ = 0;
};

}  // namespace compassdb
