// SPDX-License-Identifier: Apache-2.0
// An Env that adds the time of its file-system calls to the thread's PerfContext.
#include "rocksdb/env.h"
#include "util/perf_timer.h"

namespace rocksdb {

namespace {

using compassdb::PerfTimer;

class TimedEnv final : public EnvWrapper {
 public:
  explicit TimedEnv(Env* base) : EnvWrapper(base) {}
  const char* Name() const override { return "TimedEnv"; }

  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    PerfTimer timer(&PerfContext::env_new_sequential_file_nanos);
    return EnvWrapper::NewSequentialFile(path, result, options);
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    PerfTimer timer(&PerfContext::env_new_random_access_file_nanos);
    return EnvWrapper::NewRandomAccessFile(path, result, options);
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    PerfTimer timer(&PerfContext::env_new_writable_file_nanos);
    return EnvWrapper::NewWritableFile(path, result, options);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override {
    PerfTimer timer(&PerfContext::env_reuse_writable_file_nanos);
    return EnvWrapper::ReuseWritableFile(path, old_path, result, options);
  }
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override {
    PerfTimer timer(&PerfContext::env_new_random_rw_file_nanos);
    return EnvWrapper::NewRandomRWFile(path, result, options);
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    PerfTimer timer(&PerfContext::env_new_directory_nanos);
    return EnvWrapper::NewDirectory(path, result);
  }
  Status FileExists(const std::string& path) override {
    PerfTimer timer(&PerfContext::env_file_exists_nanos);
    return EnvWrapper::FileExists(path);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    PerfTimer timer(&PerfContext::env_get_children_nanos);
    return EnvWrapper::GetChildren(dir, result);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* result) override {
    PerfTimer timer(&PerfContext::env_get_children_file_attributes_nanos);
    return EnvWrapper::GetChildrenFileAttributes(dir, result);
  }
  Status DeleteFile(const std::string& path) override {
    PerfTimer timer(&PerfContext::env_delete_file_nanos);
    return EnvWrapper::DeleteFile(path);
  }
  Status CreateDir(const std::string& dir) override {
    PerfTimer timer(&PerfContext::env_create_dir_nanos);
    return EnvWrapper::CreateDir(dir);
  }
  Status CreateDirIfMissing(const std::string& dir) override {
    PerfTimer timer(&PerfContext::env_create_dir_if_missing_nanos);
    return EnvWrapper::CreateDirIfMissing(dir);
  }
  Status DeleteDir(const std::string& dir) override {
    PerfTimer timer(&PerfContext::env_delete_dir_nanos);
    return EnvWrapper::DeleteDir(dir);
  }
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    PerfTimer timer(&PerfContext::env_get_file_size_nanos);
    return EnvWrapper::GetFileSize(path, size);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* seconds) override {
    PerfTimer timer(&PerfContext::env_get_file_modification_time_nanos);
    return EnvWrapper::GetFileModificationTime(path, seconds);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    PerfTimer timer(&PerfContext::env_rename_file_nanos);
    return EnvWrapper::RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    PerfTimer timer(&PerfContext::env_link_file_nanos);
    return EnvWrapper::LinkFile(from, to);
  }
  Status LockFile(const std::string& path, FileLock** lock) override {
    PerfTimer timer(&PerfContext::env_lock_file_nanos);
    return EnvWrapper::LockFile(path, lock);
  }
  Status UnlockFile(FileLock* lock) override {
    PerfTimer timer(&PerfContext::env_unlock_file_nanos);
    return EnvWrapper::UnlockFile(lock);
  }
  Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result) override {
    PerfTimer timer(&PerfContext::env_new_logger_nanos);
    return EnvWrapper::NewLogger(path, result);
  }
};

}  // namespace

Env* NewTimedEnv(Env* base_env) { return new TimedEnv(base_env); }

}  // namespace rocksdb
