// SPDX-License-Identifier: Apache-2.0
// Copies one file, perhaps between file systems: durable, with its checksum,
// rate limited, and stopped on demand. Runs of zeros become holes again, so
// that the copy of a punched compaction file takes no more space than the file.
//
// Thread safety: functions may be called at once for different targets; what
// CopyControl points to is shared by them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/file_system.h"
#include "rocksdb/rate_limiter.h"

namespace compassdb {

struct CopyControl {
  rocksdb::RateLimiter* limiter = nullptr;       // null: no limit
  const std::atomic<bool>* stop = nullptr;       // set: Incomplete("... stopped")
  std::function<void(uint64_t bytes)> progress;  // after each part; may be null
  bool sync = true;
};

struct CopySource {
  FileSystem* fs = nullptr;  // of `path`
  std::string path;
  std::optional<uint64_t> size;         // copies this number of bytes, Corruption if there are fewer; else all
  std::optional<std::string> contents;  // written instead of what `path` holds
};

struct CopyResult {
  uint64_t size = 0;
  uint32_t crc32c = 0;
  // Page-aligned runs of zeros, offset and length: what may be holes, down to one page.
  std::vector<std::pair<uint64_t, uint64_t>> zeros;
};

// Creates or replaces `to`. The directory is the caller's to sync.
Status CopyFile(const CopySource& from, FileSystem* to_fs, const std::string& to,
                const CopyControl& control, CopyResult* result);

// Creates `to`, which shares the file's blocks until one of both is written; syncs it if wanted. For whole files
// within one file system that can do it. Otherwise NotSupported, and `to` does not exist. The caller syncs the
// directory.
Status CloneWholeFile(const CopySource& from, FileSystem* to_fs, const std::string& to, bool sync);

// The same if possible, else CopyFile. A clone is read for *result, except its zeros.
Status CloneOrCopyFile(const CopySource& from, FileSystem* to_fs, const std::string& to,
                       const CopyControl& control, CopyResult* result);

// Reads the file through.
Status ChecksumFile(FileSystem* fs, const std::string& path, const CopyControl& control,
                    CopyResult* result);

}  // namespace compassdb
