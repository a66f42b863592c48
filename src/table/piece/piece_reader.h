// SPDX-License-Identifier: Apache-2.0
// The inside of a Piece: its parts in memory, and reads of its blocks.
// Private to table/.
//
// Thread safety: immutable after Open; the cursors belong to one thread.
// A reader may stay in the block cache after its piece is destroyed. It then does not use context
// and meta, which are the piece's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/read_ahead.h"
#include "filter/table_filter.h"
#include "iter/internal_iterator.h"
#include "table/block/block_io.h"
#include "table/directory/separator_index.h"
#include "table/file/file_cache.h"
#include "table/piece/hashed_index.h"
#include "table/piece/piece_format.h"
#include "table/piece/piece_ref.h"
#include "table/table_context.h"

namespace compassdb {

class PieceReader {
 public:
  static Status Open(const TableContext& context, const PieceMeta& meta,
                     std::unique_ptr<const PieceReader>* out);
  const PieceMeta& meta() const { return meta_; }
  const KeyOrder& order() const { return context_.order; }
  const SeparatorIndex& separators() const { return separators_; }
  // Null if there are none.
  const std::vector<RangeTombstone>* tombstones() const { return tombstones_.get(); }
  // Null if there is none, or it may not be used.
  const TableFilter* filter() const { return filter_.get(); }
  // The filter, if any, passes this key, which the piece has.
  bool FilterHolds(const Slice& user_key) const;
  rocksdb::Statistics* statistics() const { return context_.options.statistics; }
  const BlockLoader& loader() const { return context_.loader; }
  uint32_t num_blocks() const { return num_blocks_; }
  // In slot or hash order: separators are of groups of keys, and there is a hashed index.
  bool hashed() const { return hashed_ != nullptr; }
  bool without_hashes() const { return without_hashes_; }
  const HashedIndex& hashed_index() const { return *hashed_; }

  // From the start of the extent; block may be num_blocks().
  uint64_t BlockOffset(uint32_t block) const {
    return hashed() ? hashed_->BlockOffset(block) : separators_.BlockOffset(block);
  }
  uint64_t BlockLength(uint32_t block) const {
    return hashed() ? hashed_->BlockLength(block) : separators_.BlockLength(block);
  }

  // The file, whether this reader holds it or not.
  Status File(std::shared_ptr<CompactionFile>* holder, const CompactionFile** file) const;
  // Descriptors are few: hold no file between two reads.
  bool FilesScarce() const { return file_ == nullptr && context_.files->scarce(); }
  BlockPlace PlaceOf(uint32_t block, const CompactionFile* file) const;
  bool FromCache(uint32_t block, BlockRef* ref) const {
    return loader().FromCache(meta_.file_id, meta_.extent.offset + BlockOffset(block), ref);
  }
  // Cache, then file.
  Status GetBlock(const BlockReadOptions& read, uint32_t block, BlockRef* ref) const {
    return GetStored(read, {BlockOffset(block), BlockLength(block)}, ref);
  }
  // The same for anything stored like a data block.
  Status GetStored(const BlockReadOptions& read, const PieceRange& range, BlockRef* ref,
                   bool* cached = nullptr) const;
  // The block, if it is in the cache, while the caller's EpochGuard lasts; null: call GetBlock.
  LoadedBlock* PeekBlock(uint32_t block) const {
    if (block >= num_blocks()) return nullptr;
    return loader().Peek(meta_.file_id, meta_.extent.offset + BlockOffset(block));
  }
  // Whether the block is in the cache, without counting that as a hit.
  bool HasCached(uint32_t block) const {
    return loader().Contains(meta_.file_id, meta_.extent.offset + BlockOffset(block));
  }
  // "path: piece 7 at offset 36", for messages.
  std::string Description() const;
  std::string Path() const;
  // The block in which user_key's versions would start; num_blocks() if none could.
  uint32_t SeekBlock(const Slice& user_key) const;
  // The block that holds user_key if any does; else any, or num_blocks().
  uint32_t LookupBlock(const Slice& user_key) const {
    return hashed() ? SeekBlock(user_key) : separators_.LowerBound(order(), user_key);
  }
  // As if the data lay in key order. Requires hashed().
  uint64_t ApproximateHashedOffset(const Slice& user_key) const;
  Status ReadSection(PieceSection section, std::string* buffer, Slice* bytes) const;
  // One after the other, for their checksums. The bytes are those of the hash list.
  Status ReadEverySection(std::string* buffer, Slice* bytes) const;
  Status DamagedBlock(uint32_t block, const char* why) const;
  Status Damaged(const PieceRange& range, const char* why) const;
  IndexMemory Memory() const;

 private:
  PieceReader(const TableContext& context, const PieceMeta& meta)
      : context_(context), meta_(meta), num_blocks_(static_cast<uint32_t>(meta.num_blocks)) {}
  BlockPlace PlaceOf(const PieceRange& range, const CompactionFile* file) const;
  Status OpenParts();
  Status CheckProperties(const Slice& bytes) const;

