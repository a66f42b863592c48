// SPDX-License-Identifier: Apache-2.0
// Reads one piece. Its separators, range tombstones and properties are in
// memory; data blocks come through the block cache; the hash list stays on
// disk and is read by compactions.
//
// Thread safety: immutable after Open; every method may be called concurrently.
#pragma once

#include <memory>
#include <vector>

#include "base/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "rocksdb/cleanable.h"
#include "table/file_cache.h"
#include "table/piece_builder.h"
#include "table/piece_meta.h"
#include "table/read_options.h"

namespace compassdb {

class PieceReader;

// A record found by a point read. `value` is valid while `pin` is undisturbed.
struct FoundRecord {
  bool found = false;
  bool newest = false;  // it is the key's first record in this piece
  bool key_present = false;  // the piece has the key, be its versions visible or not
  SequenceNumber sequence = 0;
  ValueType type = kTypeDeletion;
  Slice value;
  rocksdb::Cleanable pin;
};

// Where the index memory of a piece goes, bytes.
struct PieceMemory {
  size_t separators = 0;
  size_t block_offsets = 0;
  size_t other = 0;  // objects, bounds, tombstones
};

class Piece {
 public:
  static Status Open(FileCache* files, const TableReaderOptions& options, const PieceMeta& meta,
                     std::shared_ptr<Piece>* piece);
  ~Piece();

  const PieceMeta& meta() const;
  const std::vector<RangeTombstone>& range_tombstones() const;

  // The newest record of user_key with sequence <= snapshot. Not found is OK
  // with found == false. One block is read, unless the key's versions go on
  // in the next ones.
  Status Find(const BlockReadOptions& read, const Slice& user_key, SequenceNumber snapshot,
              FoundRecord* record) const;
  // As Find, and feeds what it found to ctx, if all of it is in the block cache and
  // needs no second look; takes no lock and, unless the value is large, no
  // reference. kUndecided: ask Find; ctx is untouched.
  enum class Cached : uint8_t { kUndecided, kAbsent, kFed };
  Cached FindCached(const Slice& user_key, const KeyHash& hash, GetContext* ctx) const;

  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  Status ReadHashes(PieceHashes* hashes) const;
  // Bytes of data blocks before user_key, about.
  uint64_t ApproximateOffset(const Slice& user_key) const;
  // Reads and checks every section and block; the Status names file and offset.
  Status Verify() const;
  PieceMemory Memory() const;

  // Called when the version that named the piece has let go of it for good.
  void EraseFromCache() const;

  const PieceReader& reader() const;  // for table/ itself

 private:
  struct Rep;
  explicit Piece(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace compassdb
