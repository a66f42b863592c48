// SPDX-License-Identifier: Apache-2.0
//
// RocksDB over the simulated disk, so that the crash test itself can be tried
// on an engine that is known to pass it.

#include "crash/disk.h"

namespace compassdb_test {

using rocksdb::EnvOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

class SequentialFile : public rocksdb::SequentialFile {
 public:
  explicit SequentialFile(std::unique_ptr<compassdb::SequentialFile> file)
      : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  std::unique_ptr<compassdb::SequentialFile> file_;
};

class RandomAccessFile : public rocksdb::RandomAccessFile {
 public:
  explicit RandomAccessFile(std::unique_ptr<compassdb::RandomAccessFile> file)
      : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, result, scratch);
  }

 private:
  std::unique_ptr<compassdb::RandomAccessFile> file_;
};

class WritableFile : public rocksdb::WritableFile {
 public:
  explicit WritableFile(std::unique_ptr<compassdb::WritableFile> file) : file_(std::move(file)) {}
  using rocksdb::WritableFile::Append;
  Status Append(const Slice& data) override { return file_->Append(data); }
  // RocksDB truncates to the size it wrote, to drop preallocated space; there is none here.
  Status Truncate(uint64_t size) override {
    return size == file_->Size() ? Status::OK() : Status::NotSupported("truncate");
  }
  Status Close() override { return file_->Close(); }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize() override { return file_->Size(); }

 private:
  std::unique_ptr<compassdb::WritableFile> file_;
};

class RandomRWFile : public rocksdb::RandomRWFile {
 public:
  explicit RandomRWFile(std::unique_ptr<compassdb::PageFile> file) : file_(std::move(file)) {}
  Status Write(uint64_t offset, const Slice& data) override { return file_->Write(offset, data); }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override { return file_->Close(); }

 private:
  std::unique_ptr<compassdb::PageFile> file_;
};

class Directory : public rocksdb::Directory {
 public:
  Directory(compassdb::FileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  Status Fsync() override { return fs_->SyncDir(path_); }
  Status Close() override { return Status::OK(); }

 private:
  compassdb::FileSystem* const fs_;
  const std::string path_;
};

class Lock : public rocksdb::FileLock {
 public:
  std::unique_ptr<compassdb::FileLock> lock;
};

class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}

 protected:
  Status CloseImpl() override { return Status::OK(); }
};

class EnvOverFileSystem : public rocksdb::EnvWrapper {
 public:
  explicit EnvOverFileSystem(std::shared_ptr<compassdb::FileSystem> fs)
      : EnvWrapper(rocksdb::Env::Default()), fs_(std::move(fs)) {}

  const char* Name() const override { return "EnvOverFileSystem"; }
  Status NewSequentialFile(const std::string& path, std::unique_ptr<rocksdb::SequentialFile>* out,
                           const EnvOptions&) override {
    std::unique_ptr<compassdb::SequentialFile> file;
    Status s = fs_->NewSequentialFile(path, &file);
    if (s.ok()) *out = std::make_unique<SequentialFile>(std::move(file));
    return s;
  }
  Status NewRandomAccessFile(const std::string& path,
                             std::unique_ptr<rocksdb::RandomAccessFile>* out,
                             const EnvOptions&) override {
    std::unique_ptr<compassdb::RandomAccessFile> file;
    Status s = fs_->NewRandomAccessFile(path, compassdb::FileOptions(), &file);
    if (s.ok()) *out = std::make_unique<RandomAccessFile>(std::move(file));
    return s;
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* out,
                         const EnvOptions&) override {
    std::unique_ptr<compassdb::WritableFile> file;
    Status s = fs_->NewWritableFile(path, compassdb::FileOptions(), &file);
    if (s.ok()) *out = std::make_unique<WritableFile>(std::move(file));
    return s;
  }
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* out,
                            const EnvOptions&) override {
    std::unique_ptr<compassdb::WritableFile> file;
    Status s = fs_->ReopenWritableFile(path, compassdb::FileOptions(), &file);
    if (s.ok()) *out = std::make_unique<WritableFile>(std::move(file));
    return s;
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<rocksdb::WritableFile>* out, const EnvOptions&) override {
    std::unique_ptr<compassdb::WritableFile> file;
    Status s = fs_->ReuseWritableFile(path, old_path, compassdb::FileOptions(), &file);
    if (s.ok()) *out = std::make_unique<WritableFile>(std::move(file));
    return s;
  }
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<rocksdb::RandomRWFile>* out,
                         const EnvOptions&) override {
    std::unique_ptr<compassdb::PageFile> file;
    Status s = fs_->NewPageFile(path, compassdb::FileOptions(), /*create=*/false, &file);
    if (s.ok()) *out = std::make_unique<RandomRWFile>(std::move(file));
    return s;
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<rocksdb::Directory>* out) override {
    *out = std::make_unique<Directory>(fs_.get(), path);
    return Status::OK();
  }
  Status FileExists(const std::string& path) override { return fs_->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return fs_->GetChildren(dir, names);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* out) override {
    std::vector<std::string> names;
    Status s = fs_->GetChildren(dir, &names);
    out->clear();
    for (const std::string& name : names) {
      uint64_t size = 0;
      if (fs_->GetFileSize(dir + "/" + name, &size).ok()) out->push_back({name, size});
    }
    return s;
  }
  Status DeleteFile(const std::string& path) override { return fs_->DeleteFile(path); }
  Status Truncate(const std::string& path, size_t size) override {
    return fs_->TruncateFile(path, size);
  }
  // RocksDB leaves it to others to make the database's own directory durable.
  Status CreateDir(const std::string& dir) override {
    Status s = fs_->CreateDir(dir);
    for (size_t at = dir.rfind('/'); s.ok() && at != std::string::npos && at > 0;
         at = dir.rfind('/', at - 1)) {
      s = fs_->SyncDir(dir.substr(0, at));
    }
    return s.ok() ? fs_->SyncDir("/") : s;
  }
  Status CreateDirIfMissing(const std::string& dir) override { return CreateDir(dir); }
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
  Status LockFile(const std::string& path, rocksdb::FileLock** out) override {
    auto lock = std::make_unique<Lock>();
    Status s = fs_->LockFile(path, &lock->lock);
    if (s.ok()) *out = lock.release();
    return s;
  }
  Status UnlockFile(rocksdb::FileLock* lock) override {
    delete static_cast<Lock*>(lock);
    return Status::OK();
  }
  Status NewLogger(const std::string&, std::shared_ptr<rocksdb::Logger>* out) override {
    *out = std::make_shared<SilentLogger>();
    return Status::OK();
  }
  Status GetAbsolutePath(const std::string& path, std::string* out) override {
    *out = path;
    return Status::OK();
  }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    std::vector<std::string> names;
    *is_dir = fs_->GetChildren(path, &names).ok();
    return Status::OK();
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return fs_->GetFreeSpace(path, bytes);
  }

 private:
  std::shared_ptr<compassdb::FileSystem> fs_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> MakeEnvOver(std::shared_ptr<compassdb::FileSystem> fs) {
  return std::make_unique<EnvOverFileSystem>(std::move(fs));
}

const char* TableFileSuffix() { return ".sst"; }

uint64_t FirstNeededLog(rocksdb::Env*, const std::string&) { return 0; }

}  // namespace compassdb_test
