// SPDX-License-Identifier: Apache-2.0
// State that changes only at the front of the write queue: by the leading writer, or by a thread that has
// entered it with ExclusiveWrite. Other parts of the database get only the fields that they read.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "db/open/db_config.h"
#include "db/write/transaction_support.h"
#include "db/write/wal_set.h"
#include "db/write/write_counters.h"
#include "db/write/write_thread.h"
#include "wal/log_values.h"

namespace compassdb {

struct WriteFront {
  // `new_number` gives file numbers; thread safe.
  WriteFront(const DbConfig& config, const std::function<uint64_t()>& new_number);

  // Refuses writes to a database without sequences for them.
  Status CheckSequencesAreLeft(const DbConfig& config) const;
  // Writes prepared sections of abandoned logs into the current log, and syncs it.
  Status SaveOpenSections(rocksdb::Logger* info_log);

  WriteThread queue;
  LogValues log_values;  // of all families
  WalSet logs;
  OpenSections open_sections;
  std::atomic<SequenceNumber> last_sequence{0};  // the newest that readers may see
  std::atomic<bool> unlogged_data{false};        // written with disableWAL and perhaps not flushed
  WriteCounters written;
};

}  // namespace compassdb