  const TableContext& context_;
  const PieceMeta& meta_;
  std::shared_ptr<CompactionFile> file_;  // null if the file cache is limited
  const uint32_t num_blocks_;
  uint64_t max_block_payload_ = 0;
  PieceRange hashes_;  // the hash list as stored
  bool without_hashes_ = false;
  SeparatorIndex separators_;
  std::unique_ptr<HashedIndex> hashed_;
  std::unique_ptr<const std::vector<RangeTombstone>> tombstones_;
  std::unique_ptr<const TableFilter> filter_;
};

// The bytes that a walk is expected to read of a piece after its first block.
inline uint64_t ExpectedBytes(const BlockReadOptions& read) {
  if (read.seeks == nullptr) return 0;
  return static_cast<uint64_t>(static_cast<float>(read.seeks->expected_bytes) * read.walk_share);
}

// Walks the versions of one user key in one piece that a snapshot sees, newest
// first, across block boundaries.
class VersionCursor {
 public:
  // user_key must outlive the cursor.
  VersionCursor(PieceRef piece, const BlockReadOptions& read, const Slice& user_key)
      : piece_(std::move(piece)), read_(read), user_key_(user_key) {}

  // To the newest version with sequence <= snapshot.
  Status Seek(SequenceNumber snapshot);
  Status Next();  // requires Valid()

  bool Valid() const { return valid_; }
  bool key_present() const { return key_present_; }
  bool newest() const { return newest_; }  // the key's first version in this piece
  const Block::Record& record() const { return record_; }
  BlockRef TakeBlock() { return std::move(ref_); }
  BlockRef* block() { return &ref_; }

 private:
  Status LoadNextBlock(bool* more);

  PieceRef piece_;
  BlockReadOptions read_;
  Slice user_key_;
  BlockRef ref_;
  uint32_t block_ = 0;
  uint32_t index_ = 0;
  bool valid_ = false;
  bool key_present_ = false;
  bool newest_ = false;
  Block::Record record_;
};

// Walks a piece. The piece must outlive it.
class PieceIterator final : public InternalIterator {
 public:
  PieceIterator(PieceRef piece, const BlockReadOptions& read);
  bool Valid() const override { return iter_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void Next() override;
  void Prev() override;
  bool NextKey(Slice* key) override;
  void SkipCovered(const Slice& target, uint64_t seq) override;
  void PrefetchSeek(const Slice* internal_key) override;
  void PrepareSeek(const Slice* internal_key, ReadBatch* batch) override;
  Slice key() const override { return iter_.key(); }
  Slice value() const override { return iter_.value(); }
  Status status() const override { return status_; }
  uint32_t block() const { return block_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Positions iter_ before the records of `block`. False: no such block, or an error.
  bool Load(uint32_t block);
  Status LoadFromFile(uint32_t block);
  Status OpenFile();
  void ReleaseFile();
  bool IsCached(uint32_t block) const;
  // Blocks [from, to) that are read together.
  struct Window {
    uint32_t from;
    uint32_t to;
  };
  Window PlanWindow(uint32_t block, uint64_t walked);
  uint64_t Offset(uint32_t block) const {  // in the file
    return piece_->meta().extent.offset + piece_->separators().BlockOffset(block);
  }
  void StartWindow(ReadBatch* batch);
  void ReadNextWindow();
  uint64_t ReadaheadBytes(uint64_t block_length, uint64_t walked);
  void StepTo(uint32_t block);
  void Count(uint32_t block, bool cached);
  void PrefetchBehind(uint32_t block) const;
  uint32_t BlockOf(const Slice& user_key) const;
  void Find(const Slice& internal_key);
  void StartWalk(bool backward, bool bounded);
  void SkipForward();   // to the first record of the next block, if iter_ ran off its end
  void SkipBackward();
  void CheckBlock();    // copies an error of iter_
  void Stop();

  const PieceRef piece_;
  const BlockReadOptions read_;
  std::shared_ptr<CompactionFile> file_holder_;
  const CompactionFile* file_ = nullptr;
  BlockRef ref_;
  BlockIter iter_;
  uint32_t block_ = kNone;
  uint32_t end_block_ = kNone;  // the last block that is needed
  uint32_t start_ = kNone;      // where the walk starts
  // The walk since the last seek: its direction, blocks in a row, their bytes,
  // and the bytes of the last read-ahead.
  bool first_ = false;  // no block was loaded since the seek
  bool prepared_ = false;  // the walk was begun by PrefetchSeek
  bool fresh_ = false;     // ref_ holds block_, and iter_ does not know of it yet
  bool backward_ = false;
  uint32_t missing_ = kNone;  // known not to be in the cache
  uint32_t run_ = 0;
  uint64_t walked_ = 0;
  uint64_t readahead_ = 0;
  Window window_ = {0, 0};  // the last window of ahead_
  ReadAhead ahead_;
  IoTimer timer_;         // of the read that is waited for
  bool reading_ = false;  // PrepareSeek has begun it
  Status status_;
};

}  // namespace compassdb
