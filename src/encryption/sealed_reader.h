// SPDX-License-Identifier: Apache-2.0
// Reading an encrypted file (docs/formats/sealed_file.md).
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "encryption/sealing_provider.h"
#include "rocksdb/file_system.h"

namespace compassdb {

// The segments of an encrypted file. A walk from header to header finds them, with one read for
// each large segment, and one for many small ones. At a damaged header it searches the next segment whose
// seal holds at a possible place: the bytes between are lost. The search has a limit, for hostile
// files full of false headers. The rest at the end comes from a crash if it is zeros or a part of a
// segment. Otherwise it is damage.
//
// Thread safety: none.
class SegmentList {
 public:
  struct Segment {
    uint64_t plain = 0, stored = 0;  // where it begins
    uint64_t bytes = 0;              // plain ones
    bool lost = false;               // it cannot be read; the number of segments is unknown
    unsigned char nonce[kSealNonceBytes] = {};
  };

  uint64_t known_bytes() const { return known_bytes_; }

  // Continues to the end of a file of `stored_bytes`.
  rocksdb::IOStatus Extend(const rocksdb::FSRandomAccessFile& file, const FileSeal& seal,
                           uint64_t stored_bytes);

  const std::vector<Segment>& segments() const { return segments_; }
  uint64_t plain_end() const { return plain_end_; }
  uint64_t stored_end() const { return stored_end_; }
  uint64_t tail() const { return tail_; }    // bytes behind stored_end() that are no segment
  bool damaged() const { return damaged_; }  // they are not what a crash leaves

 private:
  void Add(const Segment& segment, uint64_t stored_bytes);
  // The first whole segment behind stored_end_, and what was lost before it; none: *found is false.
  rocksdb::IOStatus FindNext(const rocksdb::FSRandomAccessFile& file, const FileSeal& seal,
                             uint64_t stored_bytes, bool* found);

  // Nothing if there is no tail.
  rocksdb::IOStatus ReadTailHeader(const rocksdb::FSRandomAccessFile& file, std::string* header) const;
  // Whether the tail is as it was.
  rocksdb::IOStatus HasTail(const rocksdb::FSRandomAccessFile& file, bool* same) const;

  uint64_t known_bytes_ = 0;  // of the file, up to which it was read
  uint64_t tail_ = 0;
  std::string tail_header_;  // the first of those bytes
  bool damaged_ = false;
  uint64_t guesses_ = 0;  // places that were tried for segments behind lost ones
  std::vector<Segment> segments_;
  uint64_t plain_end_ = 0;
  uint64_t stored_end_ = kSealFileHeaderBytes;
};

// Thread safety: Read may be called by several threads.
class SealedReader {
 public:
  // An empty file, which has no header yet, is one without segments.
  static rocksdb::IOStatus Open(rocksdb::FileSystem* fs, std::shared_ptr<SealingProvider> provider,
                                const std::string& path, const rocksdb::FileOptions& options,
                                std::unique_ptr<SealedReader>* reader);

  // Whether bytes at the end that are no segment, as a crash leaves them, are the end or Corruption. After
  // that the end stays there: it may be a segment that is being written, and a reader that
  // skips damage must not find a part of it.
  enum class Tail { kIsEnd, kIsCorruption };
  // Shorter only at the end of the file, which may have grown since it was opened. Corruption where
  // a seal is broken or a header damaged.
  rocksdb::IOStatus Read(uint64_t offset, size_t n, Tail tail, rocksdb::Slice* result, char* scratch);
  // Whether all seals of the last segment hold, and nothing is damaged.
  rocksdb::IOStatus CheckLast();

  uint64_t size();  // of the plain file, as far as it is known
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
  // The end of the open file, which is near `guess`: its name may be another file's by now.
  rocksdb::IOStatus FindEnd(uint64_t guess, uint64_t* end) const;
  // The part of a segment from `from` on, at most n bytes.
  rocksdb::IOStatus ReadSegment(const SegmentList::Segment& segment, uint64_t from, size_t n,
                                char* target) const;

  rocksdb::FileSystem* const fs_;
  const std::shared_ptr<SealingProvider> provider_;
  const std::string path_;
  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  FileSeal seal_;
  bool has_header_ = false;
  std::atomic<bool> ended_{false};  // by a tail that is Corruption
  std::shared_mutex mu_;  // for what follows
  SegmentList list_;
};

}  // namespace compassdb
