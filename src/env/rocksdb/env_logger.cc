// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/env_logger.h"

#include <cstdio>
#include <ctime>
#include <vector>

#include "util/c_locale.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

namespace {

// Thread safety: every function may be called by any thread.
class EnvLogger : public rocksdb::Logger {
 public:
  EnvLogger(rocksdb::Env* env, std::unique_ptr<rocksdb::WritableFile> file,
            rocksdb::InfoLogLevel level)
      : rocksdb::Logger(level), env_(env), file_(std::move(file)) {}
  ~EnvLogger() override {
    if (!closed_ && !process_.Inherited()) {
      closed_ = true;
      EnvLogger::CloseImpl().PermitUncheckedError();
    }
  }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    if (process_.Inherited()) return;
    const std::string line = FormatLine(format, ap);
    MutexLock l(&mu_);
    if (file_ == nullptr) return;
    // A log that cannot be written must not fail what it reports on.
    file_->Append(line).PermitUncheckedError();
    size_ += line.size();
    const uint64_t now = env_->NowMicros();
    if (now - last_flush_micros_ >= kFlushEveryMicros) {
      last_flush_micros_ = now;
      file_->Flush().PermitUncheckedError();
    }
  }
  void Flush() override {
    if (process_.Inherited()) return;
    MutexLock l(&mu_);
    if (file_ != nullptr) file_->Flush().PermitUncheckedError();
  }
  size_t GetLogFileSize() const override {
    if (process_.Inherited()) return 0;
    MutexLock l(&mu_);
    return size_;
  }

 protected:
  rocksdb::Status CloseImpl() override {
    if (process_.Inherited()) return InheritedStatus();
    MutexLock l(&mu_);
    if (file_ == nullptr) return rocksdb::Status::OK();
    rocksdb::Status s = file_->Close();
    file_.reset();
    return s;
  }

 private:
  static constexpr uint64_t kFlushEveryMicros = 1000 * 1000;

  std::string FormatLine(const char* format, va_list ap) const {
    const uint64_t now = env_->NowMicros();
    const auto seconds = static_cast<time_t>(now / 1000000);
    struct tm t;
    localtime_r(&seconds, &t);
    char head[80];
    snprintf(head, sizeof(head), "%04d/%02d/%02d-%02d:%02d:%02d.%06d %llu ", t.tm_year + 1900,
             t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
             static_cast<int>(now % 1000000),
             static_cast<unsigned long long>(env_->GetThreadID()));
    std::string line = head;
    va_list copy;
    va_copy(copy, ap);
    const int n = CLocaleVsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    if (n > 0) {
      const size_t start = line.size();
      line.resize(start + static_cast<size_t>(n) + 1);
      CLocaleVsnprintf(line.data() + start, static_cast<size_t>(n) + 1, format, ap);
      line.pop_back();  // the terminating zero
    }
    if (line.back() != '\n') line.push_back('\n');
    return line;
  }

  const ProcessMark process_;
  rocksdb::Env* const env_;
  mutable Mutex mu_;
  std::unique_ptr<rocksdb::WritableFile> file_ GUARDED_BY(mu_);
  size_t size_ GUARDED_BY(mu_) = 0;
  uint64_t last_flush_micros_ GUARDED_BY(mu_) = 0;
};

}  // namespace

rocksdb::Status NewEnvLogger(rocksdb::Env* env, const std::string& path,
                             std::shared_ptr<rocksdb::Logger>* logger) {
  logger->reset();
  std::unique_ptr<rocksdb::WritableFile> file;
  rocksdb::Status s = env->NewWritableFile(path, &file, rocksdb::EnvOptions());
  if (!s.ok()) return s;
  *logger = std::make_shared<EnvLogger>(env, std::move(file), rocksdb::InfoLogLevel::INFO_LEVEL);
  return s;
}

}  // namespace compassdb
