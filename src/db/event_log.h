// SPDX-License-Identifier: Apache-2.0
// Lines in LOG that programs read: "EVENT_LOG_v1 {json}", with RocksDB's names of events and fields.
//
// Thread safety: all functions. Nothing is written without a logger.
#pragma once

#include <string>
#include <vector>

#include "db/listeners.h"

namespace compassdb {

class EventLog {
 public:
  EventLog(rocksdb::Logger* log, Clock* clock) : log_(log), clock_(clock) {}

  void FlushStarted(const JobContext& job, rocksdb::FlushReason reason,
                    const std::vector<std::shared_ptr<MemTable>>& memtables) const;
  void FlushFinished(const JobContext& job) const;
  void CompactionStarted(const JobContext& job, const CompactionTask& task, bool manual) const;
  void CompactionFinished(const JobContext& job, const JobReport& report) const;
  void TableFileCreated(const JobContext& job, const JobReport& report) const;
  void TableFileDeleted(uint64_t file_number) const;

 private:
  rocksdb::Logger* const log_;
  Clock* const clock_;
};

}  // namespace compassdb
