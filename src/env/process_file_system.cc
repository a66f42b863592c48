// SPDX-License-Identifier: Apache-2.0
#include "env/process_file_system.h"

#include <string>
#include <utility>

#include "env/file_system_wrapper.h"
#include "util/process.h"

namespace compassdb {
namespace {

class ProcessFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base()->NewWritableFile(path, options, file); });
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base()->ReopenWritableFile(path, options, file); });
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    return Change([&] { return base()->ReuseWritableFile(path, old_path, options, file); });
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    return Change([&] { return base()->NewPageFile(path, options, create, file); });
  }
  Status CreateDir(const std::string& dir) override {
    return Change([&] { return base()->CreateDir(dir); });
  }
  Status DeleteDir(const std::string& dir) override {
    return Change([&] { return base()->DeleteDir(dir); });
  }
  Status DeleteFile(const std::string& path) override {
    return Change([&] { return base()->DeleteFile(path); });
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base()->RenameFile(from, to); });
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base()->LinkFile(from, to); });
  }
  Status CloneFile(const std::string& from, const std::string& to) override {
    return Change([&] { return base()->CloneFile(from, to); });
  }
  Status TruncateFile(const std::string& path, uint64_t size) override {
    return Change([&] { return base()->TruncateFile(path, size); });
  }
  Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) override {
    return Change([&] { return base()->PunchHole(path, offset, length); });
  }
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override {
    return Change([&] { return base()->LockFile(path, lock); });
  }

 private:
  template <class F>
  Status Change(const F& change) const {
    return process_.Inherited() ? InheritedStatus() : change();
  }

  const ProcessMark process_;
};

}  // namespace

std::shared_ptr<FileSystem> NewProcessFileSystem(std::shared_ptr<FileSystem> base) {
  return std::make_shared<ProcessFileSystem>(std::move(base));
}

}  // namespace compassdb
