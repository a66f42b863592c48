// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/file_system_env.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "api/foreign_cast.h"
#include "api/thread_tracking.h"
#include "env/clock.h"
#include "env/posix_error.h"
#include "env/rocksdb/env_adapter.h"
#include "env/rocksdb/env_page_file.h"
#include "env/sim/memory_file_system.h"
#include "util/start_thread.h"

namespace compassdb {

namespace {

class EnvSequentialFile : public rocksdb::SequentialFile {
 public:
  explicit EnvSequentialFile(std::unique_ptr<compassdb::SequentialFile> file)
      : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  const std::unique_ptr<compassdb::SequentialFile> file_;
};

class EnvRandomAccessFile : public rocksdb::RandomAccessFile {
 public:
  explicit EnvRandomAccessFile(std::unique_ptr<compassdb::RandomAccessFile> file)
      : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, result, scratch);
  }
  Status MultiRead(rocksdb::ReadRequest* requests, size_t n) override {
    std::vector<compassdb::ReadRequest> ours(n);
    for (size_t i = 0; i < n; ++i) {
      ours[i].offset = requests[i].offset;
      ours[i].length = requests[i].len;
      ours[i].scratch = requests[i].scratch;
    }
    file_->MultiRead(ours.data(), n);
    for (size_t i = 0; i < n; ++i) {
      requests[i].result = ours[i].result;
      requests[i].status = ours[i].status;
    }
    return Status::OK();
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    file_->Prefetch(offset, n);
    return Status::OK();
  }

 private:
  const std::unique_ptr<compassdb::RandomAccessFile> file_;
};

class EnvWritableFile : public rocksdb::WritableFile {
 public:
  EnvWritableFile(std::string path, std::unique_ptr<compassdb::WritableFile> file,
                  const rocksdb::EnvOptions& options)
      : rocksdb::WritableFile(options), path_(std::move(path)), file_(std::move(file)) {}
  using rocksdb::WritableFile::Append;
  Status Append(const Slice& data) override { return file_->Append(data); }
  // The engine's files only grow.
  Status Truncate(uint64_t size) override {
    if (size == file_->Size()) return Status::OK();
    return Status::NotSupported("While truncate: " + path_, "the file is open for appending");
  }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override { return file_->Close(); }
  uint64_t GetFileSize() override { return file_->Size(); }

 private:
  const std::string path_;
  const std::unique_ptr<compassdb::WritableFile> file_;
};

class EnvDirectory : public rocksdb::Directory {
 public:
  EnvDirectory(std::shared_ptr<FileSystem> fs, std::string path)
      : fs_(std::move(fs)), path_(std::move(path)) {}
  Status Fsync() override { return fs_->SyncDir(path_); }
  Status Close() override { return Status::OK(); }

 private:
  const std::shared_ptr<FileSystem> fs_;
  const std::string path_;
};

class EnvFileLock : public rocksdb::FileLock {
 public:
  explicit EnvFileLock(std::unique_ptr<compassdb::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<compassdb::FileLock> lock_;
};

FileOptions ForWriting(const rocksdb::EnvOptions& options) {
  FileOptions result;
  result.direct = options.use_direct_writes;
  result.bytes_per_sync = options.bytes_per_sync;
  return result;
}

// rocksdb::Env::Priority and JobPriority have the same values.
JobPriority ToJobPriority(rocksdb::Env::Priority priority) {
  static_assert(static_cast<int>(JobPriority::kBottom) == rocksdb::Env::BOTTOM &&
                static_cast<int>(JobPriority::kUser) == rocksdb::Env::USER);
  return static_cast<JobPriority>(priority);
}

}  // namespace

FileSystemEnv::FileSystemEnv(const char* name, std::shared_ptr<FileSystem> fs,
                             ThreadPools* pools, rocksdb::Env* base)
    : name_(name), fs_(std::move(fs)), pools_(pools), base_(base) {}

FileSystemEnv::~FileSystemEnv() { FileSystemEnv::WaitForJoin(); }

Status FileSystemEnv::NewSequentialFile(const std::string& path,
                                        std::unique_ptr<rocksdb::SequentialFile>* result,
                                        const rocksdb::EnvOptions&) {
  std::unique_ptr<SequentialFile> file;
  Status s = fs_->NewSequentialFile(path, &file);
  if (s.ok()) *result = std::make_unique<EnvSequentialFile>(std::move(file));
  return s;
}

Status FileSystemEnv::NewRandomAccessFile(const std::string& path,
                                          std::unique_ptr<rocksdb::RandomAccessFile>* result,
                                          const rocksdb::EnvOptions& options) {
  FileOptions file_options;
  file_options.direct = options.use_direct_reads;
  std::unique_ptr<RandomAccessFile> file;
  Status s = fs_->NewRandomAccessFile(path, file_options, &file);
  if (s.ok()) *result = std::make_unique<EnvRandomAccessFile>(std::move(file));
  return s;
}

