// SPDX-License-Identifier: Apache-2.0
#include "copies/backup_env.h"

#include <map>

#include "format/file_names.h"

namespace compassdb {
namespace {

class BackupFileSystem final : public FileSystem {
 public:
  BackupFileSystem(std::shared_ptr<FileSystem> base, const std::string& backup_dir,
                   const std::string& private_dir, const std::vector<BackupFile>& files)
      : base_(std::move(base)), dir_(private_dir) {
    for (const BackupFile& file : files) {
      const std::string seen = JoinPath(private_dir, file.name);
      const std::string real = JoinPath(backup_dir, file.path);
      if (seen != real) real_.emplace(seen, real);
    }
  }
  const char* Name() const override { return "Backup"; }
  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<SequentialFile>* file) override {
    return base_->NewSequentialFile(Real(path), file);
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    return base_->NewRandomAccessFile(Real(path), options, file);
  }
  Status NewWritableFile(const std::string& path, const FileOptions&,
                         std::unique_ptr<WritableFile>*) override {
    return ReadOnly(path);
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions&,
                            std::unique_ptr<WritableFile>*) override {
    return ReadOnly(path);
  }
  Status ReuseWritableFile(const std::string& path, const std::string&, const FileOptions&,
                           std::unique_ptr<WritableFile>*) override {
    return ReadOnly(path);
  }
  Status NewPageFile(const std::string& path, const FileOptions&, bool,
                     std::unique_ptr<PageFile>*) override {
    return ReadOnly(path);
  }
  Status FileExists(const std::string& path) override { return base_->FileExists(Real(path)); }
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    return base_->GetFileSize(Real(path), size);
  }
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override {
    return base_->GetModificationTime(Real(path), seconds);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    Status s = base_->GetChildren(dir, names);
    if (!s.ok() || JoinPath(dir, "x") != JoinPath(dir_, "x")) return s;
    for (const auto& [seen, real] : real_) names->push_back(seen.substr(seen.rfind('/') + 1));
    return s;
  }
  Status CreateDir(const std::string& dir) override { return ReadOnly(dir); }
  Status DeleteDir(const std::string& dir) override { return ReadOnly(dir); }
  Status DeleteFile(const std::string& path) override { return ReadOnly(path); }
  Status RenameFile(const std::string& from, const std::string&) override { return ReadOnly(from); }
  Status LinkFile(const std::string& from, const std::string&) override { return ReadOnly(from); }
  Status CloneFile(const std::string& from, const std::string&) override { return ReadOnly(from); }
  Status TruncateFile(const std::string& path, uint64_t) override { return ReadOnly(path); }
  Status SyncDir(const std::string& dir) override { return ReadOnly(dir); }
  Status PunchHole(const std::string& path, uint64_t, uint64_t) override { return ReadOnly(path); }
  Status GetLinkCount(const std::string& path, uint64_t* count) override {
    return base_->GetLinkCount(Real(path), count);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return base_->GetFreeSpace(path, bytes);
  }
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>*) override {
    return ReadOnly(path);
  }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return base_->GetAbsolutePath(path, absolute);
  }

 private:
  static Status ReadOnly(const std::string& path) {
    return Status::NotSupported(path, "a backup can only be read");
  }
  const std::string& Real(const std::string& path) const {
    const auto found = real_.find(path);
    return found == real_.end() ? path : found->second;
  }

  const std::shared_ptr<FileSystem> base_;
  const std::string dir_;
  std::map<std::string, std::string> real_;
};

}  // namespace

std::shared_ptr<FileSystem> NewBackupFileSystem(std::shared_ptr<FileSystem> base,
                                                const std::string& backup_dir,
                                                const std::string& private_dir,
                                                const std::vector<BackupFile>& files) {
  return std::make_shared<BackupFileSystem>(std::move(base), backup_dir, private_dir, files);
}

}  // namespace compassdb
