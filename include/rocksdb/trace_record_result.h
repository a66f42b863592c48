// SPDX-License-Identifier: Apache-2.0
//
// What running a record of a trace gave.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/trace_record.h"

namespace ROCKSDB_NAMESPACE {

class IteratorTraceExecutionResult;
class MultiValuesTraceExecutionResult;
class SingleValueTraceExecutionResult;
class StatusOnlyTraceExecutionResult;

// A result.
class TraceRecordResult {
 public:
  explicit TraceRecordResult(TraceType trace_type);
  virtual ~TraceRecordResult() = default;
  virtual TraceType GetTraceType() const;

  // What to do with each kind of result.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual Status Handle(const StatusOnlyTraceExecutionResult& result) = 0;
    virtual Status Handle(const SingleValueTraceExecutionResult& result) = 0;
    virtual Status Handle(const MultiValuesTraceExecutionResult& result) = 0;
    virtual Status Handle(const IteratorTraceExecutionResult& result) = 0;
  };
  virtual Status Accept(Handler* handler) = 0;

 private:
  TraceType trace_type_;
};

// With times, in microseconds.
class TraceExecutionResult : public TraceRecordResult {
 public:
  TraceExecutionResult(uint64_t start_timestamp, uint64_t end_timestamp,
                       TraceType trace_type);
  virtual uint64_t GetStartTimestamp() const;
  virtual uint64_t GetEndTimestamp() const;
  inline uint64_t GetLatency() const {
    return GetEndTimestamp() - GetStartTimestamp();
  }

 private:
  uint64_t ts_start_;
  uint64_t ts_end_;
};

// The result of a write.
class StatusOnlyTraceExecutionResult : public TraceExecutionResult {
 public:
  StatusOnlyTraceExecutionResult(Status status, uint64_t start_timestamp,
                                 uint64_t end_timestamp, TraceType trace_type);
  virtual ~StatusOnlyTraceExecutionResult() override = default;
  virtual const Status& GetStatus() const;
  virtual Status Accept(Handler* handler) override;

 private:
  Status status_;
};

// The result of a Get().
class SingleValueTraceExecutionResult : public TraceExecutionResult {
 public:
  SingleValueTraceExecutionResult(Status status, const std::string& value,
                                  uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  SingleValueTraceExecutionResult(Status status, std::string&& value,
                                  uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  virtual ~SingleValueTraceExecutionResult() override;
  virtual const Status& GetStatus() const;
  virtual const std::string& GetValue() const;
  virtual Status Accept(Handler* handler) override;

 private:
  Status status_;
  std::string value_;
};

// The result of a MultiGet().
class MultiValuesTraceExecutionResult : public TraceExecutionResult {
 public:
  MultiValuesTraceExecutionResult(std::vector<Status> multi_status,
                                  std::vector<std::string> values,
                                  uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  virtual ~MultiValuesTraceExecutionResult() override;
  virtual const std::vector<Status>& GetMultiStatus() const;
  virtual const std::vector<std::string>& GetValues() const;
  virtual Status Accept(Handler* handler) override;

 private:
  std::vector<Status> multi_status_;
  std::vector<std::string> values_;
};

// The result of a seek.
class IteratorTraceExecutionResult : public TraceExecutionResult {
 public:
  IteratorTraceExecutionResult(bool valid, Status status, PinnableSlice&& key,
                               PinnableSlice&& value, uint64_t start_timestamp,
                               uint64_t end_timestamp, TraceType trace_type);
  IteratorTraceExecutionResult(bool valid, Status status,
                               const std::string& key, const std::string& value,
                               uint64_t start_timestamp, uint64_t end_timestamp,
                               TraceType trace_type);
  virtual ~IteratorTraceExecutionResult() override;
  virtual bool GetValid() const;
  virtual const Status& GetStatus() const;
  virtual Slice GetKey() const;
  virtual Slice GetValue() const;
  virtual Status Accept(Handler* handler) override;

 private:
  bool valid_;
  Status status_;
  PinnableSlice key_;
  PinnableSlice value_;
};

}  // namespace ROCKSDB_NAMESPACE
