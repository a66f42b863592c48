// SPDX-License-Identifier: Apache-2.0
#include "lsm/version/table_handle.h"

#include "util/heap_bytes.h"

namespace compassdb {

PieceHandle::~PieceHandle() {
  context().stored_bytes.fetch_sub(meta().extent.length, std::memory_order_relaxed);
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  EraseFromCache();
  ledger_->Release(meta().extent);
}

double TableHandle::DeadShare(const TphMeta& meta, uint64_t live_bytes) {
  const uint64_t bytes = meta.DataBytes();
  if (meta.pieces.size() < 2 || bytes <= live_bytes) return 0;
  return static_cast<double>(bytes - live_bytes) / static_cast<double>(bytes);
}

// Without snapshots a job leaves one record of a key, and no piece without live records, unless merge operands need it.
TableHandle::Versions TableHandle::VersionBytes(const TphMeta& meta) {
  Versions versions;
  for (const TphPiece& p : meta.pieces) {
    const PieceMeta& m = *p.meta;
    const uint64_t live = LiveBytes(p), superseded = SupersededBytes(m);
    // Superseded records are spread over the piece like live ones.
    const auto kept = m.data_bytes == 0 ? 0.0
                                        : static_cast<double>(superseded) / static_cast<double>(m.data_bytes);
    versions.dead += m.data_bytes - live + static_cast<uint64_t>(static_cast<double>(live) * kept);
    const bool vanishes = p.live_keys == 0 && m.num_keys > 0 && m.num_range_tombstones == 0;
    versions.kept = versions.kept || superseded > 0 || vanishes;
  }
  return versions;
}

TableHandle::~TableHandle() {
  tph_->context().stored_bytes.fetch_sub(meta().directory.length, std::memory_order_relaxed);
  if (!obsolete_.load(std::memory_order_relaxed)) return;
  const Extent directory = tph_->meta().directory;
  tph_.reset();
  ledger_->Release(directory);
}

size_t TableHandle::MemoryBytes() const {
  // A map's entry: a node of next, key and weak_ptr, and about one bucket.
  const size_t entry = HeapBytes(32) + sizeof(void*);
  size_t bytes = HeapBytes(sizeof(*this) + kSharedControlBytes) + entry + sizeof(TableRef) +
                 tph_->MemoryBytes();
  for (const auto& p : tph_->pieces()) {
    bytes += HeapBytes(sizeof(PieceHandle) + kSharedControlBytes) + p->MemoryBytes();
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
