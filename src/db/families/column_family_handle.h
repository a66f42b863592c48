// SPDX-License-Identifier: Apache-2.0
// What applications hold of a column family.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "family/column_family.h"
#include "rocksdb/db.h"
#include "util/process.h"

namespace compassdb {

class DBImpl;

// May outlive the family, not the database.
class ColumnFamilyHandleImpl final : public rocksdb::ColumnFamilyHandle {
 public:
  ColumnFamilyHandleImpl(std::shared_ptr<ColumnFamily> family, DBImpl* db)
      : family_(std::move(family)), db_(db) {}
  ~ColumnFamilyHandleImpl() override;
  COMPASSDB_DELETED_BY_ITS_PROCESS(ColumnFamilyHandleImpl, process_)
  const std::string& GetName() const override { return family_->name(); }
  uint32_t GetID() const override { return family_->id(); }
  Status GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) override;
  const Comparator* GetComparator() const override { return family_->user_comparator(); }
  ColumnFamily* family() const { return family_.get(); }
  const std::shared_ptr<ColumnFamily>& shared() const { return family_; }
  DBImpl* db() const { return db_; }
  // The handle that the database itself owns does not announce its end.
  void set_internal() { internal_ = true; }

 private:
  const ProcessMark process_;
  std::shared_ptr<ColumnFamily> family_;
  DBImpl* const db_;
  bool internal_ = false;
};

inline ColumnFamily* FamilyOf(rocksdb::ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->family();
}
inline const std::shared_ptr<ColumnFamily>& SharedFamilyOf(rocksdb::ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->shared();
}

}  // namespace compassdb
