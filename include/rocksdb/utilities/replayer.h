// SPDX-License-Identifier: Apache-2.0
//
// Runs what a trace recorded. Made by DB::NewDefaultReplayer().

#pragma once

#include <functional>
#include <memory>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class TraceRecord;
class TraceRecordResult;

struct ReplayOptions {
  // 0 and 1: one thread.
  uint32_t num_threads;

  // How many times as fast as recorded.
  double fast_forward;

  ReplayOptions() : num_threads(1), fast_forward(1.0) {}
  ReplayOptions(uint32_t num_of_threads, double fast_forward_ratio)
      : num_threads(num_of_threads), fast_forward(fast_forward_ratio) {}
};

class Replayer {
 public:
  virtual ~Replayer() = default;

  // First, and to begin again.
  virtual Status Prepare() = 0;

  // When the recording began.
  virtual uint64_t GetHeaderTimestamp() const = 0;

  // The next record. Incomplete at the end and before Prepare(), NotSupported for a kind of record
  // that cannot be run.
  virtual Status Next(std::unique_ptr<TraceRecord>* record) = 0;

  // Runs a record. What the operation answered is in *result (may be null).
  virtual Status Execute(const std::unique_ptr<TraceRecord>& record,
                         std::unique_ptr<TraceRecordResult>* result) = 0;

  // Runs all of it, in the time that it took then. The callback hears of every record.
  virtual Status Replay(
      const ReplayOptions& options,
      const std::function<void(Status, std::unique_ptr<TraceRecordResult>&&)>&
          result_callback) = 0;
};

}  // namespace ROCKSDB_NAMESPACE
