// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memtable/memtable.h"
#include "wal/log_values.h"

namespace compassdb {

// Adds a record of a batch. A memtable that is an index of the log gets the address of the value,
// if the log has it.
inline Status AddLogged(MemTable* mem, const LoggedBatch& logged, SequenceNumber sequence,
                        ValueType type, const Slice& key, const Slice& value, bool concurrent) {
  LogRef address;
  if (type != kTypeValue || !mem->indexes_log() || !logged.Refer(value, &address)) {
    return mem->Add(sequence, type, key, value, concurrent);
  }
  mem->KeepLog(logged.file->number(), logged.file);
  return mem->AddAddress(sequence, key, address, concurrent);
}

}  // namespace compassdb
