// SPDX-License-Identifier: Apache-2.0
// An application's handle of a column family.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "family/column_family.h"
#include "rocksdb/db.h"
#include "util/process.h"

namespace compassdb {

// Is notified when handles are deleted. Called without locks.
class HandleOwner {
 public:
  virtual void HandleDestroyed(rocksdb::ColumnFamilyHandle* handle) = 0;
  // Its family was dropped, and it may have been the last to hold the family's files.
  virtual void DroppedFamilyReleased() = 0;

 protected:
  ~HandleOwner() = default;
};

// May outlive the family, not the database.
class ColumnFamilyHandleImpl final : public rocksdb::ColumnFamilyHandle {
 public:
  // `owner`: null for one that the database itself has.
  ColumnFamilyHandleImpl(std::shared_ptr<ColumnFamily> family, HandleOwner* owner)
      : family_(std::move(family)), owner_(owner) {}
  ~ColumnFamilyHandleImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(ColumnFamilyHandleImpl, process_)
  const std::string& GetName() const override { return family_->name(); }
  uint32_t GetID() const override { return family_->id(); }
  Status GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) override;
  const Comparator* GetComparator() const override { return family_->user_comparator(); }
  ColumnFamily* family() const { return family_.get(); }
  const std::shared_ptr<ColumnFamily>& shared() const { return family_; }

 private:
  const ProcessMark process_;
  std::shared_ptr<ColumnFamily> family_;
  HandleOwner* const owner_;
};

inline ColumnFamily* FamilyOf(rocksdb::ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->family();
}
inline const std::shared_ptr<ColumnFamily>& SharedFamilyOf(rocksdb::ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->shared();
}

}  // namespace compassdb
