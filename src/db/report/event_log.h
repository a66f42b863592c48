// SPDX-License-Identifier: Apache-2.0
// Lines in LOG that programs read: "EVENT_LOG_v1 {json}", with RocksDB's names of events and fields.
//
// Thread safety: all functions. Nothing is written without a logger.
#pragma once

#include <string>
#include <vector>

#include "db/report/listeners.h"

namespace compassdb {

class EventLog {
 public:
  EventLog(rocksdb::Logger* log, Clock* clock) : log_(log), clock_(clock) {}

  void RecoveryStarted(int job_id, const std::vector<uint64_t>& logs) const;
  void RecoveryFinished(int job_id) const;
  void FlushStarted(const JobContext& job, rocksdb::FlushReason reason,
                    const std::vector<std::shared_ptr<MemTable>>& memtables) const;
  void FlushFinished(const JobContext& job) const;
  // `snapshots`: ascending.
  void CompactionStarted(const JobContext& job, const CompactionTask& task, bool manual,
                         const std::vector<SequenceNumber>& snapshots) const;
  // A compaction by the manifest alone is a trivial_move.
  void CompactionFinished(const JobContext& job, const JobReport& report) const;
  // Files of tables and of values.
  void FilesCreated(const JobContext& job, const JobReport& report) const;
  void FileDeleted(int job_id, uint64_t file_number, bool values) const;
  void Ingested(const JobContext& job, const JobReport& report) const;

 private:
  template <typename F>
  void WriteIfPossible(const F& f) const;

  rocksdb::Logger* const log_;
  Clock* const clock_;
};

}  // namespace compassdb