Status FileSystemEnv::NewWritableFile(const std::string& path,
                                      std::unique_ptr<rocksdb::WritableFile>* result,
                                      const rocksdb::EnvOptions& options) {
  std::unique_ptr<WritableFile> file;
  Status s = fs_->NewWritableFile(path, ForWriting(options), &file);
  if (s.ok()) {
    *result = std::make_unique<EnvWritableFile>(path, std::move(file), options);
  }
  return s;
}

Status FileSystemEnv::ReopenWritableFile(const std::string& path,
                                         std::unique_ptr<rocksdb::WritableFile>* result,
                                         const rocksdb::EnvOptions& options) {
  std::unique_ptr<WritableFile> file;
  Status s = fs_->ReopenWritableFile(path, ForWriting(options), &file);
  if (s.ok()) {
    *result = std::make_unique<EnvWritableFile>(path, std::move(file), options);
  }
  return s;
}

Status FileSystemEnv::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                        std::unique_ptr<rocksdb::WritableFile>* result,
                                        const rocksdb::EnvOptions& options) {
  std::unique_ptr<WritableFile> file;
  Status s = fs_->ReuseWritableFile(path, old_path, ForWriting(options), &file);
  if (s.ok()) {
    *result = std::make_unique<EnvWritableFile>(path, std::move(file), options);
  }
  return s;
}

// Never direct, as RocksDB's: neither offsets nor memory need to be aligned.
Status FileSystemEnv::NewRandomRWFile(const std::string& path,
                                      std::unique_ptr<rocksdb::RandomRWFile>* result,
                                      const rocksdb::EnvOptions&) {
  std::unique_ptr<PageFile> file;
  Status s = fs_->NewPageFile(path, FileOptions(), /*create=*/false, &file);
  if (s.ok()) *result = NewRandomRWFileOf(path, std::move(file));
  return s;
}

Status FileSystemEnv::NewDirectory(const std::string& name,
                                   std::unique_ptr<rocksdb::Directory>* result) {
  bool is_dir = false;
  Status s = IsDirectory(name, &is_dir);
  if (s.ok() && !is_dir) s = PosixError("open directory", name, ENOTDIR);
  if (s.ok()) *result = std::make_unique<EnvDirectory>(fs_, name);
  return s;
}

Status FileSystemEnv::CreateDir(const std::string& dir) {
  Status s = fs_->FileExists(dir);
  if (s.ok()) return PosixError("mkdir", dir, EEXIST);
  return s.IsNotFound() ? fs_->CreateDir(dir) : s;
}

Status FileSystemEnv::IsDirectory(const std::string& path, bool* is_dir) {
  std::vector<std::string> names;
  *is_dir = false;
  Status s = fs_->GetChildren(path, &names);
  if (s.ok()) {
    *is_dir = true;
    return s;
  }
  uint64_t size;
  return fs_->GetFileSize(path, &size).ok() ? Status::OK() : s;
}

Status FileSystemEnv::AreFilesSame(const std::string& first, const std::string& second,
                                   bool* same) {
  if (fs_.get() != PosixFileSystem()) return rocksdb::Env::AreFilesSame(first, second, same);
  struct stat a, b;
  if (stat(first.c_str(), &a) != 0) return PosixError("stat file", first, errno);
  if (stat(second.c_str(), &b) != 0) return PosixError("stat file", second, errno);
  *same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  return Status::OK();
}

Status FileSystemEnv::LockFile(const std::string& path, rocksdb::FileLock** lock) {
  *lock = nullptr;
  std::unique_ptr<FileLock> held;
  Status s = fs_->LockFile(path, &held);
  if (s.ok()) *lock = new EnvFileLock(std::move(held));
  return s;
}

Status FileSystemEnv::UnlockFile(rocksdb::FileLock* lock) {
  delete lock;
  return Status::OK();
}

Status FileSystemEnv::GetTestDirectory(std::string* path) {
  const char* dir = getenv("TEST_TMPDIR");
  *path = dir != nullptr && dir[0] != '\0' ? dir
                                           : "/tmp/rocksdbtest-" + std::to_string(geteuid());
  return fs_->CreateDir(*path);
}

void FileSystemEnv::Schedule(void (*function)(void* arg), void* arg, Priority priority,
                             void* tag, void (*unscheduled)(void* arg)) {
  if (base_ != nullptr) return base_->Schedule(function, arg, priority, tag, unscheduled);
  std::function<void()> on_unschedule;
  if (unscheduled != nullptr) on_unschedule = [=] { unscheduled(arg); };
  pools_->Schedule([=] { function(arg); }, ToJobPriority(priority), tag,
                   std::move(on_unschedule));
}

