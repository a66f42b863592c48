// SPDX-License-Identifier: Apache-2.0
// What the background threads of the process are doing, for Env::GetThreadList.
//
// Thread safety: all of it. A thread writes its own entry only, under one lock.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/thread_status.h"

namespace compassdb {

// The calling thread is one of a pool, as long as this lives.
class TrackedThread {
 public:
  explicit TrackedThread(rocksdb::ThreadStatus::ThreadType type);
  ~TrackedThread();
  TrackedThread(const TrackedThread&) = delete;
  TrackedThread& operator=(const TrackedThread&) = delete;
};

// What the calling thread does, as long as this lives. Nothing happens if it is not `wanted`
// (DBOptions::enable_thread_tracking), or if the thread is none of a pool.
class TrackedOperation {
 public:
  TrackedOperation(bool wanted, rocksdb::ThreadStatus::OperationType operation,
                   const std::string& db, const std::string& family, int job_id);
  ~TrackedOperation();
  TrackedOperation(const TrackedOperation&) = delete;
  TrackedOperation& operator=(const TrackedOperation&) = delete;

 private:
  bool tracked_ = false;
};

std::vector<rocksdb::ThreadStatus> TrackedThreads();

}  // namespace compassdb
