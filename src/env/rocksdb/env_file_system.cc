// SPDX-License-Identifier: Apache-2.0
// The engine's FileSystem over a user's own rocksdb::Env: every call ends in a
// virtual function of it.
#include <algorithm>
#include <bit>
#include <cstring>

#include "api/foreign_cast.h"
#include "env/aligned_reads.h"
#include "env/file_observer.h"
#include "env/missing.h"
#include "env/rocksdb/composite_env.h"
#include "env/rocksdb/env_adapter.h"
#include "env/rocksdb/env_page_file.h"
#include "env/rocksdb/file_system_env.h"

namespace compassdb {

namespace {

void MoveIntoScratch(Slice* result, char* scratch) {
  if (result->data() != scratch && !result->empty()) {
    memmove(scratch, result->data(), result->size());
  }
  *result = Slice(scratch, result->size());
}

class AdapterSequentialFile : public SequentialFile {
 public:
  AdapterSequentialFile(std::string path, std::unique_ptr<rocksdb::SequentialFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    size_t got = 0;
    *result = Slice(scratch, 0);
    // A short read is not yet the end of the file.
    while (got < n) {
      Slice piece;
      Status s = file_->Read(n - got, &piece, scratch + got);
      if (!s.ok()) return Named(s, "read", path_);
      if (piece.empty()) break;
      MoveIntoScratch(&piece, scratch + got);
      got += piece.size();
      *result = Slice(scratch, got);
    }
    return Status::OK();
  }
  Status Skip(uint64_t n) override { return Named(file_->Skip(n), "skip", path_); }

 private:
  const std::string path_;
  const std::unique_ptr<rocksdb::SequentialFile> file_;
};

class AdapterRandomAccessFile : public RandomAccessFile {
 public:
  AdapterRandomAccessFile(std::string path, std::unique_ptr<rocksdb::RandomAccessFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    if (file_->use_direct_io()) {
      ReadRequest request{offset, n, scratch, Slice(), Status()};
      MultiRead(&request, 1);
      *result = request.result;
      return request.status;
    }
    Status s = file_->Read(offset, n, result, scratch);
    if (!s.ok()) {
      *result = Slice(scratch, 0);
      return Named(s, "pread", path_);
    }
    MoveIntoScratch(result, scratch);
    return s;
  }
  // Calls MultiRead of the user's file, which requires ascending offsets.
  void MultiRead(ReadRequest* requests, size_t n) const override {
    AlignedReads reads(path_, grid(), requests, n);
    if (!reads.ok()) return;
    std::vector<rocksdb::ReadRequest> wanted(reads.spans().size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const AlignedReads::Span& span = reads.spans()[i];
      wanted[i].offset = span.offset;
      wanted[i].len = span.length;
      wanted[i].scratch = span.buffer;
    }
    const Status all = file_->MultiRead(wanted.data(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      AlignedReads::Span& span = reads.spans()[i];
      span.status = Named(all.ok() ? wanted[i].status : all, "multiread", path_);
      if (!span.status.ok()) continue;
      MoveIntoScratch(&wanted[i].result, span.buffer);
      span.got = wanted[i].result.size();
    }
    reads.Deliver();
  }
  size_t ReadAlignment() const override { return grid(); }
  void Prefetch(uint64_t offset, size_t n) const override {
    file_->Prefetch(offset, n).PermitUncheckedError();  // a hint
  }

 private:
  size_t grid() const {
    if (!file_->use_direct_io()) return 1;
    return std::bit_ceil(std::max<size_t>(file_->GetRequiredBufferAlignment(), 512));
  }

  const std::string path_;
  const std::unique_ptr<rocksdb::RandomAccessFile> file_;
};

class AdapterWritableFile : public WritableFile, public ReportsOwnSteps {
 public:
  AdapterWritableFile(std::string path, std::unique_ptr<rocksdb::WritableFile> file,
                      const FileOptions& options, uint64_t size)
      : path_(std::move(path)),
        file_(std::move(file)),
        bytes_per_sync_(options.bytes_per_sync),
        size_(size),
        range_synced_(size) {
    if (options.preallocate > 0) file_->SetPreallocationBlockSize(options.preallocate);
  }
  ~AdapterWritableFile() override {
    if (!closed_) Close().PermitUncheckedError();
  }
  Status Append(const Slice& data) override {
    if (!failed_.ok()) return failed_;
    file_->PrepareWrite(size_, data.size());
    Status s = Check(file_->Append(data), "append");
    if (!s.ok()) return s;
    size_ += data.size();
    if (bytes_per_sync_ > 0 && size_ - range_synced_ >= bytes_per_sync_) {
      const FileOperation::Begin begin;
      s = Check(file_->RangeSync(range_synced_, size_ - range_synced_), "range sync");
      if (observer_ != nullptr) {
        observer_->Done({FileOperation::Kind::kRangeSync, path_, range_synced_, size_ - range_synced_,
                         begin, s});
      }
      range_synced_ = size_;
    }
    return s;
  }
  Status Flush() override { return failed_.ok() ? Check(file_->Flush(), "flush") : failed_; }
  Status Sync() override {
    Status s = Flush();
    return s.ok() ? Check(file_->Sync(), "sync") : s;
  }
  Status Close() override {
    if (closed_) return Status::OK();
    closed_ = true;
    Status s = Named(file_->Close(), "close", path_);
    Status result = failed_.ok() ? s : failed_;
    if (failed_.ok()) failed_ = Status::IOError("While append: " + path_, "the file is closed");
    return result;
  }
  uint64_t Size() const override { return size_; }
  void ReportSteps(FileObserver* observer) override { observer_ = observer; }

