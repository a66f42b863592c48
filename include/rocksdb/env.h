// SPDX-License-Identifier: Apache-2.0
//
// The operating system as the engine sees it: files, threads, time. Applications replace parts of
// it by deriving from EnvWrapper; Env::Default() is the real one.
//
// Thread safety: every function of Env and Logger may be called concurrently. Files: see each
// class.
// Errors: NotFound for a file that does not exist, IOError for all else, both naming the file.

#pragma once

#include <stdint.h>
#include <cstdarg>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/functor_wrapper.h"
#include "rocksdb/status.h"
#include "rocksdb/thread_status.h"
#ifdef _WIN32
#undef DeleteFile
#undef GetCurrentTime
#undef LoadLibrary
#endif
#if defined(__GNUC__) || defined(__clang__)
#define ROCKSDB_PRINTF_FORMAT_ATTR(f, dots) __attribute__((__format__(__printf__, f, dots)))
#else
#define ROCKSDB_PRINTF_FORMAT_ATTR(f, dots)
#endif

namespace ROCKSDB_NAMESPACE {

class DynamicLibrary;
class FileLock;
class Logger;
class RandomAccessFile;
class SequentialFile;
class Slice;
struct DataVerificationInfo;
class WritableFile;
class RandomRWFile;
class MemoryMappedFileBuffer;
class Directory;
struct DBOptions;
struct ImmutableDBOptions;
struct MutableDBOptions;
class RateLimiter;
class ThreadStatusUpdater;
struct ThreadStatus;
class FileSystem;
class SystemClock;
struct ConfigOptions;

// Alignment for direct I/O where nothing else is known.
const size_t kDefaultPageSize = 4 * 1024;

// How the scheduler prefers threads of a pool.
enum class CpuPriority {
  kIdle = 0,
  kLow = 1,
  kNormal = 2,
  kHigh = 3,
};

// How files are opened. Made from DBOptions, or with the defaults for the Env.
struct EnvOptions {
  EnvOptions();
  explicit EnvOptions(const DBOptions& options);

  // See the options of the same names in DBOptions.
  bool use_mmap_reads = false;
  bool use_mmap_writes = true;
  bool use_direct_reads = false;
  bool use_direct_writes = false;
  bool allow_fallocate = true;
  bool set_fd_cloexec = true;
  uint64_t bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;
  // Space is allocated without changing the size of the file.
  bool fallocate_with_keep_size = true;
  size_t compaction_readahead_size = 0;
  size_t random_access_max_buffer_size = 0;
  size_t writable_file_max_buffer_size = 1024 * 1024;
  // For writes; null for no limit. Not owned.
  RateLimiter* rate_limiter = nullptr;
};

// Derive from EnvWrapper rather than from Env, so that functions added later are passed on.
class Env : public Customizable {
 public:
  static const char* kDefaultName() { return "DefaultEnv"; }

  // An entry of a directory: its name in it, and its size.
  struct FileAttributes {
    std::string name;
    uint64_t size_bytes;
  };

  // With the default file system and clock, or with others.
  Env();
  explicit Env(const std::shared_ptr<FileSystem>& fs);
  Env(const std::shared_ptr<FileSystem>& fs,
      const std::shared_ptr<SystemClock>& clock);
  Env(const Env&) = delete;
  void operator=(const Env&) = delete;
  ~Env() override;
  static const char* Type() { return "Environment"; }
  const char* Name() const override { return ""; }

  // Superseded by CreateFromString().
  static Status LoadEnv(const std::string& value, Env** result);
  static Status LoadEnv(const std::string& value, Env** result,
                        std::shared_ptr<Env>* guard);

