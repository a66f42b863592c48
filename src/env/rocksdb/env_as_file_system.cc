// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/env_as_file_system.h"

namespace compassdb {

namespace {

using rocksdb::Env;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::status_to_io_status;

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(std::unique_ptr<rocksdb::SequentialFile> file) : file_(std::move(file)) {}
  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return status_to_io_status(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return status_to_io_status(file_->Skip(n)); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    return status_to_io_status(file_->PositionedRead(offset, n, result, scratch));
  }

 private:
  const std::unique_ptr<rocksdb::SequentialFile> file_;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(std::unique_ptr<rocksdb::RandomAccessFile> file)
      : file_(std::move(file)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return status_to_io_status(file_->Read(offset, n, result, scratch));
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t n, const IOOptions&,
                     IODebugContext*) override {
    std::vector<rocksdb::ReadRequest> plain(n);
    for (size_t i = 0; i < n; ++i) {
      plain[i].offset = requests[i].offset;
      plain[i].len = requests[i].len;
      plain[i].scratch = requests[i].scratch;
    }
    Status s = file_->MultiRead(plain.data(), n);
    for (size_t i = 0; i < n; ++i) {
      requests[i].result = plain[i].result;
      requests[i].status = status_to_io_status(std::move(plain[i].status));
    }
    return status_to_io_status(std::move(s));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Prefetch(offset, n));
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<rocksdb::RandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }

 private:
  const std::unique_ptr<rocksdb::RandomAccessFile> file_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(std::unique_ptr<rocksdb::WritableFile> file, const FileOptions& options)
      : FSWritableFile(options), file_(std::move(file)) {}
  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Append(data));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    return status_to_io_status(file_->PositionedAppend(data, offset));
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Close());
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Flush());
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Sync());
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Fsync());
  }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  void SetIOPriority(Env::IOPriority priority) override { file_->SetIOPriority(priority); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_block) override {
    file_->GetPreallocationStatus(block_size, last_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->RangeSync(offset, bytes));
  }
  void PrepareWrite(size_t offset, size_t length, const IOOptions&, IODebugContext*) override {
    file_->PrepareWrite(offset, length);
  }
  IOStatus Allocate(uint64_t offset, uint64_t length, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Allocate(offset, length));
  }

 private:
  const std::unique_ptr<rocksdb::WritableFile> file_;
};

class RandomRWFile final : public rocksdb::FSRandomRWFile {
 public:
  explicit RandomRWFile(std::unique_ptr<rocksdb::RandomRWFile> file) : file_(std::move(file)) {}
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return status_to_io_status(file_->Read(offset, n, result, scratch));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Flush());
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Sync());
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Fsync());
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Close());
  }

 private:
  const std::unique_ptr<rocksdb::RandomRWFile> file_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  explicit Directory(std::unique_ptr<rocksdb::Directory> dir) : dir_(std::move(dir)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(dir_->Fsync());
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(dir_->Close());
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return dir_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<rocksdb::Directory> dir_;
};

// Opens a file of the Env and wraps it.
template <typename Wrapper, typename Base, typename Result, typename... Args>
IOStatus Wrap(Status opened, std::unique_ptr<Base> base, std::unique_ptr<Result>* result,
              const Args&... args) {
  if (opened.ok()) *result = std::make_unique<Wrapper>(std::move(base), args...);
  return status_to_io_status(std::move(opened));
}

}  // namespace

const char* EnvAsFileSystem::Name() const {
  return env_ == Env::Default() ? kDefaultName() : "LegacyFileSystem";
}

IOStatus EnvAsFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                            std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                            IODebugContext*) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  Status s = env_->NewSequentialFile(path, &file, options);
  return Wrap<SequentialFile>(std::move(s), std::move(file), result);
}

IOStatus EnvAsFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                              std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                              IODebugContext*) {
  std::unique_ptr<rocksdb::RandomAccessFile> file;
  Status s = env_->NewRandomAccessFile(path, &file, options);
  return Wrap<RandomAccessFile>(std::move(s), std::move(file), result);
}

IOStatus EnvAsFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* result,
                                          IODebugContext*) {
  std::unique_ptr<rocksdb::WritableFile> file;
  Status s = env_->NewWritableFile(path, &file, options);
  return Wrap<WritableFile>(std::move(s), std::move(file), result, options);
}

IOStatus EnvAsFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                                             IODebugContext*) {
  std::unique_ptr<rocksdb::WritableFile> file;
  Status s = env_->ReopenWritableFile(path, &file, options);
  return Wrap<WritableFile>(std::move(s), std::move(file), result, options);
}

