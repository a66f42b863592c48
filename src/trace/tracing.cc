// SPDX-License-Identifier: Apache-2.0
#include "trace/tracing.h"

#include "trace/trace_format.h"

namespace compassdb {

bool Tracing::Trace::Wants(rocksdb::TraceFilterType type) {
  if (writer->GetFileSize() > options.max_trace_file_size) return false;
  if ((options.filter & type) != 0) return false;
  if (++skipped < options.sampling_frequency) return false;
  skipped = 0;
  return true;
}

Status Tracing::Trace::Add(rocksdb::TraceType type, const Slice& payload) {
  std::string record;
  EncodeTraceRecord(clock->NowMicros(), type, payload, &record);
  return writer->Write(record);
}

Status Tracing::Start(Clock* clock, const rocksdb::TraceOptions& options,
                      std::unique_ptr<rocksdb::TraceWriter> writer) {
  if (writer == nullptr) return Status::InvalidArgument("StartTrace: the writer is null");
  auto trace = std::make_unique<Trace>(Trace{clock, options, std::move(writer)});
  Status s = trace->Add(rocksdb::kTraceBegin, TraceHeader());
  if (!s.ok()) return s;
  MutexLock lock(&mu_);
  trace_ = std::move(trace);
  running_.store(true, std::memory_order_relaxed);
  return s;
}

Status Tracing::End() {
  MutexLock lock(&mu_);
  if (trace_ == nullptr) return Status::IOError("No trace file to close");
  running_.store(false, std::memory_order_relaxed);
  Status s = trace_->Add(rocksdb::kTraceEnd, Slice());
  const Status closed = trace_->writer->Close();
  trace_.reset();
  return s.ok() ? closed : s;
}

void Tracing::Write(const Slice& batch, bool in_order) {
  MutexLock lock(&mu_);
  if (trace_ == nullptr || trace_->options.preserve_write_order != in_order ||
      !trace_->Wants(rocksdb::kTraceFilterWrite)) {
    return;
  }
  std::string payload;
  EncodeTracedWrite(batch, &payload);
  trace_->Add(rocksdb::kTraceWrite, payload).PermitUncheckedError();
}

void Tracing::Get(uint32_t family, const Slice& key) {
  MutexLock lock(&mu_);
  if (trace_ == nullptr || !trace_->Wants(rocksdb::kTraceFilterGet)) return;
  std::string payload;
  EncodeTracedGet(family, key, &payload);
  trace_->Add(rocksdb::kTraceGet, payload).PermitUncheckedError();
}

void Tracing::MultiGet(const std::vector<uint32_t>& families, size_t n, const Slice* keys) {
  MutexLock lock(&mu_);
  if (trace_ == nullptr || n == 0 || !trace_->Wants(rocksdb::kTraceFilterMultiGet)) return;
  std::string payload;
  EncodeTracedMultiGet(families, n, keys, &payload);
  trace_->Add(rocksdb::kTraceMultiGet, payload).PermitUncheckedError();
}

void Tracing::Seek(uint32_t family, const Slice& target, bool for_prev, const Slice* lower,
                   const Slice* upper) {
  MutexLock lock(&mu_);
  if (trace_ == nullptr || !trace_->Wants(for_prev ? rocksdb::kTraceFilterIteratorSeekForPrev
                                                   : rocksdb::kTraceFilterIteratorSeek)) {
    return;
  }
  std::string payload;
  EncodeTracedSeek(family, target, lower == nullptr ? Slice() : *lower,
                   upper == nullptr ? Slice() : *upper, &payload);
  trace_->Add(for_prev ? rocksdb::kTraceIteratorSeekForPrev : rocksdb::kTraceIteratorSeek, payload)
      .PermitUncheckedError();
}

}  // namespace compassdb
