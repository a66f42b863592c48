// SPDX-License-Identifier: Apache-2.0
#include "env/process_file_system.h"

#include <string>
#include <utility>

#include "util/process.h"

namespace compassdb {
namespace {

class ProcessFileSystem final : public FileSystem {
 public:
  explicit ProcessFileSystem(std::shared_ptr<FileSystem> base) : base_(std::move(base)) {}
  const char* Name() const override { return base_->Name(); }

  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base_->NewWritableFile(path, options, file); });
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base_->ReopenWritableFile(path, options, file); });
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base_->ReuseWritableFile(path, old_path, options, file); });
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    return Change([&] { return base_->NewPageFile(path, options, create, file); });
  }
  Status CreateDir(const std::string& dir) override {
    return Change([&] { return base_->CreateDir(dir); });
  }
  Status DeleteDir(const std::string& dir) override {
    return Change([&] { return base_->DeleteDir(dir); });
  }
  Status DeleteFile(const std::string& path) override {
    return Change([&] { return base_->DeleteFile(path); });
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base_->RenameFile(from, to); });
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base_->LinkFile(from, to); });
  }
  Status CloneFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base_->CloneFile(from, to); });
  }
  Status TruncateFile(const std::string& path, uint64_t size) override {
    return Change([&] { return base_->TruncateFile(path, size); });
  }
  Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) override {
    return Change([&] { return base_->PunchHole(path, offset, length); });
  }
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override {
    return Change([&] { return base_->LockFile(path, lock); });
  }

  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file) override {
    return base_->NewSequentialFile(path, file);
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    return base_->NewRandomAccessFile(path, options, file);
  }
  Status FileExists(const std::string& path) override { return base_->FileExists(path); }
  Status GetFileSize(const std::string& path, uint64_t* size) override { return base_->GetFileSize(path, size); }
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override {
    return base_->GetModificationTime(path, seconds);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return base_->GetChildren(dir, names);
  }
  Status SyncDir(const std::string& dir) override { return base_->SyncDir(dir); }
  HoleSizes HolesWorthPunching() const override { return base_->HolesWorthPunching(); }
  Status GetLinkCount(const std::string& path, uint64_t* count) override { return base_->GetLinkCount(path, count); }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override { return base_->GetFreeSpace(path, bytes); }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return base_->GetAbsolutePath(path, absolute);
  }
  Status GetRealPath(const std::string& path, std::string* real) override { return base_->GetRealPath(path, real); }
  Status GetFileId(const std::string& path, std::string* id) override { return base_->GetFileId(path, id); }

 private:
  template <class F>
  Status Change(const F& change) const {
    return process_.Inherited() ? InheritedStatus() : change();
  }

  const ProcessMark process_;
  const std::shared_ptr<FileSystem> base_;
};

}  // namespace

std::shared_ptr<FileSystem> NewProcessFileSystem(std::shared_ptr<FileSystem> base) {
  return std::make_shared<ProcessFileSystem>(std::move(base));
}

}  // namespace compassdb
