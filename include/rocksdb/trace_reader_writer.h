// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {

// The destination of a trace. One thread at a time.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // Appends.
  virtual Status Write(const Slice& data) = 0;
  virtual Status Close() = 0;

  // Bytes so far.
  virtual uint64_t GetFileSize() = 0;
};

// Where a trace comes from. One thread at a time.
class TraceReader {
 public:
  virtual ~TraceReader() = default;

  // The next record. Incomplete at the end.
  virtual Status Read(std::string* data) = 0;
  virtual Status Close() = 0;

  // Back to the beginning.
  virtual Status Reset() = 0;
};

// Traces in files.
Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceWriter>* trace_writer);

Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceReader>* trace_reader);

}  // namespace ROCKSDB_NAMESPACE
