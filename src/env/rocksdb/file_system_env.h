// SPDX-License-Identifier: Apache-2.0
// An rocksdb::Env over the engine's FileSystem.
//
// Thread safety: as rocksdb::Env, every function may be called by any thread.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/file_system.h"
#include "env/missing.h"
#include "env/thread_pools.h"
#include "rocksdb/env.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

class FileSystemEnv : public rocksdb::Env {
 public:
  // `base` has the clock and runs the threads; the system and `pools` if null.
  FileSystemEnv(const char* name, std::shared_ptr<FileSystem> fs, ThreadPools* pools,
                rocksdb::Env* base);
  ~FileSystemEnv() override;

  const std::shared_ptr<FileSystem>& file_system() const { return fs_; }
  ThreadPools* pools() const { return pools_; }
  const char* Name() const override { return name_; }

  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<rocksdb::SequentialFile>* result,
                           const rocksdb::EnvOptions& options) override;
  Status NewRandomAccessFile(const std::string& path,
                             std::unique_ptr<rocksdb::RandomAccessFile>* result,
                             const rocksdb::EnvOptions& options) override;
  Status NewWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* result,
                         const rocksdb::EnvOptions& options) override;
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<rocksdb::WritableFile>* result,
                           const rocksdb::EnvOptions& options) override;
  Status ReopenWritableFile(const std::string& path,
                            std::unique_ptr<rocksdb::WritableFile>* result,
                            const rocksdb::EnvOptions& options) override;
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<rocksdb::RandomRWFile>* result,
                         const rocksdb::EnvOptions& options) override;
  Status NewDirectory(const std::string& name,
                      std::unique_ptr<rocksdb::Directory>* result) override;
  Status FileExists(const std::string& path) override { return fs_->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    const Status s = fs_->GetChildren(dir, result);
    return IsMissing(s) ? Status::NotFound(dir) : s;  // as RocksDB's
  }
  Status DeleteFile(const std::string& path) override { return fs_->DeleteFile(path); }
  Status Truncate(const std::string& path, size_t size) override {
    return fs_->TruncateFile(path, size);
  }
  Status CreateDir(const std::string& dir) override;
  Status CreateDirIfMissing(const std::string& dir) override { return fs_->CreateDir(dir); }
  Status DeleteDir(const std::string& dir) override { return fs_->DeleteDir(dir); }
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    return fs_->GetFileSize(path, size);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* seconds) override {
    return fs_->GetModificationTime(path, seconds);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return fs_->RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return fs_->LinkFile(from, to);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return fs_->GetLinkCount(path, count);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override;
  Status LockFile(const std::string& path, rocksdb::FileLock** lock) override;
  Status UnlockFile(rocksdb::FileLock* lock) override;
  Status GetTestDirectory(std::string* path) override;
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return fs_->GetAbsolutePath(path, absolute);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return fs_->GetFreeSpace(path, bytes);
  }
  Status IsDirectory(const std::string& path, bool* is_dir) override;

  void Schedule(void (*function)(void* arg), void* arg, Priority priority, void* tag,
                void (*unscheduled)(void* arg)) override;
  int UnSchedule(void* tag, Priority priority) override;
  void StartThread(void (*function)(void* arg), void* arg) override;
  void WaitForJoin() override;
  unsigned int GetThreadPoolQueueLen(Priority priority) const override;
  void SetBackgroundThreads(int number, Priority priority) override;
  int GetBackgroundThreads(Priority priority) override;
  void IncBackgroundThreadsIfNeeded(int number, Priority priority) override;
  uint64_t GetThreadID() const override;
  Status GetThreadList(std::vector<rocksdb::ThreadStatus>* threads) override;

  uint64_t NowMicros() override;
  uint64_t NowNanos() override;
  uint64_t NowCPUNanos() override;
  void SleepForMicroseconds(int micros) override;
  Status GetHostName(char* name, uint64_t len) override;
  Status GetCurrentTime(int64_t* unix_time) override;
  std::string TimeToString(uint64_t seconds) override;

 private:
  const char* const name_;
  const std::shared_ptr<FileSystem> fs_;
  ThreadPools* const pools_;
  rocksdb::Env* const base_;
  struct StartedThreads {  // by StartThread
    Mutex mu;
    std::list<std::thread> threads GUARDED_BY(mu);
  };
  StartedThreads started_;
  const AtForks forks_{&started_, {.in_child = [](void* started) {
                         RenewInherited(static_cast<StartedThreads*>(started));
                       }}};
};

}  // namespace compassdb
