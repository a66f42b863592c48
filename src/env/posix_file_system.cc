// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "env/posix_error.h"
#include "env/posix_files.h"
#include "env/posix_lock.h"

namespace compassdb {

namespace {

class PosixFileSystemImpl : public FileSystem {
 public:
  const char* Name() const override { return "Posix"; }

  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<SequentialFile>* file) override {
    return OpenPosixSequentialFile(path, file);
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    return OpenPosixRandomAccessFile(path, options, file);
  }
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    return OpenPosixWritableFile(path, options, OldContents::kCutOff, file);
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    return OpenPosixWritableFile(path, options, OldContents::kAppendTo, file);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    Status s = RenameFile(old_path, path);
    return s.ok() ? OpenPosixWritableFile(path, options, OldContents::kWriteOver, file) : s;
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    return OpenPosixPageFile(path, options, create, file);
  }

  Status FileExists(const std::string& path) override {
    if (access(path.c_str(), F_OK) == 0) return Status::OK();
    switch (errno) {
      case ENOENT:
      case ENOTDIR:
      case ELOOP:
      case ENAMETOOLONG:
      case EACCES:
        return Status::NotFound("While access: " + path);
      default:
        return PosixError("access", path, errno);
    }
  }

  Status GetFileSize(const std::string& path, uint64_t* size) override {
    struct stat st;
    *size = 0;
    Status s = Stat("stat a file for size", path, &st);
    if (s.ok()) *size = static_cast<uint64_t>(st.st_size);
    return s;
  }
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override {
    struct stat st;
    *seconds = 0;
    Status s = Stat("stat a file for modification time", path, &st);
    if (s.ok()) *seconds = static_cast<uint64_t>(st.st_mtime);
    return s;
  }
  Status GetLinkCount(const std::string& path, uint64_t* count) override {
    struct stat st;
    *count = 0;
    Status s = Stat("stat a file for link count", path, &st);
    if (s.ok()) *count = st.st_nlink;
    return s;
  }

  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    names->clear();
    const std::unique_ptr<DIR, int (*)(DIR*)> d(opendir(dir.c_str()), closedir);
    if (d == nullptr) return PosixError("opendir", dir, errno);
    errno = 0;
    while (const dirent* entry = readdir(d.get())) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names->push_back(name);
      errno = 0;
    }
    return errno != 0 ? PosixError("readdir", dir, errno) : Status::OK();
  }

  Status CreateDir(const std::string& dir) override {
    if (MakeDir(dir) == 0) return Status::OK();
    if (errno != ENOENT) return PosixError("mkdir", dir, errno);
    for (size_t slash = dir.find('/', 1); slash != std::string::npos;
         slash = dir.find('/', slash + 1)) {
      const std::string parent = dir.substr(0, slash);
      if (MakeDir(parent) != 0) return PosixError("mkdir", parent, errno);
    }
    return MakeDir(dir) == 0 ? Status::OK() : PosixError("mkdir", dir, errno);
  }
  Status DeleteDir(const std::string& dir) override {
    return rmdir(dir.c_str()) == 0 ? Status::OK() : PosixError("rmdir", dir, errno);
  }
  Status DeleteFile(const std::string& path) override {
    return unlink(path.c_str()) == 0 ? Status::OK() : PosixError("unlink", path, errno);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return Status::OK();
    return PosixError("renaming a file to " + to, from, errno);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    if (link(from.c_str(), to.c_str()) == 0) return Status::OK();
    if (errno == EXDEV || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM) {
      return Status::NotSupported("While link file to " + to + ": " + from,
                                  "hard links do not work between these places");
    }
    return PosixError("link file to " + to, from, errno);
  }
  Status CloneFile(const std::string& from, const std::string& to) override {
    return ClonePosixFile(from, to);
  }
  Status TruncateFile(const std::string& path, uint64_t size) override {
    const int r = RetryOnInterrupt([&] { return truncate(path.c_str(), static_cast<off_t>(size)); });
    if (r == 0) return Status::OK();
    return PosixError("truncate to " + std::to_string(size), path, errno);
  }

  Status SyncDir(const std::string& dir) override {
    const int fd = RetryOnInterrupt(
        [&] { return open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd < 0) return PosixError("open directory", dir, errno);
    const int r = RetryOnInterrupt([&] { return fsync(fd); });
    const int error = errno;
    close(fd);
    // Some file systems order directory changes themselves and say EINVAL.
    if (r != 0 && error != EINVAL) return PosixError("fsync directory", dir, error);
    return Status::OK();
  }

  Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) override {
    const int fd = RetryOnInterrupt([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC); });
    if (fd < 0) return PosixError("open a file for punching", path, errno);
    const int r = RetryOnInterrupt([&] {
      return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                       static_cast<off_t>(length));
    });
    const int error = errno;
    close(fd);
    if (r == 0) return Status::OK();
    if (error == EOPNOTSUPP || error == ENOSYS) {
      return Status::NotSupported("While punch a hole: " + path,
                                  "the file system cannot free part of a file");
    }
    return PosixError("punch a hole", path, error);
  }

  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    struct statvfs st;
    *bytes = 0;
    if (RetryOnInterrupt([&] { return statvfs(path.c_str(), &st); }) != 0) return PosixError("statvfs", path, errno);
    *bytes = static_cast<uint64_t>(st.f_bavail) * st.f_frsize;
    return Status::OK();
  }

  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override {
    return LockPosixFile(path, lock);
  }

  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    if (!path.empty() && path[0] == '/') {
      *absolute = path;
      return Status::OK();
    }
    std::unique_ptr<char, void (*)(void*)> cwd(getcwd(nullptr, 0), free);
    if (cwd == nullptr) return PosixError("getcwd", path, errno);
    *absolute = std::string(cwd.get()) + "/" + path;
    return Status::OK();
  }

  Status GetRealPath(const std::string& path, std::string* real) override {
    std::unique_ptr<char, void (*)(void*)> found(realpath(path.c_str(), nullptr), free);
    if (found == nullptr) return FileSystem::GetRealPath(path, real);
    *real = found.get();
    return Status::OK();
  }

  Status GetFileId(const std::string& path, std::string* id) override {
    struct stat st;
    Status s = Stat("stat", path, &st);
    if (s.ok()) *id = std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
    return s;
  }

 private:
  static Status Stat(const char* operation, const std::string& path, struct stat* st) {
    return stat(path.c_str(), st) == 0 ? Status::OK() : PosixError(operation, path, errno);
  }

  // 0 also if the directory exists already.
  static int MakeDir(const std::string& dir) {
    if (mkdir(dir.c_str(), 0755) == 0) return 0;
    const int error = errno;
    struct stat st;
    if (error == EEXIST && stat(dir.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) return 0;
    errno = error;
    return -1;
  }
};

}  // namespace

FileSystem* PosixFileSystem() {
  // Never destroyed: files may be closed by other static objects.
  static auto* fs = new PosixFileSystemImpl;
  return fs;
}

}  // namespace compassdb
