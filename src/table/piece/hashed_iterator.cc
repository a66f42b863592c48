// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_iterator.h"

#include <algorithm>

namespace compassdb {

namespace {

constexpr uint32_t kSequentialRun = 2;  // steps in a row before reading ahead
constexpr uint64_t kFirstAhead = 8;     // keys
constexpr uint64_t kMaxAhead = 64;
constexpr uint64_t kWholeChunk = 2 << 20;  // bytes per read of a whole piece

}  // namespace

HashedIterator::HashedIterator(PieceRef piece, const BlockReadOptions& read)
    : piece_(std::move(piece)),
      index_(piece_->hashed_index()),
      read_(read),
      versions_(piece_->meta().num_records != piece_->meta().num_keys),
      key_bytes_(std::max<uint64_t>(
          1, piece_->meta().data_bytes / std::max<uint64_t>(1, piece_->meta().num_keys))) {}

void HashedIterator::Stop() {
  valid_ = false;
  block_number_ = kNone;
  block_ref_.Reset();
  window_.clear();
  window_left_ = 0;
  whole_.clear();
}

bool HashedIterator::Fail(Status s) {
  status_ = std::move(s);
  Stop();
  return false;
}

bool HashedIterator::LoadPage(uint64_t page) {
  if (page == page_number_) return true;
  page_number_ = UINT64_MAX;
  const PieceRange range = index_.Page(page);
  Status s = piece_->GetStored(read_, range, &page_ref_);
  if (!s.ok()) return Fail(std::move(s));
  if (!OrderPage::Parse(page_ref_.block(), index_.KeysOfPage(page), index_.widths(), &page_)) {
    return Fail(piece_->Damaged(range, "malformed page of the reverse index"));
  }
  page_number_ = page;
  return true;
}

bool HashedIterator::LoadBlock(uint32_t block) {
  if (block == block_number_) return true;
  block_number_ = kNone;
  if (block >= index_.num_blocks() || index_.BlockLength(block) == 0) {
    return Fail(Status::Corruption(piece_->Description(),
                                   "the reverse index names data block " + std::to_string(block) +
                                       ", which does not exist or is empty"));
  }
  cached_ = true;
  if (!whole_.empty()) {
    block_ = whole_[block].block();
  } else {
    const auto held = std::find_if(window_.begin(), window_.end(),
                                   [&](const Held& h) { return h.block == block; });
    if (held != window_.end()) {
      block_ = held->ref.block();
    } else {
      const PieceRange range{index_.BlockOffset(block), index_.BlockLength(block)};
      Status s = piece_->GetStored(read_, range, &block_ref_, &cached_);
      if (!s.ok()) return Fail(std::move(s));
      CountScattered(cached_ ? 0 : 1, cached_ ? 1 : 0);
      block_ = block_ref_.block();
    }
  }
  block_number_ = block;
  return true;
}

bool HashedIterator::ReadRecord(uint32_t index) {
  if (index >= block_.count() || !block_.Get(index, &record_)) {
    return Fail(piece_->DamagedBlock(block_number_, "malformed record"));
  }
  record_index_ = index;
  key_.assign(block_.prefix().data(), block_.prefix().size());
  key_.append(record_.suffix.data(), record_.suffix.size());
  PutFixed64(&key_, PackTrailer(record_.sequence, record_.type));
  return true;
}

bool HashedIterator::MoveTo(uint64_t position) {
  if (position >= piece_->meta().num_keys) {
    Stop();
    return false;
  }
  if (!LoadPage(position / OrderPage::kKeys)) return false;
  const RecordPlace place = page_.place(static_cast<uint32_t>(position % OrderPage::kKeys));
  if (!LoadBlock(place.block) || !ReadRecord(place.index)) return false;
  position_ = position;
  first_ = place.index;
  valid_ = true;
  return true;
}

bool HashedIterator::SameKeyFollows(bool* ok) const {
  *ok = true;
  if (!versions_ || record_index_ + 1 >= block_.count()) return false;
  Block::Record next;
  *ok = block_.Get(record_index_ + 1, &next);
  return *ok && next.suffix == record_.suffix;
}

bool HashedIterator::MoveToLastVersion() {
  bool ok;
  while (SameKeyFollows(&ok)) ReadRecord(record_index_ + 1);
  return ok || Fail(piece_->DamagedBlock(block_number_, "malformed record"));
}

int HashedIterator::CompareAt(const Slice& user_key) const {
  return piece_->order().Compare(ExtractUserKey(key_), user_key);
}

bool HashedIterator::BinarySearch(uint64_t begin, uint64_t end, const Slice& user_key,
                                  uint64_t* position) {
  while (begin < end) {
    const uint64_t mid = begin + (end - begin) / 2;
    if (!MoveTo(mid)) return false;
    if (CompareAt(user_key) < 0) {
      begin = mid + 1;
    } else {
      end = mid;
    }
  }
  *position = begin;
  return true;
}

// begin .. end - 1 are in one page.
bool HashedIterator::BlindSearch(uint64_t begin, uint64_t end, const Slice& user_key,
                                 uint64_t* position) {
  const uint64_t page_begin = begin / OrderPage::kKeys * OrderPage::kKeys;
  if (!LoadPage(begin / OrderPage::kKeys)) return false;
  const uint32_t low = static_cast<uint32_t>(begin - page_begin);
  const uint32_t high = static_cast<uint32_t>(end - page_begin);
  const uint32_t candidate = page_.Candidate(low, high, user_key);
  if (!MoveTo(page_begin + candidate)) return false;
  const Slice found = ExtractUserKey(key_);
  const uint64_t difference = FirstDifference(found, user_key);
  *position = page_begin + (difference == UINT64_MAX
                                ? candidate
                                : page_.LowerBound(low, high, candidate, difference,
                                                   BitAt(user_key, difference)));
  return true;
}

bool HashedIterator::LowerBound(const Slice& user_key, uint64_t* position) {
  const uint64_t n = piece_->meta().num_keys;
  const uint64_t group = piece_->separators().LowerBound(piece_->order(), user_key);
  const uint64_t begin = group * OrderPage::kGroup;
  const uint64_t end = std::min(n, begin + OrderPage::kGroup);
  if (begin >= end) {
    *position = n;
    return true;
  }
  return index_.widths().difference > 0 ? BlindSearch(begin, end, user_key, position)
                                        : BinarySearch(begin, end, user_key, position);
}

void HashedIterator::StartWalk(bool bounded) {
  status_ = Status::OK();
  valid_ = false;
  run_ = 0;
  end_ = piece_->meta().num_keys;
  if (bounded && read_.upper_bound != nullptr) {
    const uint64_t group = piece_->separators().LowerBound(piece_->order(), *read_.upper_bound);
    end_ = std::min(end_, (group + 1) * OrderPage::kGroup);
  }
}

void HashedIterator::CountFirst() {
  if (read_.seeks != nullptr) ++(cached_ ? read_.seeks->from_cache : read_.seeks->from_file);
}

void HashedIterator::CountScattered(size_t from_file, size_t from_cache) {
  if (read_.seeks == nullptr) return;
  read_.seeks->scattered_from_file += static_cast<uint32_t>(from_file);
  read_.seeks->scattered_from_cache += static_cast<uint32_t>(from_cache);
}

void HashedIterator::SeekToFirst() {
  StartWalk(/*bounded=*/true);
  if (MoveTo(0)) CountFirst();
}

void HashedIterator::SeekToLast() {
  StartWalk(/*bounded=*/false);
  const uint64_t n = piece_->meta().num_keys;
  if (n == 0) return Stop();
  if (MoveTo(n - 1) && MoveToLastVersion()) CountFirst();
}

void HashedIterator::Seek(const Slice& internal_key) {
  StartWalk(/*bounded=*/true);
  const Slice user_key = ExtractUserKey(internal_key);
  uint64_t position = 0;
  if (!LowerBound(user_key, &position) || !MoveTo(position)) return;
  CountFirst();
  if (CompareAt(user_key) != 0) return;
  // The key is here: its versions with a higher trailer come before the target.
  const uint64_t trailer = ExtractTrailer(internal_key);
  bool ok = true;
  while (PackTrailer(record_.sequence, record_.type) > trailer) {
    if (!SameKeyFollows(&ok)) {
      if (ok) {
        MoveTo(position + 1);
      } else {
        Fail(piece_->DamagedBlock(block_number_, "malformed record"));
      }
      return;
    }
    ReadRecord(record_index_ + 1);
  }
}

void HashedIterator::SeekForPrev(const Slice& internal_key) {
  Seek(internal_key);
  if (!status_.ok()) return;
  if (!valid_) return SeekToLast();
  if (ExtractTrailer(key_) == ExtractTrailer(internal_key) &&
      CompareAt(ExtractUserKey(internal_key)) == 0) {
    return;
  }
  Prev();
}

void HashedIterator::Next() {
  bool ok;
  if (SameKeyFollows(&ok)) {
    ReadRecord(record_index_ + 1);
    return;
  }
  if (!ok) {
    Fail(piece_->DamagedBlock(block_number_, "malformed record"));
    return;
  }
  if (ReadAhead(position_ + 1, Direction::kForward)) MoveTo(position_ + 1);
}

void HashedIterator::Prev() {
  if (record_index_ > first_) {
    ReadRecord(record_index_ - 1);
    return;
  }
  if (position_ == 0) return Stop();
  if (ReadAhead(position_ - 1, Direction::kBackward) && MoveTo(position_ - 1)) MoveToLastVersion();
}

bool HashedIterator::ReadAhead(uint64_t position, Direction direction) {
  if (position >= piece_->meta().num_keys || !whole_.empty() || read_.cache_only) return true;
  if (read_.whole_piece) return ReadWholePiece();
  if (read_.seeks != nullptr) read_.seeks->walked_bytes += key_bytes_;
  // What the caller or walks like this one need, before this one is known to be sequential.
  const uint64_t expected = read_.readahead_bytes != 0 ? read_.readahead_bytes / 4096
                                                       : ExpectedBytes(read_) / key_bytes_;
  if (run_ == 0 || direction != direction_) {
    direction_ = direction;
    run_ = 0;
    window_left_ = 0;
    ahead_ = std::clamp(expected, kFirstAhead, kMaxAhead);
  }
  ++run_;
  if (window_left_ > 0) {
    --window_left_;
    return true;
  }
  if (run_ <= kSequentialRun && expected <= kSequentialRun) return true;
  const uint64_t keys = ahead_;
  ahead_ = std::min(ahead_ * 2, kMaxAhead);
  return FillWindow(position, direction, keys);
}

// Takes the blocks of up to `keys` keys from `position` on into the window: from the cache, or read
// together. A window ends with its page.
bool HashedIterator::FillWindow(uint64_t position, Direction direction, uint64_t keys) {
  const uint64_t in_page = position % OrderPage::kKeys;
  if (!LoadPage(position / OrderPage::kKeys)) return false;
  keys = std::min(keys, direction == Direction::kForward ? page_.count() - in_page : in_page + 1);
  if (direction == Direction::kForward) {
    keys = std::min(keys, position < end_ ? end_ - position : 1);
  }
  std::vector<uint32_t> blocks;
  for (uint64_t i = 0; i < keys; ++i) {
    const uint64_t at = direction == Direction::kForward ? in_page + i : in_page - i;
    blocks.push_back(page_.place(static_cast<uint32_t>(at)).block);
  }
  window_left_ = keys - 1;
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

  std::vector<Held> window;
  std::vector<uint32_t> missing;
  size_t from_cache = 0;
  for (uint32_t block : blocks) {
    if (block >= index_.num_blocks() || index_.BlockLength(block) == 0) continue;  // MoveTo reports
    const auto held = std::find_if(window_.begin(), window_.end(),
                                   [&](const Held& h) { return h.block == block; });
    if (held != window_.end()) {
      window.push_back(std::move(*held));
      continue;
    }
    BlockRef ref;
    if (piece_->FromCache(block, &ref)) {
      window.push_back({block, std::move(ref)});
      ++from_cache;
    } else {
      missing.push_back(block);
    }
  }
  CountScattered(missing.size(), from_cache);
  window_ = std::move(window);
  block_number_ = kNone;  // its bytes may have been the old window's
  return missing.empty() || ReadBlocks(missing);
}

bool HashedIterator::ReadBlocks(const std::vector<uint32_t>& blocks) {
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  Status s = piece_->File(&holder, &file);
  if (!s.ok()) return Fail(std::move(s));
  size_t bytes = 0;
  for (uint32_t block : blocks) bytes += index_.BlockLength(block);
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  std::vector<ReadRequest> requests(blocks.size());
  char* scratch = buffer_.data();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockPlace place = piece_->PlaceOf(blocks[i], file);
    requests[i].offset = place.offset;
    requests[i].length = place.length;
    requests[i].scratch = scratch;
    scratch += place.length;
  }
  file->file()->MultiRead(requests.data(), requests.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    BlockRef ref;
    s = requests[i].status;
    if (s.ok()) {
      s = piece_->loader().FromBytes(piece_->PlaceOf(blocks[i], file), requests[i].result, read_,
                                     &ref);
    }
    if (!s.ok()) return Fail(std::move(s));
    window_.push_back({blocks[i], std::move(ref)});
  }
  return true;
}

