// SPDX-License-Identifier: Apache-2.0
// The files of a running database, kept from deletion and punching while they
// are copied. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "copies/file_copy.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"

namespace compassdb {

using rocksdb::Status;

// Calls `copy` with the files that make a copy of the database (see
// DB::GetLiveFilesStorageInfo for wal_size_for_flush), with deletions
// disabled; a database that is only read has none to disable.
Status WithLiveFiles(rocksdb::DB* db, uint64_t wal_size_for_flush,
                     const std::function<Status(const std::vector<rocksdb::LiveFileStorageInfo>&)>& copy);

inline std::string PathOf(const rocksdb::LiveFileStorageInfo& file) {
  return file.directory + "/" + file.relative_filename;
}

// What of the file, which is in `fs`, belongs to the copy.
CopySource SourceOf(FileSystem* fs, const rocksdb::LiveFileStorageInfo& file);

}  // namespace compassdb
