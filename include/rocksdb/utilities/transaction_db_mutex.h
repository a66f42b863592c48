// SPDX-License-Identifier: Apache-2.0
//
// The mutexes and condition variables with which a TransactionDB waits for locks, for programs that
// bring their own (see TransactionDBOptions::custom_mutex_factory).

#pragma once

#include <memory>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Each OK of Lock() or TryLockFor() is followed by one UnLock().
class TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() {}

  virtual Status Lock() = 0;

  // `timeout_time` in microseconds; negative: none. TimedOut if it passes.
  virtual Status TryLockFor(int64_t timeout_time) = 0;

  virtual void UnLock() = 0;
};

// Waits are called with the mutex locked, and return with it locked. They may end early with OK;
// an error makes the operation fail that waits.
class TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() {}

  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;

  // `timeout_time` in microseconds; negative: none. TimedOut if it passes.
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex,
                         int64_t timeout_time) = 0;

  // Wakes one that waits at least.
  virtual void Notify() = 0;

  virtual void NotifyAll() = 0;
};

// Called by any thread.
class TransactionDBMutexFactory {
 public:
  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;

  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;

  virtual ~TransactionDBMutexFactory() {}
};

}  // namespace ROCKSDB_NAMESPACE
