// SPDX-License-Identifier: Apache-2.0
#include "db/report/info_log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "manifest/own_file.h"
#include "rocksdb/options.h"
#include "util/c_locale.h"

namespace compassdb {
namespace {

// There may be any number of families: not every file has the options of all.
constexpr size_t kMaxHeaderBytes = 1 << 20;

// "2026/11/21-06:45:41.123456 7f3a "
std::string LinePrefix(uint64_t micros) {
  const std::time_t seconds = static_cast<std::time_t>(micros / 1000000);
  std::tm t{};
  localtime_r(&seconds, &t);
  char buffer[96];
  std::snprintf(buffer, sizeof(buffer), "%04d/%02d/%02d-%02d:%02d:%02d.%06d %llx ",
                t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                static_cast<int>(micros % 1000000),
                static_cast<unsigned long long>(
                    std::hash<std::thread::id>()(std::this_thread::get_id())));
  return buffer;
}

std::string FormatLine(const char* format, va_list args) {
  va_list copy;
  va_copy(copy, args);
  const int n = CLocaleVsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  if (n < 0) return format;
  std::string text(static_cast<size_t>(n) + 1, '\0');
  CLocaleVsnprintf(text.data(), text.size(), format, args);
  text.back() = '\n';
  if (n > 0 && text[n - 1] == '\n') text.pop_back();
  return text;
}

}  // namespace

Status InfoLog::Open(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock, const std::string& dir,
                     const std::string& name, const InfoLogOptions& options,
                     std::shared_ptr<rocksdb::Logger>* log) {
  if (Status s = fs->CreateDir(dir); !s.ok()) return s;
  std::shared_ptr<InfoLog> opened(new InfoLog(std::move(fs), std::move(clock), dir, name, options));
  if (Status s = opened->CheckPlace(); !s.ok()) return s;
  {
    MutexLock lock(&opened->mu_);
    if (Status s = opened->Roll(); !s.ok()) return s;
  }
  *log = std::move(opened);
  return Status::OK();
}

InfoLog::~InfoLog() {
  if (process_.Inherited()) return;
  Close().PermitUncheckedError();
}

Status InfoLog::CloseImpl() {
  if (process_.Inherited()) return InheritedStatus();
  MutexLock lock(&mu_);
  if (file_ == nullptr) return Status::OK();
  Status s = file_->Close();
  file_.reset();
  return s;
}

std::string InfoLog::OldPath(uint64_t micros) const {
  return JoinPath(dir_, name_ + ".old." + std::to_string(micros));
}

Status InfoLog::CheckPlace() const {
  const std::string path = JoinPath(dir_, name_);
  if (IsInfoLog(fs_.get(), path)) return Status::OK();
  return Status::InvalidArgument(path, "is no information log of a database, and stays");
}

Status InfoLog::Roll() {
  if (file_ != nullptr) file_->Close().PermitUncheckedError();
  file_.reset();
  const std::string path = JoinPath(dir_, name_);
  opened_micros_ = clock_->NowMicros();
  if (fs_->FileExists(path).ok()) {
    uint64_t micros = opened_micros_;
    while (fs_->FileExists(OldPath(micros)).ok()) ++micros;
    if (Status s = fs_->RenameFile(path, OldPath(micros)); !s.ok()) return s;
  }
  DeleteOld();
  Status s = fs_->NewWritableFile(path, FileOptions(), &file_);
  return s.ok() && !header_.empty() ? file_->Append(header_) : s;
}

void InfoLog::DeleteOld() {
  std::vector<std::string> names;
  if (!fs_->GetChildren(dir_, &names).ok()) return;
  std::vector<uint64_t> old;
  for (const std::string& name : names) {
    uint64_t micros = 0;
    if (ParseInfoLogName(name, name_, &micros) && micros != 0) old.push_back(micros);
  }
  std::sort(old.begin(), old.end());
  const size_t keep = options_.keep_files > 0 ? options_.keep_files - 1 : 0;
  for (size_t i = 0; i + keep < old.size(); ++i) {
    const std::string path = OldPath(old[i]);
    if (IsInfoLog(fs_.get(), path)) fs_->DeleteFile(path).PermitUncheckedError();
  }
}

void InfoLog::Logv(const char* format, va_list args) {
  if (process_.Inherited()) return;
  const uint64_t now = clock_->NowMicros();
  const std::string line = LinePrefix(now) + FormatLine(format, args);
  MutexLock lock(&mu_);
  if (Write(line, now)) file_->Flush().PermitUncheckedError();
}

void InfoLog::LogHeader(const char* format, va_list args) {
  if (process_.Inherited()) return;
  const uint64_t now = clock_->NowMicros();
  const std::string line = LinePrefix(now) + FormatLine(format, args);
  MutexLock lock(&mu_);
  Write(line, now);
  if (header_.size() + line.size() <= kMaxHeaderBytes) header_ += line;
}

bool InfoLog::Write(const std::string& line, uint64_t now) {
  if (file_ == nullptr) return false;
  const uint64_t bytes = file_->Size() - std::min<uint64_t>(file_->Size(), header_.size());
  const bool large = options_.max_file_bytes > 0 && bytes > 0 &&
                     bytes + line.size() > options_.max_file_bytes;
  const bool old = options_.max_age_seconds > 0 &&
                   now > opened_micros_ + options_.max_age_seconds * 1000000;
  if ((large || old) && !Roll().ok()) return false;
  return file_->Append(line).ok();
}

void InfoLog::Flush() {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  if (file_ != nullptr) file_->Flush().PermitUncheckedError();
}

size_t InfoLog::GetLogFileSize() const {
  if (process_.Inherited()) return 0;
  MutexLock lock(&mu_);
  return file_ == nullptr ? 0 : file_->Size();
}

Status InfoLogPlaceOf(FileSystem* fs, const std::string& dbname, const std::string& db_log_dir, InfoLogPlace* place) {
  *place = {dbname, InfoLogFileName("")};
  if (db_log_dir.empty()) return Status::OK();
  std::string absolute;
  Status s = fs->GetAbsolutePath(dbname, &absolute);
  *place = {db_log_dir, SharedInfoLogName(absolute)};
  return s;
}

void LogInfo(rocksdb::Logger* log, const std::string& line) {
  if (log != nullptr) rocksdb::Info(log, "%s", line.c_str());
}

void LogWarning(rocksdb::Logger* log, const std::string& line) {
  if (log != nullptr) rocksdb::Warn(log, "%s", line.c_str());
}

void LogError(rocksdb::Logger* log, const std::string& line) {
  if (log != nullptr) rocksdb::Error(log, "%s", line.c_str());
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                               std::shared_ptr<Logger>* logger) {
  if (options.info_log != nullptr) {
    *logger = options.info_log;
    return Status::OK();
  }
  compassdb::InfoLogOptions log_options;
  log_options.max_file_bytes = options.max_log_file_size;
  log_options.max_age_seconds = options.log_file_time_to_roll;
  log_options.keep_files = options.keep_log_file_num;
  log_options.level = options.info_log_level;
  std::shared_ptr<compassdb::FileSystem> fs = compassdb::FileSystemOfEnv(options.env);
  compassdb::InfoLogPlace place;
  if (Status s = compassdb::InfoLogPlaceOf(fs.get(), dbname, options.db_log_dir, &place); !s.ok()) return s;
  return compassdb::InfoLog::Open(std::move(fs), compassdb::ClockOfEnv(options.env), place.dir, place.name,
                                  log_options, logger);
}

}  // namespace ROCKSDB_NAMESPACE
