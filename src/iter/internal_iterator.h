// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

class ReadBatch;

// Walks internal keys in internal-key order.
//
// key() and value() stay valid until the iterator moves or is destroyed.
// After an error Valid() is false and status() is not OK; an iterator at its
// end has an OK status. Not thread safe.
class InternalIterator {
 public:
  InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;
  virtual ~InternalIterator() = default;
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(const Slice& internal_key) = 0;         // first entry >= target
  virtual void SeekForPrev(const Slice& internal_key) = 0;  // last entry <= target
  virtual void Next() = 0;                                  // requires Valid()
  virtual void Prev() = 0;                                  // requires Valid()
  // Next(). True if there is an entry: *key is its key.
  virtual bool NextKey(Slice* key) {
    Next();
    if (!Valid()) return false;
    *key = this->key();
    return true;
  }
  // A range tombstone covers entries before `target` (an internal key) with a
  // sequence below `seq`: the iterator may move forward over any of them, but over
  // nothing else. Requires Valid() and a forward walk.
  virtual void SkipCovered(const Slice& /*target*/, uint64_t /*seq*/) {}
  // PrepareSeek with the same key follows: prefetches what it will read.
  virtual void PrefetchSeek(const Slice* /*internal_key*/) {}
  // Seek(*internal_key) follows, or SeekToFirst() if it is null: adds the reads of
  // files that it would wait for to `batch`. The caller waits for the batch in
  // between.
  virtual void PrepareSeek(const Slice* /*internal_key*/, ReadBatch* /*batch*/) {}
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;
  virtual Status status() const = 0;
};

using InternalIteratorPtr = std::unique_ptr<InternalIterator>;

}  // namespace compassdb
