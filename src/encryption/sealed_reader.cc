// SPDX-License-Identifier: Apache-2.0
#include "encryption/sealed_reader.h"

#include <algorithm>
#include <cstring>

#include "format/foreign_file.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"

namespace compassdb {

namespace {

using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::status_to_io_status;

constexpr size_t kWindowBytes = 64 << 10;  // for headers of small segments

// Sets *segment's length and nonce. False if the header is damaged.
bool ParseHeader(const char* header, SegmentList::Segment* segment) {
  segment->bytes = DecodeFixed32(header);
  memcpy(segment->nonce, header + 4, kSealNonceBytes);
  return segment->bytes != 0 && segment->bytes <= kMaxSegmentBytes &&
         ChecksumHolds(DecodeFixed32(header + kSegmentHeaderBytes - 4), Crc32c(header, kSegmentHeaderBytes - 4));
}

// A window of a file that is moved on.
class Window {
 public:
  explicit Window(const rocksdb::FSRandomAccessFile& file) : file_(file), scratch_(kWindowBytes, '\0') {}
  // *bytes: n bytes at `offset`, fewer at the end of the file. `ahead` of them are read in advance.
  IOStatus Get(uint64_t offset, size_t n, size_t ahead, Slice* bytes) {
    IOStatus s;
    if (offset < at_ || offset + n > at_ + window_.size()) {
      at_ = offset;
      s = file_.Read(at_, std::max(n, ahead), IOOptions(), &window_, scratch_.data(), nullptr);
    }
    if (s.ok()) *bytes = Slice(window_.data() + (offset - at_), std::min<size_t>(n, window_.size() - (offset - at_)));
    return s;
  }

