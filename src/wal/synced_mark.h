// SPDX-License-Identifier: Apache-2.0
// How far the write-ahead logs were synced, in a file beside them, so that it is known after a process was killed, too
// (docs/formats/synced.md). It is written in place behind each sync of a log, and never synced: what it says was so when it
// was written, and stays so until the manifest needs that log no more. That it is old, torn or gone only means that less is known.
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
  uint64_t database = 0;  // of which the logs are: a hash of its identity

  bool IsOf(const std::string& db_id) const;
};

// Nothing is known if there is no file, or it is not whole, or of a version that this release does not know.
SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& wal_dir);

// Thread safety: one thread at a time.
class SyncedMarkWriter {
 public:
  SyncedMarkWriter(FileSystem* fs, const std::string& wal_dir) : fs_(fs), wal_dir_(wal_dir) {}

  // Logs of that database from now on. Nothing is written before.
  void SetDatabase(const std::string& db_id);
  // That it was synced so far. The first call makes the file anew. After a failure (where files are not written in
  // place, as encrypted ones) nothing is written any more.
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
