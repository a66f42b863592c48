// SPDX-License-Identifier: Apache-2.0
#include "encryption/sealed_reader.h"

#include <algorithm>
#include <cstring>

#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {

namespace {

using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::status_to_io_status;

constexpr size_t kWindowBytes = 64 << 10;  // for headers of small segments
constexpr size_t kPageBytes = 4096;        // in which file systems write

}  // namespace

IOStatus SegmentList::Extend(const rocksdb::FSRandomAccessFile& file, uint64_t stored_bytes) {
  std::string scratch(kWindowBytes, '\0');
  Slice window;
  uint64_t window_at = 0;
  while (stored_end_ + kSegmentHeaderBytes <= stored_bytes) {
    if (stored_end_ < window_at || stored_end_ + kSegmentHeaderBytes > window_at + window.size()) {
      // Behind a large segment another one is likely: its header alone will do.
      const bool large = !segments_.empty() && segments_.back().bytes >= kWindowBytes;
      window_at = stored_end_;
      IOStatus s = file.Read(window_at, large ? kSegmentHeaderBytes : kWindowBytes, IOOptions(),
                             &window, scratch.data(), nullptr);
      if (!s.ok()) return s;
      if (window.size() < kSegmentHeaderBytes) break;
    }
    const char* const header = window.data() + (stored_end_ - window_at);
    Segment segment;
    segment.bytes = DecodeFixed32(header);
    const uint32_t check = DecodeFixed32(header + kSegmentHeaderBytes - 4);
    if (segment.bytes == 0 || segment.bytes > kMaxSegmentBytes ||
        check != Crc32c(header, kSegmentHeaderBytes - 4)) {
      // Written in part, if it is zeros to the one side or the other.
      damaged_ = segment.bytes != 0 && check != 0;
      break;
    }
    const uint64_t end = stored_end_ + StoredSegmentBytes(segment.bytes);
    if (end > stored_bytes) break;
    memcpy(segment.nonce, header + 4, kSealNonceBytes);
    segment.plain = plain_end_;
    segment.stored = stored_end_;
    segments_.push_back(segment);
    plain_end_ += segment.bytes;
    stored_end_ = end;
  }
  return IOStatus::OK();
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
  if (stored_bytes < kSealFileHeaderBytes) return IOStatus::OK();
  char scratch[kSealFileHeaderBytes];
  Slice header;
  IOStatus s = file_->Read(0, sizeof(scratch), IOOptions(), &header, scratch, nullptr);
  if (s.ok() && SealingProvider::IsLostHeader(header)) return s;
  if (s.ok()) s = status_to_io_status(provider_->SealOf(path_, header, &seal_));
  has_header_ = s.ok();
  return s;
}

IOStatus SealedReader::Grow() {
  std::unique_lock lock(mu_);
  uint64_t stored_bytes = 0;
  IOStatus s = fs_->GetFileSize(path_, IOOptions(), &stored_bytes, nullptr);
  if (s.ok() && !has_header_) s = ReadHeader(stored_bytes);
  if (s.ok() && has_header_) s = list_.Extend(*file_, stored_bytes);
  return s;
}

IOStatus SealedReader::HasLostPage(uint64_t begin, uint64_t end, bool* lost) const {
  std::string scratch(kPageBytes, '\0');
  *lost = false;
  for (uint64_t page = begin / kPageBytes * kPageBytes; page < end && !*lost; page += kPageBytes) {
    Slice bytes;
    IOStatus s = file_->Read(page, kPageBytes, IOOptions(), &bytes, scratch.data(), nullptr);
    if (!s.ok()) return s;
    *lost = std::all_of(bytes.data(), bytes.data() + bytes.size(), [](char c) { return c == 0; });
  }
  return IOStatus::OK();
}

IOStatus SealedReader::ReadSegment(const SegmentList::Segment& segment, uint64_t from, size_t n,
                                   LostPages lost_pages, char* target) const {
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
    bool lost = false;
    if (opened.IsCorruption() && lost_pages == LostPages::kReadAsZeros) {
      const uint64_t at = segment.stored + StoredChunkOffset(i);
      if (IOStatus read = HasLostPage(at, at + one.size(), &lost); !read.ok()) return read;
    }
    if (lost) {
      memset(chunk, 0, plain);
    } else if (opened.IsCorruption()) {
      return IOStatus::Corruption("broken seal in " + path_,
                                  "offset " + std::to_string(segment.plain + begin));
    }
    if (!opened.ok() && !lost) return status_to_io_status(std::move(opened));
    const uint64_t copy_from = std::max(from, begin), copy_end = std::min(from + n, begin + plain);
    memcpy(target + (copy_from - from), chunk + (copy_from - begin), copy_end - copy_from);
  }
  return IOStatus::OK();
}

IOStatus SealedReader::Read(uint64_t offset, size_t n, LostPages lost_pages, Slice* result,
                            char* scratch) {
  *result = Slice(scratch, 0);
  if (offset + n > size()) {
    if (IOStatus s = Grow(); !s.ok()) return s;
    if (IOStatus s = offset + n > size() ? Damage() : IOStatus::OK(); !s.ok()) return s;
  }
  std::shared_lock lock(mu_);
  const auto& segments = list_.segments();
  auto it = std::upper_bound(segments.begin(), segments.end(), offset,
                             [](uint64_t at, const SegmentList::Segment& s) { return at < s.plain; });
  size_t got = 0;
  for (it = it == segments.begin() ? it : it - 1; it != segments.end() && got < n; ++it) {
    const uint64_t from = offset + got - it->plain;
    if (from >= it->bytes) break;
    if (IOStatus s = ReadSegment(*it, from, n - got, lost_pages, scratch + got); !s.ok()) return s;
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
  return ReadSegment(last, 0, last.bytes, LostPages::kRefuse, plain.data());
}

uint64_t SealedReader::size() {
  std::shared_lock lock(mu_);
  return list_.plain_end();
}

uint64_t SealedReader::last_segment() {
  std::shared_lock lock(mu_);
  return list_.segments().empty() ? 0 : list_.segments().back().plain;
}

uint64_t SealedReader::stored_end() {
  std::shared_lock lock(mu_);
  return list_.stored_end();
}

}  // namespace compassdb