 private:
  // As with the engine's own files, the first failure is final.
  Status Check(const Status& s, const char* operation) {
    if (!s.ok()) failed_ = Named(s, operation, path_);
    return failed_;
  }
  const std::string path_;
  const std::unique_ptr<rocksdb::WritableFile> file_;
  const uint64_t bytes_per_sync_;
  uint64_t size_;
  uint64_t range_synced_;
  bool closed_ = false;
  FileObserver* observer_ = nullptr;
  Status failed_;
};

class AdapterLock : public FileLock {
 public:
  AdapterLock(rocksdb::Env* env, rocksdb::FileLock* lock) : env_(env), lock_(lock) {}
  ~AdapterLock() override { env_->UnlockFile(lock_).PermitUncheckedError(); }

 private:
  rocksdb::Env* const env_;
  rocksdb::FileLock* const lock_;
};

class EnvFileSystem : public FileSystem {
 public:
  explicit EnvFileSystem(rocksdb::Env* env) : env_(env) {}
  const char* Name() const override { return env_->Name(); }

  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<SequentialFile>* file) override {
    std::unique_ptr<rocksdb::SequentialFile> base;
    Status s = env_->NewSequentialFile(path, &base, rocksdb::EnvOptions());
    if (s.ok()) *file = std::make_unique<AdapterSequentialFile>(path, std::move(base));
    return Named(s, "open a file for sequential read", path);
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    rocksdb::EnvOptions env_options;
    env_options.use_direct_reads = options.direct;
    std::unique_ptr<rocksdb::RandomAccessFile> base;
    Status s = env_->NewRandomAccessFile(path, &base, env_options);
    if (s.ok()) *file = std::make_unique<AdapterRandomAccessFile>(path, std::move(base));
    return Named(s, "open a file for random read", path);
  }
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    return OpenForWriting(path, options, Opening::kNew, "", file);
  }
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override {
    return OpenForWriting(path, options, Opening::kReopen, "", file);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override {
    return OpenForWriting(path, options, Opening::kReuse, old_path, file);
  }
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    return OpenEnvPageFile(env_, path, options, create, file);
  }
  Status FileExists(const std::string& path) override { return env_->FileExists(path); }
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    return Named(env_->GetFileSize(path, size), "stat a file for size", path);
  }
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override {
    return Named(env_->GetFileModificationTime(path, seconds),
                 "stat a file for modification time", path);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    Status s = env_->GetChildren(dir, names);
    names->erase(std::remove_if(names->begin(), names->end(),
                                [](const std::string& n) { return n == "." || n == ".."; }),
                 names->end());
    return Named(s, "opendir", dir);
  }
  Status CreateDir(const std::string& dir) override {
    Status s = env_->CreateDirIfMissing(dir);
    if (s.ok() || dir.find('/', 1) == std::string::npos) return Named(s, "mkdir", dir);
    for (size_t slash = dir.find('/', 1); slash != std::string::npos;
         slash = dir.find('/', slash + 1)) {
      const std::string parent = dir.substr(0, slash);
      s = env_->CreateDirIfMissing(parent);
      if (!s.ok()) return Named(s, "mkdir", parent);
    }
    return Named(env_->CreateDirIfMissing(dir), "mkdir", dir);
  }
  Status DeleteDir(const std::string& dir) override {
    return Named(env_->DeleteDir(dir), "rmdir", dir);
  }
  Status DeleteFile(const std::string& path) override {
    return Named(env_->DeleteFile(path), "unlink", path);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return Named(env_->RenameFile(from, to), "renaming a file", from);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return Named(env_->LinkFile(from, to), "link file", from);
  }
  Status TruncateFile(const std::string& path, uint64_t size) override {
    return Named(env_->Truncate(path, size), "truncate", path);
  }
  Status SyncDir(const std::string& dir) override {
    std::unique_ptr<rocksdb::Directory> directory;
    Status s = env_->NewDirectory(dir, &directory);
    if (!s.ok()) return Named(s, "open directory", dir);
    s = directory->Fsync();
    Status closed = directory->Close();
    if (s.ok() && !closed.ok() && !closed.IsNotSupported()) s = closed;
    return Named(s, "fsync directory", dir);
  }
  Status PunchHole(const std::string& path, uint64_t, uint64_t) override {
    return Status::NotSupported("While punch a hole: " + path,
                                std::string("the environment ") + env_->Name() + " cannot");
  }
  Status GetLinkCount(const std::string& path, uint64_t* count) override {
    return Named(env_->NumFileLinks(path, count), "stat a file for link count", path);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return Named(env_->GetFreeSpace(path, bytes), "statvfs", path);
  }
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override {
    rocksdb::FileLock* held = nullptr;
    Status s = env_->LockFile(path, &held);
    if (s.ok()) *lock = std::make_unique<AdapterLock>(env_, held);
    return Named(s, "lock file", path);
  }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return Named(env_->GetAbsolutePath(path, absolute), "getcwd", path);
  }

 private:
  enum class Opening { kNew, kReopen, kReuse };
  Status OpenForWriting(const std::string& path, const FileOptions& options, Opening opening,
                        const std::string& old_path, std::unique_ptr<WritableFile>* file) {
    if (options.direct) {
      return Status::NotSupported("While open a file for direct writing: " + path,
                                  std::string("the environment ") + env_->Name() +
                                      " is written through its buffers only");
    }
    rocksdb::EnvOptions env_options;
    env_options.bytes_per_sync = options.bytes_per_sync;
    std::unique_ptr<rocksdb::WritableFile> base;
    uint64_t size = 0;
    Status s;
    if (opening == Opening::kReopen) {
      s = env_->FileExists(path);
      if (IsMissing(s)) opening = Opening::kNew;
    }
    if (opening == Opening::kReuse) {
      s = env_->ReuseWritableFile(path, old_path, &base, env_options);
    } else if (opening == Opening::kNew) {
      s = env_->NewWritableFile(path, &base, env_options);
    } else {
      if (s.ok()) s = env_->GetFileSize(path, &size);
      if (s.ok()) s = env_->ReopenWritableFile(path, &base, env_options);
    }
    if (s.ok()) {
      *file = std::make_unique<AdapterWritableFile>(path, std::move(base), options, size);
    }
    return Named(s, "open a file for appending", path);
  }

  rocksdb::Env* const env_;
};

class EnvClock : public Clock {
 public:
  explicit EnvClock(rocksdb::Env* env) : env_(env) {}
  uint64_t NowMicros() override { return env_->NowMicros(); }
  uint64_t NowNanos() override { return env_->NowNanos(); }
  void SleepMicros(uint64_t micros) override {
    env_->SleepForMicroseconds(static_cast<int>(std::min<uint64_t>(micros, INT32_MAX)));
  }

 private:
  rocksdb::Env* const env_;
};

}  // namespace

std::shared_ptr<FileSystem> FileSystemOfEnv(rocksdb::Env* env) {
  if (const auto* ours = ForeignCast<FileSystemEnv*>(env)) return ours->file_system();
  if (const auto* made = ForeignCast<CompositeEnv*>(env); made && made->files_of() != nullptr) {
    return FileSystemOfEnv(made->files_of());
  }
  return std::make_shared<EnvFileSystem>(env);
}

std::shared_ptr<Clock> ClockOfEnv(rocksdb::Env* env) { return std::make_shared<EnvClock>(env); }

}  // namespace compassdb
