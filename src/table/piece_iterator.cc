// SPDX-License-Identifier: Apache-2.0
#include "table/piece_reader.h"

namespace compassdb {

namespace {

constexpr uint64_t kFirstReadahead = 8 << 10;
constexpr uint64_t kMaxReadahead = 256 << 10;
constexpr uint32_t kSequentialRun = 2;  // blocks in a row before readahead starts

}  // namespace

PieceIterator::PieceIterator(const PieceReader* piece, const BlockReadOptions& read)
    : piece_(piece), read_(read) {}

void PieceIterator::Stop() {
  ref_.Reset();
  iter_.Clear();
  block_ = kNone;
}

bool PieceIterator::Load(uint32_t block) {
  if (block >= piece_->num_blocks()) {
    Stop();
    return false;
  }
  if (block == block_ && ref_) {
    CountFirstBlock(/*from_cache=*/true);
    return true;
  }
  const uint64_t offset = piece_->meta().extent.offset + piece_->separators().BlockOffset(block);
  iter_.Clear();
  const bool cached = piece_->loader().FromCache(piece_->meta().file_id, offset, &ref_);
  CountFirstBlock(cached);
  if (!cached) {
    if (read_.cache_only) {
      status_ = Status::Incomplete("data block is not in the block cache, and no file may be read");
    } else if (file_ == nullptr) {
      status_ = piece_->File(&file_holder_, &file_);
    }
    if (status_.ok()) status_ = LoadFromFile(piece_->PlaceOf(block, file_), block);
    if (!status_.ok()) {
      Stop();
      return false;
    }
  }
  block_ = block;
  iter_.Reset(ref_.block(), piece_->order());
  return true;
}

void PieceIterator::CountFirstBlock(bool from_cache) {
  if (!sought_) return;
  sought_ = false;
  if (read_.seeks != nullptr) ++(from_cache ? read_.seeks->from_cache : read_.seeks->from_file);
}

// Walks that go backwards are left to the kernel.
Status PieceIterator::LoadFromFile(const BlockPlace& place, uint32_t block) {
  const uint64_t ahead = ReadaheadBytes(block);
  const bool buffered = place.offset >= buffer_begin_ &&
                        place.offset + place.length <= buffer_begin_ + buffered_.size();
  if (!buffered) {
    if (ahead == 0) return piece_->loader().FromFile(place, read_, &ref_);
    const uint64_t end = piece_->meta().extent.offset + piece_->footer().data_bytes;
    const uint64_t to = std::max(place.offset + place.length,
                                 std::min(end, place.offset + place.length + ahead));
    const size_t length = to - place.offset;
    if (buffer_.size() < length) buffer_.resize(length);
    buffered_ = Slice();
    Status s = file_->file()->Read(place.offset, length, &buffered_, buffer_.data());
    if (!s.ok()) {
      buffered_ = Slice();
      return s;
    }
    buffer_begin_ = place.offset;
    readahead_ = std::min(ahead * 2, kMaxReadahead);
  }
  const uint64_t skip = place.offset - buffer_begin_;
  const Slice stored(buffered_.data() + skip,
                     std::min<uint64_t>(place.length, buffered_.size() - skip));
  return piece_->loader().FromBytes(place, stored, read_, &ref_);
}

// How much to read behind `block`, which is about to be read from the file.
uint64_t PieceIterator::ReadaheadBytes(uint32_t block) {
  const bool sequential = last_read_ != kNone && block == last_read_ + 1;
  last_read_ = block;
  run_ = sequential ? run_ + 1 : 1;
  if (!sequential) readahead_ = 0;
  if (read_.readahead_bytes != 0) return read_.readahead_bytes;
  if (run_ <= kSequentialRun) return 0;
  return readahead_ == 0 ? kFirstReadahead : readahead_;
}

void PieceIterator::CheckBlock() {
  Status s = iter_.status();
  if (s.ok()) return;
  status_ = piece_->DamagedBlock(block_, "malformed record");
  Stop();
}

void PieceIterator::SkipForward() {
  CheckBlock();
  while (status_.ok() && !iter_.Valid() && block_ != kNone) {
    if (!Load(block_ + 1)) return;
    iter_.SeekToFirst();
    CheckBlock();
  }
}

void PieceIterator::SkipBackward() {
  CheckBlock();
  while (status_.ok() && !iter_.Valid() && block_ != kNone) {
    if (block_ == 0) return Stop();
    if (!Load(block_ - 1)) return;
    iter_.SeekToLast();
    CheckBlock();
  }
}

void PieceIterator::SeekToFirst() {
  status_ = Status::OK();
  sought_ = true;
  if (!Load(0)) return;
  iter_.SeekToFirst();
  SkipForward();
}

void PieceIterator::SeekToLast() {
  status_ = Status::OK();
  sought_ = true;
  if (piece_->num_blocks() == 0) return Stop();
  if (!Load(piece_->num_blocks() - 1)) return;
  iter_.SeekToLast();
  SkipBackward();
}

void PieceIterator::Seek(const Slice& internal_key) {
  status_ = Status::OK();
  sought_ = true;
  const Slice user_key = ExtractUserKey(internal_key);
  if (!Load(piece_->separators().LowerBound(piece_->order(), user_key))) return;
  iter_.Seek(internal_key);
  CheckBlock();
  // Where a key goes on in the next block, a target behind all records of this
  // block is a version of that key: for a later key, LowerBound would have
  // named a later block.
  while (status_.ok() && !iter_.Valid() && block_ != kNone &&
         piece_->separators().KeyContinues(block_)) {
    if (!Load(block_ + 1)) return;
    iter_.Seek(internal_key);
    CheckBlock();
  }
  SkipForward();
}

// The last entry that is not behind the target is right before the first one
// that is.
void PieceIterator::SeekForPrev(const Slice& internal_key) {
  Seek(internal_key);
  if (!status_.ok()) return;
  if (!iter_.Valid()) return SeekToLast();
  if (ExtractTrailer(iter_.key()) == ExtractTrailer(internal_key) &&
      piece_->order().Compare(iter_.user_key(), ExtractUserKey(internal_key)) == 0) {
    return;
  }
  Prev();
}

void PieceIterator::Next() {
  iter_.Next();
  SkipForward();
}

void PieceIterator::Prev() {
  iter_.Prev();
  SkipBackward();
}

}  // namespace compassdb
