// SPDX-License-Identifier: Apache-2.0
#include "lsm/table_handle.h"

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

}  // namespace compassdb
