// SPDX-License-Identifier: Apache-2.0
#include "db/families/column_family_handle.h"

namespace compassdb {

ColumnFamilyHandleImpl::~ColumnFamilyHandleImpl() {
  if (owner_ == nullptr) return;
  owner_->HandleDestroyed(this);
  const bool dropped = family_->dropped();
  family_.reset();
  if (dropped) owner_->DroppedFamilyReleased();
}

Status ColumnFamilyHandleImpl::GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) {
  if (process_.Inherited()) return InheritedStatus();
  *desc = rocksdb::ColumnFamilyDescriptor(family_->name(), family_->options());
  return Status::OK();
}

}  // namespace compassdb
