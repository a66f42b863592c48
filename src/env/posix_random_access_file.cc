// SPDX-License-Identifier: Apache-2.0
// Positional reads. With O_DIRECT, requests that are not aligned go through an
// aligned buffer. Batches use the thread's io_uring, if there is one.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "env/aligned_reads.h"
#include "env/descriptor.h"
#include "env/io_ring.h"
#include "env/io_stats.h"
#include "env/posix_error.h"
#include "env/posix_files.h"
#include "env/posix_open.h"
#include "env/read_batch.h"

namespace compassdb {

namespace {

constexpr size_t kMaxTriedRead = 64 << 10;

// Offsets, lengths and memory of direct reads are multiples of this: often a sector, less than a page.
size_t DirectReadAlignment([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx about = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
      (about.stx_mask & STATX_DIOALIGN) != 0) {
    const size_t grid = std::max(about.stx_dio_offset_align, about.stx_dio_mem_align);
    if (std::has_single_bit(grid)) return grid;
  }
#endif
  return kDirectIoAlignment;
}

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, int fd, bool direct)
      : path_(std::move(path)),
        fd_(fd),
        direct_(direct),
        tries_page_cache_(!direct),
        grid_(direct ? DirectReadAlignment(fd) : 1) {}
  ~PosixRandomAccessFile() override { close(fd_); }

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    const bool aligned =
        ((offset | n | reinterpret_cast<uintptr_t>(scratch)) & (grid_ - 1)) == 0;
    if (direct_ && !aligned) return ReadThroughBounce(offset, n, result, scratch);
    size_t got = 0;
    Status s = ReadFully(offset, n, scratch, &got);
    if (s.ok()) *result = Slice(scratch, got);
    return s;
  }

  Status ReadWithin(uint64_t offset, size_t n, Slice* result, char* room) const override {
    const size_t before = offset & (grid_ - 1);
    const size_t wanted = (before + n + grid_ - 1) & ~(grid_ - 1);
    size_t got = 0;
    Status s = ReadFully(offset - before, wanted, room, &got);
    const size_t usable = s.ok() && got > before ? std::min(n, got - before) : 0;
    *result = Slice(room + before, usable);
    return s;
  }

  void MultiRead(ReadRequest* requests, size_t n) const override {
    if (n <= 1) return RandomAccessFile::MultiRead(requests, n);
    ReadBatch batch;
    if (batch.ring() == nullptr) return ReadWithoutRing(requests, n);
    AddReads(requests, n, &batch);
    batch.Wait();
  }

  void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
    // Reads from the page cache cost less as separate calls.
    for (size_t end = 0, begin = 0; begin < n; begin = end + 1) {
      for (end = begin; end < n && !ReadFromPageCache(&requests[end]); ++end) {
      }
      if (end > begin) AddToRing(requests + begin, end - begin, batch);
    }
  }

  size_t ReadAlignment() const override { return grid_; }

  void Prefetch(uint64_t offset, size_t n) const override {
    if (direct_) return;
    posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(n), POSIX_FADV_WILLNEED);
  }

 private:
  void AddToRing(ReadRequest* requests, size_t n, ReadBatch* batch) const {
    IoRing* const ring = batch->ring();
    if (ring == nullptr) {
      for (size_t i = 0; i < n; ++i) Prefetch(requests[i].offset, requests[i].length);
      return RandomAccessFile::AddReads(requests, n, batch);
    }
    auto part = std::make_unique<RingPart>(this, requests, n);
    part->Queue(ring, batch->outstanding());
    batch->Add(std::move(part));
  }

  // False if it is not all cached, or so long that a useless part would cost more than the ring.
  bool ReadFromPageCache(ReadRequest* r) const {
    if (!tries_page_cache_.load(std::memory_order_relaxed) || r->length > kMaxTriedRead) return false;
    const IoSpan span(&rocksdb::IOStatsContext::read_nanos, &rocksdb::IOStatsContext::cpu_read_nanos);
    struct iovec iov = {r->scratch, r->length};
    const ssize_t got = preadv2(fd_, &iov, 1, static_cast<off_t>(r->offset), RWF_NOWAIT);
    if (got < 0 && errno == EOPNOTSUPP) tries_page_cache_.store(false, std::memory_order_relaxed);
    if (got != static_cast<ssize_t>(r->length)) return false;
    CountIo(&rocksdb::IOStatsContext::bytes_read, r->length);
    r->status = Status::OK();
    r->result = Slice(r->scratch, r->length);
    return true;
  }

  // The reads of one batch that the ring performs.
  class RingPart final : public ReadBatch::Part {
   public:
    RingPart(const PosixRandomAccessFile* file, ReadRequest* requests, size_t n)
        : file_(file), reads_(file->path_, file->grid_, requests, n) {}

    void Queue(IoRing* ring, size_t* outstanding) {
      if (!reads_.ok()) return;
      ring_reads_.resize(reads_.spans().size());
      for (size_t i = 0; i < ring_reads_.size(); ++i) {
        const AlignedReads::Span& span = reads_.spans()[i];
        RingTransfer& r = ring_reads_[i];
        r.fd = file_->fd_;
        r.buffer = span.buffer;
        r.length = span.length;
        r.offset = span.offset;
        r.grid = file_->grid_;
        r.outstanding = outstanding;
        ring->Queue(&r);
      }
    }

    void Finish() override {
      if (!reads_.ok()) return;
      for (size_t i = 0; i < ring_reads_.size(); ++i) {
        AlignedReads::Span& span = reads_.spans()[i];
        const RingTransfer& r = ring_reads_[i];
        span.got = r.done;
        CountIo(&rocksdb::IOStatsContext::bytes_read, r.done);
        if (r.NotPerformed()) {
          size_t more = 0;
          span.status = file_->ReadFully(span.offset + span.got, span.length - span.got,
                                         span.buffer + span.got, &more);
          span.got += more;
        } else if (r.error != 0) {
          span.status = file_->ReadError("io_uring read", span.offset, span.length, r.error);
        }
      }
      reads_.Deliver();
    }

   private:
    const PosixRandomAccessFile* const file_;
    AlignedReads reads_;
    std::vector<RingTransfer> ring_reads_;
  };

  Status ReadError(const char* operation, uint64_t offset, size_t n, int error) const {
    return PosixError(std::string(operation) + " offset " + std::to_string(offset) + " len " +
                          std::to_string(n),
                      path_, error);
  }

  // Reads what the page cache has, asks the kernel to read the rest of all
  // requests, and only then waits for them one by one.
  void ReadWithoutRing(ReadRequest* requests, size_t n) const {
    if (direct_) return ReadMergedSpans(requests, n);
    size_t pending = 0;
    for (size_t i = 0; i < n; ++i) {
      ReadRequest& r = requests[i];
      r.status = Status::OK();
      r.result = Slice(r.scratch, 0);
      if (ReadFromPageCache(&r)) continue;
      // Short, long, absent, or RWF_NOWAIT unknown here: read it in the second pass.
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

  void ReadMergedSpans(ReadRequest* requests, size_t n) const {
    AlignedReads reads(path_, grid_, requests, n);
    if (!reads.ok()) return;
    for (AlignedReads::Span& span : reads.spans()) {
      span.status = ReadFully(span.offset, span.length, span.buffer, &span.got);
    }
    reads.Deliver();
  }

  Status ReadFully(uint64_t offset, size_t n, char* dst, size_t* got) const {
    *got = 0;
    const IoSpan span(&rocksdb::IOStatsContext::read_nanos, &rocksdb::IOStatsContext::cpu_read_nanos);
    while (*got < n) {
      const ssize_t r = RetryOnInterrupt([&] {
        return pread(fd_, dst + *got, n - *got, static_cast<off_t>(offset + *got));
      });
      if (r < 0) return ReadError("pread", offset, n, errno);
      if (r == 0) break;
      *got += static_cast<size_t>(r);
      CountIo(&rocksdb::IOStatsContext::bytes_read, static_cast<uint64_t>(r));
      // A direct read that ends off the grid is at the end of the file.
      if (direct_ && (*got & (grid_ - 1)) != 0) break;
    }
    return Status::OK();
  }

  Status ReadThroughBounce(uint64_t offset, size_t n, Slice* result, char* scratch) const {
    AlignedBuffer owner;
    char* const buffer = owner.Reserve(grid_, n + 2 * grid_);
    if (buffer == nullptr) {
      return Status::MemoryLimit("While pread: " + path_,
                                 "no buffer of " + std::to_string(n + 2 * grid_) + " bytes");
    }
    Slice read;
    Status s = ReadWithin(offset, n, &read, buffer);
    memcpy(scratch, read.data(), read.size());
    *result = Slice(scratch, read.size());
    return s;
  }

  const std::string path_;
  const int fd_;
  const bool direct_;
  mutable std::atomic<bool> tries_page_cache_;  // false: RWF_NOWAIT does not work here
  const size_t grid_;  // of reads; 1 if they are not direct
};

class PosixSequentialFile : public SequentialFile {
 public:
  PosixSequentialFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixSequentialFile() override { close(fd_); }

  Status Read(size_t n, Slice* result, char* scratch) override {
    size_t got = 0;
    *result = Slice(scratch, 0);
    const IoSpan span(&rocksdb::IOStatsContext::read_nanos, &rocksdb::IOStatsContext::cpu_read_nanos);
    while (got < n) {
      const ssize_t r = RetryOnInterrupt([&] { return read(fd_, scratch + got, n - got); });
      if (r < 0) return PosixError("read", path_, errno);
      if (r == 0) break;
      CountIo(&rocksdb::IOStatsContext::bytes_read, static_cast<uint64_t>(r));
      got += static_cast<size_t>(r);
      *result = Slice(scratch, got);
    }
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
  int fd = -1;
  if (Status s = OpenRegularFile("open a file for sequential read", path, 0, &fd); !s.ok()) return s;
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Descriptor opened(fd);
  *file = std::make_unique<PosixSequentialFile>(path, fd);
  opened.Release();
  return Status::OK();
}

Status OpenPosixRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<RandomAccessFile>* file) {
  int fd = -1;
  Status s = options.direct ? OpenRegularFile("open a file for direct random read", path, O_DIRECT, &fd)
                            : OpenRegularFile("open a file for random read", path, 0, &fd);
  if (!s.ok()) return s;
  if (!options.direct) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  *file = NewPosixRandomAccessFile(path, fd, options.direct);
  return Status::OK();
}

std::unique_ptr<RandomAccessFile> NewPosixRandomAccessFile(const std::string& path, int fd,
                                                           bool direct) {
  Descriptor opened(fd);
  auto file = std::make_unique<PosixRandomAccessFile>(path, fd, direct);
  opened.Release();
  return file;
}

}  // namespace compassdb
