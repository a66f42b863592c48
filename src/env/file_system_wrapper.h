// SPDX-License-Identifier: Apache-2.0
// A FileSystem that passes every call on to another one. A class below it overrides what it changes.
//
// Thread safety: as FileSystem's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/file_system.h"

namespace compassdb {

class FileSystemWrapper : public FileSystem {
 public:
  explicit FileSystemWrapper(std::shared_ptr<FileSystem> base) : base_(std::move(base)) {}
  const char* Name() const override { return base_->Name(); }
  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file) override {
    return base_->NewSequentialFile(path, file);
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    return base_->NewRandomAccessFile(path, options, file);
  }
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    return base_->NewWritableFile(path, options, file);
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    return base_->ReopenWritableFile(path, options, file);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    return base_->ReuseWritableFile(path, old_path, options, file);
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    return base_->NewPageFile(path, options, create, file);
  }
  Status FileExists(const std::string& path) override { return base_->FileExists(path); }
  Status GetFileSize(const std::string& path, uint64_t* size) override { return base_->GetFileSize(path, size); }
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override {
    return base_->GetModificationTime(path, seconds);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return base_->GetChildren(dir, names);
  }
  Status CreateDir(const std::string& dir) override { return base_->CreateDir(dir); }
  Status DeleteDir(const std::string& dir) override { return base_->DeleteDir(dir); }
  Status DeleteFile(const std::string& path) override { return base_->DeleteFile(path); }
  Status RenameFile(const std::string& from, const std::string& to) override { return base_->RenameFile(from, to); }
  Status LinkFile(const std::string& from, const std::string& to) override { return base_->LinkFile(from, to); }
  Status CloneFile(const std::string& from, const std::string& to) override { return base_->CloneFile(from, to); }
  Status TruncateFile(const std::string& path, uint64_t size) override { return base_->TruncateFile(path, size); }
  Status SyncDir(const std::string& dir) override { return base_->SyncDir(dir); }
  Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) override {
    return base_->PunchHole(path, offset, length);
  }
  HoleSizes HolesWorthPunching() const override { return base_->HolesWorthPunching(); }
  Status GetLinkCount(const std::string& path, uint64_t* count) override { return base_->GetLinkCount(path, count); }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override { return base_->GetFreeSpace(path, bytes); }
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override {
    return base_->LockFile(path, lock);
  }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return base_->GetAbsolutePath(path, absolute);
  }
  Status GetRealPath(const std::string& path, std::string* real) override { return base_->GetRealPath(path, real); }
  Status GetFileId(const std::string& path, std::string* id) override { return base_->GetFileId(path, id); }

 protected:
  FileSystem* base() const { return base_.get(); }

 private:
  const std::shared_ptr<FileSystem> base_;
};

}  // namespace compassdb
