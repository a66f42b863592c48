// SPDX-License-Identifier: Apache-2.0
// Appends records to a log.
//
// Thread safety: one thread at a time.
// Invariant: after a failed call nothing more is written. What the file holds
// from there on is unknown, and a record after it could be taken for a valid
// successor of one that was lost; the owner starts a new log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "log/log_format.h"

namespace compassdb {

class LogWriter {
 public:
  // `file` is empty, or a log of the same number that ends on a whole record.
  LogWriter(std::unique_ptr<WritableFile> file, std::string path, uint64_t log_number);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Buffered: Flush writes it to the kernel, Sync makes it durable.
  Status AddRecord(const Slice& record) { return AddRecord(record, Slice()); }
  // The record is the two parts, one after the other.
  Status AddRecord(const Slice& head, const Slice& body);
  Status Flush();
  Status Sync();
  Status Close();

  uint64_t Size() const { return offset_; }
  uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  // The failure that ended this log, or OK.
  const Status& status() const { return failed_; }

 private:
  // Takes its n bytes off the front of *head and *body.
  void AppendFragment(LogFragmentType type, Slice* head, Slice* body, size_t n);
  Status Check(Status s);

  const std::unique_ptr<WritableFile> file_;
  const std::string path_;
  const uint64_t number_;
  uint64_t offset_;      // of the next fragment
  std::string buffer_;   // the fragments of one record, written at once
  Status failed_;
};

}  // namespace compassdb