IOStatus EnvAsFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                            const FileOptions& options,
                                            std::unique_ptr<rocksdb::FSWritableFile>* result,
                                            IODebugContext*) {
  std::unique_ptr<rocksdb::WritableFile> file;
  Status s = env_->ReuseWritableFile(path, old_path, &file, options);
  return Wrap<WritableFile>(std::move(s), std::move(file), result, options);
}

IOStatus EnvAsFileSystem::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                          IODebugContext*) {
  std::unique_ptr<rocksdb::RandomRWFile> file;
  Status s = env_->NewRandomRWFile(path, &file, options);
  return Wrap<RandomRWFile>(std::move(s), std::move(file), result);
}

IOStatus EnvAsFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) {
  return status_to_io_status(env_->NewMemoryMappedFileBuffer(path, result));
}

IOStatus EnvAsFileSystem::NewDirectory(const std::string& path, const IOOptions&,
                                       std::unique_ptr<rocksdb::FSDirectory>* result,
                                       IODebugContext*) {
  std::unique_ptr<rocksdb::Directory> dir;
  Status s = env_->NewDirectory(path, &dir);
  return Wrap<Directory>(std::move(s), std::move(dir), result);
}

IOStatus EnvAsFileSystem::FileExists(const std::string& path, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->FileExists(path));
}

IOStatus EnvAsFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                      std::vector<std::string>* result, IODebugContext*) {
  return status_to_io_status(env_->GetChildren(dir, result));
}

IOStatus EnvAsFileSystem::GetChildrenFileAttributes(const std::string& dir, const IOOptions&,
                                                    std::vector<rocksdb::FileAttributes>* result,
                                                    IODebugContext*) {
  return status_to_io_status(env_->GetChildrenFileAttributes(dir, result));
}

IOStatus EnvAsFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->DeleteFile(path));
}

IOStatus EnvAsFileSystem::Truncate(const std::string& path, size_t size, const IOOptions&,
                                   IODebugContext*) {
  return status_to_io_status(env_->Truncate(path, size));
}

IOStatus EnvAsFileSystem::CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->CreateDir(dir));
}

IOStatus EnvAsFileSystem::CreateDirIfMissing(const std::string& dir, const IOOptions&,
                                             IODebugContext*) {
  return status_to_io_status(env_->CreateDirIfMissing(dir));
}

IOStatus EnvAsFileSystem::DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->DeleteDir(dir));
}

IOStatus EnvAsFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                                      IODebugContext*) {
  return status_to_io_status(env_->GetFileSize(path, size));
}

IOStatus EnvAsFileSystem::GetFileModificationTime(const std::string& path, const IOOptions&,
                                                  uint64_t* seconds, IODebugContext*) {
  return status_to_io_status(env_->GetFileModificationTime(path, seconds));
}

IOStatus EnvAsFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->RenameFile(from, to));
}

IOStatus EnvAsFileSystem::LinkFile(const std::string& from, const std::string& to,
                                   const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->LinkFile(from, to));
}

IOStatus EnvAsFileSystem::NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                                       IODebugContext*) {
  return status_to_io_status(env_->NumFileLinks(path, count));
}

IOStatus EnvAsFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                       const IOOptions&, bool* same, IODebugContext*) {
  return status_to_io_status(env_->AreFilesSame(first, second, same));
}

IOStatus EnvAsFileSystem::LockFile(const std::string& path, const IOOptions&,
                                   rocksdb::FileLock** lock, IODebugContext*) {
  return status_to_io_status(env_->LockFile(path, lock));
}

IOStatus EnvAsFileSystem::UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->UnlockFile(lock));
}

IOStatus EnvAsFileSystem::GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) {
  return status_to_io_status(env_->GetTestDirectory(path));
}

IOStatus EnvAsFileSystem::NewLogger(const std::string& path, const IOOptions&,
                                    std::shared_ptr<rocksdb::Logger>* result, IODebugContext*) {
  return status_to_io_status(env_->NewLogger(path, result));
}

IOStatus EnvAsFileSystem::GetAbsolutePath(const std::string& path, const IOOptions&,
                                          std::string* absolute, IODebugContext*) {
  return status_to_io_status(env_->GetAbsolutePath(path, absolute));
}

IOStatus EnvAsFileSystem::GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                                       IODebugContext*) {
  return status_to_io_status(env_->GetFreeSpace(path, bytes));
}

IOStatus EnvAsFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                                      IODebugContext*) {
  return status_to_io_status(env_->IsDirectory(path, is_dir));
}

}  // namespace compassdb
