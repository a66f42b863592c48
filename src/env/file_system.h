// SPDX-License-Identifier: Apache-2.0
// The engine's file system: few calls, explicit durability.
//
// Durability model: Append and Write make data visible, Sync makes the file's
// data and size durable, SyncDir makes creations, renames and deletions in a
// directory durable. Nothing else promises anything across a crash.
//
// Thread safety: a FileSystem and a RandomAccessFile may be used by several
// threads at once, a PageFile too; the other files by one thread at a time. Every
// failed call returns a Status that names the path and the operation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

struct FileOptions {
  bool direct = false;          // O_DIRECT; offsets and buffers are handled inside
  uint64_t bytes_per_sync = 0;  // starts write-back each time after this many bytes; 0: never
  uint64_t preallocate = 0;     // bytes to reserve in advance, a hint
};

class SequentialFile {
 public:
  virtual ~SequentialFile() = default;
  // Reads up to n bytes; a result shorter than n means end of file. `result`
  // points into `scratch` (n bytes). With an error it has the bytes before the error; the next read
  // continues after them.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  virtual Status Skip(uint64_t n) = 0;
};

class ReadBatch;

// One of several reads; `result` points into `scratch`.
struct ReadRequest {
  uint64_t offset = 0;
  size_t length = 0;
  char* scratch = nullptr;
  Slice result;
  Status status;
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Reads n bytes at offset; shorter only at end of file.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // The same without a copy: `result` is somewhere in `room`, memory that is aligned to
  // ReadAlignment() and has n + 2 * ReadAlignment() bytes.
  virtual Status ReadWithin(uint64_t offset, size_t n, Slice* result, char* room) const {
    return Read(offset, n, result, room);
  }
  // Performs all of them, in any order. Default: one Read after the other.
  virtual void MultiRead(ReadRequest* requests, size_t n) const;
  // Adds reads to a batch, concurrent with the caller and with reads of other files
  // (env/read_batch.h). Default: the batch's Wait calls MultiRead.
  virtual void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const;
  // Reads whose offset, length and memory are multiples of this (a power of two) need
  // no copy; others may.
  virtual size_t ReadAlignment() const { return 1; }
  // Asks the kernel to read ahead; a hint.
  virtual void Prefetch(uint64_t offset, size_t n) const {}
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(const Slice& data) = 0;
  // Writes buffered bytes to the kernel (not durable).
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;  // data and size durable
  virtual Status Close() = 0;
  virtual uint64_t Size() const = 0;  // bytes appended, with those the file had when reopened
};

// One of several writes; the caller owns `data`.
struct WriteRequest {
  uint64_t offset = 0;
  Slice data;
  Status status;
};

// A file that is written in place, at any offset. Since the last Sync, writes are in no order
// among each other: a power cut keeps any of them, drops others and tears some.
// Thread safety: reads and writes of ranges that do not overlap, and Sync, by any threads at once;
// Truncate and Close by one thread while no other call runs.
class PageFile : public RandomAccessFile {
 public:
  // A failed write leaves its range with any mixture of old and new bytes.
  virtual Status Write(uint64_t offset, const Slice& data) = 0;
  // Performs all of them, in any order; their ranges do not overlap. Default: one Write after
  // the other.
  virtual void MultiWrite(WriteRequest* requests, size_t n);
  // Makes earlier writes and the size durable. Once it has failed, the writes since the last
  // success may be lost, and Write and Sync fail from then on.
  virtual Status Sync() = 0;
  // Sets the size; new bytes read as zeros and take no space.
  virtual Status Truncate(uint64_t size) = 0;
  // Does not sync.
  virtual Status Close() = 0;
};

// For offsets and lengths of writes to page files with FileOptions::direct.
inline constexpr size_t kPageWriteAlignment = 4096;

class FileLock {
 public:
  virtual ~FileLock() = default;
};

// The least sizes of holes for dead runs in files in use: from `least` on if space is short, from `large` on
// always.
struct HoleSizes {
  uint64_t least = 16 << 10;
  uint64_t large = 64 << 10;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual const char* Name() const = 0;
  virtual Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file) = 0;
  virtual Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                     std::unique_ptr<RandomAccessFile>* file) = 0;
  // Creates or truncates.
  virtual Status NewWritableFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<WritableFile>* file) = 0;
  // Opens an existing file for appending (creates a missing one).
  virtual Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<WritableFile>* file) = 0;
  // Renames `old_path` to `path` and opens it to be overwritten from its beginning: Size() is 0, and
  // bytes that are not overwritten yet stay, with their space. Default: a rename and
  // NewWritableFile, so that nothing stays.
  virtual Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                                   const FileOptions& options, std::unique_ptr<WritableFile>* file);
  // Creates or truncates if `create`, else opens an existing file. Of the options only `direct`
  // counts: writes whose offset or length is no multiple of kPageWriteAlignment are then
  // InvalidArgument. Default: NotSupported.
  virtual Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                             std::unique_ptr<PageFile>* file);
  virtual Status FileExists(const std::string& path) = 0;  // OK or NotFound
  virtual Status GetFileSize(const std::string& path, uint64_t* size) = 0;
  virtual Status GetModificationTime(const std::string& path, uint64_t* seconds) = 0;
  // Names without directory, "." and ".." left out.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* names) = 0;
  virtual Status CreateDir(const std::string& dir) = 0;           // with parents; fine if it exists
  virtual Status DeleteDir(const std::string& dir) = 0;           // empty ones only
  virtual Status DeleteFile(const std::string& path) = 0;
  virtual Status RenameFile(const std::string& from, const std::string& to) = 0;
  virtual Status LinkFile(const std::string& from, const std::string& to) = 0;
  // Makes `to`, which must not exist, a copy that shares the blocks of `from` until either is
  // written. Like a written file it needs a sync, and one of its directory.
  // NotSupported if these two places cannot share blocks: the caller then copies
  // bytes. That is the default.
  virtual Status CloneFile(const std::string& from, const std::string& to);
  virtual Status TruncateFile(const std::string& path, uint64_t size) = 0;
  virtual Status SyncDir(const std::string& dir) = 0;
  // Frees the pages of [offset, offset + length) without changing the file's size.
  virtual Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) = 0;
  virtual HoleSizes HolesWorthPunching() const { return {}; }
  virtual Status GetLinkCount(const std::string& path, uint64_t* count) = 0;
  virtual Status GetFreeSpace(const std::string& path, uint64_t* bytes) = 0;
  // Exclusive between processes and inside one; the second caller gets IOError that names the path.
  virtual Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) = 0;
  virtual Status GetAbsolutePath(const std::string& path, std::string* absolute) = 0;
  // Absolute, normal, and without symbolic links if the file system has them.
  virtual Status GetRealPath(const std::string& path, std::string* real);
  // Equal for two paths of one file or directory. NotSupported if the file system cannot compare them.
  virtual Status GetFileId(const std::string& path, std::string* id);
};

// OK, or for direct files the InvalidArgument of a write off the alignment.
Status CheckPageWrite(const std::string& path, const FileOptions& options, uint64_t offset,
                      size_t length);

// The operating system's file system; never destroyed.
FileSystem* PosixFileSystem();

// Whole-file helpers built on the calls above.
// Corruption if it has more than `most` bytes.
Status ReadFileToString(FileSystem* fs, const std::string& path, std::string* data, uint64_t most = UINT64_MAX);
// Writes a temporary file, syncs it, renames it over `path` and syncs the directory.
Status WriteFileAtomically(FileSystem* fs, const std::string& path, const Slice& data);

}  // namespace compassdb
