// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "table/piece_reader.h"

namespace compassdb {

namespace {

constexpr uint64_t kFirstReadahead = 8 << 10;
constexpr uint64_t kMaxReadahead = 256 << 10;
constexpr uint32_t kSequentialRun = 2;  // blocks in a row before readahead starts

}  // namespace

PieceIterator::PieceIterator(PieceRef piece, const BlockReadOptions& read)
    : piece_(std::move(piece)), read_(read) {}

void PieceIterator::Stop() {
  ref_.Reset();
  iter_.Clear();
  block_ = kNone;
}

bool PieceIterator::Load(uint32_t block) {
  if (block >= piece_->num_blocks() || (block > end_block_ && !backward_)) {
    Stop();
    return false;
  }
  StepTo(block);
  bool cached = block == block_ && ref_;
  if (!cached) {
    iter_.Clear();
    const uint64_t offset = piece_->meta().extent.offset + piece_->separators().BlockOffset(block);
    cached = piece_->loader().FromCache(piece_->meta().file_id, offset, &ref_);
    if (!cached) {
      if (read_.cache_only) {
        status_ =
            Status::Incomplete("data block is not in the block cache, and no file may be read");
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
  }
  if (first_ && read_.seeks != nullptr) {
    ++(cached ? read_.seeks->from_cache : read_.seeks->from_file);
  }
  first_ = false;
  return true;
}

void PieceIterator::StartWalk(bool backward, bool bounded) {
  status_ = Status::OK();
  first_ = true;
  backward_ = backward;
  run_ = 0;
  walked_ = 0;
  readahead_ = 0;
  // In blocks behind that of the bound nothing is below it.
  end_block_ = bounded && read_.upper_bound != nullptr
                   ? piece_->separators().LowerBound(piece_->order(), *read_.upper_bound)
                   : kNone;
}

// The walk goes to `block`: the first one of it, or a neighbour of block_.
void PieceIterator::StepTo(uint32_t block) {
  if (!first_ && (block < block_) != backward_) {
    backward_ = !backward_;
    run_ = 0;
    readahead_ = 0;
  }
  ++run_;
  const uint64_t length = piece_->separators().BlockLength(block);
  walked_ += length;
  if (read_.seeks != nullptr) read_.seeks->walked_bytes += length;
}

Status PieceIterator::LoadFromFile(const BlockPlace& place, uint32_t block) {
  const bool buffered = place.offset >= buffer_begin_ &&
                        place.offset + place.length <= buffer_begin_ + buffered_.size();
  if (!buffered) {
    const uint64_t ahead = ReadaheadBytes(place.length);
    const uint64_t blocks = (ahead + place.length / 2) / std::max<uint64_t>(place.length, 1);
    if (blocks == 0) return piece_->loader().FromFile(place, read_, &ref_);
    const SeparatorIndex& separators = piece_->separators();
    const uint32_t end = end_block_ < piece_->num_blocks() ? end_block_ + 1 : piece_->num_blocks();
    uint32_t from = block, to = block + 1;
    if (backward_) {
      from -= static_cast<uint32_t>(std::min<uint64_t>(block, blocks));
    } else if (to < end) {
      to += static_cast<uint32_t>(std::min<uint64_t>(end - to, blocks));
    }
    // Blocks much larger than this one are not what was meant.
    while (to - from > 1 &&
           separators.BlockOffset(to) - separators.BlockOffset(from) > place.length + 2 * ahead) {
      if (backward_) {
        from += (block - from + 1) / 2;
      } else {
        to -= (to - block) / 2;
      }
    }
    if (to - from == 1) return piece_->loader().FromFile(place, read_, &ref_);
    const size_t length = separators.BlockOffset(to) - separators.BlockOffset(from);
    if (buffer_size_ < length) {
      buffer_ = std::make_unique_for_overwrite<char[]>(length);
      buffer_size_ = length;
    }
    buffered_ = Slice();
    buffer_begin_ = piece_->meta().extent.offset + separators.BlockOffset(from);
    Status s = file_->file()->Read(buffer_begin_, length, &buffered_, buffer_.get());
    if (!s.ok()) {
      buffered_ = Slice();
      return s;
    }
  }
  const uint64_t skip = place.offset - buffer_begin_;
  const Slice stored(buffered_.data() + skip,
                     std::min<uint64_t>(place.length,
                                        buffered_.size() - std::min(skip, buffered_.size())));
  return piece_->loader().FromBytes(place, stored, read_, &ref_);
}

// How much to read beyond a block that is about to be read from the file: what
// walks like this one usually take, or, once a walk shows itself sequential,
// ever more.
uint64_t PieceIterator::ReadaheadBytes(uint64_t block_length) {
  if (read_.readahead_bytes != 0) return read_.readahead_bytes;
  const uint64_t expected = read_.seeks != nullptr ? read_.seeks->expected_bytes : 0;
  if (expected > walked_ + block_length / 2) {
    readahead_ = std::max(readahead_, (expected - walked_) / 2);
    return expected - walked_;
  }
  if (readahead_ == 0 && run_ <= kSequentialRun) return 0;
  const uint64_t ahead = std::max(readahead_, kFirstReadahead);
  readahead_ = std::min(ahead * 2, kMaxReadahead);
  return ahead;
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
  StartWalk(/*backward=*/false, /*bounded=*/true);
  if (!Load(0)) return;
  iter_.SeekToFirst();
  SkipForward();
}

void PieceIterator::SeekToLast() {
  StartWalk(/*backward=*/true, /*bounded=*/false);
  if (piece_->num_blocks() == 0) return Stop();
  if (!Load(piece_->num_blocks() - 1)) return;
  iter_.SeekToLast();
  SkipBackward();
}

void PieceIterator::Seek(const Slice& internal_key) {
  StartWalk(/*backward=*/false, /*bounded=*/true);
  Find(internal_key);
  SkipForward();
}

// To the first entry >= internal_key, or off the end of the block before it.
void PieceIterator::Find(const Slice& internal_key) {
  const Slice user_key = ExtractUserKey(internal_key);
  if (piece_->order().Compare(user_key, piece_->meta().largest) > 0) return Stop();
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
}

// The last entry that is not behind the target is right before the first one
// that is.
void PieceIterator::SeekForPrev(const Slice& internal_key) {
  StartWalk(/*backward=*/true, /*bounded=*/false);
  Find(internal_key);
  if (!status_.ok()) return;
  if (block_ == kNone) return SeekToLast();
  if (!iter_.Valid()) {
    iter_.SeekToLast();
    return SkipBackward();
  }
  if (ExtractTrailer(iter_.key()) == ExtractTrailer(internal_key) &&
      piece_->order().Compare(iter_.user_key(), ExtractUserKey(internal_key)) == 0) {
    return;
  }
  Prev();
}

void PieceIterator::Next() {
  iter_.Next();
  if (!iter_.Valid()) SkipForward();
}

bool PieceIterator::NextKey(Slice* key) {
  iter_.Next();
  if (!iter_.Valid()) SkipForward();
  if (!iter_.Valid()) return false;
  *key = iter_.key();
  return true;
}

void PieceIterator::SkipCovered(const Slice& target, uint64_t seq) {
  if (piece_->meta().largest_seq < seq) Seek(target);
}

void PieceIterator::Prev() {
  iter_.Prev();
  SkipBackward();
}

}  // namespace compassdb
