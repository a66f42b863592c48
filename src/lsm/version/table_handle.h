// SPDX-License-Identifier: Apache-2.0
// Open pieces and tables, shared by versions.
//
// A handle whose object is in no later version is marked obsolete. When the last
// version with it is destroyed, its extent is released to the ledger. Thread
// safety: immutable except for marks and scan costs, which are atomic.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "iter/range_tombstone_set.h"
#include "lsm/policy/scan_cost.h"
#include "manifest/extent_ledger.h"
#include "table/tph.h"

namespace compassdb {

class PieceHandle final : public Piece {
 public:
  PieceHandle(TableContextRef table_context, const PieceMeta& meta, IndexMode mode, ExtentLedger* ledger)
      : Piece(std::move(table_context), meta, mode), ledger_(ledger) {
    context().stored_bytes.fetch_add(meta.extent.length, std::memory_order_relaxed);
  }
  ~PieceHandle();

  void MarkObsolete() { obsolete_.store(true, std::memory_order_relaxed); }
  bool obsolete() const { return obsolete_.load(std::memory_order_relaxed); }

 private:
  ExtentLedger* const ledger_;
  std::atomic<bool> obsolete_{false};
};

class TableHandle {
 public:
  // The pieces of `tph` are PieceHandles. `paths`: which of the family's paths have files of it.
  TableHandle(std::shared_ptr<Tph> tph, ExtentLedger* ledger, uint32_t paths = 0)
      : live_bytes_(tph->meta().LiveDataBytes()),
        dead_share_(DeadShare(tph->meta(), live_bytes_)),
        versions_(VersionBytes(tph->meta())),
        has_range_tombstones_(tph->has_range_tombstones()),
        paths_(paths),
        tph_(std::move(tph)),
        ledger_(ledger),
        marked_(WantsCompaction(tph_->meta())) {
    tph_->context().stored_bytes.fetch_add(meta().directory.length, std::memory_order_relaxed);
  }
  ~TableHandle();
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;

  const Tph& tph() const { return *tph_; }
  const TphMeta& meta() const { return tph_->meta(); }
  size_t num_pieces() const { return tph_->pieces().size(); }
  PieceHandle* piece(size_t i) const { return static_cast<PieceHandle*>(tph_->pieces()[i].get()); }
  // What the picker and new versions need of every table.
  uint64_t live_bytes() const { return live_bytes_; }
  // The share of the data that rewriting the table would drop.
  double dead_share() const { return dead_share_; }
  // Data bytes that are dead once no snapshot is older than the table's newest record, and whether
  // a snapshot seems to keep some of them: others are dead in any case.
  uint64_t unseen_bytes() const { return versions_.dead; }
  bool kept_for_snapshots() const {
    return versions_.kept || written_under_snapshot_.load(std::memory_order_relaxed);
  }
  // A snapshot was held when it was written that is older than some of it.
  void NoteSnapshot() { written_under_snapshot_.store(true, std::memory_order_relaxed); }
  bool has_range_tombstones() const { return has_range_tombstones_; }
  // Bytes that its range tombstones hide, as far as known (lsm/read/covered_data.h).
  uint64_t covered_bytes() const { return covered_bytes_; }
  // In families with separated values only; else the maximum.
  SequenceNumber oldest_range_tombstone() const { return oldest_range_tombstone_; }
  // Before the table is shared.
  void SetCovered(uint64_t bytes, SequenceNumber oldest) {
    covered_bytes_ = bytes;
    oldest_range_tombstone_ = oldest;
  }
  uint32_t paths() const { return paths_; }
  ScanCost* scan_cost() const { return &scan_cost_; }
  // Bytes of the handles, the store's map of tables, the pieces and the Tph, without loaded parts.
  size_t MemoryBytes() const;
  // By Store::MarkForCompaction, or by a collector of table properties when a piece was written.
  bool marked_for_compaction() const { return marked_.load(std::memory_order_relaxed); }
  void MarkForCompaction() { marked_.store(true, std::memory_order_relaxed); }
  // The directory's extent is no longer named by the manifest.
  void MarkDirectoryObsolete() { obsolete_.store(true, std::memory_order_relaxed); }
  bool obsolete() const { return obsolete_.load(std::memory_order_relaxed); }

 private:
  struct Versions {
    uint64_t dead = 0;
    bool kept = false;  // a snapshot keeps some of it, as the counts show
  };
  static double DeadShare(const TphMeta& meta, uint64_t live_bytes);
  static Versions VersionBytes(const TphMeta& meta);
  static bool WantsCompaction(const TphMeta& meta) {
    return std::any_of(meta.pieces.begin(), meta.pieces.end(),
                       [](const TphPiece& p) { return p.meta->wants_compaction; });
  }

  const uint64_t live_bytes_;
  const double dead_share_;
  const Versions versions_;
  const bool has_range_tombstones_;
  const uint32_t paths_;
  uint64_t covered_bytes_ = 0;
  SequenceNumber oldest_range_tombstone_ = kMaxSequenceNumber;
  std::shared_ptr<Tph> tph_;
  ExtentLedger* const ledger_;
  std::atomic<bool> obsolete_{false};
  std::atomic<bool> marked_;
  std::atomic<bool> written_under_snapshot_{false};
  alignas(64) mutable ScanCost scan_cost_;  // on its own cache line
};

using TableRef = std::shared_ptr<TableHandle>;

// Adds the table's range tombstones, if it has any, to `set`, which then pins the table.
Status AddRangeTombstones(const TableRef& table, const BlockReadOptions& read,
                          RangeTombstoneSet* set);

}  // namespace compassdb
