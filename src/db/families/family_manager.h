// SPDX-License-Identifier: Apache-2.0
// Creates and drops the column families of an open database. Both change the set of families, so
// both run at the front of the write queue.
//
// Thread safety: all methods.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/families/family_factory.h"
#include "db/families/family_handles.h"
#include "db/families/family_observer.h"
#include "db/jobs/background_errors.h"
#include "db/jobs/commit.h"
#include "db/jobs/error_handler.h"
#include "db/jobs/manifest_state.h"
#include "db/write/write_front.h"

namespace compassdb {

class FamilyManager {
 public:
  FamilyManager(const DbConfig& config, Mutex* mu, WriteFront& front, const ErrorHandler& errors,
                CommitQueue& commits, ManifestState& manifest_state, ColumnFamilySet& families,
                FamilyFactory& factory, FamilyHandles& handles, SpaceReclaimer& space,
                FamilyObserver& observer, BackgroundErrors& background_errors)
      : config_(config),
        mu_(mu),
        front_(front),
        errors_(errors),
        commits_(commits),
        manifest_state_(manifest_state),
        families_(families),
        factory_(factory),
        handles_(handles),
        space_(space),
        observer_(observer),
        background_errors_(background_errors) {}

  // One family, without the observer's FamiliesChanged. While a database is opened.
  Status Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                std::shared_ptr<ColumnFamily>* family) EXCLUDES(*mu_);
  Status Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                rocksdb::ColumnFamilyHandle** handle);
  // Those before the first that fails are created.
  Status Create(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  // Likewise.
  Status Drop(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) EXCLUDES(*mu_);

  // The database is closed: no job, reader or writer uses a family any longer.
  void Close();

 private:
  Status CommitNew(const std::shared_ptr<ColumnFamily>& family) EXCLUDES(*mu_);
  Status CommitDrop(const std::shared_ptr<ColumnFamily>& family) EXCLUDES(*mu_);

  const DbConfig& config_;
  Mutex* const mu_;
  WriteFront& front_;
  const ErrorHandler& errors_;
  CommitQueue& commits_;
  ManifestState& manifest_state_;
  ColumnFamilySet& families_;
  FamilyFactory& factory_;
  FamilyHandles& handles_;
  SpaceReclaimer& space_;
  FamilyObserver& observer_;
  BackgroundErrors& background_errors_;
};

}  // namespace compassdb