 private:
  const rocksdb::FSRandomAccessFile& file_;
  std::string scratch_;
  Slice window_;
  uint64_t at_ = 0;
};

// Finds the place of `segment` in the plain file. It is `gap` stored bytes behind plain byte `end`, and no two
// places have the same seal. False if there is none. Each lost segment had at least a byte, a header, and a
// tag for each chunk. Counts the places that it tries in *guesses, up to `most`.
bool FindPlace(const FileSeal& seal, const SegmentList::Segment& segment, const Slice& chunk, uint64_t end,
               uint64_t gap, uint64_t most, uint64_t* guesses, uint64_t* place) {
  char plain[kSealChunkBytes];
  constexpr uint64_t kLeast = kSegmentHeaderBytes + kSealTagBytes;
  if (gap <= kLeast) return false;
  // Headers and tags are multiples of four.
  for (uint64_t lost = gap - kLeast; lost > 0 && *guesses < most; lost -= std::min<uint64_t>(lost, 4)) {
    ++*guesses;
    *place = end + lost;
    if (seal.OpenChunk(segment.nonce, *place, static_cast<uint32_t>(segment.bytes), 0, chunk, plain).ok()) return true;
  }
  return false;
}

}  // namespace

void SegmentList::Add(const Segment& segment, uint64_t stored_end) {
  segments_.push_back(segment);
  plain_end_ = segment.plain + segment.bytes;
  stored_end_ = stored_end;
}

IOStatus SegmentList::FindNext(const rocksdb::FSRandomAccessFile& file, const FileSeal& seal,
                               uint64_t stored_bytes, bool* found) {
  *found = false;
  Window window(file);
  // Forged headers, which need no key, are tried in time that grows with the file, not with its square:
  // real segments need a guess for every fourth lost byte.
  constexpr uint64_t kMostGuesses = 4 << 20;  // seconds
  const uint64_t most = std::min(stored_bytes / 2, kMostGuesses);
  for (uint64_t at = stored_end_ + 1; at + kSegmentHeaderBytes < stored_bytes; ++at) {
    Slice header;
    IOStatus s = window.Get(at, kSegmentHeaderBytes, kWindowBytes, &header);
    if (!s.ok() || header.size() < kSegmentHeaderBytes) return s;
    Segment segment;
    if (!ParseHeader(header.data(), &segment)) continue;
    const uint64_t end = at + StoredSegmentBytes(segment.bytes);
    if (end > stored_bytes) continue;
    Slice chunk;
    const size_t first = std::min<uint64_t>(segment.bytes, kSealChunkBytes) + kSealTagBytes;
    char scratch[kSealChunkBytes + kSealTagBytes];
    s = file.Read(at + kSegmentHeaderBytes, first, IOOptions(), &chunk, scratch, nullptr);
    if (!s.ok()) return s;
    if (chunk.size() != first ||
        !FindPlace(seal, segment, chunk, plain_end_, at - stored_end_, most, &guesses_, &segment.plain)) {
      continue;
    }
    Segment lost;
    lost.lost = true;
    lost.plain = plain_end_;
    lost.stored = stored_end_;
    lost.bytes = segment.plain - plain_end_;
    segment.stored = at;
    Add(lost, at);
    Add(segment, end);
    *found = true;
    return IOStatus::OK();
  }
  return IOStatus::OK();
}

IOStatus SegmentList::Extend(const rocksdb::FSRandomAccessFile& file, const FileSeal& seal,
                             uint64_t stored_bytes) {
  if (stored_bytes == known_bytes_) {
    bool same = true;  // a part of a segment may have been replaced by a whole one of its length
    IOStatus s = HasTail(file, &same);
    if (!s.ok() || same) return s;
  }
  Window window(file);
  damaged_ = false;
  while (stored_end_ + kSegmentHeaderBytes <= stored_bytes) {
    // Behind a large segment another one is likely: read its header alone.
    const bool large = !segments_.empty() && segments_.back().bytes >= kWindowBytes;
    Slice header;
    IOStatus s = window.Get(stored_end_, kSegmentHeaderBytes, large ? 0 : kWindowBytes, &header);
    if (!s.ok()) return s;
    if (header.size() < kSegmentHeaderBytes) break;
    Segment segment;
    if (ParseHeader(header.data(), &segment)) {
      const uint64_t end = stored_end_ + StoredSegmentBytes(segment.bytes);
      if (end > stored_bytes) break;
      segment.plain = plain_end_;
      segment.stored = stored_end_;
      Add(segment, end);
      continue;
    }
    // If one of its sides is zeros, it was written in part.
    const bool damaged = segment.bytes != 0 && DecodeFixed32(header.data() + kSegmentHeaderBytes - 4) != 0;
    bool found = false;
    s = FindNext(file, seal, stored_bytes, &found);
    if (!s.ok()) return s;
    if (found) continue;
    damaged_ = damaged;
    break;
  }
  tail_ = stored_bytes - std::min(stored_bytes, stored_end_);
  known_bytes_ = stored_bytes;
  tail_header_.clear();
  return ReadTailHeader(file, &tail_header_);
}

IOStatus SegmentList::ReadTailHeader(const rocksdb::FSRandomAccessFile& file, std::string* header) const {
  char scratch[kSegmentHeaderBytes];
  Slice bytes;
  const size_t n = std::min<uint64_t>(tail_, kSegmentHeaderBytes);
  if (n == 0) return IOStatus::OK();
  IOStatus s = file.Read(stored_end_, n, IOOptions(), &bytes, scratch, nullptr);
  if (s.ok()) *header = bytes.ToString();
  return s;
}

IOStatus SegmentList::HasTail(const rocksdb::FSRandomAccessFile& file, bool* same) const {
  std::string header;
  IOStatus s = ReadTailHeader(file, &header);
  *same = header == tail_header_;
  return s;
}

IOStatus SealedReader::Open(rocksdb::FileSystem* fs, std::shared_ptr<SealingProvider> provider,
                            const std::string& path, const rocksdb::FileOptions& options,
                            std::unique_ptr<SealedReader>* reader) {
  std::unique_ptr<SealedReader> made(new SealedReader(fs, std::move(provider), path));
  IOStatus s = fs->NewRandomAccessFile(path, options, &made->file_, nullptr);
  if (s.ok()) s = made->Grow();
  if (s.ok()) *reader = std::move(made);
  return s;
}

IOStatus SealedReader::ReadHeader(uint64_t stored_bytes) {
  if (stored_bytes == 0) return IOStatus::OK();
  char scratch[kSealFileHeaderBytes];
  Slice header;
  IOStatus s = file_->Read(0, sizeof(scratch), IOOptions(), &header, scratch, nullptr);
  if (s.ok() && stored_bytes < kSealFileHeaderBytes && !StartsInTheClear(header)) return s;
  // It was made durable before anything else was written.
  if (s.ok() && stored_bytes == kSealFileHeaderBytes && SealingProvider::IsLostHeader(header)) return s;
  if (s.ok()) s = status_to_io_status(provider_->SealOf(path_, header, &seal_));
  has_header_ = s.ok();
  return s;
}

IOStatus SealedReader::FindEnd(uint64_t guess, uint64_t* end) const {
  const auto reaches = [this](uint64_t size, bool* there) {
    char byte;
    Slice read;
    *there = size == 0;
    if (size == 0) return IOStatus::OK();
    IOStatus s = file_->Read(size - 1, 1, IOOptions(), &read, &byte, nullptr);
    *there = s.ok() && !read.empty();
    return s;
  };
  // It has `least` bytes, and fewer than `over`. Usually two reads show that.
  uint64_t least = 0, over = guess + 1;
  bool there = false;
  IOStatus s = reaches(guess, &there);
  (there ? least : over) = guess;
  for (uint64_t step = 1; s.ok() && there; step *= 2) {
    s = reaches(over, &there);
    if (there) {
      least = over;
      over += step;
    }
  }
  while (s.ok() && over - least > 1) {
    const uint64_t middle = least + (over - least) / 2;
    s = reaches(middle, &there);
    (there ? least : over) = middle;
  }
  *end = least;
  return s;
}

IOStatus SealedReader::Grow() {
  std::unique_lock lock(mu_);
  uint64_t stored_bytes = list_.known_bytes();
  IOStatus s;
  if (stored_bytes == 0) s = fs_->GetFileSize(path_, IOOptions(), &stored_bytes, nullptr);
  if (s.ok()) s = FindEnd(stored_bytes, &stored_bytes);
  if (s.ok() && !has_header_) s = ReadHeader(stored_bytes);
  if (s.ok() && has_header_) s = list_.Extend(*file_, seal_, stored_bytes);
  return s;
}

IOStatus SealedReader::ReadSegment(const SegmentList::Segment& segment, uint64_t from, size_t n,
                                   char* target) const {
  if (segment.lost) {
    return IOStatus::Corruption("damaged segment header in " + path_, "at byte " + std::to_string(segment.stored));
  }
  n = std::min<size_t>(n, segment.bytes - from);
  const uint64_t first = from / kSealChunkBytes, last = (from + n - 1) / kSealChunkBytes;
  const uint64_t stored = segment.stored + StoredChunkOffset(first);
  const uint64_t plain_end = std::min<uint64_t>(segment.bytes, (last + 1) * kSealChunkBytes);
  const uint64_t stored_end =
      segment.stored + StoredChunkOffset(last) + (plain_end - last * kSealChunkBytes) + kSealTagBytes;
  std::string sealed(stored_end - stored, '\0');
  Slice bytes;
  IOStatus s = file_->Read(stored, sealed.size(), IOOptions(), &bytes, sealed.data(), nullptr);
  if (!s.ok()) return s;
  if (bytes.size() != sealed.size()) {
    return IOStatus::Corruption("sealed file became shorter", path_);
  }
  char chunk[kSealChunkBytes];
  for (uint64_t i = first; i <= last; ++i) {
    const uint64_t begin = i * kSealChunkBytes;
    const size_t plain = std::min<uint64_t>(kSealChunkBytes, segment.bytes - begin);
    const Slice one(bytes.data() + (i - first) * (kSealChunkBytes + kSealTagBytes),
                    plain + kSealTagBytes);
    rocksdb::Status opened = seal_.OpenChunk(segment.nonce, segment.plain, segment.bytes,
                                             static_cast<uint32_t>(i), one, chunk);
    if (opened.IsCorruption()) {
      return IOStatus::Corruption("broken seal in " + path_,
                                  "offset " + std::to_string(segment.plain + begin));
    }
    if (!opened.ok()) return status_to_io_status(std::move(opened));
    const uint64_t copy_from = std::max(from, begin), copy_end = std::min(from + n, begin + plain);
    memcpy(target + (copy_from - from), chunk + (copy_from - begin), copy_end - copy_from);
  }
  return IOStatus::OK();
}

IOStatus SealedReader::Read(uint64_t offset, size_t n, Tail tail, Slice* result, char* scratch) {
  *result = Slice(scratch, 0);
  if (offset + n > size()) {
    if (!ended_) {
      if (IOStatus s = Grow(); !s.ok()) return s;
    }
    std::shared_lock lock(mu_);
    const uint64_t end = list_.plain_end();
    const bool beyond = list_.tail() > 0 && offset + n > end && offset < end + list_.tail();
    if (beyond && (list_.damaged() || tail == Tail::kIsCorruption)) {
      if (tail == Tail::kIsCorruption) ended_ = true;
      return IOStatus::Corruption("no whole segment in " + path_, "at byte " + std::to_string(list_.stored_end()));
    }
  }
  std::shared_lock lock(mu_);
  const auto& segments = list_.segments();
  auto it = std::upper_bound(segments.begin(), segments.end(), offset,
                             [](uint64_t at, const SegmentList::Segment& s) { return at < s.plain; });
  size_t got = 0;
  for (it = it == segments.begin() ? it : it - 1; it != segments.end() && got < n; ++it) {
    const uint64_t from = offset + got - it->plain;
    if (from >= it->bytes) break;
    if (IOStatus s = ReadSegment(*it, from, n - got, scratch + got); !s.ok()) return s;
    got += std::min<size_t>(n - got, it->bytes - from);
  }
  *result = Slice(scratch, got);
  return IOStatus::OK();
}

IOStatus SealedReader::Damage() {
  std::shared_lock lock(mu_);
  if (!list_.damaged()) return IOStatus::OK();
  return IOStatus::Corruption("damaged segment header in " + path_,
                              "at byte " + std::to_string(list_.stored_end()));
}

IOStatus SealedReader::CheckLast() {
  if (IOStatus s = Damage(); !s.ok()) return s;
  std::shared_lock lock(mu_);
  if (list_.segments().empty()) return IOStatus::OK();
  const SegmentList::Segment& last = list_.segments().back();
  std::string plain(last.bytes, '\0');
  return ReadSegment(last, 0, last.bytes, plain.data());
}

uint64_t SealedReader::size() {
  std::shared_lock lock(mu_);
  return list_.plain_end();
}

uint64_t SealedReader::stored_end() {
  std::shared_lock lock(mu_);
  return list_.stored_end();
}

}  // namespace compassdb
