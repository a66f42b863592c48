// SPDX-License-Identifier: Apache-2.0
#include "db/families/column_family_handle.h"

#include "db/db_impl.h"

namespace compassdb {

ColumnFamilyHandleImpl::~ColumnFamilyHandleImpl() {
  if (internal_ || db_ == nullptr) return;
  db_->HandleGoes(this);
  const bool dropped = family_->dropped;
  family_.reset();
  if (dropped) db_->HandleOfDroppedGone();
}

Status ColumnFamilyHandleImpl::GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) {
  if (process_.Inherited()) return InheritedStatus();
  *desc = rocksdb::ColumnFamilyDescriptor(family_->name(), family_->options());
  return Status::OK();
}

}  // namespace compassdb
