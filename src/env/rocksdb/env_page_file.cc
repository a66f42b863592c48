// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/env_page_file.h"

#include <cstring>
#include <utility>

#include "util/mutex.h"

namespace compassdb {

Status Named(const Status& s, const char* operation, const std::string& path) {
  if (s.ok() || s.IsNotFound() || s.IsNotSupported()) return s;
  if (s.ToString().find(path) != std::string::npos) return s;
  const std::string where = "While " + std::string(operation) + ": " + path;
  if (s.IsNoSpace()) return Status::NoSpace(where, s.ToString());
  if (s.IsPathNotFound()) return Status::PathNotFound(where, s.ToString());
  if (s.IsCorruption()) return Status::Corruption(where, s.ToString());
  return Status::IOError(where, s.ToString());
}

namespace {

constexpr const char* kOpen = "open a file for writing in place";

Status NoSuchFiles(rocksdb::Env* env, const std::string& path, const std::string& why) {
  return Status::NotSupported("While " + std::string(kOpen) + ": " + path,
                              std::string("the environment ") + env->Name() + " cannot: " + why);
}

Status ClosedError(const char* operation, const std::string& path) {
  return Status::IOError("While " + std::string(operation) + ": " + path, "the file is closed");
}

class AdapterPageFile final : public PageFile {
 public:
  AdapterPageFile(rocksdb::Env* env, std::string path, std::unique_ptr<rocksdb::RandomRWFile> file)
      : env_(env), path_(std::move(path)), file_(std::move(file)) {}
  ~AdapterPageFile() override { AdapterPageFile::Close().PermitUncheckedError(); }

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    MutexLock l(&mu_);
    *result = Slice(scratch, 0);
    if (closed_) return ClosedError("pread", path_);
    Slice read;
    Status s = file_->Read(offset, n, &read, scratch);
    if (!s.ok()) return Named(s, "pread", path_);
    if (read.data() != scratch && !read.empty()) memmove(scratch, read.data(), read.size());
    *result = Slice(scratch, read.size());
    return s;
  }
  Status Write(uint64_t offset, const Slice& data) override {
    MutexLock l(&mu_);
    Status s = CheckUsable("pwrite");
    return s.ok() ? Named(file_->Write(offset, data), "pwrite", path_) : s;
  }
  Status Sync() override {
    MutexLock l(&mu_);
    Status s = CheckUsable("fdatasync");
    if (!s.ok()) return s;
    s = file_->Flush();
    if (s.ok()) s = file_->Sync();
    if (!s.ok()) failed_ = Named(s, "fdatasync", path_);
    return failed_;
  }
  Status Truncate(uint64_t size) override {
    MutexLock l(&mu_);
    Status s = CheckUsable("truncate");
    return s.ok() ? Named(env_->Truncate(path_, size), "truncate", path_) : s;
  }
  Status Close() override {
    MutexLock l(&mu_);
    if (std::exchange(closed_, true)) return Status::OK();
    return Named(file_->Close(), "close", path_);
  }

 private:
  Status CheckUsable(const char* operation) const REQUIRES(mu_) {
    return closed_ ? ClosedError(operation, path_) : failed_;
  }

  rocksdb::Env* const env_;
  const std::string path_;
  mutable Mutex mu_;
  const std::unique_ptr<rocksdb::RandomRWFile> file_ PT_GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  Status failed_ GUARDED_BY(mu_);  // of the first failed sync
};

class EngineRandomRWFile final : public rocksdb::RandomRWFile {
 public:
  EngineRandomRWFile(std::string path, std::unique_ptr<PageFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status Write(uint64_t offset, const Slice& data) override { return file_->Write(offset, data); }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, 0);
    return closed_ ? ClosedError("pread", path_) : file_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override {
    closed_ = true;
    return file_->Close();
  }

 private:
  const std::string path_;
  const std::unique_ptr<PageFile> file_;
  bool closed_ = false;
};

// Creates the file, or empties it, and opens it. An Env without files of this kind is an error
// before anything is lost.
Status CreateAndOpen(rocksdb::Env* env, const std::string& path,
                     std::unique_ptr<rocksdb::RandomRWFile>* file) {
  const rocksdb::EnvOptions options;
  if (env->FileExists(path).ok()) {
    Status s = env->NewRandomRWFile(path, file, options);
    return s.ok() ? env->Truncate(path, 0) : s;
  }
  std::unique_ptr<rocksdb::WritableFile> empty;
  Status s = env->NewWritableFile(path, &empty, options);
  if (!s.ok()) return s;
  s = empty->Close();
  empty.reset();
  if (s.ok()) s = env->NewRandomRWFile(path, file, options);
  // The first failure is the one to report.
  if (!s.ok()) env->DeleteFile(path).PermitUncheckedError();
  return s;
}

}  // namespace

Status OpenEnvPageFile(rocksdb::Env* env, const std::string& path, const FileOptions& options,
                       bool create, std::unique_ptr<PageFile>* file) {
  if (options.direct) return NoSuchFiles(env, path, "not directly");
  std::unique_ptr<rocksdb::RandomRWFile> base;
  Status s = create ? CreateAndOpen(env, path, &base)
                    : env->NewRandomRWFile(path, &base, rocksdb::EnvOptions());
  if (s.IsNotSupported()) return NoSuchFiles(env, path, s.ToString());
  if (s.ok()) *file = std::make_unique<AdapterPageFile>(env, path, std::move(base));
  return Named(s, kOpen, path);
}

std::unique_ptr<rocksdb::RandomRWFile> NewRandomRWFileOf(const std::string& path,
                                                         std::unique_ptr<PageFile> file) {
  return std::make_unique<EngineRandomRWFile>(path, std::move(file));
}

}  // namespace compassdb
