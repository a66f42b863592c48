// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family/column_family.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace compassdb {

// What background work needs from the write path. All of it at the front of the write queue.
class MemTableSwitcher {
 public:
  // [mutex] Seals the memtables that hold data and begins a new log. Releases the mutex for a time.
  virtual Status SwitchMemTables(const Families& families, rocksdb::FlushReason reason, ReadStateGarbage* garbage) = 0;
  // [mutex] The family (null: the database) has other options, or it was created or dropped.
  virtual void LimitsChanged(const ColumnFamily* family) = 0;

 protected:
  ~MemTableSwitcher() = default;
};

}  // namespace compassdb
