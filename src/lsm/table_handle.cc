// SPDX-License-Identifier: Apache-2.0
#include "lsm/table_handle.h"

#include "util/heap_bytes.h"

namespace compassdb {

PieceHandle::~PieceHandle() {
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  piece_->EraseFromCache();
  ledger_->Release(piece_->meta().extent);
}

TableHandle::~TableHandle() {
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  const Extent directory = tph_->meta().directory;
  tph_.reset();
  ledger_->Release(directory);
}

size_t TableHandle::MemoryBytes() const {
  // A map's entry: a node of next, key and weak_ptr, and about one bucket.
  const size_t entry = HeapBytes(32) + sizeof(void*);
  size_t bytes = HeapBytes(sizeof(*this) + kSharedControlBytes) + HeapBytes(pieces_) + entry +
                 sizeof(TableRef) + tph_->MemoryBytes();
  for (const auto& p : pieces_) {
    bytes += HeapBytes(sizeof(PieceHandle) + kSharedControlBytes) + entry +
             p->piece()->MemoryBytes();
  }
  return bytes;
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
