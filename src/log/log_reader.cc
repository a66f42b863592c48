// SPDX-License-Identifier: Apache-2.0
#include "log/log_reader.h"

#include <algorithm>
#include <cstring>

#include "util/coding.h"

namespace compassdb {

LogReader::LogReader(std::unique_ptr<SequentialFile> file, std::string path, uint64_t log_number)
    : file_(std::move(file)),
      path_(std::move(path)),
      number_(log_number),
      buffer_(kLogBlockSize, '\0') {}

Status LogReader::SkipTo(uint64_t offset) {
  const uint64_t start = offset / kLogBlockSize * kLogBlockSize;
  if (block_.empty() || start != block_offset_) {
    if (Status s = file_->Skip(start - (block_offset_ + block_.size())); !s.ok()) return s;
    block_offset_ = start;
    block_ = Slice();
    FillBlock();
  }
  record_offset_ = end_offset_ = offset;
  position_ = std::min<size_t>(offset - block_offset_, block_.size());
  return status_;
}

// Encrypted files check themselves, and refuse reads that touch damage. Here damaged bytes count as zeros,
// where no fragment verifies, so that the data behind them is found. The end of the damage is found to the
// byte, or the next record would be lost, too. For long damage the steps grow with it. *block is what was
// read before the damage; then it is everything.
Status LogReader::SkipDamage(Slice* block) {
  constexpr size_t kStep = 64, kExact = 8 << 10;
  // More than can be unsynced. Otherwise a file that refuses reads behind its end would have no end.
  constexpr uint64_t kMostRefused = 1 << 30;
  size_t got = block->size(), refused = 0;  // bytes, and how many of them in a row
  size_t n = kStep;
  while (got < kLogBlockSize) {
    Slice part;
    char* const at = buffer_.data() + got;
    n = std::min(n, kLogBlockSize - got);
    Status s = file_->Read(n, &part, at);
    if (s.IsCorruption() && (n > 1 || !part.empty())) {
      n = std::max<size_t>(n / 2, 1);
      got += part.size();
      if (!part.empty()) refused_in_a_row_ = 0;
      continue;
    }
    if (s.IsCorruption()) {
      const uint64_t step = refused_in_a_row_ < kExact ? 1 : std::max<uint64_t>(kStep, refused_in_a_row_ >> 12);
      const size_t skipped = std::min<uint64_t>(step, kLogBlockSize - got);
      s = file_->Skip(skipped);
      memset(at, 0, skipped);
      refused += skipped;
      refused_in_a_row_ += skipped;
      if (s.ok() && refused_in_a_row_ > kMostRefused) {
        return Status::Corruption(path_, "refuses to be read over " + std::to_string(kMostRefused) + " bytes");
      }
      part = Slice(at, skipped);
    } else {
      if (part.data() != at) memmove(at, part.data(), part.size());
      refused = 0;
      refused_in_a_row_ = 0;
    }
    if (!s.ok()) return s;
    got += part.size();
    if (refused == 0 && part.size() < n) break;
    n = refused == 0 ? kStep : 1;
  }
  *block = Slice(buffer_.data(), got);
  return Status::OK();
}

bool LogReader::FillBlock() {
  if (eof_) return false;
  const uint64_t next = block_offset_ + block_.size();
  Slice block(buffer_.data(), 0);
  Status s = file_->Read(kLogBlockSize, &block, buffer_.data());
  if (s.IsCorruption()) s = SkipDamage(&block);
  if (!s.ok()) {
    status_ = s;
    eof_ = true;
    return false;
  }
  eof_ = block.size() < kLogBlockSize;
  block_ = block;
  block_offset_ = next;
  position_ = 0;
  return !block.empty();
}

bool LogReader::IsWholeOf(uint32_t number, size_t position, size_t length) const {
  const char* const p = block_.data() + position;
  const Slice covered(p + 4, kLogHeaderSize - 4 + length);
  return DecodeFixed32(p) == Checksum32(covered, LogChecksumContext(number, block_offset_ + position));
}

bool LogReader::Verify(size_t position, Header* header, std::string* problem) const {
  const char* p = block_.data() + position;
  const size_t left = block_.size() - position;
  if (left < kLogHeaderSize) {
    *problem = "the file ends inside a fragment header";
    return false;
  }
  const size_t length = DecodeFixed16(p + 4);
  const auto type = static_cast<LogFragmentType>(p[6]);
  const uint32_t number = DecodeFixed32(p + 7);
  if (type == LogFragmentType::kNone && length == 0 && number == 0) {
    *problem = "zeros";
    return false;
  }
  if (length > kLogBlockSize - kLogHeaderSize - position) {
    *problem = "a fragment is longer than its block";
    return false;
  }
  if (length > left - kLogHeaderSize) {
    *problem = "the file ends inside a fragment";
    return false;
  }
  const Slice covered(p + 4, kLogHeaderSize - 4 + length);
  const uint64_t offset = block_offset_ + position;
  const uint32_t stored = DecodeFixed32(p);
  if (!ChecksumHolds(stored, Checksum32(covered, LogChecksumContext(number_, offset)))) {
    const bool stale = number != static_cast<uint32_t>(number_) && IsWholeOf(number, position, length);
    *problem = stale ? "the fragment belongs to log number " + std::to_string(number)
                     : "checksum mismatch";
    return false;
  }
  if (number != static_cast<uint32_t>(number_) || type < LogFragmentType::kFull ||
      type > LogFragmentType::kLast) {
    *problem = "unknown fragment type " + std::to_string(static_cast<int>(type));
    return false;
  }
  *header = {type, Slice(p + kLogHeaderSize, length), kLogHeaderSize + length};
  return true;
}

LogReader::Fragment LogReader::Peek(Header* header, std::string* problem) {
  // Fewer bytes than a header at the end of a whole block are padding.
  while (position_ >= block_.size() || kLogBlockSize - position_ < kLogHeaderSize) {
    if (!FillBlock()) return status_.ok() ? Fragment::kEnd : Fragment::kError;
  }
  return Verify(position_, header, problem) ? Fragment::kGood : Fragment::kBad;
}

LogRead LogReader::Finish(LogRead result, Status s) {
  finished_ = true;
  final_ = result;
  status_ = std::move(s);
  return result;
}

// The file's first fragment is whole, and an older log's.
bool LogReader::BeginsWithOlderLog() const {
  if (block_offset_ != 0 || block_.size() < kLogHeaderSize) return false;
  const size_t length = DecodeFixed16(block_.data() + 4);
  const uint32_t number = DecodeFixed32(block_.data() + 7);
  if (number >= static_cast<uint32_t>(number_) || length > block_.size() - kLogHeaderSize) {
    return false;
  }
  return IsWholeOf(number, 0, length);
}

// The bytes from `from` on do not verify: finds the next record, if any.
LogRead LogReader::Bad(uint64_t from, bool inside, const std::string& problem) {
  met_bad_bytes_ = true;
  const bool behind_record = leftovers_ == Leftovers::kBehindRecords && !inside;
  const bool expected = behind_record || (leftovers_ == Leftovers::kAtBeginning && from == 0 &&
                                          !inside && BeginsWithOlderLog());
  if (behind_record && !search_) return Finish(LogRead::kEnd, Status::OK());
  Header header;
  std::string ignored;
  bool found = false;
  bool own = false;  // some fragment is this log's
  while (!found) {
    for (; position_ + kLogHeaderSize <= block_.size(); ++position_) {
      if (DecodeFixed32(block_.data() + position_ + 7) != static_cast<uint32_t>(number_)) continue;
      if (!Verify(position_, &header, &ignored)) continue;
      own = true;
      found = header.type == LogFragmentType::kFull || header.type == LogFragmentType::kFirst;
      if (found) break;
    }
    if (!found && !FillBlock()) break;
  }
  if (!status_.ok()) return Finish(LogRead::kError, status_);
  if (expected && !own) return Finish(LogRead::kEnd, Status::OK());
  const uint64_t until = found ? FileOffset() : block_offset_ + block_.size();
  dropped_ += until - from;
  Status s = Status::Corruption(
      path_ + " at offset " + std::to_string(from),
      problem + " (" + std::to_string(until - from) + " bytes dropped)");
  if (!found) return Finish(LogRead::kTornTail, std::move(s));
  status_ = std::move(s);
  return LogRead::kCorruption;
}

LogRead LogReader::ReadRecord(Slice* record) {
  if (finished_) return final_;
  met_bad_bytes_ = false;
  status_ = Status::OK();
  *record = Slice();
  scratch_.clear();
  bool inside = false;
  uint64_t start = 0;
  while (true) {
    Header header;
    std::string problem;
    switch (Peek(&header, &problem)) {
      case Fragment::kError:
        return Finish(LogRead::kError, status_);
      case Fragment::kEnd:
        if (!inside) return Finish(LogRead::kEnd, Status::OK());
        return Bad(start, inside, "the file ends inside a record");
      case Fragment::kBad:
        return Bad(inside ? start : FileOffset(), inside, problem);
      case Fragment::kGood:
        break;
    }
    const bool starts =
        header.type == LogFragmentType::kFull || header.type == LogFragmentType::kFirst;
    // Bad() stays on a fragment that starts a record and passes over others.
    if (starts == inside) {
      return Bad(inside ? start : FileOffset(), inside,
                 inside ? "a record has no end" : "a record has no beginning");
    }
    if (starts) start = FileOffset();
    inside = true;
    position_ += header.size;
    const bool ends =
        header.type == LogFragmentType::kFull || header.type == LogFragmentType::kLast;
    if (header.type == LogFragmentType::kFull) {
      *record = header.payload;
    } else {
      scratch_.append(header.payload.data(), header.payload.size());
      if (ends) *record = scratch_;
    }
    if (ends) {
      record_offset_ = start;
      end_offset_ = FileOffset();
      return LogRead::kRecord;
    }
  }
}

}  // namespace compassdb
