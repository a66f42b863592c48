// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class WriteBatch;
struct ConfigOptions;

// Looks at records of the write-ahead log during recovery. One thread.
class WalFilter : public Customizable {
 public:
  static const char* Type() { return "WalFilter"; }

  // Makes a registered filter by name.
  static Status CreateFromString(const ConfigOptions& options,
                                 const std::string& value, WalFilter** result);

  // What happens with a record: kStopReplay drops it and all after it, kCorruptedRecord is dealt
  // with as WALRecoveryMode says.
  enum class WalProcessingOption {
    kContinueProcessing = 0,
    kIgnoreCurrentRecord = 1,
    kStopReplay = 2,
    kCorruptedRecord = 3,
    kWalProcessingOptionMax = 4
  };
  virtual ~WalFilter() {}

  // Called first: the oldest log that each column family needs, and ids by name.
  virtual void ColumnFamilyLogNumberMap(
      const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
      const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {}

  // Called for each record. To change it, fill *new_batch and set *batch_changed; it must not have
  // more writes than the original.
  virtual WalProcessingOption LogRecordFound(
      unsigned long long /*log_number*/, const std::string& /*log_file_name*/,
      const WriteBatch& batch, WriteBatch* new_batch, bool* batch_changed) {
    return LogRecord(batch, new_batch, batch_changed);
  }

  // The same without the log.
  virtual WalProcessingOption LogRecord(const WriteBatch& /*batch*/,
                                        WriteBatch* /*new_batch*/,
                                        bool* /*batch_changed*/) const {
    return WalProcessingOption::kContinueProcessing;
  }
  virtual const char* Name() const override = 0;
};

}  // namespace ROCKSDB_NAMESPACE
