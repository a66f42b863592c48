// SPDX-License-Identifier: Apache-2.0
// Records what applications read and write (DB::StartTrace), in the format of trace/trace_format.h.
//
// Nothing is recorded unless `running`, one relaxed load, says so. An operation is recorded before it is carried
// out, with any result; a trace that cannot be written does not fail it.
//
// Thread safety: all methods; the trace is written under a lock of its own, a leaf.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "env/clock.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/trace_reader_writer.h"
#include "rocksdb/trace_record.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

class Tracing {
 public:
  // A trace that runs already ends without its last record.
  Status Start(Clock* clock, const rocksdb::TraceOptions& options,
               std::unique_ptr<rocksdb::TraceWriter> writer);
  Status End();

  bool running() const { return running_.load(std::memory_order_relaxed); }
  // `in_order`: at the front of the write queue. A trace takes batches either from there or before they queue.
  void Write(const Slice& batch, bool in_order);
  void Get(uint32_t family, const Slice& key);
  // One family for each of the `n` keys.
  void MultiGet(const std::vector<uint32_t>& families, size_t n, const Slice* keys);
  // Bounds may be null.
  void Seek(uint32_t family, const Slice& target, bool for_prev, const Slice* lower,
            const Slice* upper);

 private:
  struct Trace {
    Clock* clock;
    rocksdb::TraceOptions options;
    std::unique_ptr<rocksdb::TraceWriter> writer;
    uint64_t skipped = 0;  // operations since the last that was recorded

    bool Wants(rocksdb::TraceFilterType type);
    Status Add(rocksdb::TraceType type, const Slice& payload);
  };

  std::atomic<bool> running_{false};
  Mutex mu_;
  std::unique_ptr<Trace> trace_ GUARDED_BY(mu_);  // null: none runs
};

}  // namespace compassdb