  // Makes a built-in or registered Env by name. The guard, if *result is new, owns it.
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& value, Env** result);
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& value, Env** result,
                                 std::shared_ptr<Env>* guard);

  // From an Env's name or a file system's; not both.
  static Status CreateFromUri(const ConfigOptions& options,
                              const std::string& env_uri,
                              const std::string& fs_uri, Env** result,
                              std::shared_ptr<Env>* guard);

  // The real operating system. Lives as long as the process.
  static Env* Default();

  // Notified of the directories of a database when it is opened and closed.
  virtual Status RegisterDbPaths(const std::vector<std::string>& /*paths*/) {
    return Status::OK();
  }
  virtual Status UnregisterDbPaths(const std::vector<std::string>& /*paths*/) {
    return Status::OK();
  }

  // Opens a file for reading from the beginning. One thread at a time.
  virtual Status NewSequentialFile(const std::string& fname,
                                   std::unique_ptr<SequentialFile>* result,
                                   const EnvOptions& options) = 0;

  // Opens a file for reading at any offset, by many threads.
  virtual Status NewRandomAccessFile(const std::string& fname,
                                     std::unique_ptr<RandomAccessFile>* result,
                                     const EnvOptions& options) = 0;

  // How long data is expected to live, for devices that place it accordingly.
  enum WriteLifeTimeHint {
    WLTH_NOT_SET = 0,
    WLTH_NONE,
    WLTH_SHORT,
    WLTH_MEDIUM,
    WLTH_LONG,
    WLTH_EXTREME,
  };

  // Makes a file, empty even if it existed. One thread at a time.
  virtual Status NewWritableFile(const std::string& fname,
                                 std::unique_ptr<WritableFile>* result,
                                 const EnvOptions& options) = 0;

  // Opens for appending; makes the file if it is missing.
  virtual Status ReopenWritableFile(const std::string& /*fname*/,
                                    std::unique_ptr<WritableFile>* /*result*/,
                                    const EnvOptions& /*options*/) {
    return Status::NotSupported("Env::ReopenWritableFile is not implemented");
  }

  // Renames an old file and writes over it from the beginning.
  virtual Status ReuseWritableFile(const std::string& fname,
                                   const std::string& old_fname,
                                   std::unique_ptr<WritableFile>* result,
                                   const EnvOptions& options);

  // Opens an existing file for reading and writing at any offset.
  virtual Status NewRandomRWFile(const std::string& /*fname*/,
                                 std::unique_ptr<RandomRWFile>* /*result*/,
                                 const EnvOptions& /*options*/) {
    return Status::NotSupported("Env::NewRandomRWFile is not implemented");
  }

  // Maps an existing file into memory, for reading and writing.
  virtual Status NewMemoryMappedFileBuffer(
      const std::string& /*fname*/,
      std::unique_ptr<MemoryMappedFileBuffer>* /*result*/) {
    return Status::NotSupported("Env::NewMemoryMappedFileBuffer is not implemented");
  }

  // Opens a directory, to sync it.
  virtual Status NewDirectory(const std::string& name,
                              std::unique_ptr<Directory>* result) = 0;

  // OK or NotFound, or an error if neither is known.
  virtual Status FileExists(const std::string& fname) = 0;

  // Names in a directory, without "." and "..", in no order.
  virtual Status GetChildren(const std::string& dir,
                             std::vector<std::string>* result) = 0;

  // With sizes. A file that is deleted during the call is left out.
  virtual Status GetChildrenFileAttributes(const std::string& dir,
                                           std::vector<FileAttributes>* result);
  virtual Status DeleteFile(const std::string& fname) = 0;

  // Cuts a file.
  virtual Status Truncate(const std::string& /*fname*/, size_t /*size*/) {
    return Status::NotSupported("Env::Truncate is not implemented");
  }

  // An error if it exists.
  virtual Status CreateDir(const std::string& dirname) = 0;

  // OK if it exists.
  virtual Status CreateDirIfMissing(const std::string& dirname) = 0;

  // Must be empty.
  virtual Status DeleteDir(const std::string& dirname) = 0;

  // Bytes.
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;

  // Seconds since 1970.
  virtual Status GetFileModificationTime(const std::string& fname,
                                         uint64_t* file_mtime) = 0;

  // Replaces the target atomically.
  virtual Status RenameFile(const std::string& src,
                            const std::string& target) = 0;

  // Gives a file a second name.
  virtual Status LinkFile(const std::string& /*src*/,
                          const std::string& /*target*/) {
    return Status::NotSupported("Env::LinkFile is not implemented");
  }
  virtual Status NumFileLinks(const std::string& /*fname*/,
                              uint64_t* /*count*/) {
    return Status::NotSupported("Env::NumFileLinks is not implemented");
  }
  virtual Status AreFilesSame(const std::string& /*first*/,
                              const std::string& /*second*/, bool* /*res*/) {
    return Status::NotSupported("Env::AreFilesSame is not implemented");
  }

  // Locks out other processes, and other databases of this one. Fails at once if another one holds the
  // lock.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;

  // Releases a lock of LockFile(); *lock is deleted.
  virtual Status UnlockFile(FileLock* lock) = 0;

  // Loads a shared library, searched for in the given directories (separated by ':').
  virtual Status LoadLibrary(const std::string& /*lib_name*/,
                             const std::string& /*search_path*/,
                             std::shared_ptr<DynamicLibrary>* /*result*/) {
    return Status::NotSupported("Env::LoadLibrary is not implemented");
  }

  // Pools of threads; USER stands for threads of the application, TOTAL is how many there are.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  static std::string PriorityToString(Priority priority);

  // Order in which a rate limiter serves requests; IO_TOTAL, as a request's, means not limited.
  enum IOPriority {
    IO_LOW = 0,
    IO_MID = 1,
    IO_HIGH = 2,
    IO_USER = 3,
    IO_TOTAL = 4
  };

  // Runs function(arg) some time in a thread of the pool. If UnSchedule(tag) comes first,
  // unschedFunction(arg) runs instead.
  virtual void Schedule(void (*function)(void* arg), void* arg,
                        Priority pri = LOW, void* tag = nullptr,
                        void (*unschedFunction)(void* arg) = nullptr) = 0;

  // Removes the jobs of this tag that have not begun; returns how many.
  virtual int UnSchedule(void* /*arg*/, Priority /*pri*/) { return 0; }

  // Runs function(arg) in a new thread.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;
  template <typename FunctionT, typename... Args>
  void StartThreadTyped(FunctionT function, Args&&... args) {
    using Call = FunctorWrapper<Args...>;
    auto run = [](void* arg) {
      std::unique_ptr<Call> call(static_cast<Call*>(arg));
      call->invoke();
    };
    StartThread(run, new Call(std::function<void(Args...)>(function), std::forward<Args>(args)...));
  }

  // Waits for all threads of StartThread().
  virtual void WaitForJoin() {}

  // Keeps threads of a pool from running jobs, and lets them again. Returns how many.
  virtual int ReserveThreads(int /*threads_to_be_reserved*/, Priority /*pri*/) {
    return 0;
  }
  virtual int ReleaseThreads(int /*threads_to_be_released*/, Priority /*pri*/) {
    return 0;
  }

  // Jobs that wait.
  virtual unsigned int GetThreadPoolQueueLen(Priority /*pri*/ = LOW) const {
    return 0;
  }

  // An existing directory for tests.
  virtual Status GetTestDirectory(std::string* path) = 0;

  // A logger that writes to a file.
  virtual Status NewLogger(const std::string& fname,
                           std::shared_ptr<Logger>* result);

  // Time from some fixed point on; only differences mean something. CPU time is that of the calling
  // thread, 0 if not known.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }
  virtual uint64_t NowCPUNanos() { return 0; }
  virtual void SleepForMicroseconds(int micros) = 0;

  // Name of the machine, ended by NUL within len bytes.
  virtual Status GetHostName(char* name, uint64_t len) = 0;
  virtual Status GetHostNameString(std::string* result);

  // Seconds since 1970.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;

  // The path need not exist.
  virtual Status GetAbsolutePath(const std::string& db_path,
                                 std::string* output_path) = 0;

  // Size of a pool of threads.
  virtual void SetBackgroundThreads(int number, Priority pri = LOW) = 0;
  virtual int GetBackgroundThreads(Priority pri = LOW) = 0;

  // Whether users other than the owner may access new files, as far as the umask allows.
  virtual Status SetAllowNonOwnerAccess(bool /*allow_non_owner_access*/) {
    return Status::NotSupported("Env::SetAllowNonOwnerAccess is not implemented");
  }

  // Makes a pool at least so large.
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;

  // Priority of the threads of a pool.
  virtual void LowerThreadPoolIOPriority(Priority /*pool*/ = LOW) {}
  virtual Status LowerThreadPoolCPUPriority(Priority /*pool*/,
                                            CpuPriority /*pri*/) {
    return Status::NotSupported("Env::LowerThreadPoolCPUPriority is not implemented");
  }
  virtual void LowerThreadPoolCPUPriority(Priority /*pool*/ = LOW) {}

  // A readable form of seconds since 1970.
  virtual std::string TimeToString(uint64_t time) = 0;

  // 36 characters, unique (RFC 4122, version 4).
  virtual std::string GenerateUniqueId();

  // Adapt options to what the file is for.
  virtual EnvOptions OptimizeForLogRead(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForManifestRead(
      const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForLogWrite(const EnvOptions& env_options,
                                         const DBOptions& db_options) const;
  virtual EnvOptions OptimizeForManifestWrite(
      const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForCompactionTableWrite(
      const EnvOptions& env_options,
      const ImmutableDBOptions& immutable_ops) const;
  virtual EnvOptions OptimizeForCompactionTableRead(
      const EnvOptions& env_options,
      const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForBlobFileRead(
      const EnvOptions& env_options,
      const ImmutableDBOptions& db_options) const;

  // What the threads of all databases are doing, with DBOptions::enable_thread_tracking.
  virtual Status GetThreadList(std::vector<ThreadStatus>* /*thread_list*/) {
    return Status::NotSupported("Env::GetThreadList is not implemented");
  }

  // Internal to the engine.
  virtual ThreadStatusUpdater* GetThreadStatusUpdater() const {
    return thread_status_updater_;
  }

  // The id of the calling thread.
  virtual uint64_t GetThreadID() const;

  // Bytes that are free for this user where the path is.
  virtual Status GetFreeSpace(const std::string& /*path*/,
                              uint64_t* /*diskfree*/) {
    return Status::NotSupported("Env::GetFreeSpace is not implemented");
  }

  // Whether a path is a directory.
  virtual Status IsDirectory(const std::string& /*path*/, bool* /*is_dir*/) {
    return Status::NotSupported("Env::IsDirectory is not implemented");
  }

  // Corrects options that do not go together.
  virtual void SanitizeEnvOptions(EnvOptions* /*env_opts*/) const {}

  // What this Env is made of.
  const std::shared_ptr<FileSystem>& GetFileSystem() const;
  const std::shared_ptr<SystemClock>& GetSystemClock() const;

 protected:
  // Null if threads are not tracked.
  ThreadStatusUpdater* thread_status_updater_;
  std::shared_ptr<FileSystem> file_system_;
  std::shared_ptr<SystemClock> system_clock_;

 private:
  static const size_t kMaxHostNameLen = 256;
};

// Internal to the engine.
ThreadStatusUpdater* CreateThreadStatusUpdater();

// A file that is read from the beginning to the end. One thread at a time.
class SequentialFile {
 public:
  SequentialFile() {}
  virtual ~SequentialFile();

  // Up to n bytes; fewer only at the end. *result may refer to scratch, which has room for n bytes
  // and must live as long.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;

  // Skips n bytes; to the end, if there are fewer.
  virtual Status Skip(uint64_t n) = 0;

  // Whether offsets, sizes and buffers must be multiples of the alignment.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  // Drops pages that the system caches; length 0 means to the end.
  virtual Status InvalidateCache(size_t /*offset*/, size_t /*length*/) {
    return Status::NotSupported("SequentialFile::InvalidateCache is not implemented");
  }

  // Read at an offset, with direct I/O.
  virtual Status PositionedRead(uint64_t /*offset*/, size_t /*n*/,
                                Slice* /*result*/, char* /*scratch*/) {
    return Status::NotSupported("SequentialFile::PositionedRead is not implemented");
  }
};

// One of several reads: input, then output.
struct ReadRequest {
  uint64_t offset;
  size_t len;
  char* scratch;
  Slice result;
  Status status;
};

// A file that is read at any offset. Every const function may be called concurrently.
class RandomAccessFile {
 public:
  RandomAccessFile() {}
  virtual ~RandomAccessFile();

  // Up to n bytes; fewer only at the end. *result may refer to scratch, which has room for n bytes
  // and must live as long.
  virtual Status Read(uint64_t offset, size_t n, Slice* result,
                      char* scratch) const = 0;

  // Begins to read ahead.
  virtual Status Prefetch(uint64_t /*offset*/, size_t /*n*/) {
    return Status::OK();
  }

  // Several reads, each with a status of its own. The offsets must grow.
  virtual Status MultiRead(ReadRequest* reqs, size_t num_reqs) {
    for (ReadRequest* r = reqs; r != reqs + num_reqs; ++r) {
      r->status = Read(r->offset, r->len, &r->result, r->scratch);
    }
    return Status::OK();
  }

  // An id of the file for caches, valid as long as the file is not deleted; its length, or 0 for
  // none.
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const {
    return 0;
  }

  // How the file is going to be read.
  enum AccessPattern { NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED };
  virtual void Hint(AccessPattern /*pattern*/) {}
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual Status InvalidateCache(size_t /*offset*/, size_t /*length*/) {
    return Status::NotSupported("RandomAccessFile::InvalidateCache is not implemented");
  }
};

// A file that is appended to. One thread at a time, as far as not said otherwise.
class WritableFile {
 public:
  WritableFile() : WritableFile(false) {}
  explicit WritableFile(const EnvOptions& options) : WritableFile(options.strict_bytes_per_sync) {}
  WritableFile(const WritableFile&) = delete;
  void operator=(const WritableFile&) = delete;

  // Closes; errors are lost.
  virtual ~WritableFile();

  // Appends; with a checksum of the data, if the file wants one.
  virtual Status Append(const Slice& data) = 0;
  virtual Status Append(const Slice& data,
                        const DataVerificationInfo& /*verification_info*/) {
    return Append(data);
  }

  // With direct I/O: writes at an offset that the caller keeps.
  virtual Status PositionedAppend(const Slice& /*data*/,
                                  uint64_t /*offset*/) {
    return Status::NotSupported("WritableFile::PositionedAppend is not implemented");
  }
  virtual Status PositionedAppend(
      const Slice& /*data*/, uint64_t /*offset*/,
      const DataVerificationInfo& /*verification_info*/) {
    return Status::NotSupported("WritableFile::PositionedAppend is not implemented");
  }

  // Cuts, or sets the size after direct I/O that was padded.
  virtual Status Truncate(uint64_t /*size*/) { return Status::OK(); }

  // No call may follow.
  virtual Status Close() = 0;

  // Hands buffered data to the system.
  virtual Status Flush() = 0;

  // Data survives a crash of the machine.
  virtual Status Sync() = 0;

  // Data and metadata do.
  virtual Status Fsync() { return Sync(); }

  // Whether Sync() may run at the same time as Append() and Flush().
  virtual bool IsSyncThreadSafe() const { return false; }

  // Whether offsets, sizes and buffers must be multiples of the alignment.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  // For the rate limiter.
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) {
    write_hint_ = hint;
  }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }

  // Bytes so far.
  virtual uint64_t GetFileSize() { return 0; }

  // Space is allocated in blocks of this size; 0 for not at all.
  virtual void SetPreallocationBlockSize(size_t size) {
    preallocation_block_size_ = size;
  }
  virtual void GetPreallocationStatus(size_t* block_size,
                                      size_t* last_allocated_block) {
    *last_allocated_block = last_preallocated_block_;
    *block_size = preallocation_block_size_;
  }

  // As of RandomAccessFile.
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const {
    return 0;
  }

  // As of SequentialFile.
  virtual Status InvalidateCache(size_t /*offset*/, size_t /*length*/) {
    return Status::NotSupported("WritableFile::InvalidateCache is not implemented");
  }

  // Begins to write the range to disk.
  virtual Status RangeSync(uint64_t /*offset*/, uint64_t /*nbytes*/) {
    return strict_bytes_per_sync_ ? Sync() : Status::OK();
  }

  // Allocates whole blocks as far as the range reaches.
  virtual void PrepareWrite(size_t offset, size_t len) {
    const size_t size = preallocation_block_size_;
    if (size == 0) return;
    const size_t blocks = (offset + len + size - 1) / size;
    if (blocks <= last_preallocated_block_) return;
    // Only an optimisation, so a failure does not matter.
    Allocate(size * last_preallocated_block_, size * (blocks - last_preallocated_block_))
        .PermitUncheckedError();
    last_preallocated_block_ = blocks;
  }

  // Allocates space.
  virtual Status Allocate(uint64_t /*offset*/, uint64_t /*len*/) {
    return Status::OK();
  }

 protected:
  size_t preallocation_block_size() { return preallocation_block_size_; }

 private:
  explicit WritableFile(bool strict_bytes_per_sync)
      : strict_bytes_per_sync_(strict_bytes_per_sync) {}

  // Blocks that are allocated, and their size in bytes.
  size_t last_preallocated_block_ = 0;
  size_t preallocation_block_size_ = 0;

 protected:
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  const bool strict_bytes_per_sync_;
};

// A file that is read and written at any offset. One thread at a time.
class RandomRWFile {
 public:
  RandomRWFile() {}
  RandomRWFile(const RandomRWFile&) = delete;
  RandomRWFile& operator=(const RandomRWFile&) = delete;
  virtual ~RandomRWFile() {}

  // Whether offsets, sizes and buffers must be multiples of the alignment.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  // Writes all of the data.
  virtual Status Write(uint64_t offset, const Slice& data) = 0;

  // Up to n bytes; fewer only at the end.
  virtual Status Read(uint64_t offset, size_t n, Slice* result,
                      char* scratch) const = 0;

  // As of WritableFile.
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  virtual Status Close() = 0;
};

// A file in memory; unmapped with this object.
class MemoryMappedFileBuffer {
 public:
  MemoryMappedFileBuffer(void* _base, size_t _length)
      : base_(_base), length_(_length) {}
  virtual ~MemoryMappedFileBuffer() = 0;
  MemoryMappedFileBuffer(const MemoryMappedFileBuffer&) = delete;
  MemoryMappedFileBuffer& operator=(const MemoryMappedFileBuffer&) = delete;
  void* GetBase() const { return base_; }
  size_t GetLen() const { return length_; }

 protected:
  void* base_;
  const size_t length_;
};

// A directory, for making its entries durable.
class Directory {
 public:
  virtual ~Directory() {}

  // Files that were made, renamed or deleted in it stay so after a crash.
  virtual Status Fsync() = 0;
  virtual Status Close() { return Status::NotSupported("Directory::Close is not implemented"); }

  // As of RandomAccessFile.
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const {
    return 0;
  }
};

// How important a message is. HEADER_LEVEL: of every log file's beginning.
enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

// Where messages go. Derive and override the first Logv() and CloseImpl().
class Logger {
 public:
  // As size: not known.
  size_t kDoNotSupportGetLogFileSize = std::numeric_limits<size_t>::max();

  explicit Logger(const InfoLogLevel log_level = InfoLogLevel::INFO_LEVEL)
      : closed_(false), log_level_(log_level) {}
  Logger(const Logger&) = delete;
  void operator=(const Logger&) = delete;
  virtual ~Logger();

  // Call it before the destructor, to see errors. Later calls do nothing.
  virtual Status Close();

  // A message that every new log file begins with.
  virtual void LogHeader(const char* format, va_list ap) {
    Logv(InfoLogLevel::INFO_LEVEL, format, ap);
  }

  // A message; arguments as of vprintf.
  virtual void Logv(const char* /*format*/, va_list /*ap*/) {
    assert(false);
  }

  // The same, unless its level is below the logger's.
  virtual void Logv(const InfoLogLevel log_level, const char* format,
                    va_list ap);

  // Bytes so far.
  virtual size_t GetLogFileSize() const { return kDoNotSupportGetLogFileSize; }

  // Hands buffered messages to the system.
  virtual void Flush() {}

  // Messages below this level are dropped.
  virtual InfoLogLevel GetInfoLogLevel() const { return log_level_; }
  virtual void SetInfoLogLevel(const InfoLogLevel log_level) {
    log_level_ = log_level;
  }

 protected:
  // What closing does; called once.
  virtual Status CloseImpl();
  bool closed_;

 private:
  InfoLogLevel log_level_;
};

// A lock of LockFile().
class FileLock {
 public:
  FileLock() {}
  virtual ~FileLock();

 private:
  FileLock(const FileLock&) = delete;
  void operator=(const FileLock&) = delete;
};

// A shared library that was loaded.
class DynamicLibrary {
 public:
  virtual ~DynamicLibrary() {}
  virtual const char* Name() const = 0;
  template <typename T>
  // A function by name.
  Status LoadFunction(const std::string& sym_name, std::function<T>* function) {
    void* address = nullptr;
    Status s = LoadSymbol(sym_name, &address);
    *function = reinterpret_cast<T*>(address);
    return s;
  }

  // An address by name; NotFound if there is none.
  virtual Status LoadSymbol(const std::string& sym_name, void** func) = 0;
};

// Messages by level; a null logger drops them.
extern void LogFlush(const std::shared_ptr<Logger>& info_log);
extern void Log(const InfoLogLevel log_level,
                const std::shared_ptr<Logger>& info_log, const char* format,
                ...) ROCKSDB_PRINTF_FORMAT_ATTR(3, 4);

extern void Header(const std::shared_ptr<Logger>& info_log, const char* format,
                   ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Debug(const std::shared_ptr<Logger>& info_log, const char* format,
                  ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Info(const std::shared_ptr<Logger>& info_log, const char* format,
                 ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Warn(const std::shared_ptr<Logger>& info_log, const char* format,
                 ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Error(const std::shared_ptr<Logger>& info_log, const char* format,
                  ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Fatal(const std::shared_ptr<Logger>& info_log, const char* format,
                  ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Log(const std::shared_ptr<Logger>& info_log, const char* format,
                ...) ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

// The same with plain pointers.
extern void LogFlush(Logger* info_log);
extern void Log(const InfoLogLevel log_level, Logger* info_log,
                const char* format, ...) ROCKSDB_PRINTF_FORMAT_ATTR(3, 4);

extern void Log(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Header(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Debug(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Info(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Warn(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Error(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

extern void Fatal(Logger* info_log, const char* format, ...)
    ROCKSDB_PRINTF_FORMAT_ATTR(2, 3);

// Makes, or replaces, a file with this content; on failure there is none.
extern Status WriteStringToFile(Env* env, const Slice& data,
                                const std::string& fname,
                                bool should_sync = false);

// The whole content.
extern Status ReadFileToString(Env* env, const std::string& fname,
                               std::string* data);

// Passes everything on to another Env. Override what is to differ.
class EnvWrapper : public Env {
 public:
  // The other Env, owned or not.
  struct Target {
    Env* env;
    std::shared_ptr<Env> guard;
    explicit Target(Env* t) : env(t) {}
    explicit Target(std::unique_ptr<Env>&& t) : Target(std::shared_ptr<Env>(std::move(t))) {}
    explicit Target(const std::shared_ptr<Env>& t) : env(t.get()), guard(t) {}

    // Null becomes the default.
    void Prepare() {
      if (guard != nullptr) {
        env = guard.get();
      } else if (env == nullptr) {
        env = Env::Default();
      }
    }
  };
  // Not owned, or owned.
  explicit EnvWrapper(Env* t);
  explicit EnvWrapper(std::unique_ptr<Env>&& t);
  explicit EnvWrapper(const std::shared_ptr<Env>& t);
  ~EnvWrapper() override;

  // The other Env.
  Env* target() const { return target_.env; }
  const char* Name() const override { return target_.env->Name(); }
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->UnregisterDbPaths(paths);
  }
  Status NewSequentialFile(const std::string& f,
                           std::unique_ptr<SequentialFile>* r,
                           const EnvOptions& options) override {
    return target_.env->NewSequentialFile(f, r, options);
  }
  Status NewRandomAccessFile(const std::string& f,
                             std::unique_ptr<RandomAccessFile>* r,
                             const EnvOptions& options) override {
    return target_.env->NewRandomAccessFile(f, r, options);
  }
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override {
    return target_.env->NewWritableFile(f, r, options);
  }
  Status ReopenWritableFile(const std::string& fname,
                            std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override {
    return target_.env->ReopenWritableFile(fname, result, options);
  }
  Status ReuseWritableFile(const std::string& fname,
                           const std::string& old_fname,
                           std::unique_ptr<WritableFile>* r,
                           const EnvOptions& options) override {
    return target_.env->ReuseWritableFile(fname, old_fname, r, options);
  }
  Status NewRandomRWFile(const std::string& fname,
                         std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override {
    return target_.env->NewRandomRWFile(fname, result, options);
  }
  Status NewMemoryMappedFileBuffer(
      const std::string& fname,
      std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return target_.env->NewMemoryMappedFileBuffer(fname, result);
  }
  Status NewDirectory(const std::string& name,
                      std::unique_ptr<Directory>* result) override {
    return target_.env->NewDirectory(name, result);
  }
  Status FileExists(const std::string& f) override {
    return target_.env->FileExists(f);
  }
  Status GetChildren(const std::string& dir,
                     std::vector<std::string>* r) override {
    return target_.env->GetChildren(dir, r);
  }
  Status GetChildrenFileAttributes(
      const std::string& dir, std::vector<FileAttributes>* result) override {
    return target_.env->GetChildrenFileAttributes(dir, result);
  }
  Status DeleteFile(const std::string& f) override {
    return target_.env->DeleteFile(f);
  }
  Status Truncate(const std::string& fname, size_t size) override {
    return target_.env->Truncate(fname, size);
  }
  Status CreateDir(const std::string& d) override {
    return target_.env->CreateDir(d);
  }
  Status CreateDirIfMissing(const std::string& d) override {
    return target_.env->CreateDirIfMissing(d);
  }
  Status DeleteDir(const std::string& d) override {
    return target_.env->DeleteDir(d);
  }
  Status GetFileSize(const std::string& f, uint64_t* s) override {
    return target_.env->GetFileSize(f, s);
  }
  Status GetFileModificationTime(const std::string& fname,
                                 uint64_t* file_mtime) override {
    return target_.env->GetFileModificationTime(fname, file_mtime);
  }
  Status RenameFile(const std::string& s, const std::string& t) override {
    return target_.env->RenameFile(s, t);
  }
  Status LinkFile(const std::string& s, const std::string& t) override {
    return target_.env->LinkFile(s, t);
  }
  Status NumFileLinks(const std::string& fname, uint64_t* count) override {
    return target_.env->NumFileLinks(fname, count);
  }
  Status AreFilesSame(const std::string& first, const std::string& second,
                      bool* res) override {
    return target_.env->AreFilesSame(first, second, res);
  }
  Status LockFile(const std::string& f, FileLock** l) override {
    return target_.env->LockFile(f, l);
  }
  Status UnlockFile(FileLock* l) override { return target_.env->UnlockFile(l); }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return target_.env->IsDirectory(path, is_dir);
  }
  Status LoadLibrary(const std::string& lib_name,
                     const std::string& search_path,
                     std::shared_ptr<DynamicLibrary>* result) override {
    return target_.env->LoadLibrary(lib_name, search_path, result);
  }
  void Schedule(void (*f)(void* arg), void* a, Priority pri,
                void* tag = nullptr, void (*u)(void* arg) = nullptr) override {
    return target_.env->Schedule(f, a, pri, tag, u);
  }
  int UnSchedule(void* tag, Priority pri) override {
    return target_.env->UnSchedule(tag, pri);
  }
  void StartThread(void (*f)(void*), void* a) override {
    return target_.env->StartThread(f, a);
  }
  void WaitForJoin() override { return target_.env->WaitForJoin(); }
  unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const override {
    return target_.env->GetThreadPoolQueueLen(pri);
  }
  int ReserveThreads(int threads_to_be_reserved, Priority pri) override {
    return target_.env->ReserveThreads(threads_to_be_reserved, pri);
  }
  int ReleaseThreads(int threads_to_be_released, Priority pri) override {
    return target_.env->ReleaseThreads(threads_to_be_released, pri);
  }
  Status GetTestDirectory(std::string* path) override {
    return target_.env->GetTestDirectory(path);
  }
  Status NewLogger(const std::string& fname,
                   std::shared_ptr<Logger>* result) override {
    return target_.env->NewLogger(fname, result);
  }
  uint64_t NowMicros() override { return target_.env->NowMicros(); }
  uint64_t NowNanos() override { return target_.env->NowNanos(); }
  uint64_t NowCPUNanos() override { return target_.env->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override {
    target_.env->SleepForMicroseconds(micros);
  }
  Status GetHostName(char* name, uint64_t len) override {
    return target_.env->GetHostName(name, len);
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    return target_.env->GetCurrentTime(unix_time);
  }
  Status GetAbsolutePath(const std::string& db_path,
                         std::string* output_path) override {
    return target_.env->GetAbsolutePath(db_path, output_path);
  }
  void SetBackgroundThreads(int num, Priority pri) override {
    return target_.env->SetBackgroundThreads(num, pri);
  }
  int GetBackgroundThreads(Priority pri) override {
    return target_.env->GetBackgroundThreads(pri);
  }
  Status SetAllowNonOwnerAccess(bool allow_non_owner_access) override {
    return target_.env->SetAllowNonOwnerAccess(allow_non_owner_access);
  }
  void IncBackgroundThreadsIfNeeded(int num, Priority pri) override {
    return target_.env->IncBackgroundThreadsIfNeeded(num, pri);
  }
  void LowerThreadPoolIOPriority(Priority pool) override {
    target_.env->LowerThreadPoolIOPriority(pool);
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    target_.env->LowerThreadPoolCPUPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return target_.env->LowerThreadPoolCPUPriority(pool, pri);
  }
  std::string TimeToString(uint64_t time) override {
    return target_.env->TimeToString(time);
  }
  Status GetThreadList(std::vector<ThreadStatus>* thread_list) override {
    return target_.env->GetThreadList(thread_list);
  }
  ThreadStatusUpdater* GetThreadStatusUpdater() const override {
    return target_.env->GetThreadStatusUpdater();
  }
  uint64_t GetThreadID() const override { return target_.env->GetThreadID(); }
  std::string GenerateUniqueId() override {
    return target_.env->GenerateUniqueId();
  }
  EnvOptions OptimizeForLogRead(const EnvOptions& env_options) const override {
    return target_.env->OptimizeForLogRead(env_options);
  }
  EnvOptions OptimizeForManifestRead(
      const EnvOptions& env_options) const override {
    return target_.env->OptimizeForManifestRead(env_options);
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& env_options,
                                 const DBOptions& db_options) const override {
    return target_.env->OptimizeForLogWrite(env_options, db_options);
  }
  EnvOptions OptimizeForManifestWrite(
      const EnvOptions& env_options) const override {
    return target_.env->OptimizeForManifestWrite(env_options);
  }
  EnvOptions OptimizeForCompactionTableWrite(
      const EnvOptions& env_options,
      const ImmutableDBOptions& immutable_ops) const override {
    return target_.env->OptimizeForCompactionTableWrite(env_options,
                                                        immutable_ops);
  }
  EnvOptions OptimizeForCompactionTableRead(
      const EnvOptions& env_options,
      const ImmutableDBOptions& db_options) const override {
    return target_.env->OptimizeForCompactionTableRead(env_options, db_options);
  }
  EnvOptions OptimizeForBlobFileRead(
      const EnvOptions& env_options,
      const ImmutableDBOptions& db_options) const override {
    return target_.env->OptimizeForBlobFileRead(env_options, db_options);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* diskfree) override {
    return target_.env->GetFreeSpace(path, diskfree);
  }
  void SanitizeEnvOptions(EnvOptions* env_opts) const override {
    target_.env->SanitizeEnvOptions(env_opts);
  }
  Status PrepareOptions(const ConfigOptions& options) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& header) const override;

 private:
  Target target_;
};

// Each of the following passes everything on to another file, directory or logger, which it does
// not own.
class SequentialFileWrapper : public SequentialFile {
 public:
  explicit SequentialFileWrapper(SequentialFile* target) : target_(target) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    return target_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result,
                        char* scratch) override {
    return target_->PositionedRead(offset, n, result, scratch);
  }

 private:
  SequentialFile* target_;
};

class RandomAccessFileWrapper : public RandomAccessFile {
 public:
  explicit RandomAccessFileWrapper(RandomAccessFile* target)
      : target_(target) {}
  Status Read(uint64_t offset, size_t n, Slice* result,
              char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override {
    return target_->MultiRead(reqs, num_reqs);
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    return target_->Prefetch(offset, n);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }

 private:
  RandomAccessFile* target_;
};

class WritableFileWrapper : public WritableFile {
 public:
  explicit WritableFileWrapper(WritableFile* t) : target_(t) {}
  Status Append(const Slice& data) override { return target_->Append(data); }
  Status Append(const Slice& data,
                const DataVerificationInfo& verification_info) override {
    return target_->Append(data, verification_info);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return target_->PositionedAppend(data, offset);
  }
  Status PositionedAppend(
      const Slice& data, uint64_t offset,
      const DataVerificationInfo& verification_info) override {
    return target_->PositionedAppend(data, offset, verification_info);
  }
  Status Truncate(uint64_t size) override { return target_->Truncate(size); }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetIOPriority(Env::IOPriority pri) override {
    target_->SetIOPriority(pri);
  }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override {
    return target_->GetWriteLifeTimeHint();
  }
  uint64_t GetFileSize() override { return target_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override {
    target_->SetPreallocationBlockSize(size);
  }
  void GetPreallocationStatus(size_t* block_size,
                              size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return target_->RangeSync(offset, nbytes);
  }
  void PrepareWrite(size_t offset, size_t len) override {
    target_->PrepareWrite(offset, len);
  }
  Status Allocate(uint64_t offset, uint64_t len) override {
    return target_->Allocate(offset, len);
  }

 private:
  WritableFile* target_;
};

class RandomRWFileWrapper : public RandomRWFile {
 public:
  explicit RandomRWFileWrapper(RandomRWFile* target) : target_(target) {}
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status Write(uint64_t offset, const Slice& data) override {
    return target_->Write(offset, data);
  }
  Status Read(uint64_t offset, size_t n, Slice* result,
              char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }

 private:
  RandomRWFile* target_;
};

class DirectoryWrapper : public Directory {
 public:
  explicit DirectoryWrapper(Directory* target) : target_(target) {}
  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }

 private:
  Directory* target_;
};

class LoggerWrapper : public Logger {
 public:
  explicit LoggerWrapper(Logger* target) : target_(target) {}
  Status Close() override { return target_->Close(); }
  void LogHeader(const char* format, va_list ap) override {
    return target_->LogHeader(format, ap);
  }
  void Logv(const char* format, va_list ap) override {
    return target_->Logv(format, ap);
  }
  void Logv(const InfoLogLevel log_level, const char* format,
            va_list ap) override {
    return target_->Logv(log_level, format, ap);
  }
  size_t GetLogFileSize() const override { return target_->GetLogFileSize(); }
  void Flush() override { return target_->Flush(); }
  InfoLogLevel GetInfoLogLevel() const override {
    return target_->GetInfoLogLevel();
  }
  void SetInfoLogLevel(const InfoLogLevel log_level) override {
    return target_->SetInfoLogLevel(log_level);
  }

 private:
  Logger* target_;
};

// Files in memory only; the rest is base_env's. The caller owns the result, which must not outlive
// base_env.
Env* NewMemEnv(Env* base_env);

// Measures calls: see PerfContext. The same rules.
Env* NewTimedEnv(Env* base_env);

// A logger that writes to a file of an Env.
Status NewEnvLogger(const std::string& fname, Env* env,
                    std::shared_ptr<Logger>* result);

// Files of a file system, the rest of the default Env.
std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs);

}  // namespace ROCKSDB_NAMESPACE
