// SPDX-License-Identifier: Apache-2.0
// Reading a sealed file (docs/formats/sealed_file.md).
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "encryption/sealing_provider.h"
#include "rocksdb/file_system.h"

namespace compassdb {

// Where a sealed file's segments lie: found by walking from header to header, one read for each
// large segment, one for many small ones. What a crash leaves ends the file: a segment that is not
// there whole, or zeros in place of a header. Any other bytes that are no header are damage.
//
// Thread safety: none.
class SegmentList {
 public:
  struct Segment {
    uint64_t plain = 0, stored = 0;  // where it begins
    uint32_t bytes = 0;              // plain ones
    unsigned char nonce[kSealNonceBytes] = {};
  };

  // Goes on to the end of a file of `stored_bytes`.
  rocksdb::IOStatus Extend(const rocksdb::FSRandomAccessFile& file, uint64_t stored_bytes);

  const std::vector<Segment>& segments() const { return segments_; }
  uint64_t plain_end() const { return plain_end_; }
  uint64_t stored_end() const { return stored_end_; }
  bool damaged() const { return damaged_; }  // at stored_end()

 private:
  bool damaged_ = false;
  std::vector<Segment> segments_;
  uint64_t plain_end_ = 0;
  uint64_t stored_end_ = kSealFileHeaderBytes;
};

// Thread safety: Read may be called by several threads.
class SealedReader {
 public:
  // What becomes of a chunk whose seal is broken because a page of it is zeros, as a power cut leaves
  // pages that were not synced where later ones reached the disk. Logs read them as zeros, which no
  // record verifies in: how far they were synced they know themselves.
  enum class LostPages { kRefuse, kReadAsZeros };

  // An empty file, which has no header yet or whose header a crash lost, is one without segments.
  static rocksdb::IOStatus Open(rocksdb::FileSystem* fs, std::shared_ptr<SealingProvider> provider,
                                const std::string& path, const rocksdb::FileOptions& options,
                                std::unique_ptr<SealedReader>* reader);

  // Shorter only at the end of the file, which may have grown since it was opened. Corruption where
  // a seal is broken, and behind what can be reached if a header is damaged.
  rocksdb::IOStatus Read(uint64_t offset, size_t n, LostPages lost_pages, rocksdb::Slice* result,
                         char* scratch);
  // Whether all seals of the last segment hold, and nothing is damaged.
  rocksdb::IOStatus CheckLast();

  uint64_t size();  // of the plain file, as far as it is known
  uint64_t last_segment();  // where it begins in the plain file
  // OK, or the Corruption of a damaged header.
  rocksdb::IOStatus Damage();
  uint64_t stored_end();
  const FileSeal& seal() const { return seal_; }
  bool has_header() const { return has_header_; }

 private:
  SealedReader(rocksdb::FileSystem* fs, std::shared_ptr<SealingProvider> provider, std::string path)
      : fs_(fs), provider_(std::move(provider)), path_(std::move(path)) {}

  rocksdb::IOStatus ReadHeader(uint64_t stored_bytes);
  rocksdb::IOStatus Grow();
  // Whether a page of the stored bytes from `begin` to `end` is zeros as a whole.
  rocksdb::IOStatus HasLostPage(uint64_t begin, uint64_t end, bool* lost) const;
  // The part of a segment from `from` on, at most n bytes.
  rocksdb::IOStatus ReadSegment(const SegmentList::Segment& segment, uint64_t from, size_t n,
                                LostPages lost_pages, char* target) const;

  rocksdb::FileSystem* const fs_;
  const std::shared_ptr<SealingProvider> provider_;
  const std::string path_;
  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  FileSeal seal_;
  bool has_header_ = false;
  std::shared_mutex mu_;  // for what follows
  SegmentList list_;
};

}  // namespace compassdb
