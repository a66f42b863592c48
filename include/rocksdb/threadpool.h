// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// Threads that run jobs. Every function may be called concurrently.
class ThreadPool {
 public:
  virtual ~ThreadPool() {}

  // Stops after the running jobs; waiting ones are dropped.
  virtual void JoinAllThreads() = 0;

  // Number of threads.
  virtual void SetBackgroundThreads(int num) = 0;
  virtual int GetBackgroundThreads() = 0;

  // Jobs that wait.
  virtual unsigned int GetQueueLen() const = 0;

  // Stops after all jobs.
  virtual void WaitForJobsAndJoinAllThreads() = 0;

  // Adds a job.
  virtual void SubmitJob(const std::function<void()>&) = 0;
  virtual void SubmitJob(std::function<void()>&&) = 0;

  // Keeps threads from running jobs, and lets them again. Returns how many.
  virtual int ReserveThreads(int /*threads_to_be_reserved*/) { return 0; }
  virtual int ReleaseThreads(int /*threads_to_be_released*/) { return 0; }
};

// The caller owns the result.
extern ThreadPool* NewThreadPool(int num_threads);

}  // namespace ROCKSDB_NAMESPACE
