// SPDX-License-Identifier: Apache-2.0
// Open pieces and tables as versions share them.
//
// A handle whose object left the current version for good is marked obsolete;
// when the last version that holds it lets go, its extent is released to the
// ledger. Thread safety: immutable but for marks and scan costs, which are atomic.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "iter/range_tombstone_set.h"
#include "lsm/scan_cost.h"
#include "manifest/extent_ledger.h"
#include "table/tph.h"

namespace compassdb {

class PieceHandle {
 public:
  PieceHandle(std::shared_ptr<Piece> piece, ExtentLedger* ledger)
      : piece_(std::move(piece)), ledger_(ledger) {}
  ~PieceHandle();
  PieceHandle(const PieceHandle&) = delete;
  PieceHandle& operator=(const PieceHandle&) = delete;

  const std::shared_ptr<Piece>& piece() const { return piece_; }
  void MarkObsolete() { obsolete_.store(true, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<Piece> piece_;
  ExtentLedger* const ledger_;
  std::atomic<bool> obsolete_{false};
};

class TableHandle {
 public:
  TableHandle(std::shared_ptr<Tph> tph, std::vector<std::shared_ptr<PieceHandle>> pieces,
              ExtentLedger* ledger)
      : live_bytes_(tph->meta().LiveDataBytes()),
        dead_share_(DeadShare(tph->meta(), live_bytes_)),
        has_range_tombstones_(tph->has_range_tombstones()),
        tph_(std::move(tph)),
        pieces_(std::move(pieces)),
        ledger_(ledger) {}
  ~TableHandle();
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;

  const Tph& tph() const { return *tph_; }
  const TphMeta& meta() const { return tph_->meta(); }
  const std::vector<std::shared_ptr<PieceHandle>>& pieces() const { return pieces_; }
  // What picking and new versions ask of every table, at hand.
  uint64_t live_bytes() const { return live_bytes_; }
  // Of the data, what rewriting the table would drop.
  double dead_share() const { return dead_share_; }
  bool has_range_tombstones() const { return has_range_tombstones_; }
  ScanCost* scan_cost() const { return &scan_cost_; }
  // The directory's extent is no longer named by the manifest.
  void MarkDirectoryObsolete() { obsolete_.store(true, std::memory_order_relaxed); }

 private:
  static double DeadShare(const TphMeta& meta, uint64_t live_bytes);

  const uint64_t live_bytes_;
  const double dead_share_;
  const bool has_range_tombstones_;
  std::shared_ptr<Tph> tph_;
  const std::vector<std::shared_ptr<PieceHandle>> pieces_;
  ExtentLedger* const ledger_;
  std::atomic<bool> obsolete_{false};
  alignas(64) mutable ScanCost scan_cost_;  // apart from what reads share
};

using TableRef = std::shared_ptr<TableHandle>;

// The table's range tombstones, if it has any, go to `set`, which then pins the table.
Status AddRangeTombstones(const TableRef& table, const BlockReadOptions& read,
                          RangeTombstoneSet* set);

}  // namespace compassdb
