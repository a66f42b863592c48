// SPDX-License-Identifier: Apache-2.0
// Makes the column families of one database in memory, each with its store. Nothing of that is in the manifest yet.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/open/db_config.h"
#include "db/read/snapshot_list.h"
#include "db/space/space_reclaimer.h"
#include "family/column_family.h"
#include "manifest/ownership.h"

namespace compassdb {

class FamilyFactory {
 public:
  // All must outlive the families. `ownership` may be null. `space` is notified when files of theirs
  // are released. `mu`: the database mutex.
  FamilyFactory(const DbConfig& config, Ownership* ownership, const StoreContext& stores,
                SnapshotList& snapshots, SpaceReclaimer& space, Mutex* mu)
      : config_(config),
        ownership_(ownership),
        stores_(stores),
        snapshots_(snapshots),
        space_(space),
        mu_(mu) {}
  // The families are those of a primary, which still writes them.
  void FollowPrimary() { follows_primary_ = true; }

  // The directories of a new family's tables. `own`: they are the family's alone, not DBOptions::db_paths.
  Status MakeDirs(const std::string& name, const std::vector<rocksdb::DbPath>& paths, bool own);
  // `options`: sanitised. NotSupported if such a family cannot be in this database.
  Status Make(uint32_t id, const std::string& name, const rocksdb::ColumnFamilyOptions& options,
              std::shared_ptr<ColumnFamily>* family);

 private:
  Status CheckTableless(const std::string& name) const;

  const DbConfig& config_;
  Ownership* const ownership_;
  const StoreContext& stores_;
  SnapshotList& snapshots_;
  SpaceReclaimer& space_;
  Mutex* const mu_;
  bool follows_primary_ = false;
};

}  // namespace compassdb
