// SPDX-License-Identifier: Apache-2.0
//
// A limit on bytes per second, of background writes above all.
//
// Thread safety: every function may be called concurrently.

#pragma once

#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Made by NewGenericRateLimiter().
class RateLimiter {
 public:
  // What is limited.
  enum class OpType {
    kRead,
    kWrite,
  };

  enum class Mode {
    kReadsOnly,
    kWritesOnly,
    kAllIo,
  };
  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  virtual ~RateLimiter() {}

  // Changes the rate. REQUIRES: positive.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;

  // Waits until the bytes are granted. REQUIRES: bytes <= GetSingleBurstBytes(). Override one of
  // the forms.
  virtual void Request(const int64_t /*bytes*/, const Env::IOPriority /*pri*/) {
    assert(false);
  }
  virtual void Request(const int64_t bytes, const Env::IOPriority pri,
                       Statistics* /*stats*/) {
    Request(bytes, pri);
  }
  virtual void Request(const int64_t bytes, const Env::IOPriority pri,
                       Statistics* stats, OpType op_type) {
    if (IsRateLimited(op_type)) Request(bytes, pri, stats);
  }

  // Asks for at most a burst, rounded down to the alignment, and returns what was granted.
  virtual size_t RequestToken(size_t bytes, size_t alignment,
                              Env::IOPriority io_priority, Statistics* stats,
                              RateLimiter::OpType op_type);

  // Most bytes of one request.
  virtual int64_t GetSingleBurstBytes() const = 0;

  // Bytes and requests so far; IO_TOTAL for all priorities.
  virtual int64_t GetTotalBytesThrough(
      const Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(
      const Env::IOPriority pri = Env::IO_TOTAL) const = 0;

  // Requests that wait.
  virtual Status GetTotalPendingRequests(int64_t* /*total_pending_requests*/,
                                         const Env::IOPriority /*pri*/ = Env::IO_TOTAL) const {
    return Status::NotSupported("RateLimiter::GetTotalPendingRequests is not implemented");
  }
  virtual int64_t GetBytesPerSecond() const = 0;

  // Whether operations of the kind are limited.
  virtual bool IsRateLimited(OpType op_type) {
    return mode_ == Mode::kAllIo ||
           mode_ == (op_type == OpType::kRead ? Mode::kReadsOnly : Mode::kWritesOnly);
  }

 protected:
  Mode GetMode() { return mode_; }

 private:
  const Mode mode_;
};

// Bytes are granted every refill_period_us. One time in `fairness`, lower priorities go first.
// auto_tuned: rate_bytes_per_sec is the most, and the rate follows demand. The caller owns the
// result.
extern RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000,
    int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly,
    bool auto_tuned = false);

}  // namespace ROCKSDB_NAMESPACE
