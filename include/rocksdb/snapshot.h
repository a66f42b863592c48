// SPDX-License-Identifier: Apache-2.0
//
// A fixed state of the database. Reads that name a snapshot see what was committed when it was
// taken.
//
// Thread safety: immutable; may be used from many threads.

#pragma once

#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

class DB;

// Made by DB::GetSnapshot() and given back by DB::ReleaseSnapshot(). Not tied to a column family,
// and lost after a restart.
class Snapshot {
 public:
  // Number of the last write that it sees.
  virtual SequenceNumber GetSequenceNumber() const = 0;

  // Seconds since 1970 when it was taken.
  virtual int64_t GetUnixTime() const = 0;

  // User-defined timestamp, if it was taken with one; otherwise the largest number.
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  virtual ~Snapshot();
};

// A snapshot that is released with this object.
class ManagedSnapshot {
 public:
  // Takes a snapshot.
  explicit ManagedSnapshot(DB* db);

  // Takes over one that exists.
  ManagedSnapshot(DB* db, const Snapshot* _snapshot);
  ~ManagedSnapshot();
  const Snapshot* snapshot();

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace ROCKSDB_NAMESPACE
