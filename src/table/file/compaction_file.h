// SPDX-License-Identifier: Apache-2.0
// The physical file of a flush or compaction: a header, then extents (pieces
// and directories) one after the other. The manifest has their places.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "env/file_system.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/slice.h"

namespace compassdb {

// Extents begin behind it.
inline constexpr uint64_t kCompactionFileHeaderBytes = 36;

// Writes a compaction file front to back. One thread at a time; of a shared file, extents by any (extent_writer.h).
class CompactionFileWriter {
 public:
  // Creates the file and writes its header. `file_id` is random and is a part
  // of the checksum of every block. `checksum`: of the whole file; null for none.
  static Status Create(FileSystem* fs, const std::string& path, uint64_t file_number,
                       uint64_t file_id, const FileOptions& options,
                       std::unique_ptr<CompactionFileWriter>* out,
                       std::unique_ptr<rocksdb::FileChecksumGenerator> checksum = nullptr);
  ~CompactionFileWriter();
  // Several threads will write extents. Incomplete extents are held in memory, up to
  // `most_held` bytes together. Before the first extent.
  void Share(size_t most_held) {
    shared_ = true;
    most_held_ = most_held;
  }
  // Called regularly while held bytes are written.
  void SetPace(std::function<void()> pace) { pace_ = std::move(pace); }
  // In a shared file, only the thread that has the turn calls it.
  Status Append(const Slice& data);
  uint64_t offset() const { return offset_.load(std::memory_order_relaxed); }  // any thread
  uint64_t file_number() const { return file_number_; }
  uint64_t file_id() const { return file_id_; }
  const std::string& path() const { return path_; }
  // The job's one data barrier: flush, sync, close.
  Status Finish();
  // The checksum of all appended bytes. After Finish; null: there is none.
  const rocksdb::FileChecksumGenerator* checksum() const { return checksum_.get(); }

 private:
  friend class ExtentWriter;
  bool shared() const { return shared_; }
  // Reserves bytes among those that may be held: false, without effect, if there are not enough.
  bool TakeRoom(size_t bytes);
  void GiveRoom(size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  void Pace() const {
    if (pace_) pace_();
  }

  CompactionFileWriter(std::string path, uint64_t number, uint64_t id,
                       std::unique_ptr<rocksdb::FileChecksumGenerator> checksum,
                       std::unique_ptr<WritableFile> file);
  const std::string path_;
  const uint64_t file_number_;
  const uint64_t file_id_;
  std::atomic<uint64_t> offset_{0};
  bool shared_ = false;
  size_t most_held_ = 0;
  std::atomic<size_t> held_{0};
  std::mutex turn_;  // of a shared file: its owner writes an extent
  std::function<void()> pace_;
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum_;
  std::unique_ptr<WritableFile> file_;
};

// An open compaction file for reading; one descriptor for any number of pieces
// (BoLT 3.2). Thread safe.
class CompactionFile {
 public:
  // Checks the header: magic, format version, number.
  static Status Open(FileSystem* fs, const std::string& path, uint64_t file_number,
                     const FileOptions& options, std::shared_ptr<CompactionFile>* out);
  // For repair, and for files without a header (sections of pages): does not read it.
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
