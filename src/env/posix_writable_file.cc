// SPDX-License-Identifier: Apache-2.0
// Files being written, through one aligned buffer.
//
// Buffered: full buffers are written with write(2). Direct: whole pages are
// written with O_DIRECT. Flush, Sync and Close write a last partial page padded with
// zeros, and cut these off again by ftruncate. It is rewritten once it has grown.
//
// A file that is written over keeps its length until it grows beyond it, so that a
// sync has no change of its size or blocks to make durable.
//
// A file that has failed once stays failed: after a failed write its length is
// unknown, and after a failed fsync the kernel may have dropped the dirty pages
// and would report success to the next one.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "env/descriptor.h"
#include "env/file_observer.h"
#include "env/io_stats.h"
#include "env/posix_error.h"
#include "env/posix_files.h"
#include "util/process.h"

namespace compassdb {

namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr size_t kDirectBufferBytes = 1 << 20;
constexpr uint64_t kAlignMask = kDirectIoAlignment - 1;

class PosixWritableFile : public WritableFile, public ReportsOwnSteps {
 public:
  PosixWritableFile(std::string path, int fd, const FileOptions& options)
      : path_(std::move(path)),
        fd_(fd),
        options_(options),
        capacity_(options.direct ? kDirectBufferBytes : kBufferBytes) {}

  ~PosixWritableFile() override {
    if (process_.Inherited()) {
      // The parent writes the buffered bytes.
      if (fd_ >= 0) close(fd_);
    } else if (fd_ >= 0) {
      // The caller does not want the result: write as much as possible.
      Close().PermitUncheckedError();
    }
    free(buffer_);
  }

  // The file's first `size` bytes stay, and its length until it is written beyond that; a partial
  // last page is loaded for direct writing.
  Status Start(uint64_t size, uint64_t length) {
    void* p = nullptr;
    if (posix_memalign(&p, kDirectIoAlignment, capacity_) != 0) {
      return Status::MemoryLimit("While open a file for writing: " + path_, "no write buffer");
    }
    buffer_ = static_cast<char*>(p);
    written_ = synced_hint_ = size;
    allocated_ = kept_ = length;
    if (!options_.direct || (size & kAlignMask) == 0) return Status::OK();
    written_ = size & ~kAlignMask;
    const ssize_t r = RetryOnInterrupt([&] {
      return pread(fd_, buffer_, kDirectIoAlignment, static_cast<off_t>(written_));
    });
    if (r < 0) return PosixError("read the last page", path_, errno);
    if (static_cast<uint64_t>(r) != size - written_) {
      return Status::IOError("While read the last page: " + path_, "short read");
    }
    used_ = static_cast<size_t>(r);
    return Status::OK();
  }

  Status Append(const Slice& data) override {
    if (process_.Inherited()) return InheritedStatus();
    if (!failed_.ok()) return failed_;
    const char* p = data.data();
    size_t left = data.size();
    while (left > 0) {
      if (used_ == 0 && left >= capacity_ && !options_.direct) {
        // A copy gains nothing: write from the caller's memory.
        Status s = WriteOut(p, left);
        return s;
      }
      const size_t n = std::min(left, capacity_ - used_);
      memcpy(buffer_ + used_, p, n);
      used_ += n;
      p += n;
      left -= n;
      if (used_ == capacity_) {
        Status s = WriteBuffer(/*with_tail=*/false);
        if (!s.ok()) return s;
      }
    }
    return Status::OK();
  }

  Status Flush() override {
    if (process_.Inherited()) return InheritedStatus();
    if (!failed_.ok()) return failed_;
    return WriteBuffer(/*with_tail=*/true);
  }

  Status Sync() override {
    Status s = Flush();
    if (!s.ok()) return s;
    const IoSpan span(&rocksdb::IOStatsContext::fsync_nanos);
    // fdatasync also makes the size durable, which is needed to read the data.
    if (RetryOnInterrupt([&] { return fdatasync(fd_); }) != 0) {
      return Fail("fdatasync", errno);
    }
    synced_hint_ = written_;
    return Status::OK();
  }

  Status Close() override {
    if (process_.Inherited()) return InheritedStatus();
    if (fd_ < 0) return Status::OK();
    Status s = Flush();
    // Release blocks that were reserved and not used.
    if (s.ok() && allocated_ > Length()) s = CutToLength();
    // Not repeated after EINTR: on Linux the descriptor is closed either way.
    if (close(fd_) != 0 && s.ok() && errno != EINTR) s = PosixError("close", path_, errno);
    fd_ = -1;
    if (failed_.ok()) failed_ = Status::IOError("While append: " + path_, "the file is closed");
    return s;
  }

  uint64_t Size() const override { return written_ + used_; }
  void ReportSteps(FileObserver* observer) override { observer_ = observer; }

 private:
  Status Fail(const char* operation, int error) {
    failed_ = PosixError(operation, path_, error);
    return failed_;
  }

  uint64_t Length() const { return std::max(Size(), kept_); }

  Status CutToLength() {
    const FileOperation::Begin begin;
    const uint64_t length = Length();
    const int r = RetryOnInterrupt([&] { return ftruncate(fd_, static_cast<off_t>(length)); });
    Status s = r == 0 ? Status::OK() : Fail("ftruncate", errno);
    if (observer_ != nullptr) {
      observer_->Done({FileOperation::Kind::kTruncate, path_, length, 0, begin, s});
    }
    return s;
  }

