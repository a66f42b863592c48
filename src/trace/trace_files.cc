// SPDX-License-Identifier: Apache-2.0
// Files of traces. A record is 8 bytes of time, a byte of type, 4 bytes of length and then as many
// bytes (little-endian); a writer takes records as they are, a reader gives one at a time.
#include <algorithm>

#include "rocksdb/block_cache_trace_writer.h"
#include "rocksdb/trace_reader_writer.h"
#include "util/coding.h"

namespace rocksdb {
namespace {

constexpr size_t kHeaderBytes = 8 + 1 + 4;

class FileTraceWriter final : public TraceWriter {
 public:
  explicit FileTraceWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}
  ~FileTraceWriter() override {
    if (file_ != nullptr) Close().PermitUncheckedError();
  }
  Status Write(const Slice& data) override {
    if (file_ == nullptr) return Status::InvalidArgument("the trace is closed");
    Status s = file_->Append(data);
    if (s.ok()) bytes_ += data.size();
    return s;
  }
  Status Close() override {
    if (file_ == nullptr) return Status::OK();
    Status s = file_->Close();
    file_.reset();
    return s;
  }
  uint64_t GetFileSize() override { return bytes_; }

 private:
  std::unique_ptr<WritableFile> file_;
  uint64_t bytes_ = 0;
};

class FileTraceReader final : public TraceReader {
 public:
  explicit FileTraceReader(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
  Status Read(std::string* data) override {
    if (file_ == nullptr) return Status::InvalidArgument("the trace is closed");
    data->clear();
    const uint64_t begin = offset_;
    Status s = Append(kHeaderBytes, data);
    if (s.ok() && data->empty()) return Status::Incomplete("the trace ends here");
    if (s.ok() && data->size() == kHeaderBytes) {
      const size_t length = compassdb::DecodeFixed32(data->data() + 9);
      s = Append(length, data);
      if (s.ok() && data->size() == kHeaderBytes + length) return s;
    }
    offset_ = begin;
    return s.ok() ? Status::Corruption("the trace ends within a record") : s;
  }
  Status Close() override {
    file_.reset();
    return Status::OK();
  }
  Status Reset() override {
    offset_ = 0;
    return file_ == nullptr ? Status::IOError("TraceReader is closed.") : Status::OK();
  }

 private:
  // Fewer bytes at the end. In parts, because a damaged length must not take all memory.
  Status Append(size_t n, std::string* data) {
    std::string buffer(std::min<size_t>(n, 1 << 20), '\0');
    while (n > 0) {
      const size_t part = std::min(n, buffer.size());
      Slice got;
      Status s = file_->Read(offset_, part, &got, buffer.data());
      if (!s.ok()) return s;
      data->append(got.data(), got.size());
      offset_ += got.size();
      n -= got.size();
      if (got.size() < part) break;
    }
    return Status::OK();
  }

  std::unique_ptr<RandomAccessFile> file_;
  uint64_t offset_ = 0;
};

// The engine records no uses of its block cache.
class RefusedBlockCacheTrace final : public BlockCacheTraceWriter {
 public:
  Status WriteBlockAccess(const BlockCacheTraceRecord&, const Slice&, const Slice&,
                          const Slice&) override {
    return Status::NotSupported("traces of the block cache");
  }
  Status WriteHeader() override { return Status::NotSupported("traces of the block cache"); }
};

}  // namespace

Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceWriter>* trace_writer) {
  std::unique_ptr<WritableFile> file;
  Status s = env->NewWritableFile(trace_filename, &file, env_options);
  if (s.ok()) *trace_writer = std::make_unique<FileTraceWriter>(std::move(file));
  return s;
}

Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceReader>* trace_reader) {
  std::unique_ptr<RandomAccessFile> file;
  Status s = env->NewRandomAccessFile(trace_filename, &file, env_options);
  if (s.ok()) *trace_reader = std::make_unique<FileTraceReader>(std::move(file));
  return s;
}

const uint64_t BlockCacheTraceRecord::kReservedGetId = 0;

std::unique_ptr<BlockCacheTraceWriter> NewBlockCacheTraceWriter(
    SystemClock*, const BlockCacheTraceWriterOptions&, std::unique_ptr<TraceWriter>&&) {
  return std::make_unique<RefusedBlockCacheTrace>();
}

}  // namespace rocksdb
