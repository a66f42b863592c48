// SPDX-License-Identifier: Apache-2.0
// rocksdb::NewThreadPool: a pool of its own.
#include "env/thread_pools.h"
#include "rocksdb/threadpool.h"

namespace compassdb {
namespace {

class OwnThreadPool final : public rocksdb::ThreadPool {
 public:
  explicit OwnThreadPool(int threads) { pools_.SetThreads(JobPriority::kUser, threads); }

  void JoinAllThreads() override {
    pools_.Unschedule(this, JobPriority::kUser);
    pools_.WaitForAll();
  }
  void SetBackgroundThreads(int num) override { pools_.SetThreads(JobPriority::kUser, num); }
  int GetBackgroundThreads() override { return pools_.Threads(JobPriority::kUser); }
  unsigned int GetQueueLen() const override {
    return static_cast<unsigned int>(pools_.QueueLength(JobPriority::kUser));
  }
  void WaitForJobsAndJoinAllThreads() override { pools_.WaitForAll(); }
  void SubmitJob(const std::function<void()>& job) override {
    pools_.Schedule(job, JobPriority::kUser, this);
  }
  void SubmitJob(std::function<void()>&& job) override {
    pools_.Schedule(std::move(job), JobPriority::kUser, this);
  }

 private:
  ThreadPools pools_;
  const AtForks forks_{&pools_, ThreadPools::StartOver()};
};

}  // namespace
}  // namespace compassdb

namespace rocksdb {

ThreadPool* NewThreadPool(int num_threads) { return new compassdb::OwnThreadPool(num_threads); }

}  // namespace rocksdb
