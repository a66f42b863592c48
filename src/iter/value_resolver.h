// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

// Fetches the value that a record of type kTypeBlobIndex names. Belongs to one state of a store, and is
// valid as long as that is pinned. Thread safe but for ReadAhead.
class ValueResolver {
 public:
  virtual ~ValueResolver() = default;
  // Into *value, pinned where that spares a copy. NotFound if no such value is there: in a state that a
  // read pins this is damage, but a compaction may read records whose values were collected, as newer
  // records elsewhere hide them.
  virtual rocksdb::Status Resolve(const rocksdb::Slice& user_key, const rocksdb::Slice& ref,
                                  rocksdb::PinnableSlice* value) const = 0;
  // The same, with what the value is. In a store that changes in place it may be newer than the record that
  // names it, and may be gone, without being damaged.
  struct Version {
    bool entity = false;    // *value is an entity as it is stored
    bool gone = false;      // there is none; *value was not touched
    uint64_t sequence = 0;  // 0: not newer than the record; else what is not newer is merged into it
  };
  virtual rocksdb::Status ResolveVersion(const rocksdb::Slice& user_key, const rocksdb::Slice& ref,
                                         rocksdb::PinnableSlice* value, Version* /*version*/) const {
    return Resolve(user_key, ref, value);
  }
  // Resolve will be asked for these next, in about this order: they may be read together. Of resolvers
  // that one iterator has for itself; errors show at Resolve. What the slices point to stays until the second
  // next call. Without `keep` the walk is long, and caches are spared.
  struct Coming {
    rocksdb::Slice user_key;
    rocksdb::Slice ref;
  };
  // Reads go on while those of the call before are asked for; else these are forgotten.
  virtual bool overlaps() const { return false; }
  virtual void ReadAhead(std::span<const Coming> /*coming*/, bool /*keep*/) {}
};

}  // namespace compassdb
