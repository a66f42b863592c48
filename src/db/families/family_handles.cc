// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_handles.h"

namespace compassdb {

Status FamilyHandles::Destroy(rocksdb::ColumnFamilyHandle* handle) {
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument(
        "Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return Status::OK();
}

void FamilyHandles::MakeDefault(std::shared_ptr<ColumnFamily> family) {
  default_handle_ = std::make_unique<ColumnFamilyHandleImpl>(std::move(family), /*owner=*/nullptr);
}

void FamilyHandles::Close() {
  if (default_handle_ != nullptr) listeners_.HandleDeletion(default_handle_.get());
  default_handle_.reset();
}

void FamilyHandles::DroppedFamilyReleased() {
  // At once, because a user may delete handles and then expect free space.
  if (!config_.options.avoid_unnecessary_blocking_io) space_.Purge();
}

}  // namespace compassdb
