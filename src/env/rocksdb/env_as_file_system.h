// SPDX-License-Identifier: Apache-2.0
// A rocksdb::FileSystem whose every call ends in a virtual function of an Env:
// what Env::GetFileSystem() gives, and with Env::Default() FileSystem::Default().
//
// Env knows no options of single calls: IOOptions and IODebugContext have no effect.
// Thread safety: that of the Env.
#pragma once

#include "rocksdb/file_system.h"

namespace compassdb {

class EnvAsFileSystem final : public rocksdb::FileSystem {
 public:
  // `env` outlives this.
  explicit EnvAsFileSystem(rocksdb::Env* env) : env_(env) {}

  rocksdb::Env* env() const { return env_; }
  const char* Name() const override;

  using FileOptions = rocksdb::FileOptions;
  using IODebugContext = rocksdb::IODebugContext;
  using IOOptions = rocksdb::IOOptions;
  using IOStatus = rocksdb::IOStatus;

  rocksdb::Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->RegisterDbPaths(paths);
  }
  rocksdb::Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->UnregisterDbPaths(paths);
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext*) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext*) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext*) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext*) override;
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                             IODebugContext*) override;
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                           IODebugContext*) override;
  IOStatus NewMemoryMappedFileBuffer(
      const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext*) override;
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override;
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions&,
                                     std::vector<rocksdb::FileAttributes>* result,
                                     IODebugContext*) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override;
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions&,
                    IODebugContext*) override;
  IOStatus CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                       IODebugContext*) override;
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* seconds,
                                   IODebugContext*) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                    IODebugContext*) override;
  IOStatus NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                        IODebugContext*) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second, const IOOptions&,
                        bool* same, IODebugContext*) override;
  IOStatus LockFile(const std::string& path, const IOOptions&, rocksdb::FileLock** lock,
                    IODebugContext*) override;
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override;
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override;
  IOStatus NewLogger(const std::string& path, const IOOptions&,
                     std::shared_ptr<rocksdb::Logger>* result, IODebugContext*) override;
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override;
  void SanitizeFileOptions(FileOptions* options) const override {
    env_->SanitizeEnvOptions(options);
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                        IODebugContext*) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override;

 private:
  rocksdb::Env* const env_;
};

}  // namespace compassdb
