// SPDX-License-Identifier: Apache-2.0
// The physical file of a flush or compaction: a header, then extents (pieces
// and directories) one after the other; the manifest says where each lies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/slice.h"

namespace compassdb {

// Writes a compaction file front to back. One thread at a time.
class CompactionFileWriter {
 public:
  // Creates the file and writes its header. `file_id` is random and goes into
  // the checksum of every block. `checksum`: of the whole file; null for none.
  static Status Create(FileSystem* fs, const std::string& path, uint64_t file_number,
                       uint64_t file_id, const FileOptions& options,
                       std::unique_ptr<CompactionFileWriter>* out,
                       std::unique_ptr<rocksdb::FileChecksumGenerator> checksum = nullptr);
  ~CompactionFileWriter();
  Status Append(const Slice& data);
  uint64_t offset() const { return offset_; }
  uint64_t file_number() const { return file_number_; }
  uint64_t file_id() const { return file_id_; }
  const std::string& path() const { return path_; }
  // The job's one data barrier: flush, sync, close.
  Status Finish();
  // Of all that was appended. After Finish; null: there is none.
  const rocksdb::FileChecksumGenerator* checksum() const { return checksum_.get(); }

 private:
  CompactionFileWriter(std::string path, uint64_t number, uint64_t id,
                       std::unique_ptr<rocksdb::FileChecksumGenerator> checksum,
                       std::unique_ptr<WritableFile> file);
  const std::string path_;
  const uint64_t file_number_;
  const uint64_t file_id_;
  uint64_t offset_ = 0;
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum_;
  std::unique_ptr<WritableFile> file_;
};

// An open compaction file for reading; one descriptor whatever the number of
// pieces (BoLT 3.2). Thread safe.
class CompactionFile {
 public:
  // Checks the header: magic, format version, number.
  static Status Open(FileSystem* fs, const std::string& path, uint64_t file_number,
                     const FileOptions& options, std::shared_ptr<CompactionFile>* out);
  // For repair, and for files without a header (sections of pages): does not look at it.
  static Status OpenUnchecked(FileSystem* fs, const std::string& path, uint64_t file_number,
                              uint64_t file_id, const FileOptions& options,
                              std::shared_ptr<CompactionFile>* out);
  const RandomAccessFile* file() const { return file_.get(); }
  uint64_t file_number() const { return file_number_; }
  uint64_t file_id() const { return file_id_; }
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  CompactionFile() = default;
  std::string path_;
  uint64_t file_number_ = 0;
  uint64_t file_id_ = 0;
  uint64_t size_ = 0;
  std::unique_ptr<RandomAccessFile> file_;
};

}  // namespace compassdb
