// SPDX-License-Identifier: Apache-2.0
// The handles of column families that applications have, and the database's own one of the default
// family.
//
// Thread safety: all methods, except MakeDefault and Close.
#pragma once

#include <memory>

#include "db/families/column_family_handle.h"
#include "db/open/db_config.h"
#include "db/report/listeners.h"
#include "db/space/space_reclaimer.h"

namespace compassdb {

class FamilyHandles final : public HandleOwner {
 public:
  // All of it outlives the handles.
  FamilyHandles(const DbConfig& config, const Listeners& listeners, SpaceReclaimer& space)
      : config_(config), listeners_(listeners), space_(space) {}

  rocksdb::ColumnFamilyHandle* New(std::shared_ptr<ColumnFamily> family) {
    return new ColumnFamilyHandleImpl(std::move(family), this);
  }
  // InvalidArgument for the database's own one.
  Status Destroy(rocksdb::ColumnFamilyHandle* handle);

  void MakeDefault(std::shared_ptr<ColumnFamily> family);
  rocksdb::ColumnFamilyHandle* default_handle() const { return default_handle_.get(); }
  // Destroys the database's own one.
  void Close();

  // HandleOwner
  void HandleDestroyed(rocksdb::ColumnFamilyHandle* handle) override {
    listeners_.HandleDeletion(handle);
  }
  void DroppedFamilyReleased() override;

 private:
  const DbConfig& config_;
  const Listeners& listeners_;
  SpaceReclaimer& space_;
  std::unique_ptr<ColumnFamilyHandleImpl> default_handle_;
};

}  // namespace compassdb
