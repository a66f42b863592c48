// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_front.h"

#include <algorithm>

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

WalSet::Options LogsOf(const DbConfig& config) {
  return {WalFileOptions(config.options), config.options.manual_wal_flush, config.options.recycle_log_file_num,
          config.info_log.get()};
}

}  // namespace

WriteFront::WriteFront(const DbConfig& config, const std::function<uint64_t()>& new_number)
    : queue(WaitsOf(config.options)),
      logs(config.fs, config.wal_dir, LogsOf(config), new_number, config.options.statistics.get()) {}

}  // namespace compassdb
