// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_front.h"

#include <algorithm>
#include <string>

#include "format/number_limits.h"

namespace compassdb {
namespace {

WriteThread::Options WaitsOf(const rocksdb::DBOptions& options) {
  constexpr uint64_t kSecond = 1'000'000;  // microseconds
  WriteThread::Options waits;
  waits.max_group_bytes = options.max_write_batch_group_size_bytes;
  if (options.enable_write_thread_adaptive_yield) {
    waits.max_yield_nanos = std::min(options.write_thread_max_yield_usec, kSecond) * 1000;
    waits.slow_yield_nanos = std::min(options.write_thread_slow_yield_usec, kSecond) * 1000;
  }
  return waits;
}

WalSet::Options LogsOf(const DbConfig& config, LogValues* values) {
  return {WalFileOptions(config.options), config.options.manual_wal_flush, config.options.recycle_log_file_num,
          config.info_log.get(), values};
}

uint64_t MostUnsynced(const rocksdb::DBOptions& options) {
  if (options.memory_limit == 0) return LogValues::kMostUnsynced;
  return std::min(LogValues::kMostUnsynced, options.memory_limit / 16);
}

}  // namespace

WriteFront::WriteFront(const DbConfig& config, const std::function<uint64_t()>& new_number)
    : queue(WaitsOf(config.options)),
      log_values(config.fs, config.wal_dir, config.memory_pool, MostUnsynced(config.options)),
      logs(config.fs, config.wal_dir, LogsOf(config, &log_values), new_number,
           config.options.statistics.get()) {}

Status WriteFront::CheckSequencesAreLeft(const DbConfig& config) const {
  const SequenceNumber last = last_sequence.load(std::memory_order_relaxed);
  if (last <= kMaxWritableSequence) [[likely]] return Status::OK();
  return Status::NotSupported(config.name, "has no sequence numbers left; the last one is " + std::to_string(last));
}

// The abandoned logs are still needed if a crash comes before the next commit to the manifest.
Status WriteFront::SaveOpenSections(rocksdb::Logger* info_log) {
  queue.AssertAtFront();
  if (open_sections.OldestLog() > logs.given_up()) return Status::OK();
  Status s = open_sections.WriteTo(&logs, last_sequence + 1);
  if (s.ok()) s = logs.SyncUnrecorded();
  if (s.ok()) open_sections.AreIn(logs.current_number(), info_log);
  return s;
}

}  // namespace compassdb
