// SPDX-License-Identifier: Apache-2.0
// Writes one extent of a compaction file, front to back, and the checksums in it, whose contexts contain their
// place in the file (docs/formats/compaction_file.md, rule 4).
//
// If several threads share a file (CompactionFileWriter::Share), an extent is held in memory without its
// checksums, until it is complete or the extents hold too much together. Then it waits for its turn:
// held bytes are written, and later ones directly, until the extent is finished. So extents never
// interleave, however many are written concurrently.
//
// One thread from Start, or the first Append, to Finish. The owner of the turn waits for no other extent of the file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "table/file/compaction_file.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

// Writes the checksum of bytes[0, covered) after them. Its context is the file's id, the place of the bytes in the
// file and, unless it is 0, `kind`.
void FillInChecksum(uint64_t file_id, uint64_t place, uint64_t kind, size_t covered, char* bytes);

class ExtentWriter {
 public:
  explicit ExtentWriter(CompactionFileWriter* file) : file_(file) {}
  // An unfinished extent may leave bytes in the file that nothing names.
  ~ExtentWriter();
  ExtentWriter(const ExtentWriter&) = delete;
  ExtentWriter& operator=(const ExtentWriter&) = delete;

  CompactionFileWriter* file() const { return file_; }
  uint64_t length() const { return length_; }  // so far

  // With FillInChecksum: now or, for held bytes, later.
  Status Append(std::string* bytes, size_t covered, uint64_t kind);

  // For an extent that is complete before it is written: waits for the turn. From then on the place is known.
  Status Start();
  uint64_t offset() const { return begin_ + length_; }  // in the file, of what is appended next; after Start
  Status Append(const Slice& bytes);                     // after Start

  // The extent is complete: it is in the file, and this is its place. Nothing may be called afterwards.
  Status Finish(Extent* extent);

 private:
  // In a chunk.
  struct OpenChecksum {
    size_t chunk;
    size_t begin;
    size_t covered;
    uint64_t kind;
  };
  bool Hold(const std::string& bytes, size_t covered, uint64_t kind);
  Status WriteHeld();
  void DropHeld();

  CompactionFileWriter* const file_;
  bool started_ = false;
  uint64_t begin_ = 0;  // once it is started
  uint64_t length_ = 0;
  std::vector<std::string> chunks_;
  std::vector<OpenChecksum> checksums_;  // in ascending order
  size_t held_ = 0;  // bytes that are counted in the file's
  std::unique_lock<std::mutex> turn_;
};

}  // namespace compassdb
