// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// A limit on compactions that run at the same time in all column families that share it.
class ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() {}

  // For the log.
  virtual const std::string& GetName() const = 0;

  // 0 stops compactions; negative lifts the limit.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;

  // Lifts the limit.
  virtual void ResetMaxOutstandingTask() = 0;

  // How many run.
  virtual int32_t GetOutstandingTask() const = 0;
};

// The caller owns the result.
extern ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                       int32_t limit);

}  // namespace ROCKSDB_NAMESPACE
