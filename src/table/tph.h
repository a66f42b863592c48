// SPDX-License-Identifier: Apache-2.0
// A table of pieces (paper 3.2): a small LSM tree whose truth is the merge of
// its pieces by (key, sequence); the directory is the short way to the newest
// record of a key.
//
// Thread safety: immutable after Open.
#pragma once

#include <memory>
#include <vector>

#include "base/key_hash.h"
#include "base/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "table/directory.h"
#include "table/piece.h"
#include "table/piece_meta.h"

namespace compassdb {

class BlockSet;

class Tph {
 public:
  // `pieces` are the open pieces of meta.pieces, in that order.
  static Status Open(FileCache* files, const TableReaderOptions& options, const TphMeta& meta,
                     std::vector<std::shared_ptr<Piece>> pieces, std::shared_ptr<Tph>* tph);

  const TphMeta& meta() const { return meta_; }
  const std::vector<std::shared_ptr<Piece>>& pieces() const { return pieces_; }
  const Directory& directory() const { return *directory_; }
  // Of all pieces together.
  const RangeTombstoneList& range_tombstones() const { return tombstones_; }

  // Feeds ctx the versions of user_key, newest first, until it wants no more.
  // The fast path of rule 1: directory, one block, key equal, sequence at or
  // below the read's, plain value or deletion, not covered; otherwise the
  // pieces are searched one by one.
  // `slot` is directory().SlotOf(hash).
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             uint64_t slot, GetContext* ctx) const;
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             GetContext* ctx) const {
    return Get(read, user_key, hash, directory_->SlotOf(hash), ctx);
  }
  // Get as far as it comes without reading a file, for batches.
  enum class Begun {
    kAbsent,  // the key has no record here
    kFed,     // ctx has what Get would have fed it
    kGoOn,    // Get is to be called; the block that it looks into first is wanted from `blocks`
  };
  Begun BeginGet(const Slice& user_key, const KeyHash& hash, uint64_t slot, GetContext* ctx,
                 BlockSet* blocks) const;
  // Merges the pieces. The iterator must not outlive the TPH.
  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  // Pieces, directory and their agreement: the keys with a slot are those of the pieces, and each
  // slot names the place of the key's newest record (rule 2).
  Status Verify() const;
  uint64_t ApproximateOffset(const Slice& user_key) const;

 private:
  Tph(const TableReaderOptions& options, const TphMeta& meta,
      std::vector<std::shared_ptr<Piece>> pieces);
  void CountProbe(const DirectoryHit& hit) const;
  Status SearchPieces(const BlockReadOptions& read, const Slice& user_key, GetContext* ctx) const;

  const TableReaderOptions options_;
  const TphMeta meta_;
  const std::vector<std::shared_ptr<Piece>> pieces_;
  const InternalKeyComparator comparator_;
  std::vector<uint32_t> search_order_;  // pieces with records, highest largest_seq first
  // The directory may answer: there is one, and equal keys have equal hashes.
  bool use_directory_ = false;
  std::unique_ptr<Directory> directory_;
  RangeTombstoneList tombstones_;
};

}  // namespace compassdb