int FileSystemEnv::UnSchedule(void* tag, Priority priority) {
  if (base_ != nullptr) return base_->UnSchedule(tag, priority);
  return pools_->Unschedule(tag, ToJobPriority(priority));
}

void FileSystemEnv::StartThread(void (*function)(void* arg), void* arg) {
  {
    MutexLock l(&started_.mu);
    std::list<std::thread> one(1);
    if (compassdb::StartThread(&one.front(), "env", [=] { function(arg); })) {
      started_.threads.splice(started_.threads.end(), one);
      return;
    }
  }
  function(arg);  // the system refused a thread
}

void FileSystemEnv::WaitForJoin() {
  while (true) {
    std::list<std::thread> threads;
    {
      MutexLock l(&started_.mu);
      threads.swap(started_.threads);
    }
    if (threads.empty()) return;
    for (std::thread& thread : threads) thread.join();
  }
}

unsigned int FileSystemEnv::GetThreadPoolQueueLen(Priority priority) const {
  if (base_ != nullptr) return base_->GetThreadPoolQueueLen(priority);
  return static_cast<unsigned int>(pools_->QueueLength(ToJobPriority(priority)));
}
void FileSystemEnv::SetBackgroundThreads(int number, Priority priority) {
  if (base_ != nullptr) return base_->SetBackgroundThreads(number, priority);
  pools_->SetThreads(ToJobPriority(priority), number);
}
int FileSystemEnv::GetBackgroundThreads(Priority priority) {
  if (base_ != nullptr) return base_->GetBackgroundThreads(priority);
  return pools_->Threads(ToJobPriority(priority));
}
void FileSystemEnv::IncBackgroundThreadsIfNeeded(int number, Priority priority) {
  if (base_ != nullptr) return base_->IncBackgroundThreadsIfNeeded(number, priority);
  pools_->IncreaseThreads(ToJobPriority(priority), number);
}
Status FileSystemEnv::GetThreadList(std::vector<rocksdb::ThreadStatus>* threads) {
  // Their fields are constant, so that they cannot be assigned.
  std::vector<rocksdb::ThreadStatus> now = TrackedThreads();
  threads->swap(now);
  return Status::OK();
}

uint64_t FileSystemEnv::GetThreadID() const {
  return static_cast<uint64_t>(syscall(SYS_gettid));
}

uint64_t FileSystemEnv::NowMicros() {
  return base_ != nullptr ? base_->NowMicros() : SystemClock()->NowMicros();
}
uint64_t FileSystemEnv::NowNanos() {
  return base_ != nullptr ? base_->NowNanos() : SystemClock()->NowNanos();
}
uint64_t FileSystemEnv::NowCPUNanos() {
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}
void FileSystemEnv::SleepForMicroseconds(int micros) {
  if (base_ != nullptr) return base_->SleepForMicroseconds(micros);
  if (micros > 0) SystemClock()->SleepMicros(static_cast<uint64_t>(micros));
}

Status FileSystemEnv::GetHostName(char* name, uint64_t len) {
  if (gethostname(name, len) != 0) return PosixError("gethostname", "this machine", errno);
  return Status::OK();
}

Status FileSystemEnv::GetCurrentTime(int64_t* unix_time) {
  *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
  return Status::OK();
}

std::string FileSystemEnv::TimeToString(uint64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  struct tm t;
  localtime_r(&time, &t);
  char buffer[80];
  snprintf(buffer, sizeof(buffer), "%04d/%02d/%02d-%02d:%02d:%02d ", t.tm_year + 1900,
           t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
  return buffer;
}

std::unique_ptr<rocksdb::Env> NewEnvForFileSystem(std::shared_ptr<FileSystem> fs,
                                                  rocksdb::Env* base) {
  ThreadPools* pools = base != nullptr ? ThreadPoolsOfEnv(base) : DefaultThreadPools();
  return std::make_unique<FileSystemEnv>("FileSystemEnv", std::move(fs), pools, base);
}

ThreadPools* ThreadPoolsOfEnv(rocksdb::Env* env) {
  const auto* ours = ForeignCast<FileSystemEnv*>(env);
  return ours != nullptr ? ours->pools() : DefaultThreadPools();
}

}  // namespace compassdb

namespace rocksdb {

Env* Env::Default() {
  // Never destroyed: databases may be closed by other static objects.
  static auto* env = new compassdb::FileSystemEnv(
      kDefaultName(),
      std::shared_ptr<compassdb::FileSystem>(compassdb::PosixFileSystem(), [](auto*) {}),
      compassdb::DefaultThreadPools(), nullptr);
  return env;
}

Env* NewMemEnv(Env* base_env) {
  return new compassdb::FileSystemEnv(
      "MemEnv", std::make_shared<compassdb::MemoryFileSystem>(),
      compassdb::ThreadPoolsOfEnv(base_env != nullptr ? base_env : Env::Default()), base_env);
}

}  // namespace rocksdb
