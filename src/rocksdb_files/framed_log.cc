// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/framed_log.h"

#include <algorithm>

#include "rocksdb/compression_type.h"
#include "rocksdb_files/block_decompressor.h"
#include "rocksdb_files/checksums.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr size_t kBlock = 32 << 10;
constexpr size_t kHeader = 7;            // checksum, length, type
constexpr size_t kRecycledHeader = 11;  // and the number of the log

enum FragmentType : uint8_t {
  kZeros = 0,
  kFull = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4,
  kRecycledFull = 5,
  kRecycledLast = 8,
  kSetCompression = 9,
  kTimestampSizes = 10,
  kRecycledTimestampSizes = 11,
  kIgnorable = 128,
  kRecycledPredecessor = 131,
};

bool IsRecycled(uint8_t type) {
  return (type >= kRecycledFull && type <= kRecycledLast) || type == kRecycledTimestampSizes || type == kRecycledPredecessor;
}

}  // namespace

FramedLog::FramedLog(std::unique_ptr<SequentialFile> file, std::string name, uint64_t number)
    : file_(std::move(file)), name_(std::move(name)), number_(number), buffer_(kBlock, '\0') {}

bool FramedLog::End(bool torn) {
  ended_ = true;
  torn_ = torn;
  return false;
}

bool FramedLog::Fail(const Status& s) {
  ended_ = true;
  status_ = s;
  return false;
}

// False at the end of the file, or if it cannot be read.
bool FramedLog::FillBlock() {
  if (last_block_) return false;
  Slice result;
  const Status s = file_->Read(kBlock, &result, buffer_.data());
  if (!s.ok()) return Fail(s);
  block_ = result;
  position_ = 0;
  last_block_ = block_.size() < kBlock;
  return !block_.empty();
}

bool FramedLog::Verify(size_t position, Fragment* fragment) const {
  const size_t left = block_.size() - position;
  if (left < kHeader) return false;
  const char* at = block_.data() + position;
  fragment->type = static_cast<uint8_t>(at[6]);
  const size_t header = IsRecycled(fragment->type) ? kRecycledHeader : kHeader;
  const size_t length = DecodeFixed16(at + 4);
  if (fragment->type == kZeros || header + length > left) return false;
  if (header == kRecycledHeader && DecodeFixed32(at + 7) != static_cast<uint32_t>(number_)) return false;
  if (!ChecksumHolds(DecodeFixed32(at), MaskCrc(Crc32c(at + 6, header - 6 + length)))) return false;
  fragment->payload = Slice(at + header, length);
  fragment->size = header + length;
  return true;
}

// A fragment of a log that the file was used for before.
bool FramedLog::IsOld(size_t position) const {
  const char* at = block_.data() + position;
  return block_.size() - position >= kRecycledHeader && IsRecycled(static_cast<uint8_t>(at[6])) &&
         DecodeFixed32(at + 7) != static_cast<uint32_t>(number_);
}

FramedLog::Found FramedLog::NextFragment(Fragment* fragment) {
  while (block_.size() - position_ < kHeader) {
    const bool padding = std::all_of(block_.data() + position_, block_.data() + block_.size(), [](char c) { return c == 0; });
    if (!FillBlock()) {
      if (!status_.ok()) return Found::kError;
      return padding ? Found::kEnd : Found::kBad;
    }
  }
  if (!Verify(position_, fragment)) return Found::kBad;
  position_ += fragment->size;
  return Found::kFragment;
}

// Reads to the end of the file.
bool FramedLog::RestIsZero() {
  do {
    for (; position_ < block_.size(); ++position_) {
      if (block_[position_] != 0) return false;
    }
  } while (FillBlock());
  return true;
}

// The same, for a fragment that verifies.
bool FramedLog::LaterFragment() {
  Fragment fragment;
  do {
    for (; position_ < block_.size(); ++position_) {
      // The marks that may precede records are not looked for: most bytes are no type then.
      const bool type = block_.size() - position_ >= kHeader && static_cast<uint8_t>(block_[position_ + 6]) <= kRecycledLast;
      if (type && Verify(position_, &fragment)) return true;
    }
  } while (FillBlock());
  return false;
}

bool FramedLog::TakeMark(const Fragment& fragment, bool inside) {
  if (fragment.type == kSetCompression) {
    if (fragment.payload.size() < 4) return Fail(Status::Corruption("a record of the log is damaged", name_));
    const uint32_t type = DecodeFixed32(fragment.payload.data());
    if (type != rocksdb::kZSTD && type != rocksdb::kNoCompression) {
      return Fail(Status::NotSupported("a log of compression type " + std::to_string(type), name_));
    }
    compressed_ = type == rocksdb::kZSTD;
    return true;
  }
  const bool known = fragment.type == kTimestampSizes || fragment.type == kRecycledTimestampSizes;
  if (!known && fragment.type < kIgnorable) {
    return Fail(Status::NotSupported("a record of type " + std::to_string(fragment.type) + " in the log", name_));
  }
  return !inside || Fail(Status::Corruption("a record of the log is inside of another", name_));
}

bool FramedLog::Unpack(Slice* record) {
  *record = record_;
  if (!compressed_) return true;
  const Status s = DecompressZstdStream(record_, &unpacked_);
  if (!s.ok()) return Fail(Status::Corruption("a record of the log does not decompress", name_));
  *record = unpacked_;
  return true;
}

bool FramedLog::Next(Slice* record) {
  if (ended_) return false;
  bool inside = false;
  record_.clear();
  for (;;) {
    Fragment fragment;
    const Found found = NextFragment(&fragment);
    if (found == Found::kError) return false;
    if (found == Found::kEnd) return End(inside);
    if (found == Found::kBad) {
      if (position_ < block_.size() && IsOld(position_)) recycled_ = true;
      const bool zeros = position_ < block_.size() && block_[position_] == 0 && block_.size() - position_ >= kHeader &&
                         block_[position_ + 6] == 0;
      if (zeros && RestIsZero()) return status_.ok() && End(inside);
      if (LaterFragment()) return Fail(Status::Corruption("the log is damaged before its end", name_));
      return status_.ok() && End(inside || !recycled_);
    }
    uint8_t type = fragment.type;
    if (IsRecycled(type)) recycled_ = true;
    if (type >= kRecycledFull && type <= kRecycledLast) type = static_cast<uint8_t>(type - (kRecycledFull - kFull));
    if (type > kLast) {
      if (!TakeMark(fragment, inside)) return false;
      continue;
    }
    const bool begins = type == kFull || type == kFirst;
    if (begins == inside) return Fail(Status::Corruption("a part of a record of the log is missing", name_));
    record_.append(fragment.payload.data(), fragment.payload.size());
    inside = type == kFirst || type == kMiddle;
    if (!inside) return Unpack(record);
  }
}

}  // namespace compassdb::rocksdb_files
