// SPDX-License-Identifier: Apache-2.0
// Walks a piece in slot or hash order in the order of its keys, through the reverse index (paper
// 3.3, "Scan"). Each step may be in another block, so a walk reads the blocks of the next keys
// together, more of them in longer walks. A walk over the whole piece (compactions) reads all
// data blocks into memory, front to back, at its first step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "table/piece/order_page.h"
#include "table/piece/piece_reader.h"

namespace compassdb {

// The piece must outlive it. One thread.
class HashedIterator final : public InternalIterator {
 public:
  HashedIterator(PieceRef piece, const BlockReadOptions& read);
  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return key_; }
  Slice value() const override { return record_.value; }
  Status status() const override { return status_; }

  // In a walk over the whole piece: the page's difference of the current key to the one before.
  bool has_differences() const { return page_.has_differences(); }
  uint64_t difference() const { return page_.difference(static_cast<uint32_t>(position_ % OrderPage::kKeys)); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Direction { kForward, kBackward };

  void Stop();
  bool Fail(Status s);
  // Each returns false after an error (status_); for blocks and pages only then.
  bool LoadPage(uint64_t page);
  bool LoadBlock(uint32_t block);
  bool ReadRecord(uint32_t index);
  bool MoveTo(uint64_t position);  // to the key's first (newest) record; Stop() after the end
  bool MoveToLastVersion();
  // The next record has the same key: it can be read. False in *ok: error.
  bool SameKeyFollows(bool* ok) const;
  // The number of the first key >= user_key.
  bool LowerBound(const Slice& user_key, uint64_t* position);
  void StartWalk(bool bounded);
  void CountFirst();
  void CountScattered(size_t from_file, size_t from_cache);  // after a seek, for the consolidation of what is scanned often
  bool BlindSearch(uint64_t begin, uint64_t end, const Slice& user_key, uint64_t* position);
  bool BinarySearch(uint64_t begin, uint64_t end, const Slice& user_key, uint64_t* position);
  int CompareAt(const Slice& user_key) const;  // of the current record's key to user_key
  // Called before the step to `position`.
  bool ReadAhead(uint64_t position, Direction direction);
  bool FillWindow(uint64_t position, Direction direction, uint64_t keys);
  bool ReadBlocks(const std::vector<uint32_t>& blocks);
  bool ReadWholePiece();

  const PieceRef piece_;
  const HashedIndex& index_;
  const BlockReadOptions read_;
  const bool versions_;  // some key has more than one record
  const uint64_t key_bytes_;  // that a key takes on average

  bool valid_ = false;
  Status status_;
  uint64_t position_ = 0;  // of the key, in key order
  uint32_t first_ = 0;     // its first record in the block
  uint32_t record_index_ = 0;
  Block::Record record_;
  std::string key_;

  uint64_t page_number_ = UINT64_MAX;
  BlockRef page_ref_;
  OrderPage page_;

  uint32_t block_number_ = kNone;
  bool cached_ = false;  // it was in memory
  Block block_;        // bytes held by block_ref_, the window, or whole_
  BlockRef block_ref_;

  // Blocks of the keys around position_, read together.
  struct Held {
    uint32_t block;
    BlockRef ref;
  };
  std::vector<Held> window_;
  uint64_t window_left_ = 0;  // steps until the window is used up
  uint64_t ahead_ = 0;        // keys to read ahead next time
  uint64_t end_ = 0;          // no key from this number on is needed
  uint32_t run_ = 0;          // steps in one direction
  Direction direction_ = Direction::kForward;
  std::vector<BlockRef> whole_;  // by block, once the whole piece was read
  std::string buffer_;
};

}  // namespace compassdb
