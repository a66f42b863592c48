// SPDX-License-Identifier: Apache-2.0
#include "db/write/transaction_support.h"

#include "batch/write_batch_internal.h"
#include "db/report/info_log.h"
#include "db/write/wal_set.h"
#include "util/no_memory.h"

namespace compassdb {
Status OpenSections::WriteTo(WalSet* logs, SequenceNumber sequence) const {
  return CatchOutOfMemory("a log", [&] {
    Status s;
    for (const auto& section : All()) {
      rocksdb::WriteBatch copy(section->batch);
      WriteBatchInternal::SetSequence(&copy, sequence);
      if (s = logs->Append(WriteBatchInternal::Contents(&copy), /*sync=*/false); !s.ok()) break;
    }
    return s;
  });
}

void OpenSections::AreIn(uint64_t log_number, rocksdb::Logger* info_log) {
  for (const auto& section : All()) {
    section->log_number = log_number;
    LogInfo(info_log, "prepared transaction " + section->name + " is in log " + std::to_string(log_number));
  }
}

}  // namespace compassdb
