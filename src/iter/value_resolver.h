// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

// Fetches the value that a record of type kTypeBlobIndex names. Belongs to one state of a store, and is
// valid as long as that is pinned. Thread safe except for ReadAhead.
class ValueResolver {
 public:
  virtual ~ValueResolver() = default;
  // Into *value, pinned if that saves a copy. NotFound if there is no such value. In a state that a read
  // pins this is damage. But a compaction may read records whose values were collected, because newer
  // records hide them.
  virtual rocksdb::Status Resolve(const rocksdb::Slice& user_key, const rocksdb::Slice& ref,
                                  rocksdb::PinnableSlice* value) const = 0;
  // The same, with the kind of the value. In a store that changes in place it may be newer than the record
  // that names it, and may be missing, without damage.
  struct Version {
    bool entity = false;    // *value is an entity as it is stored
    bool gone = false;      // there is none; *value is unchanged
    uint64_t sequence = 0;  // 0: not newer than the record; else operands that are not newer are merged into it
  };
  virtual rocksdb::Status ResolveVersion(const rocksdb::Slice& user_key, const rocksdb::Slice& ref,
                                         rocksdb::PinnableSlice* value, Version* /*version*/) const {
    return Resolve(user_key, ref, value);
  }
  // Resolve will be called for these next, in about this order: they may be read together. Only for resolvers
  // of one iterator; Resolve returns errors. The slices must stay valid until the second next call. Without
  // `keep` the walk is long, and nothing is added to caches.
  struct Upcoming {
    rocksdb::Slice user_key;
    rocksdb::Slice ref;
  };
  // Reads of the next call continue while those of the call before are resolved. Otherwise that call is due when the
  // values of this one are used up.
  virtual bool overlaps() const { return false; }
  virtual void ReadAhead(std::span<const Upcoming> /*coming*/, bool /*keep*/) {}
};

}  // namespace compassdb
