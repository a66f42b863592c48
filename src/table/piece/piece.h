// SPDX-License-Identifier: Apache-2.0
// Reads one piece. Its index (separators, range tombstones, properties) is
// loaded at its first use. Data blocks are read through the block cache. The
// hash list stays on disk; compactions read it.
//
// Thread safety: every method may be called concurrently.
#pragma once

#include <memory>
#include <vector>

#include "filter/table_filter.h"
#include "format/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "rocksdb/cleanable.h"
#include "table/block/block_hints.h"
#include "table/directory/index_part.h"
#include "table/piece/piece_hashes.h"
#include "table/piece/piece_meta.h"
#include "table/piece/piece_ref.h"
#include "table/read_options.h"
#include "table/table_context.h"

namespace compassdb {

class LoadedBlock;

// A record found by a point read. `value` is valid while `pin` is undisturbed.
struct FoundRecord {
  bool found = false;
  bool newest = false;  // it is the key's first record in this piece
  bool key_present = false;  // the piece has the key, visible or not
  SequenceNumber sequence = 0;
  ValueType type = kTypeDeletion;
  Slice value;
  rocksdb::Cleanable pin;
};

class Piece {
 public:
  // Reads nothing.
  Piece(TableContextRef context, const PieceMeta& meta, IndexMode mode);
  ~Piece();
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  const PieceMeta& meta() const { return meta_; }
  const TableContext& context() const { return *reader_.context(); }
  // The index, loaded if it is not in memory.
  Status Open(const BlockReadOptions& read, PieceRef* ref) const;
  // Null if it is not resident.
  const PieceReader* resident() const { return reader_.Resident(); }
  // Appends the range tombstones.
  Status ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const;

  // The newest record of user_key with sequence <= snapshot. Not found is OK
  // with found == false. One block is read, unless the key's versions continue
  // in the next ones.
  Status Find(const BlockReadOptions& read, const Slice& user_key, SequenceNumber snapshot,
              FoundRecord* record) const;
  // As Find, and feeds the result to ctx, if the index is in memory, the block in the cache, and no second
  // block is needed. Takes no lock and, unless the value is large, no
  // reference. kUndecided: call Find; ctx is untouched. Also if a cached record is too new, or an operand.
  enum class Found : uint8_t { kUndecided, kAbsent, kFed, kNotAlone };
  Found FindCached(const Slice& user_key, const KeyHash& hash, GetContext* ctx) const;
  // The same, and reads a missing block, unless all records are newer than the snapshot. The cache
  // may then keep the block, the record, or nothing. kNotAlone: more than the key's newest record
  // here is needed; ctx is untouched.
  Status FindNewest(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                    GetContext* ctx, Found* found) const;

  // The bytes of its filter in memory; 0: there is none, or it may not be used.
  uint64_t FilterBytes() const;
  // Whether its filter passes the key. If the index cannot be loaded, the filter was not checked.
  FilterAnswer AskFilter(const BlockReadOptions& read, const Slice& user_key) const;

  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  // NotSupported if the piece was written without a hash list.
  Status ReadHashes(PieceHashes* hashes) const;
  // The properties of the application's collectors, from the file.
  Status ReadCollected(CollectedProperties* collected) const;
  // The compression of the first data block, from the file; kNoCompression if there is none.
  Status ReadCompression(rocksdb::CompressionType* type) const;
  // Bytes of data blocks before user_key, estimated; half of all if the index cannot be read.
  uint64_t ApproximateOffset(const Slice& user_key) const;
  // Reads and checks every section and block; the Status names file and offset.
  Status Verify() const;
  // The bytes that it owns, without itself and the index.
  size_t MemoryBytes() const;

  // Called when no version names the piece any longer.
  void EraseFromCache() const;

 private:
  // The block, if it is in the cache, under the caller's EpochGuard.
  LoadedBlock* PeekBlock(const PieceReader& reader, uint32_t block) const;
  LoadedBlock* PeekAndNote(const PieceReader& reader, uint32_t block) const;
  bool FeedCachedRecord(const Slice& user_key, const KeyHash& hash, GetContext* ctx) const;
  Found FindInCache(const PieceReader& reader, const Slice& user_key, const KeyHash& hash,
                    GetContext* ctx, uint32_t* missing) const;
  Status FindInFile(const PieceReader& reader, const BlockReadOptions& read, uint32_t block,
                    const Slice& user_key, const KeyHash& hash, GetContext* ctx,
                    Found* found) const;

  const PieceMeta meta_;
  IndexPart<PieceReader> reader_;
  mutable std::atomic<BlockHints*> hints_{nullptr};  // owned
};

}  // namespace compassdb
