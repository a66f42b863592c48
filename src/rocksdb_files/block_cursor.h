// SPDX-License-Identifier: Apache-2.0
// Walks the entries of a block of a table file: of data, of an index, of range deletions, of properties.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb_files/table_footer.h"

namespace compassdb::rocksdb_files {

enum class BlockLayout {
  kEntries,      // keys and values
  kIndex,        // the value is a place
  kDeltaIndex,   // the same, after the first of a restart interval as the difference to the one before
};

// What follows a place in an index value.
enum class IndexExtra { kNothing, kFirstKey };

// Invariant: key_, value_ and place_ are those of the entry that begins before next_.
class BlockCursor {
 public:
  BlockCursor() = default;
  BlockCursor(const BlockCursor&) = delete;
  BlockCursor& operator=(const BlockCursor&) = delete;

  // To the first entry. `block` stays valid as long as the cursor is used.
  void Start(const Slice& block, BlockLayout layout, IndexExtra extra = IndexExtra::kNothing);
  bool Valid() const { return valid_; }
  void Next();
  const Status& status() const { return status_; }

  const std::string& key() const { return key_; }
  Slice value() const { return value_; }
  // Of the two layouts of indexes.
  const BlockPlace& place() const { return place_; }
  Slice first_key() const { return first_key_; }  // empty: none

 private:
  bool DecodeEnd(const Slice& block);
  bool DecodeEntry();
  bool DecodePlace(Slice* in, bool whole);
  bool AtRestart();
  bool Damaged();
  uint32_t RestartAt(uint32_t i) const;

  BlockLayout layout_ = BlockLayout::kEntries;
  IndexExtra extra_ = IndexExtra::kNothing;
  Slice keys_;      // what entries are in, with the values unless they are apart
  Slice values_;    // if they are apart
  Slice restarts_;  // four bytes each
  bool apart_ = false;
  size_t next_ = 0;           // in keys_
  uint32_t next_restart_ = 0;
  size_t value_end_ = 0;      // in values_
  bool valid_ = false;
  Status status_;
  std::string key_;
  Slice value_;
  BlockPlace place_;
  Slice first_key_;
};

}  // namespace compassdb::rocksdb_files
