// SPDX-License-Identifier: Apache-2.0
// Creates and drops the column families of an open database, and makes their handles. Both change the set of
// families, so both run at the front of the write queue.
//
// Thread safety: all methods.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/families/column_family_handle.h"
#include "db/families/family_factory.h"
#include "db/families/family_observer.h"
#include "db/families/options_files.h"
#include "db/jobs/background_errors.h"
#include "db/jobs/commit.h"
#include "db/jobs/error_handler.h"
#include "db/jobs/manifest_state.h"
#include "db/report/listeners.h"
#include "db/write/write_front.h"
#include "manifest/ownership.h"

namespace compassdb {

class FamilyManager final : public HandleOwner {
 public:
  // `ownership` may be null.
  FamilyManager(const DbConfig& config, Ownership* ownership, Mutex* mu, WriteFront& front,
                const ErrorHandler& errors, CommitQueue& commits, ManifestState& manifest_state,
                ColumnFamilySet& families, FamilyFactory& factory, OptionsFiles& options_files, SpaceReclaimer& space,
                const Listeners& listeners, FamilyObserver& observer, BackgroundErrors& background_errors)
      : config_(config),
        ownership_(ownership),
        mu_(mu),
        front_(front),
        errors_(errors),
        commits_(commits),
        manifest_state_(manifest_state),
        families_(families),
        factory_(factory),
        options_files_(options_files),
        space_(space),
        listeners_(listeners),
        observer_(observer),
        background_errors_(background_errors) {}

  // One family, and nothing else: no OPTIONS file, no observer's FamiliesChanged. While a database is opened.
  Status Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                std::shared_ptr<ColumnFamily>* family) EXCLUDES(*mu_);
  Status Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                rocksdb::ColumnFamilyHandle** handle);
  // Those before the first that fails are created.
  Status Create(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                std::vector<rocksdb::ColumnFamilyHandle*>* handles);
  // Likewise.
  Status Drop(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) EXCLUDES(*mu_);

  // All families exist: makes the handle of the default one.
  void MakeDefaultHandle();
  rocksdb::ColumnFamilyHandle* default_handle() const { return default_handle_.get(); }
  Status DestroyHandle(rocksdb::ColumnFamilyHandle* handle);
  void HandleDestroyed(rocksdb::ColumnFamilyHandle* handle) override { listeners_.HandleDeletion(handle); }
  void DroppedFamilyReleased() override;

  // The database is closed: no job, reader or writer uses a family any longer.
  void Close();

 private:
  // `own`: they are the family's alone, not DBOptions::db_paths.
  Status MakeDirs(const std::string& family, const std::vector<rocksdb::DbPath>& paths, bool own);
  Status CommitNew(const std::shared_ptr<ColumnFamily>& family) EXCLUDES(*mu_);
  Status CommitDrop(const std::shared_ptr<ColumnFamily>& family) EXCLUDES(*mu_);

  const DbConfig& config_;
  Ownership* const ownership_;
  Mutex* const mu_;
  WriteFront& front_;
  const ErrorHandler& errors_;
  CommitQueue& commits_;
  ManifestState& manifest_state_;
  ColumnFamilySet& families_;
  FamilyFactory& factory_;
  OptionsFiles& options_files_;
  SpaceReclaimer& space_;
  const Listeners& listeners_;
  FamilyObserver& observer_;
  BackgroundErrors& background_errors_;
  std::unique_ptr<ColumnFamilyHandleImpl> default_handle_;
};

}  // namespace compassdb
