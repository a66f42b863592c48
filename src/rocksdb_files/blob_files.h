// SPDX-License-Identifier: Apache-2.0
// Reads values of RocksDB's blob files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "rocksdb_files/blob_reference.h"

namespace compassdb::rocksdb_files {

using rocksdb::Status;

class BlobFiles {
 public:
  BlobFiles(FileSystem* fs, std::string dir) : fs_(fs), dir_(std::move(dir)) {}
  BlobFiles(const BlobFiles&) = delete;
  BlobFiles& operator=(const BlobFiles&) = delete;

  // Replaces *value by the value of `user_key`, which the record in the file must have too.
  Status Read(const BlobReference& reference, const Slice& user_key, std::string* value);

 private:
  struct OpenFile {
    std::unique_ptr<RandomAccessFile> file;
    uint64_t size = 0;
  };
  Status Find(uint64_t number, const OpenFile** file);

  FileSystem* const fs_;
  const std::string dir_;
  std::map<uint64_t, OpenFile> files_;
};

}  // namespace compassdb::rocksdb_files