  // A hint: whether it succeeds changes nothing.
  void StartWriteBack() {
    const FileOperation::Begin begin;
    const uint64_t bytes = written_ - synced_hint_;
    const IoSpan span(&rocksdb::IOStatsContext::range_sync_nanos);
    sync_file_range(fd_, static_cast<off_t>(synced_hint_), static_cast<off_t>(bytes),
                    SYNC_FILE_RANGE_WRITE);
    if (observer_ != nullptr) {
      observer_->Done(
          {FileOperation::Kind::kRangeSync, path_, synced_hint_, bytes, begin, Status::OK()});
    }
    synced_hint_ = written_;
  }

  // Writes n bytes at written_ and advances it.
  Status WriteOut(const char* p, size_t n) {
    Preallocate(written_ + n);
    while (n > 0) {
      const IoSpan span(&rocksdb::IOStatsContext::write_nanos, &rocksdb::IOStatsContext::cpu_write_nanos);
      const ssize_t r = RetryOnInterrupt(
          [&] { return pwrite(fd_, p, n, static_cast<off_t>(written_)); });
      if (r < 0) return Fail("append", errno);
      CountIo(&rocksdb::IOStatsContext::bytes_written, static_cast<uint64_t>(r));
      p += r;
      n -= static_cast<size_t>(r);
      written_ += static_cast<uint64_t>(r);
    }
    // Keep the kernel writing steadily, so that the final sync is short.
    if (options_.bytes_per_sync > 0 && written_ >= synced_hint_ + options_.bytes_per_sync) {
      StartWriteBack();
    }
    return Status::OK();
  }

  Status WriteBuffer(bool with_tail) {
    if (used_ == 0) return Status::OK();
    if (!options_.direct) {
      const size_t n = used_;
      used_ = 0;
      return WriteOut(buffer_, n);
    }
    const size_t whole = used_ & ~kAlignMask;
    const size_t tail = used_ - whole;
    if (whole > 0) {
      used_ = tail;
      Status s = WriteOut(buffer_, whole);
      if (!s.ok()) return s;
      memmove(buffer_, buffer_ + whole, tail);
      tail_written_ = 0;
    }
    if (!with_tail || tail == tail_written_) return Status::OK();
    // The page is padded, then cut: readers never see the padding for long.
    memset(buffer_ + tail, 0, kDirectIoAlignment - tail);
    const uint64_t page = written_;
    Status s = WriteOut(buffer_, kDirectIoAlignment);
    written_ = page;
    if (!s.ok()) return s;
    if (page + kDirectIoAlignment > kept_) {
      if (s = CutToLength(); !s.ok()) return s;
      allocated_ = Length();
    }
    tail_written_ = tail;
    return Status::OK();
  }

  // A hint: not every file system can reserve.
  void Preallocate(uint64_t end) {
    if (options_.preallocate == 0 || end <= allocated_) return;
    const IoSpan span(&rocksdb::IOStatsContext::allocate_nanos);
    const uint64_t step = options_.preallocate;
    const uint64_t upto = (end + step - 1) / step * step;
    if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(allocated_),
                  static_cast<off_t>(upto - allocated_)) == 0) {
      allocated_ = upto;
    } else if (errno != EINTR) {
      options_.preallocate = 0;
    }
  }

  const ProcessMark process_;
  const std::string path_;
  int fd_;
  FileOptions options_;
  const size_t capacity_;
  char* buffer_ = nullptr;
  size_t used_ = 0;            // bytes in the buffer; they follow written_
  size_t tail_written_ = 0;    // direct: bytes of the partial page that are in the file
  uint64_t written_ = 0;       // bytes handed to the kernel (direct: whole pages)
  uint64_t synced_hint_ = 0;   // write-back was started up to here
  uint64_t allocated_ = 0;     // blocks are reserved up to here
  uint64_t kept_ = 0;          // how long the file was when it was opened
  Status failed_;
  FileObserver* observer_ = nullptr;
};

}  // namespace

Status OpenPosixWritableFile(const std::string& path, const FileOptions& options, OldContents old,
                             std::unique_ptr<WritableFile>* file) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (options.direct ? O_DIRECT : 0);
  Descriptor opened([&] {
    const IoSpan span(&rocksdb::IOStatsContext::open_nanos);
    return RetryOnInterrupt([&] { return open(path.c_str(), flags, 0644); });
  }());
  const int fd = opened.get();
  if (fd < 0) {
    if (errno == EINVAL && options.direct) {
      return Status::NotSupported("While open a file for direct writing: " + path,
                                  "the file system does not support O_DIRECT");
    }
    return PosixError("open a file for appending", path, errno);
  }
  auto result = std::make_unique<PosixWritableFile>(path, fd, options);
  opened.Release();
  struct stat st;
  if (fstat(fd, &st) != 0) return PosixError("fstat", path, errno);
  auto length = static_cast<uint64_t>(st.st_size);
  // Without O_TRUNC: after that, even on an empty file, ext4 writes all data at the close.
  if (length > 0 && old == OldContents::kCutOff) {
    if (RetryOnInterrupt([&] { return ftruncate(fd, 0); }) != 0) return PosixError("cut", path, errno);
    length = 0;
  }
  Status s = result->Start(old == OldContents::kWriteOver ? 0 : length, length);
  if (s.ok()) *file = std::move(result);
  return s;
}

}  // namespace compassdb
