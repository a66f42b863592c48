// SPDX-License-Identifier: Apache-2.0
// What a backup consists of: the file meta/<id> of a backup directory
// (docs/formats/backup.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

struct BackupFile {
  std::string name;  // in the database
  std::string path;  // in the backup directory
  uint64_t size = 0;
  uint32_t crc32c = 0;
  // Punched out of the database's file before it was copied: offset and length, ascending. Zeros that
  // are in an extent that was live then are data, and not listed.
  std::vector<std::pair<uint64_t, uint64_t>> holes;

  // True if every byte of the extents was there when the file was copied.
  bool Covers(const std::vector<Extent>& extents) const;
};

struct BackupMeta {
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t sequence = 0;  // that the backup has reached
  std::string app_metadata;
  std::vector<BackupFile> files;

  uint64_t TotalBytes() const;
};

// The parts of `zeros` outside of `live`.
std::vector<std::pair<uint64_t, uint64_t>> HolesOf(
    const std::vector<std::pair<uint64_t, uint64_t>>& zeros, std::vector<Extent> live);

std::string EncodeBackupMeta(const BackupMeta& meta);
// `path` is for messages. Corruption, or NotSupported for a newer version.
Status DecodeBackupMeta(const std::string& path, const Slice& text, BackupMeta* meta);

}  // namespace compassdb
