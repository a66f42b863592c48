// SPDX-License-Identifier: Apache-2.0
#include "lsm/table_handle.h"

namespace compassdb {

PieceHandle::~PieceHandle() {
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  piece_->EraseFromCache();
  ledger_->Release(piece_->meta().extent);
}

double TableHandle::DeadShare(const TphMeta& meta, uint64_t live_bytes) {
  uint64_t bytes = 0;
  for (const TphPiece& p : meta.pieces) bytes += p.meta.data_bytes;
  if (meta.pieces.size() < 2 || bytes <= live_bytes) return 0;
  return static_cast<double>(bytes - live_bytes) / static_cast<double>(bytes);
}

TableHandle::~TableHandle() {
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  const Extent directory = tph_->meta().directory;
  tph_.reset();
  ledger_->Release(directory);
}

Status AddRangeTombstones(const TableRef& table, const BlockReadOptions& read,
                          RangeTombstoneSet* set) {
  if (!table->has_range_tombstones()) return Status::OK();
  PartRef<RangeTombstoneList> tombstones;
  Status s = table->tph().RangeTombstones(read, &tombstones);
  if (s.ok()) set->Add(std::shared_ptr<const RangeTombstoneList>(table, tombstones.get()));
  return s;
}

}  // namespace compassdb
