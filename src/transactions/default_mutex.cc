// SPDX-License-Identifier: Apache-2.0
#include "transactions/default_mutex.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace compassdb {
namespace {

using rocksdb::Status;
using rocksdb::TransactionDBCondVar;
using rocksdb::TransactionDBMutex;

class DefaultMutex final : public TransactionDBMutex {
 public:
  Status Lock() override {
    mu_.lock();
    return Status::OK();
  }
  // It is never held for long, so any timeout is long enough.
  Status TryLockFor(int64_t timeout_micros) override {
    if (timeout_micros != 0) {
      mu_.lock();
    } else if (!mu_.try_lock()) {
      return Status::TimedOut(Status::SubCode::kMutexTimeout);
    }
    return Status::OK();
  }
  void UnLock() override { mu_.unlock(); }

  std::mutex* mutex() { return &mu_; }

 private:
  std::mutex mu_;
};

class DefaultCondVar final : public TransactionDBCondVar {
 public:
  Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override {
    return WaitFor(std::move(mutex), -1);
  }
  Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_micros) override {
    std::unique_lock<std::mutex> lock(*static_cast<DefaultMutex*>(mutex.get())->mutex(),
                                      std::adopt_lock);
    Status s;
    if (timeout_micros < 0) {
      wake_.wait(lock);
    } else if (wake_.wait_for(lock, std::chrono::microseconds(timeout_micros)) ==
               std::cv_status::timeout) {
      s = Status::TimedOut(Status::SubCode::kMutexTimeout);
    }
    lock.release();  // the caller keeps it
    return s;
  }
  void Notify() override { wake_.notify_one(); }
  void NotifyAll() override { wake_.notify_all(); }

 private:
  std::condition_variable wake_;
};

class DefaultMutexFactory final : public rocksdb::TransactionDBMutexFactory {
 public:
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<DefaultMutex>();
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<DefaultCondVar>();
  }
};

}  // namespace

std::shared_ptr<rocksdb::TransactionDBMutexFactory> NewDefaultMutexFactory() {
  return std::make_shared<DefaultMutexFactory>();
}

}  // namespace compassdb
