// SPDX-License-Identifier: Apache-2.0
// Makes the column families of one database in memory, each with its store. Nothing of that is in the manifest yet.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "db/open/db_config.h"
#include "db/read/snapshot_list.h"
#include "db/space/space_reclaimer.h"
#include "family/column_family.h"

namespace compassdb {

class FamilyFactory {
 public:
  // All must outlive the families. `space` is notified when files of theirs are released. `mu`: the database mutex.
  FamilyFactory(const DbConfig& config, const StoreContext& stores, SnapshotList& snapshots, SpaceReclaimer& space,
                Mutex* mu)
      : config_(config), stores_(stores), snapshots_(snapshots), space_(space), mu_(mu) {}
  // The families are those of a primary, which still writes them.
  void FollowPrimary() { follows_primary_ = true; }

  // `options`: sanitised. NotSupported if such a family cannot be in this database.
  Status Make(uint32_t id, const std::string& name, const rocksdb::ColumnFamilyOptions& options,
              std::shared_ptr<ColumnFamily>* family);

 private:
  Status CheckTableless(const std::string& name) const;

  const DbConfig& config_;
  const StoreContext& stores_;
  SnapshotList& snapshots_;
  SpaceReclaimer& space_;
  Mutex* const mu_;
  bool follows_primary_ = false;
};

}  // namespace compassdb
