// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/composite_env.h"

#include "api/foreign_cast.h"
#include "env/rocksdb/env_as_file_system.h"

namespace compassdb {

namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::Slice;
using rocksdb::Status;

class CompositeSequentialFile final : public rocksdb::SequentialFile {
 public:
  explicit CompositeSequentialFile(std::unique_ptr<rocksdb::FSSequentialFile> file)
      : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, IOOptions(), result, scratch, nullptr);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return file_->PositionedRead(offset, n, IOOptions(), result, scratch, nullptr);
  }

 private:
  const std::unique_ptr<rocksdb::FSSequentialFile> file_;
};

class CompositeRandomAccessFile final : public rocksdb::RandomAccessFile {
 public:
  explicit CompositeRandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file)
      : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status MultiRead(rocksdb::ReadRequest* requests, size_t n) override {
    std::vector<rocksdb::FSReadRequest> ours(n);
    for (size_t i = 0; i < n; ++i) {
      ours[i].offset = requests[i].offset;
      ours[i].len = requests[i].len;
      ours[i].scratch = requests[i].scratch;
    }
    Status s = file_->MultiRead(ours.data(), n, IOOptions(), nullptr);
    for (size_t i = 0; i < n; ++i) {
      requests[i].result = ours[i].result;
      requests[i].status = ours[i].status;
    }
    return s;
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    return file_->Prefetch(offset, n, IOOptions(), nullptr);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<rocksdb::FSRandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }

 private:
  const std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
};

class CompositeWritableFile final : public rocksdb::WritableFile {
 public:
  CompositeWritableFile(std::unique_ptr<rocksdb::FSWritableFile> file,
                        const rocksdb::EnvOptions& options)
      : WritableFile(options), file_(std::move(file)) {}
  using WritableFile::Append;
  using WritableFile::PositionedAppend;
  Status Append(const Slice& data) override { return file_->Append(data, IOOptions(), nullptr); }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return file_->PositionedAppend(data, offset, IOOptions(), nullptr);
  }
  Status Truncate(uint64_t size) override { return file_->Truncate(size, IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetIOPriority(rocksdb::Env::IOPriority priority) override { file_->SetIOPriority(priority); }
  rocksdb::Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  void SetWriteLifeTimeHint(rocksdb::Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  rocksdb::Env::WriteLifeTimeHint GetWriteLifeTimeHint() override {
    return file_->GetWriteLifeTimeHint();
  }
  uint64_t GetFileSize() override { return file_->GetFileSize(IOOptions(), nullptr); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_block) override {
    file_->GetPreallocationStatus(block_size, last_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return file_->RangeSync(offset, bytes, IOOptions(), nullptr);
  }
  void PrepareWrite(size_t offset, size_t length) override {
    file_->PrepareWrite(offset, length, IOOptions(), nullptr);
  }
  Status Allocate(uint64_t offset, uint64_t length) override {
    return file_->Allocate(offset, length, IOOptions(), nullptr);
  }

 private:
  const std::unique_ptr<rocksdb::FSWritableFile> file_;
};

class CompositeRandomRWFile final : public rocksdb::RandomRWFile {
 public:
  explicit CompositeRandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> file)
      : file_(std::move(file)) {}
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status Write(uint64_t offset, const Slice& data) override {
    return file_->Write(offset, data, IOOptions(), nullptr);
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }

 private:
  const std::unique_ptr<rocksdb::FSRandomRWFile> file_;
};

class CompositeDirectory final : public rocksdb::Directory {
 public:
  explicit CompositeDirectory(std::unique_ptr<rocksdb::FSDirectory> dir) : dir_(std::move(dir)) {}
  Status Fsync() override { return dir_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return dir_->Close(IOOptions(), nullptr); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return dir_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<rocksdb::FSDirectory> dir_;
};

// Options of a file for an Env's file.
FileOptions Adjusted(const rocksdb::FileSystem& fs, const rocksdb::EnvOptions& options) {
  FileOptions result(options);
  fs.SanitizeFileOptions(&result);
  return result;
}

}  // namespace

CompositeEnv::CompositeEnv(std::shared_ptr<rocksdb::FileSystem> fs, rocksdb::Env* base)
    : EnvWrapper(base) {
  file_system_ = std::move(fs);
}

rocksdb::Env* CompositeEnv::files_of() const {
  const auto* plain = ForeignCast<const EnvAsFileSystem*>(file_system_.get());
  return plain != nullptr ? plain->env() : nullptr;
}

Status CompositeEnv::NewSequentialFile(const std::string& path,
                                       std::unique_ptr<rocksdb::SequentialFile>* result,
                                       const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  Status s = fs().NewSequentialFile(path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeSequentialFile>(std::move(file));
  return s;
}

Status CompositeEnv::NewRandomAccessFile(const std::string& path,
                                         std::unique_ptr<rocksdb::RandomAccessFile>* result,
                                         const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  Status s = fs().NewRandomAccessFile(path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeRandomAccessFile>(std::move(file));
  return s;
}

Status CompositeEnv::NewWritableFile(const std::string& path,
                                     std::unique_ptr<rocksdb::WritableFile>* result,
                                     const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  Status s = fs().NewWritableFile(path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeWritableFile>(std::move(file), options);
  return s;
}

Status CompositeEnv::ReopenWritableFile(const std::string& path,
                                        std::unique_ptr<rocksdb::WritableFile>* result,
                                        const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  Status s = fs().ReopenWritableFile(path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeWritableFile>(std::move(file), options);
  return s;
}

Status CompositeEnv::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                       std::unique_ptr<rocksdb::WritableFile>* result,
                                       const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  Status s = fs().ReuseWritableFile(path, old_path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeWritableFile>(std::move(file), options);
  return s;
}

Status CompositeEnv::NewRandomRWFile(const std::string& path,
                                     std::unique_ptr<rocksdb::RandomRWFile>* result,
                                     const rocksdb::EnvOptions& options) {
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  Status s = fs().NewRandomRWFile(path, Adjusted(fs(), options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeRandomRWFile>(std::move(file));
  return s;
}

Status CompositeEnv::NewDirectory(const std::string& path,
                                  std::unique_ptr<rocksdb::Directory>* result) {
  std::unique_ptr<rocksdb::FSDirectory> dir;
  Status s = fs().NewDirectory(path, IOOptions(), &dir, nullptr);
  if (s.ok()) *result = std::make_unique<CompositeDirectory>(std::move(dir));
  return s;
}

}  // namespace compassdb

namespace rocksdb {

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs) {
  return std::make_unique<compassdb::CompositeEnv>(fs, Env::Default());
}

}  // namespace rocksdb
