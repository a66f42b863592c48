// SPDX-License-Identifier: Apache-2.0
// Files that are written in place. Batches of direct writes use the thread's
// io_uring, if there is one, like reads. Buffered writes are copies into the page
// cache, which a ring would only make slower.
//
// After a failed fdatasync the kernel may have dropped the dirty pages and would
// report success to the next one: such a file refuses all later writes.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "env/aligned_reads.h"
#include "env/descriptor.h"
#include "env/io_ring.h"
#include "env/posix_error.h"
#include "env/posix_files.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

namespace {

bool IsAligned(const char* memory) {
  return reinterpret_cast<uintptr_t>(memory) % kDirectIoAlignment == 0;
}

class PosixPageFile : public PageFile {
 public:
  // `reads` has a descriptor of its own.
  PosixPageFile(std::string path, int fd, const FileOptions& options,
                std::unique_ptr<RandomAccessFile> reads)
      : path_(std::move(path)), options_(options), reads_(std::move(reads)), fd_(fd) {}
  ~PosixPageFile() override {
    if (fd_ >= 0) close(fd_);
  }

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return reads_->Read(offset, n, result, scratch);
  }
  Status ReadWithin(uint64_t offset, size_t n, Slice* result, char* room) const override {
    return reads_->ReadWithin(offset, n, result, room);
  }
  void MultiRead(ReadRequest* requests, size_t n) const override {
    reads_->MultiRead(requests, n);
  }
  void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
    reads_->AddReads(requests, n, batch);
  }
  size_t ReadAlignment() const override { return reads_->ReadAlignment(); }
  void Prefetch(uint64_t offset, size_t n) const override { reads_->Prefetch(offset, n); }

  Status Write(uint64_t offset, const Slice& data) override {
    WriteRequest request;
    request.offset = offset;
    request.data = data;
    WriteAll(&request, 1, /*ring=*/nullptr);
    return request.status;
  }

  void MultiWrite(WriteRequest* requests, size_t n) override {
    std::shared_ptr<IoRing> ring;
    if (options_.direct && n > 1) ring = IoRing::OfThread();
    WriteAll(requests, n, ring.get());
  }

  Status Sync() override {
    Status s = CheckUsable("fdatasync");
    if (!s.ok()) return s;
    if (RetryOnInterrupt([&] { return fdatasync(fd_); }) == 0) return s;
    return Fail(PosixError("fdatasync", path_, errno));
  }

  Status Truncate(uint64_t size) override {
    Status s = CheckUsable("ftruncate");
    if (!s.ok()) return s;
    const int r = RetryOnInterrupt([&] { return ftruncate(fd_, static_cast<off_t>(size)); });
    return r == 0 ? s : PosixError("ftruncate to " + std::to_string(size), path_, errno);
  }

  Status Close() override {
    if (fd_ < 0) return Status::OK();
    // Not repeated after EINTR: on Linux the descriptor is closed either way.
    const int r = close(std::exchange(fd_, -1));
    return r == 0 || errno == EINTR ? Status::OK() : PosixError("close", path_, errno);
  }

 private:
  Status CheckUsable(const char* operation) const {
    if (process_.Inherited()) return InheritedStatus();
    if (fd_ < 0) {
      return Status::IOError("While " + std::string(operation) + ": " + path_,
                             "the file is closed");
    }
    if (!failed_.load(std::memory_order_acquire)) return Status::OK();
    MutexLock l(&mu_);
    return failure_;
  }

  Status Fail(const Status& s) {
    MutexLock l(&mu_);
    if (!failed_.load(std::memory_order_relaxed)) failure_ = s;
    failed_.store(true, std::memory_order_release);
    return failure_;
  }

  // Without a ring one by one. Every request gets its status.
  void WriteAll(WriteRequest* requests, size_t n, IoRing* ring) const {
    std::vector<const char*> sources(n);
    AlignedBuffer bounce;
    Prepare(requests, n, &bounce, &sources);
    std::vector<RingTransfer> transfers(ring != nullptr ? n : 0);
    size_t outstanding = 0;
    for (size_t i = 0; i < transfers.size(); ++i) {
      if (!requests[i].status.ok() || requests[i].data.empty()) continue;
      RingTransfer& t = transfers[i];
      t.fd = fd_;
      t.write = true;
      t.buffer = const_cast<char*>(sources[i]);
      t.length = requests[i].data.size();
      t.offset = requests[i].offset;
      t.outstanding = &outstanding;
      ring->Queue(&t);
    }
    if (ring != nullptr) ring->Wait(&outstanding);
    for (size_t i = 0; i < n; ++i) {
      WriteRequest& r = requests[i];
      if (!r.status.ok()) continue;
      size_t done = 0;
      if (ring != nullptr) {
        done = transfers[i].done;
        if (transfers[i].error != 0 && !transfers[i].NotPerformed()) {
          r.status = WriteError("io_uring write", r, transfers[i].error);
          continue;
        }
      }
      r.status = WriteFrom(done, sources[i], r);
    }
  }

  // Sets the statuses, and where each request's bytes are written from: aligned memory, if the
  // file is direct.
  void Prepare(WriteRequest* requests, size_t n, AlignedBuffer* bounce,
               std::vector<const char*>* sources) const {
    size_t bounced = 0;
    for (size_t i = 0; i < n; ++i) {
      WriteRequest& r = requests[i];
      r.status = CheckUsable("pwrite");
      if (r.status.ok()) r.status = CheckPageWrite(path_, options_, r.offset, r.data.size());
      (*sources)[i] = r.data.data();
      if (r.status.ok() && options_.direct && !IsAligned(r.data.data())) bounced += r.data.size();
    }
    if (bounced == 0) return;
    char* at = bounce->Reserve(kDirectIoAlignment, bounced);
    for (size_t i = 0; i < n; ++i) {
      WriteRequest& r = requests[i];
      if (!r.status.ok() || IsAligned(r.data.data())) continue;
      if (at == nullptr) {
        r.status = Status::MemoryLimit("While pwrite: " + path_,
                                       "no buffer of " + std::to_string(bounced) + " bytes");
        continue;
      }
      memcpy(at, r.data.data(), r.data.size());
      (*sources)[i] = at;
      at += r.data.size();
    }
  }

  Status WriteFrom(size_t done, const char* source, const WriteRequest& r) const {
    while (done < r.data.size()) {
      const ssize_t written = RetryOnInterrupt([&] {
        return pwrite(fd_, source + done, r.data.size() - done,
                      static_cast<off_t>(r.offset + done));
      });
      if (written < 0) return WriteError("pwrite", r, errno);
      if (written == 0) return WriteError("pwrite", r, EIO);  // prevents an endless loop
      done += static_cast<size_t>(written);
    }
    return Status::OK();
  }

  Status WriteError(const char* operation, const WriteRequest& r, int error) const {
    return PosixError(std::string(operation) + " offset " + std::to_string(r.offset) + " len " +
                          std::to_string(r.data.size()),
                      path_, error);
  }

  const ProcessMark process_;
  const std::string path_;
  const FileOptions options_;
  const std::unique_ptr<RandomAccessFile> reads_;
  int fd_;
  std::atomic<bool> failed_{false};  // failure_ is set
  mutable Mutex mu_;
  Status failure_ GUARDED_BY(mu_);
};

}  // namespace

Status OpenPosixPageFile(const std::string& path, const FileOptions& options, bool create,
                         std::unique_ptr<PageFile>* file) {
  const int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0) |
                    (options.direct ? O_DIRECT : 0);
  Descriptor fd(RetryOnInterrupt([&] { return open(path.c_str(), flags, 0644); }));
  if (fd.get() < 0) {
    if (errno == EINVAL && options.direct) {
      return Status::NotSupported("While open a file for direct writing in place: " + path,
                                  "the file system does not support O_DIRECT");
    }
    return PosixError("open a file for writing in place", path, errno);
  }
  const int read_fd = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  if (read_fd < 0) return PosixError("open a file for writing in place", path, errno);
  if (!options.direct) posix_fadvise(read_fd, 0, 0, POSIX_FADV_RANDOM);
  std::unique_ptr<RandomAccessFile> reads = NewPosixRandomAccessFile(path, read_fd, options.direct);
  *file = std::make_unique<PosixPageFile>(path, fd.get(), options, std::move(reads));
  fd.Release();
  return Status::OK();
}

}  // namespace compassdb
