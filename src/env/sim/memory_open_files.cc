// SPDX-License-Identifier: Apache-2.0
#include "env/sim/memory_open_files.h"

#include <mutex>
#include <shared_mutex>

#include "env/clock.h"

namespace compassdb {

namespace {

uint64_t NowSeconds() { return SystemClock()->NowMicros() / 1000000; }

// The common part of all open files.
class Handle {
 public:
  Handle(const Power* power, std::string path, std::shared_ptr<MemoryFile> file)
      : path_(std::move(path)), file_(std::move(file)), power_(power), epoch_(power->epoch()) {}

 protected:
  Status Check(const char* operation) const {
    if (power_->epoch() == epoch_) return Status::OK();
    return Status::IOError("While " + std::string(operation) + ": " + path_,
                           "the file was open during a power cut");
  }
  Status CheckOpen(const char* operation) const {
    if (closed_) {
      return Status::IOError("While " + std::string(operation) + ": " + path_,
                             "the file is closed");
    }
    return Check(operation);
  }
  Status CloseHandle() {
    if (closed_) return Status::OK();
    closed_ = true;
    return Check("close");
  }
  const std::string path_;
  const std::shared_ptr<MemoryFile> file_;
  const Power* const power_;

 private:
  const uint64_t epoch_;
  bool closed_ = false;
};

class MemorySequentialFile : public SequentialFile, private Handle {
 public:
  using Handle::Handle;
  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = Slice(scratch, 0);
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = Check("read");
    if (!s.ok()) return s;
    const size_t got = file_->Read(position_, n, scratch);
    position_ += got;
    *result = Slice(scratch, got);
    return s;
  }
  Status Skip(uint64_t n) override {
    position_ += n;
    return Check("skip");
  }

 private:
  uint64_t position_ = 0;
};

class MemoryRandomAccessFile : public RandomAccessFile, private Handle {
 public:
  using Handle::Handle;
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = Check("pread");
    if (s.ok()) *result = Slice(scratch, file_->Read(offset, n, scratch));
    return s;
  }
};

class MemoryWritableFile : public WritableFile, protected Handle {
 public:
  using Handle::Handle;
  Status Append(const Slice& data) override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("append");
    if (s.ok()) file_->Append(data, NowSeconds());
    return s;
  }
  Status Flush() override { return CheckOpen("flush"); }
  Status Sync() override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("fdatasync");
    if (s.ok()) file_->Sync();
    return s;
  }
  Status Close() override { return CloseHandle(); }
  uint64_t Size() const override { return file_->Size(); }
};

class MemoryReusedFile : public MemoryWritableFile {
 public:
  using MemoryWritableFile::MemoryWritableFile;
  Status Append(const Slice& data) override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("append");
    if (!s.ok()) return s;
    file_->Write(size_, data, NowSeconds());
    size_ += data.size();
    return s;
  }
  uint64_t Size() const override { return size_; }

 private:
  uint64_t size_ = 0;
};

class MemoryPageFile : public PageFile, private Handle {
 public:
  MemoryPageFile(const Power* power, const std::string& path, const FileOptions& options,
                 std::shared_ptr<MemoryFile> file)
      : Handle(power, path, std::move(file)), options_(options) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("pread");
    if (s.ok()) *result = Slice(scratch, file_->Read(offset, n, scratch));
    return s;
  }
  Status Write(uint64_t offset, const Slice& data) override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("pwrite");
    if (s.ok()) s = CheckPageWrite(path_, options_, offset, data.size());
    if (s.ok()) file_->Write(offset, data, NowSeconds());
    return s;
  }
  Status Sync() override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("fdatasync");
    if (s.ok()) file_->Sync();
    return s;
  }
  Status Truncate(uint64_t size) override {
    std::shared_lock<std::shared_mutex> power(*power_->mutex());
    Status s = CheckOpen("ftruncate");
    if (s.ok()) file_->Truncate(size);
    return s;
  }
  Status Close() override { return CloseHandle(); }

 private:
  const FileOptions options_;
};

}  // namespace

std::unique_ptr<SequentialFile> NewMemorySequentialFile(const Power* power,
                                                        const std::string& path,
                                                        std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemorySequentialFile>(power, path, std::move(file));
}

std::unique_ptr<RandomAccessFile> NewMemoryRandomAccessFile(const Power* power,
                                                            const std::string& path,
                                                            std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemoryRandomAccessFile>(power, path, std::move(file));
}

std::unique_ptr<WritableFile> NewMemoryWritableFile(const Power* power,
                                                    const std::string& path,
                                                    std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemoryWritableFile>(power, path, std::move(file));
}

std::unique_ptr<WritableFile> NewMemoryReusedFile(const Power* power,
                                                  const std::string& path,
                                                  std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemoryReusedFile>(power, path, std::move(file));
}

std::unique_ptr<PageFile> NewMemoryPageFile(const Power* power, const std::string& path,
                                            const FileOptions& options,
                                            std::shared_ptr<MemoryFile> file) {
  return std::make_unique<MemoryPageFile>(power, path, options, std::move(file));
}

}  // namespace compassdb
