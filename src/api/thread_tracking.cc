// SPDX-License-Identifier: Apache-2.0
#include "api/thread_tracking.h"

#include <chrono>
#include <functional>
#include <list>
#include <thread>

#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {
namespace {

using rocksdb::ThreadStatus;

uint64_t NowMicros() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

struct Entry {
  uint64_t id = 0;
  ThreadStatus::ThreadType type = ThreadStatus::USER;
  ThreadStatus::OperationType operation = ThreadStatus::OP_UNKNOWN;
  std::string db, family;
  uint64_t since = 0;
  int job_id = 0;
};

struct Registry {
  Mutex mu;
  std::list<Entry> threads GUARDED_BY(mu);
};

// Never destroyed: threads of pools may outlive static objects.
Registry* TheRegistry() {
  static Registry* const registry = RenewedInChildren(new Registry());
  return registry;
}

// Made when the program is loaded. If the first thread of a pool made it, a fork at that moment would leave a child
// that waits for that thread without end.
[[maybe_unused]] Registry* const registry_made_early = TheRegistry();

thread_local Entry* mine = nullptr;

}  // namespace

TrackedThread::TrackedThread(ThreadStatus::ThreadType type) {
  Registry* const registry = TheRegistry();
  MutexLock lock(&registry->mu);
  mine = &registry->threads.emplace_back();
  mine->id = std::hash<std::thread::id>()(std::this_thread::get_id());
  mine->type = type;
}

TrackedThread::~TrackedThread() {
  Registry* const registry = TheRegistry();
  MutexLock lock(&registry->mu);
  registry->threads.remove_if([](const Entry& entry) { return &entry == mine; });
  mine = nullptr;
}

TrackedOperation::TrackedOperation(bool wanted, ThreadStatus::OperationType operation,
                                   const std::string& db, const std::string& family, int job_id) {
  if (!wanted || mine == nullptr) return;
  MutexLock lock(&TheRegistry()->mu);
  tracked_ = true;
  mine->operation = operation;
  mine->db = db;
  mine->family = family;
  mine->since = NowMicros();
  mine->job_id = job_id;
}

TrackedOperation::~TrackedOperation() {
  if (!tracked_) return;
  MutexLock lock(&TheRegistry()->mu);
  mine->operation = ThreadStatus::OP_UNKNOWN;
  mine->db.clear();
  mine->family.clear();
}

std::vector<ThreadStatus> TrackedThreads() {
  Registry* const registry = TheRegistry();
  std::vector<ThreadStatus> threads;
  MutexLock lock(&registry->mu);
  for (const Entry& entry : registry->threads) {
    uint64_t properties[ThreadStatus::kNumOperationProperties] = {};
    const bool busy = entry.operation != ThreadStatus::OP_UNKNOWN;
    if (busy) properties[ThreadStatus::FLUSH_JOB_ID] = static_cast<uint64_t>(entry.job_id);
    threads.emplace_back(entry.id, entry.type, entry.db, entry.family, entry.operation,
                         busy ? NowMicros() - entry.since : 0, ThreadStatus::STAGE_UNKNOWN,
                         properties, ThreadStatus::STATE_UNKNOWN);
  }
  return threads;
}

}  // namespace compassdb