bool HashedIterator::ReadWholePiece() {
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  Status s = piece_->File(&holder, &file);
  if (!s.ok()) return Fail(std::move(s));
  std::vector<BlockRef> whole(index_.num_blocks());
  for (uint32_t b = 0; b < index_.num_blocks();) {
    const uint64_t begin = index_.BlockOffset(b);
    uint32_t end = b + 1;
    while (end < index_.num_blocks() && index_.BlockOffset(end + 1) - begin <= kWholeChunk) ++end;
    const size_t length = std::max(index_.BlockOffset(end), begin) - begin;  // damaged offsets may go back
    if (buffer_.size() < length) buffer_.resize(length);
    Slice bytes;
    s = file->file()->Read(piece_->meta().extent.offset + begin, length, &bytes, buffer_.data());
    for (; s.ok() && b < end; ++b) {
      if (index_.BlockLength(b) == 0) continue;
      const uint64_t skip = std::min<uint64_t>(index_.BlockOffset(b) - begin, bytes.size());
      const Slice stored(bytes.data() + skip,
                         std::min<uint64_t>(index_.BlockLength(b), bytes.size() - skip));
      s = piece_->loader().FromBytes(piece_->PlaceOf(b, file), stored, read_, &whole[b]);
    }
    if (!s.ok()) return Fail(std::move(s));
  }
  std::string().swap(buffer_);  // an assignment would keep its memory
  whole_ = std::move(whole);
  block_number_ = kNone;
  block_ref_.Reset();
  return true;
}

}  // namespace compassdb
