// SPDX-License-Identifier: Apache-2.0
// What is behind a Piece: the parts in memory, and the way to its blocks.
// Private to table/.
//
// Thread safety: immutable after Open; the cursors belong to one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "table/block_io.h"
#include "table/file_cache.h"
#include "table/piece.h"
#include "table/piece_format.h"
#include "table/separator_index.h"

namespace compassdb {

class PieceReader {
 public:
  static Status Open(FileCache* files, const TableReaderOptions& options, const PieceMeta& meta,
                     std::unique_ptr<PieceReader>* out);

  const PieceMeta& meta() const { return meta_; }
  const PieceFooter& footer() const { return footer_; }
  const KeyOrder& order() const { return order_; }
  const SeparatorIndex& separators() const { return separators_; }
  const std::vector<RangeTombstone>& tombstones() const { return tombstones_; }
  const BlockLoader& loader() const { return loader_; }
  uint32_t num_blocks() const { return separators_.num_blocks(); }

  // The file, whether this reader holds it or not.
  Status File(std::shared_ptr<CompactionFile>* holder, const CompactionFile** file) const;
  BlockPlace PlaceOf(uint32_t block, const CompactionFile* file) const;
  // Cache, then file.
  Status GetBlock(const BlockReadOptions& read, uint32_t block, BlockRef* ref) const;
  // The block, if it is in the cache, while the caller's EpochGuard lasts; null: ask GetBlock.
  LoadedBlock* PeekBlock(uint32_t block) const {
    if (block >= num_blocks()) return nullptr;
    return loader_.Peek(meta_.file_id, meta_.extent.offset + separators_.BlockOffset(block));
  }
  // "path: piece 7 at offset 36", for messages.
  std::string Description() const;
  std::string Path() const { return path_; }
  // The block in which user_key's versions would start; num_blocks() if none could.
  uint32_t SeekBlock(const Slice& user_key) const;
  Status ReadSection(PieceSection section, std::string* buffer, Slice* bytes) const;
  Status DamagedBlock(uint32_t block, const char* why) const;
  PieceMemory Memory() const;

 private:
  PieceReader(FileCache* files, const TableReaderOptions& options, const PieceMeta& meta);
  Status OpenParts();
  Status CheckProperties(const Slice& bytes) const;

  FileCache* const files_;
  const PieceMeta meta_;
  const KeyOrder order_;
  const std::shared_ptr<rocksdb::Cache> cache_;
  const BlockLoader loader_;
  std::string path_;
  std::shared_ptr<CompactionFile> file_;  // null if the file cache is limited
  PieceFooter footer_;
  SeparatorIndex separators_;
  std::vector<RangeTombstone> tombstones_;
};

// Walks the versions of one user key in one piece that a snapshot sees, newest
// first, across block boundaries.
class VersionCursor {
 public:
  // user_key must outlive the cursor.
  VersionCursor(const PieceReader* piece, const BlockReadOptions& read, const Slice& user_key)
      : piece_(piece), read_(read), user_key_(user_key) {}

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

  const PieceReader* piece_;
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
  PieceIterator(const PieceReader* piece, const BlockReadOptions& read);
  bool Valid() const override { return iter_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void Next() override;
  void Prev() override;
  bool NextKey(Slice* key) override;
  void SkipCovered(const Slice& target, uint64_t seq) override;
  Slice key() const override { return iter_.key(); }
  Slice value() const override { return iter_.value(); }
  Status status() const override { return status_; }
  uint32_t block() const { return block_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Positions iter_ before the records of `block`. False: no such block, or an error.
  bool Load(uint32_t block);
  Status LoadFromFile(const BlockPlace& place, uint32_t block);
  uint64_t ReadaheadBytes(uint64_t block_length);
  void StepTo(uint32_t block);
  void Find(const Slice& internal_key);
  void StartWalk(bool backward, bool bounded);
  void SkipForward();   // to the first record of the next block, if iter_ ran off its end
  void SkipBackward();
  void CheckBlock();    // takes over an error of iter_
  void Stop();

  const PieceReader* const piece_;
  const BlockReadOptions read_;
  std::shared_ptr<CompactionFile> file_holder_;
  const CompactionFile* file_ = nullptr;
  BlockRef ref_;
  BlockIter iter_;
  uint32_t block_ = kNone;
  uint32_t end_block_ = kNone;  // nothing behind it is asked for
  // The walk since the last seek: its direction, blocks in a row, their bytes,
  // and the bytes last read ahead, which are at buffer_begin_ of the file.
  bool first_ = false;  // no block was loaded since the seek
  bool backward_ = false;
  uint32_t run_ = 0;
  uint64_t walked_ = 0;
  uint64_t readahead_ = 0;
  std::unique_ptr<char[]> buffer_;
  size_t buffer_size_ = 0;
  Slice buffered_;  // the filled part: in buffer_, or in the file's memory
  uint64_t buffer_begin_ = 0;
  Status status_;
};

}  // namespace compassdb
