// SPDX-License-Identifier: Apache-2.0
// An Env made of a rocksdb::FileSystem, with the time and the threads of another Env.
//
// Thread safety: that of the parts.
#pragma once

#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace compassdb {

class CompositeEnv final : public rocksdb::EnvWrapper {
 public:
  // `base` outlives this.
  CompositeEnv(std::shared_ptr<rocksdb::FileSystem> fs, rocksdb::Env* base);

  // The Env that the files come from, if the file system is nothing but one; else null.
  rocksdb::Env* files_of() const;
  const char* Name() const override { return "CompositeEnv"; }

  using Status = rocksdb::Status;
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return fs().RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return fs().UnregisterDbPaths(paths);
  }
  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<rocksdb::SequentialFile>* result,
                           const rocksdb::EnvOptions& options) override;
  Status NewRandomAccessFile(const std::string& path,
                             std::unique_ptr<rocksdb::RandomAccessFile>* result,
                             const rocksdb::EnvOptions& options) override;
  Status NewWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* result,
                         const rocksdb::EnvOptions& options) override;
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* result,
                            const rocksdb::EnvOptions& options) override;
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<rocksdb::WritableFile>* result,
                           const rocksdb::EnvOptions& options) override;
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<rocksdb::RandomRWFile>* result,
                         const rocksdb::EnvOptions& options) override;
  Status NewMemoryMappedFileBuffer(
      const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) override {
    return fs().NewMemoryMappedFileBuffer(path, result);
  }
  Status NewDirectory(const std::string& path,
                      std::unique_ptr<rocksdb::Directory>* result) override;
  Status FileExists(const std::string& path) override { return fs().FileExists(path, {}, nullptr); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    return fs().GetChildren(dir, {}, result, nullptr);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* result) override {
    return fs().GetChildrenFileAttributes(dir, {}, result, nullptr);
  }
  Status DeleteFile(const std::string& path) override { return fs().DeleteFile(path, {}, nullptr); }
  Status Truncate(const std::string& path, size_t size) override {
    return fs().Truncate(path, size, {}, nullptr);
  }
  Status CreateDir(const std::string& dir) override { return fs().CreateDir(dir, {}, nullptr); }
  Status CreateDirIfMissing(const std::string& dir) override {
    return fs().CreateDirIfMissing(dir, {}, nullptr);
  }
  Status DeleteDir(const std::string& dir) override { return fs().DeleteDir(dir, {}, nullptr); }
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    return fs().GetFileSize(path, {}, size, nullptr);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* seconds) override {
    return fs().GetFileModificationTime(path, {}, seconds, nullptr);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return fs().RenameFile(from, to, {}, nullptr);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return fs().LinkFile(from, to, {}, nullptr);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return fs().NumFileLinks(path, {}, count, nullptr);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override {
    return fs().AreFilesSame(first, second, {}, same, nullptr);
  }
  Status LockFile(const std::string& path, rocksdb::FileLock** lock) override {
    return fs().LockFile(path, {}, lock, nullptr);
  }
  Status UnlockFile(rocksdb::FileLock* lock) override { return fs().UnlockFile(lock, {}, nullptr); }
  Status GetTestDirectory(std::string* path) override {
    return fs().GetTestDirectory({}, path, nullptr);
  }
  Status NewLogger(const std::string& path, std::shared_ptr<rocksdb::Logger>* result) override {
    return fs().NewLogger(path, {}, result, nullptr);
  }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return fs().GetAbsolutePath(path, {}, absolute, nullptr);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return fs().GetFreeSpace(path, {}, bytes, nullptr);
  }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return fs().IsDirectory(path, {}, is_dir, nullptr);
  }

 private:
  rocksdb::FileSystem& fs() const { return *file_system_; }
};

}  // namespace compassdb
