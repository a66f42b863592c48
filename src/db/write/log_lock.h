// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rocksdb/status.h"

namespace compassdb {

// Holds the front of the write queue, with a flushed log (DB::LockWAL): nothing is written, ingested,
// created or dropped. Calls nest: who locks while it is locked does not wait.
class LogLock {
 public:
  virtual rocksdb::Status LockLog() = 0;
  virtual rocksdb::Status UnlockLog() = 0;

 protected:
  ~LogLock() = default;
};

}  // namespace compassdb
