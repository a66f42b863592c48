// SPDX-License-Identifier: Apache-2.0
// A table of pieces (paper 3.2): a small LSM tree whose truth is the merge of
// its pieces by (key, sequence); the directory is the short way to the newest
// record of a key.
//
// Directory, pieces' indexes and range tombstones are loaded when they are first
// used; an error of that is the status of the use, and the next one tries again.
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

// Where a lookup stands whose memory accesses overlap those of others.
struct DirectoryProbe {
  const Directory* directory = nullptr;  // null: it is not in memory to stay
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
  // `pieces` are those of meta.pieces, in that order; `mode` is the directory's. Reads nothing.
  static Status Open(const TableContextRef& context, const TphMeta& meta,
                     std::vector<std::shared_ptr<Piece>> pieces, IndexMode mode,
                     std::shared_ptr<Tph>* tph);
  // Loads all that reads would load; of what is paged, as much as the cache takes.
  Status Load() const;

  const TphMeta& meta() const { return meta_; }
  const std::vector<std::shared_ptr<Piece>>& pieces() const { return pieces_; }
  // A directory answers for the keys. Without one (point_index=filter, or a comparator for which
  // different bytes may be one key) pieces are asked by their filters and separators.
  bool has_directory() const { return use_directory_; }
  // False: no piece has a record of the key. For comparators whose keys hashes stand for.
  bool MayHold(const Slice& user_key, const KeyHash& hash) const;
  // Null if it is not in memory to stay.
  const Directory* resident_directory() const { return directory_.Resident(); }
  // The whole directory, for compactions.
  Status OpenDirectory(const BlockReadOptions& read, DirectoryRef* ref) const;
  // One lookup, wherever the directory is.
  Status Lookup(const BlockReadOptions& read, const KeyHash& hash, DirectoryHit* hit) const;
  bool has_range_tombstones() const { return has_range_tombstones_; }
  // Of all pieces together; they live as long as this.
  Status RangeTombstones(const BlockReadOptions& read, PartRef<RangeTombstoneList>* ref) const;
  // Of this object and its metadata, without pieces, their metadata, and what is loaded.
  size_t MemoryBytes() const;

  // Feeds ctx the versions of user_key, newest first, until it wants no more.
  // The fast path of rule 1: directory, one block, key equal, sequence at or
  // below the read's, plain value or deletion, not covered; otherwise the
  // pieces are searched one by one.
  // `probe` has found its slot, if it has a directory.
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             const DirectoryProbe& probe, GetContext* ctx) const;
  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             GetContext* ctx) const {
    DirectoryProbe probe(resident_directory(), hash);
    probe.FindSlot(hash);
    return Get(read, user_key, hash, probe, ctx);
  }
  // Get as far as it comes without reading data blocks, for batches.
  enum class Begun {
    kAbsent,  // the key has no record here
    kFed,     // ctx has what Get would have fed it
    kGoOn,    // Get is to be called; the block that it looks into first is wanted from `blocks`
  };
  Begun BeginGet(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                 const DirectoryProbe& probe, GetContext* ctx, BlockSet* blocks) const;
  // Merges the pieces. The iterator must not outlive the TPH.
  InternalIteratorPtr NewIterator(const BlockReadOptions& read) const;
  // Pieces, directory and their agreement: the keys with a slot are those of the pieces, and each
  // slot names the place of the key's newest record (rule 2).
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
  // `passed`: a piece whose filter was asked and counted, or null.
  Status SearchPieces(const BlockReadOptions& read, const Slice& user_key, const Piece* passed,
                      GetContext* ctx) const;

  const TableContextRef context_;
  const TphMeta meta_;
  const std::vector<std::shared_ptr<Piece>> pieces_;
  const InternalKeyComparator comparator_;
  std::vector<uint32_t> search_order_;  // pieces with records, highest largest_seq first
  bool has_range_tombstones_ = false;
  // The directory may answer: there is one, and equal keys have equal hashes.
  bool use_directory_ = false;
  // Without a directory, the one piece that has all records: it is asked as a slot's piece is.
  std::optional<uint32_t> sole_piece_;
  const bool ask_filters_;  // of the pieces that have one
  IndexPart<Directory> directory_;
  std::unique_ptr<PagedDirectory> paged_;  // then directory_ is not used
  IndexPart<RangeTombstoneList> tombstones_;
};

}  // namespace compassdb
