// SPDX-License-Identifier: Apache-2.0
// The information log: LOG in the database directory (in db_log_dir the name begins
// with the database's path, SharedInfoLogName), one line per message with time and thread. At open the previous LOG becomes
// LOG.old.<micros>; max_log_file_size and log_file_time_to_roll roll it while
// it runs; keep_log_file_num old ones stay. Header lines (the options) are in each of them.
//
// Thread safety: all methods. A failing disk never fails the caller: messages are lost.
#pragma once

#include <memory>
#include <string>

#include "env/clock.h"
#include "env/file_system.h"
#include "rocksdb/env.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

struct InfoLogOptions {
  uint64_t max_file_bytes = 0;  // 0: never rolled for its size
  uint64_t max_age_seconds = 0;  // 0: never rolled for its age
  size_t keep_files = 1000;
  rocksdb::InfoLogLevel level = rocksdb::InfoLogLevel::INFO_LEVEL;
};

class InfoLog final : public rocksdb::Logger {
 public:
  // Creates `dir` if it is missing, renames an old log of this name and starts a new one. InvalidArgument if the file
  // of this name is no information log.
  static Status Open(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock, const std::string& dir,
                     const std::string& name, const InfoLogOptions& options, std::shared_ptr<rocksdb::Logger>* log);
  ~InfoLog() override;

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list args) override;
  void LogHeader(const char* format, va_list args) override;
  void Flush() override;
  size_t GetLogFileSize() const override;

 private:
  InfoLog(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock, const std::string& dir,
          const std::string& name, const InfoLogOptions& options)
      : rocksdb::Logger(options.level),
        fs_(std::move(fs)),
        clock_(std::move(clock)),
        dir_(dir),
        name_(name),
        options_(options) {}
  Status CloseImpl() override;
  Status CheckPlace() const;
  std::string OldPath(uint64_t micros) const;
  Status Roll() REQUIRES(mu_);
  void DeleteOld() REQUIRES(mu_);
  // False if the line is lost.
  bool Write(const std::string& line, uint64_t now) REQUIRES(mu_);

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<Clock> clock_;
  const std::string dir_;
  const std::string name_;
  const InfoLogOptions options_;
  const ProcessMark process_;
  mutable Mutex mu_;
  std::unique_ptr<WritableFile> file_ GUARDED_BY(mu_);
  uint64_t opened_micros_ GUARDED_BY(mu_) = 0;
  std::string header_ GUARDED_BY(mu_);  // for the next file
};

// The directory and the name of a database's LOG.
struct InfoLogPlace {
  std::string dir, name;
};
Status InfoLogPlaceOf(FileSystem* fs, const std::string& dbname, const std::string& db_log_dir, InfoLogPlace* place);

// One line to `log` (may be null), at the level of the name.
void LogInfo(rocksdb::Logger* log, const std::string& line);
void LogWarning(rocksdb::Logger* log, const std::string& line);
void LogError(rocksdb::Logger* log, const std::string& line);

}  // namespace compassdb
