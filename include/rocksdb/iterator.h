// SPDX-License-Identifier: Apache-2.0
//
// A cursor over a sorted set of entries: a column family, or what a table or a batch holds.
//
// Thread safety: the const functions may be called concurrently; everything else needs one thread
// at a time.
// Invariants: an iterator of a database sees it as it was when the iterator was made. Delete all
// iterators before closing.

#pragma once

#include <string>

#include "rocksdb/cleanable.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/wide_columns.h"

namespace ROCKSDB_NAMESPACE {

// Starts invalid; call one of the Seek functions first.
class Iterator : public Cleanable {
 public:
  Iterator() {}
  virtual ~Iterator() {}

  Iterator(const Iterator&) = delete;
  void operator=(const Iterator&) = delete;

  // Whether the iterator is at an entry. False at either end and after an error: see status().
  virtual bool Valid() const = 0;

  // Go to the first, or the last, entry. Clears an earlier error.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;

  // Go to the first entry at or after `target`, which carries no timestamp.
  virtual void Seek(const Slice& target) = 0;

  // Go to the last entry at or before `target`.
  virtual void SeekForPrev(const Slice& target) = 0;

  // One entry forward, or back. REQUIRES: Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // The entry. The bytes stay until the iterator moves, or, if ReadOptions::pin_data holds, until
  // it is deleted. REQUIRES: Valid().
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  // The value as columns; a plain value is one column with the empty name. REQUIRES: Valid().
  virtual const WideColumns& columns() const {
    assert(false);
    return kNoWideColumns;
  }

  // The error that made the iterator invalid; OK at an end of the data. Incomplete if going on
  // would have needed I/O that the options forbid.
  virtual Status status() const = 0;

  // Show the newest state of the database, at no entry. An iterator of a snapshot leaves it.
  virtual Status Refresh() {
    return Status::NotSupported("Iterator::Refresh is not implemented");
  }

  // Properties by name:
  // * "rocksdb.iterator.is-key-pinned": "1" if key() stays valid until the iterator is deleted.
  // * "rocksdb.iterator.super-version-number": number of the state that is shown.
  // * "rocksdb.iterator.internal-key": the user key that the internal position is at.
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  // The timestamp of the entry, if the column family has them. REQUIRES: Valid().
  virtual Slice timestamp() const {
    assert(false);
    return Slice();
  }
};

// Without entries; the caller deletes it.
extern Iterator* NewEmptyIterator();

// Without entries, and with this status.
extern Iterator* NewErrorIterator(const Status& status);

}  // namespace ROCKSDB_NAMESPACE
