// SPDX-License-Identifier: Apache-2.0
// Positional reads. With O_DIRECT, requests that are not aligned go through an
// aligned buffer of the calling thread.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "env/posix_error.h"
#include "env/posix_files.h"

namespace compassdb {

namespace {

constexpr uint64_t kAlignMask = kDirectIoAlignment - 1;

// Grows to the largest request, but gives very large buffers back.
class AlignedBuffer {
 public:
  ~AlignedBuffer() { free(data_); }
  char* Reserve(size_t bytes) {
    if (bytes <= capacity_) return data_;
    free(data_);
    data_ = nullptr;
    capacity_ = 0;
    void* p = nullptr;
    if (posix_memalign(&p, kDirectIoAlignment, bytes) != 0) return nullptr;
    data_ = static_cast<char*>(p);
    capacity_ = bytes;
    return data_;
  }
  void ShrinkTo(size_t most) {
    if (capacity_ <= most) return;
    free(data_);
    data_ = nullptr;
    capacity_ = 0;
  }

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
};

thread_local AlignedBuffer bounce;

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, int fd, bool direct)
      : path_(std::move(path)), fd_(fd), direct_(direct) {}
  ~PosixRandomAccessFile() override { close(fd_); }

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    const bool aligned =
        ((offset | n | reinterpret_cast<uintptr_t>(scratch)) & kAlignMask) == 0;
    if (direct_ && !aligned) return ReadThroughBounce(offset, n, result, scratch);
    size_t got = 0;
    Status s = ReadFully(offset, n, scratch, &got);
    if (s.ok()) *result = Slice(scratch, got);
    return s;
  }

  // Takes what the page cache has, asks the kernel for the rest of all requests
  // at once, and only then waits for them one by one.
  void MultiRead(ReadRequest* requests, size_t n) const override {
    if (direct_ || n <= 1) return RandomAccessFile::MultiRead(requests, n);
    size_t pending = 0;
    for (size_t i = 0; i < n; ++i) {
      ReadRequest& r = requests[i];
      r.status = Status::OK();
      r.result = Slice(r.scratch, 0);
      struct iovec iov = {r.scratch, r.length};
      const ssize_t got = preadv2(fd_, &iov, 1, static_cast<off_t>(r.offset), RWF_NOWAIT);
      if (got == static_cast<ssize_t>(r.length)) {
        r.result = Slice(r.scratch, r.length);
        continue;
      }
      // Short, absent, or RWF_NOWAIT unknown here: read it in the second pass.
      ++pending;
      Prefetch(r.offset, r.length);
    }
    for (size_t i = 0; pending > 0 && i < n; ++i) {
      ReadRequest& r = requests[i];
      if (r.result.size() == r.length) continue;
      r.status = Read(r.offset, r.length, &r.result, r.scratch);
      --pending;
    }
  }

  void Prefetch(uint64_t offset, size_t n) const override {
    if (direct_) return;
    posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(n), POSIX_FADV_WILLNEED);
  }

 private:
  Status ReadFully(uint64_t offset, size_t n, char* dst, size_t* got) const {
    *got = 0;
    while (*got < n) {
      const ssize_t r = RetryOnInterrupt([&] {
        return pread(fd_, dst + *got, n - *got, static_cast<off_t>(offset + *got));
      });
      if (r < 0) {
        return PosixError("pread offset " + std::to_string(offset) + " len " + std::to_string(n),
                          path_, errno);
      }
      if (r == 0) break;
      *got += static_cast<size_t>(r);
      // A direct read that ends off the grid has met the end of the file.
      if (direct_ && (*got & kAlignMask) != 0) break;
    }
    return Status::OK();
  }

  Status ReadThroughBounce(uint64_t offset, size_t n, Slice* result, char* scratch) const {
    const uint64_t begin = offset & ~kAlignMask;
    const uint64_t end = (offset + n + kAlignMask) & ~kAlignMask;
    char* buffer = bounce.Reserve(end - begin);
    if (buffer == nullptr) {
      return Status::MemoryLimit("While pread: " + path_,
                                 "no buffer of " + std::to_string(end - begin) + " bytes");
    }
    size_t got = 0;
    Status s = ReadFully(begin, end - begin, buffer, &got);
    if (s.ok() && got > offset - begin) {
      const size_t usable = std::min<size_t>(n, got - (offset - begin));
      memcpy(scratch, buffer + (offset - begin), usable);
      *result = Slice(scratch, usable);
    }
    bounce.ShrinkTo(4 << 20);
    return s;
  }

  const std::string path_;
  const int fd_;
  const bool direct_;
};

class PosixSequentialFile : public SequentialFile {
 public:
  PosixSequentialFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixSequentialFile() override { close(fd_); }

  Status Read(size_t n, Slice* result, char* scratch) override {
    size_t got = 0;
    *result = Slice(scratch, 0);
    while (got < n) {
      const ssize_t r = RetryOnInterrupt([&] { return read(fd_, scratch + got, n - got); });
      if (r < 0) return PosixError("read", path_, errno);
      if (r == 0) break;
      got += static_cast<size_t>(r);
    }
    *result = Slice(scratch, got);
    return Status::OK();
  }

  Status Skip(uint64_t n) override {
    if (lseek(fd_, static_cast<off_t>(n), SEEK_CUR) == -1) return PosixError("lseek", path_, errno);
    return Status::OK();
  }

 private:
  const std::string path_;
  const int fd_;
};

}  // namespace

Status OpenPosixSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file) {
  const int fd = RetryOnInterrupt([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd < 0) return PosixError("open a file for sequential read", path, errno);
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  *file = std::make_unique<PosixSequentialFile>(path, fd);
  return Status::OK();
}

Status OpenPosixRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<RandomAccessFile>* file) {
  const int flags = O_RDONLY | O_CLOEXEC | (options.direct ? O_DIRECT : 0);
  const int fd = RetryOnInterrupt([&] { return open(path.c_str(), flags); });
  if (fd < 0) {
    if (errno == EINVAL && options.direct) {
      return Status::NotSupported("While open a file for direct random read: " + path,
                                  "the file system does not support O_DIRECT");
    }
    return PosixError("open a file for random read", path, errno);
  }
  if (!options.direct) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  *file = std::make_unique<PosixRandomAccessFile>(path, fd, options.direct);
  return Status::OK();
}

}  // namespace compassdb
