// SPDX-License-Identifier: Apache-2.0
// A file next to the write-ahead logs that says how far they were synced, also after a process was killed
// (docs/formats/synced.md). It is written in place after each sync of a log, and never synced itself. It was true when
// it was written, and stays true as long as the manifest needs that log. If it is old, torn or missing, less is known.
//
// 40 bytes:  magic:fixed64  version:fixed32  checksum:fixed32  number:fixed64  bytes:fixed64  database:fixed64
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "wal/wal_format.h"

namespace compassdb {

struct SyncedMark {
  SyncedLog log;          // number 0: nothing is known
  uint64_t database = 0;  // the database of the logs: a hash of its identity

  bool IsOf(const std::string& db_id) const;
};

// number is 0 if there is no file, or it is damaged, or of an unknown version.
SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& wal_dir);

// Thread safety: one thread at a time.
class SyncedMarkWriter {
 public:
  SyncedMarkWriter(FileSystem* fs, const std::string& wal_dir) : fs_(fs), wal_dir_(wal_dir) {}

  // The database of the logs. Nothing is written before.
  void SetDatabase(const std::string& db_id);
  // The log was synced so far. The first call creates the file. After a failure (files cannot be written in
  // place, for example encrypted ones) it writes nothing.
  void Write(const SyncedLog& log);
  bool begun() const { return file_ != nullptr; }

 private:
  FileSystem* const fs_;
  const std::string wal_dir_;
  uint64_t database_ = 0;
  bool enabled_ = false;
  std::unique_ptr<PageFile> file_;
};

}  // namespace compassdb
