// SPDX-License-Identifier: Apache-2.0
// The observer of operations on files (env/observed_file_system.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "rocksdb/status.h"

namespace compassdb {

// One that has ended, well or not.
struct FileOperation {
  enum class Kind { kRead, kAppend, kWriteInPlace, kTruncate, kClose, kFlush, kSync, kRangeSync };
  struct Begin {
    std::chrono::system_clock::time_point date = std::chrono::system_clock::now();
    std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
  };

  Kind kind;
  const std::string& path;
  uint64_t offset;  // 0 if the operation is about no range
  uint64_t length;
  const Begin& begin;
  const rocksdb::Status& status;
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now();
};

// Thread safety: called by any thread, several at once, perhaps under locks of the file's user.
class FileObserver {
 public:
  virtual ~FileObserver() = default;
  virtual void Done(const FileOperation& operation) = 0;
};

// An additional interface of files that are being written: they begin write-back
// (FileOptions::bytes_per_sync) and cut off padding by themselves, and report that.
class ReportsOwnSteps {
 public:
  virtual ~ReportsOwnSteps() = default;
  // Before anything is written. `observer` outlives the file.
  virtual void ReportSteps(FileObserver* observer) = 0;
};

}  // namespace compassdb
