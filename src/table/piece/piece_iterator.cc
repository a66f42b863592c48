// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "table/piece/piece_reader.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"

namespace compassdb {

namespace {

constexpr uint64_t kFirstReadahead = 8 << 10;
constexpr uint64_t kMaxReadahead = 256 << 10;
constexpr uint64_t kLongWalk = 64 << 10;  // windows of this size are read in advance
constexpr uint32_t kSequentialRun = 2;    // blocks in a row before readahead starts

}  // namespace

PieceIterator::PieceIterator(PieceRef piece, const BlockReadOptions& read)
    : piece_(std::move(piece)), read_(read), timer_(read_.limits) {}

void PieceIterator::Stop() {
  fresh_ = false;
  ref_.Reset();
  iter_.Clear();
  block_ = kNone;
}

bool PieceIterator::Load(uint32_t block) {
  if (block >= piece_->num_blocks() || block > end_block_) {
    Stop();
    return false;
  }
  StepTo(block);
  bool cached = block == block_;
  if (!cached) {
    iter_.Clear();
    cached = block != missing_ &&
             piece_->loader().FromCache(piece_->meta().file_id, Offset(block), &ref_);
    missing_ = kNone;
    if (!cached) {
      status_ = LoadFromFile(block);
      ReleaseFile();
      if (!status_.ok()) {
        Stop();
        return false;
      }
    }
    block_ = block;
    fresh_ = true;
  }
  if (std::exchange(fresh_, false)) iter_.Reset(ref_.block(), piece_->order());
  if (cached) PrefetchBehind(block);
  Count(block, cached);
  return true;
}

void PieceIterator::StartWalk(bool backward, bool bounded) {
  status_ = Status::OK();
  first_ = true;
  prepared_ = reading_ = false;
  backward_ = backward;
  missing_ = kNone;
  run_ = 0;
  walked_ = 0;
  readahead_ = 0;
  start_ = kNone;
  // Blocks behind the bound's block have no key below the bound.
  end_block_ = bounded && read_.upper_bound != nullptr
                   ? piece_->separators().LowerBound(piece_->order(), *read_.upper_bound)
                   : kNone;
}

// The walk moves to `block`: its first one, or a neighbour of block_.
void PieceIterator::StepTo(uint32_t block) {
  if (!first_ && (block < block_) != backward_) {
    backward_ = !backward_;
    run_ = 0;
    readahead_ = 0;
  }
  ++run_;
}

void PieceIterator::Count(uint32_t block, bool cached) {
  const uint64_t length = piece_->separators().BlockLength(block);
  if (!first_) walked_ += length;
  if (SeekCounter* const seeks = read_.seeks; seeks != nullptr) {
    (cached ? seeks->cached_bytes : seeks->file_bytes) += length;
    if (first_) {
      ++(cached ? seeks->from_cache : seeks->from_file);
    } else {
      seeks->walked_bytes += length;
    }
  }
  first_ = false;
}

Status PieceIterator::OpenFile() {
  return file_ != nullptr ? Status::OK() : piece_->File(&file_holder_, &file_);
}

void PieceIterator::ReleaseFile() {
  if (file_holder_ == nullptr || ahead_.under_way() || !piece_->FilesScarce()) return;
  file_holder_.reset();
  file_ = nullptr;
}

bool PieceIterator::IsCached(uint32_t block) const {
  return piece_->loader().Contains(piece_->meta().file_id, Offset(block));
}

Status PieceIterator::LoadFromFile(uint32_t block) {
  if (read_.cache_only) {
    return Status::Incomplete("data block is not in the block cache, and no file may be read");
  }
  Status s = OpenFile();
  if (!s.ok()) return s;
  const BlockPlace place = piece_->PlaceOf(block, file_);
  if (!std::exchange(reading_, false)) s = timer_.Begin();
  if (!s.ok()) return s;
  if (!ahead_.Covers(place.offset, place.length)) {
    const uint64_t walked = first_ ? 0 : walked_ + place.length;
    window_ = PlanWindow(block, walked);
    if (window_.to - window_.from == 1 && !read_.async_io) {
      return piece_->loader().FromFile(place, read_, &ref_);
    }
    CountBlockRead(Offset(window_.to) - Offset(window_.from));
    const StatTimer micros(piece_->loader().statistics(), rocksdb::SST_READ_MICROS);
    PerfTimer perf(&rocksdb::PerfContext::block_read_time);
    s = ahead_.Read(file_->file(), Offset(window_.from), Offset(window_.to));
    if (!s.ok()) return s;
  }
  const StatTimer micros(piece_->loader().statistics(), BlockReadHistogram(read_));
  Slice stored;
  s = ahead_.Get(place.offset, place.length, &stored);
  if (s.ok()) s = timer_.End();
  if (!s.ok()) return s;
  ReadNextWindow();
  return piece_->loader().FromBytes(place, stored, read_, &ref_);
}

// The blocks to read together: `block`, which is not in the cache, and others behind it, the
// last of which is not in the cache. With `block` the walk has read `walked` bytes
// behind its first block.
PieceIterator::Window PieceIterator::PlanWindow(uint32_t block, uint64_t walked) {
  const SeparatorIndex& separators = piece_->separators();
  const uint64_t length = separators.BlockLength(block);
  const uint64_t ahead = ReadaheadBytes(length, walked);
  const uint64_t blocks = (ahead + length * 3 / 4) / std::max<uint64_t>(length, 1);
  const uint32_t end = end_block_ < piece_->num_blocks() ? end_block_ + 1 : piece_->num_blocks();
  uint32_t from = block, to = block + 1;
  if (backward_) {
    from -= static_cast<uint32_t>(std::min<uint64_t>(block, blocks));
  } else if (to < end) {
    to += static_cast<uint32_t>(std::min<uint64_t>(end - to, blocks));
  }
  // The window was not meant for blocks much larger than this one.
  while (to - from > 1 &&
         separators.BlockOffset(to) - separators.BlockOffset(from) > length + 2 * ahead) {
    if (backward_) {
      from += (block - from + 1) / 2;
    } else {
      to -= (to - block) / 2;
    }
  }
  while (from < block && IsCached(from)) ++from;
  while (to - 1 > block && IsCached(to - 1)) --to;
  return {from, to};
}

void PieceIterator::StartWindow(ReadBatch* batch) {
  const uint64_t begin = Offset(window_.from), end = Offset(window_.to);
  CountBlockRead(end - begin);
  ahead_.Start(file_->file(), begin, end, batch);
}

// Reads the next window of a long walk, or of one with async_io, while it walks
// through the present one.
void PieceIterator::ReadNextWindow() {
  if (ahead_.under_way() || (!read_.async_io && readahead_ < kLongWalk)) return;
  if (piece_->FilesScarce()) return;
  const bool more = backward_ ? window_.from > 0
                              : window_.to < piece_->num_blocks() && window_.to <= end_block_;
  if (!more) return;
  const uint32_t next = backward_ ? window_.from - 1 : window_.to;
  if (IsCached(next)) return;
  window_ = PlanWindow(next, walked_ + (Offset(window_.to) - Offset(window_.from)));
  StartWindow(nullptr);
}

void PieceIterator::PrefetchSeek(const Slice* internal_key) {
  StartWalk(/*backward=*/false, /*bounded=*/true);
  prepared_ = true;
  start_ = internal_key != nullptr ? BlockOf(ExtractUserKey(*internal_key)) : 0;
  if (start_ >= piece_->num_blocks() || start_ > end_block_) return;
  const uint64_t file_id = piece_->meta().file_id;
  piece_->loader().PrefetchSlot(file_id, Offset(start_));
  if (ExpectedBytes(read_) > 0 && start_ + 1 < piece_->num_blocks()) {
    piece_->loader().PrefetchSlot(file_id, Offset(start_ + 1));
  }
}

// A forward walk comes to `block`: it needs the next block soon, and the one after that later.
void PieceIterator::PrefetchBehind(uint32_t block) const {
  if (backward_ || (first_ && ExpectedBytes(read_) == 0)) return;
  const uint64_t file_id = piece_->meta().file_id;
  if (block + 1 < piece_->num_blocks()) {
    piece_->loader().PrefetchBlock(file_id, Offset(block + 1));
  }
  if (block + 2 < piece_->num_blocks()) {
    piece_->loader().PrefetchSlot(file_id, Offset(block + 2));
  }
}

void PieceIterator::PrepareSeek(const Slice* internal_key, ReadBatch* batch) {
  if (!prepared_) PrefetchSeek(internal_key);
  const uint32_t block = start_;
  if (block >= piece_->num_blocks() || block > end_block_) return Stop();
  if (block == block_) return;
  Stop();
  if (piece_->loader().FromCache(piece_->meta().file_id, Offset(block), &ref_)) {
    block_ = block;
    fresh_ = true;
    return;
  }
  missing_ = block;
  // An error here happens in Seek, too, and is returned there.
  if (read_.cache_only || piece_->FilesScarce() || !OpenFile().ok()) return;
  if (!timer_.Begin().ok()) return;
  const uint64_t length = piece_->separators().BlockLength(block);
  if (ahead_.Covers(Offset(block), length)) return;
  window_ = PlanWindow(block, 0);
  StartWindow(batch);
  reading_ = true;
}

// How much to read beyond a block that will be read from the file: as much as
// walks like this one usually need. Once a walk is known to be sequential, it
// grows.
uint64_t PieceIterator::ReadaheadBytes(uint64_t block_length, uint64_t walked) {
  if (read_.readahead_bytes != 0) return read_.readahead_bytes;
  const uint64_t expected = ExpectedBytes(read_);
  if (expected > walked + block_length / 4) {
    readahead_ = std::max(readahead_, (expected - walked) / 2);
    return expected - walked;
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
  while (status_.ok() && !iter_.Valid()) {
    if (block_ == 0) return Stop();
    if (!Load(block_ - 1)) return;
    iter_.SeekToLast();
    CheckBlock();
  }
}

void PieceIterator::SeekToFirst() {
  if (!std::exchange(prepared_, false)) StartWalk(/*backward=*/false, /*bounded=*/true);
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
  if (!std::exchange(prepared_, false)) {
    StartWalk(/*backward=*/false, /*bounded=*/true);
    start_ = BlockOf(ExtractUserKey(internal_key));
  }
  Find(internal_key);
  SkipForward();
}

// Where the first entry of user_key or behind it is, or would be.
uint32_t PieceIterator::BlockOf(const Slice& user_key) const {
  if (piece_->order().Compare(user_key, piece_->meta().largest) > 0) return kNone;
  return piece_->separators().LowerBound(piece_->order(), user_key);
}

// To the first entry >= internal_key, or off the end of the block before it. start_ is its
// BlockOf.
void PieceIterator::Find(const Slice& internal_key) {
  if (!Load(start_)) return;
  iter_.Seek(internal_key);
  CheckBlock();
  // If a key continues in the next block, a target after all records of this
  // block is a version of that key: for a later key, LowerBound would have
  // named a later block.
  while (status_.ok() && !iter_.Valid() && piece_->separators().KeyContinues(block_)) {
    if (!Load(block_ + 1)) return;
    iter_.Seek(internal_key);
    CheckBlock();
  }
}

// The last entry that is not behind the target is right before the first one
// that is.
void PieceIterator::SeekForPrev(const Slice& internal_key) {
  StartWalk(/*backward=*/true, /*bounded=*/false);
  start_ = BlockOf(ExtractUserKey(internal_key));
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
