// SPDX-License-Identifier: Apache-2.0
// TPH: Two-tier Perfect Hash table (paper 3.2). A small LSM tree: its contents
// are the merge of its pieces by (key, sequence). The directory is the short
// way to the newest record of a key.
//
// Directory, indexes of pieces and range tombstones are loaded at their first
// use. A use returns the error of loading, and the next use tries again.
//
// Thread safety: all methods.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "filter/table_filter.h"
#include "format/key_hash.h"
#include "format/range_tombstone.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "table/directory/directory.h"
#include "table/directory/index_part.h"
#include "table/directory/paged_directory.h"
#include "table/piece/piece.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

class BlockSet;
using DirectoryRef = PartRef<Directory>;
IndexMemory MemoryOf(const RangeTombstoneList& tombstones);

// The state of a lookup whose memory accesses overlap those of others.
struct DirectoryProbe {
  const Directory* directory = nullptr;  // null: not resident
  uint64_t slot = 0;

  DirectoryProbe() = default;
  DirectoryProbe(const Directory* d, const KeyHash& hash) : directory(d) {
    if (directory != nullptr) directory->Prefetch(hash);
  }
  void FindSlot(const KeyHash& hash) {
    if (directory == nullptr) return;
    slot = directory->SlotOf(hash);
    directory->PrefetchSlot(slot);
  }
};

class Tph {
 public:
  // `pieces` are those of meta.pieces, in that order; `mode` is the directory's. Reads no file.
  static Status Open(const TableContextRef& context, const TphMeta& meta,
                     std::vector<std::shared_ptr<Piece>> pieces, IndexMode mode,
                     std::shared_ptr<Tph>* tph);
  // Loads all that reads would load; of paged parts, as much as fits the cache.
  Status Load() const;

  const TphMeta& meta() const { return meta_; }
  const TableContext& context() const { return *context_; }
  const std::vector<std::shared_ptr<Piece>>& pieces() const { return pieces_; }
  // False (point_index=filter, or a comparator for which different bytes may be one key): point
  // reads search the pieces by their filters and separators.
  bool has_directory() const { return use_directory_; }
  // False: no piece has a record of the key. Only if equal keys have equal bytes.
  bool MayHold(const Slice& user_key, const KeyHash& hash) const;
  // Null if it is not resident.
  const Directory* resident_directory() const { return directory_.Resident(); }
  // The whole directory, for compactions.
  Status OpenDirectory(const BlockReadOptions& read, DirectoryRef* ref) const;
  // One lookup, wherever the directory is.
  Status Lookup(const BlockReadOptions& read, const KeyHash& hash, DirectoryHit* hit) const;
  bool has_range_tombstones() const { return has_range_tombstones_; }
  // The tombstones of all pieces; valid as long as this object.
  Status RangeTombstones(const BlockReadOptions& read, PartRef<RangeTombstoneList>* ref) const;
  // The bytes of this object and its metadata, without pieces, their metadata, and loaded parts.
  size_t MemoryBytes() const;

  // Feeds ctx the versions of user_key, newest first, until it needs no more.
  // The fast path (docs/design/table.md): directory, one block, key equal, sequence at or below
  // the read's, no merge operand. A covered record counts as a deletion. Otherwise the pieces are
  // searched one by one.
  // FindSlot was called on `probe`, if it has a directory.
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             const DirectoryProbe& probe, GetContext* ctx) const;
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             GetContext* ctx) const {
    DirectoryProbe probe(resident_directory(), hash);
    probe.FindSlot(hash);
    return Get(read, user_key, hash, probe, ctx);
  }
  // Get as far as possible without reading data blocks, for batches.
  enum class Begun {
    kAbsent,  // the key has no record here
    kFed,     // ctx has what Get would have fed it
    kGoOn,    // call Get; the block that it reads first was added to `blocks`
  };
  Begun BeginGet(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                 const DirectoryProbe& probe, GetContext* ctx, BlockSet* blocks) const;
  // Merges the pieces. The iterator must not outlive the TPH.
  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  // Checks pieces, directory and their agreement: the keys with a slot are those of the pieces, and
  // each slot names the piece of the key's newest record (rule 2).
  Status Verify() const;
  uint64_t ApproximateOffset(const Slice& user_key) const;

 private:
  Tph(const TableContextRef& context, const TphMeta& meta,
      std::vector<std::shared_ptr<Piece>> pieces, IndexMode mode);
  Status ReadDirectory(std::unique_ptr<const Directory>* directory) const;
  Status AddCoveringTombstone(const BlockReadOptions& read, const Slice& user_key,
                              GetContext* ctx) const;
  void CountProbe(const DirectoryHit& hit) const;
  FilterAnswer AskFilter(const BlockReadOptions& read, const Slice& user_key, const DirectoryHit& hit,
                         const DirectoryProbe& probe) const;
  void CountFilter(FilterAnswer answer) const;
  // `passed`: a piece whose filter was checked and counted, or null.
  Status SearchPieces(const BlockReadOptions& read, const Slice& user_key, const Piece* passed,
                      GetContext* ctx) const;

  const TableContextRef context_;
  const TphMeta meta_;
  const std::vector<std::shared_ptr<Piece>> pieces_;
  const InternalKeyComparator comparator_;
  std::vector<uint32_t> search_order_;  // pieces with records, highest largest_seq first
  bool has_range_tombstones_ = false;
  // There is a directory, and equal keys have equal hashes.
  bool use_directory_ = false;
  // Without a directory, the only piece with records: it is read as a slot's piece is.
  std::optional<uint32_t> sole_piece_;
  const bool ask_filters_;  // of the pieces that have one
  IndexPart<Directory> directory_;
  std::unique_ptr<PagedDirectory> paged_;  // then directory_ is not used
  IndexPart<RangeTombstoneList> tombstones_;
};

}  // namespace compassdb
