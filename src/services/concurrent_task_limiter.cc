// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/concurrent_task_limiter.h"

#include <atomic>

namespace ROCKSDB_NAMESPACE {

namespace {

// A name and a limit. The engine bounds its jobs by max_background_jobs, so none is outstanding.
class NamedTaskLimiter : public ConcurrentTaskLimiter {
 public:
  NamedTaskLimiter(const std::string& name, int32_t limit) : name_(name), limit_(limit) {}
  const std::string& GetName() const override { return name_; }
  void SetMaxOutstandingTask(int32_t limit) override { limit_.store(limit); }
  void ResetMaxOutstandingTask() override { limit_.store(-1); }
  int32_t GetOutstandingTask() const override { return 0; }

 private:
  const std::string name_;
  std::atomic<int32_t> limit_;
};

}  // namespace

ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name, int32_t limit) {
  return new NamedTaskLimiter(name, limit);
}

}  // namespace ROCKSDB_NAMESPACE
