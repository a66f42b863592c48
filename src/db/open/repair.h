// SPDX-License-Identifier: Apache-2.0
// rocksdb::RepairDB: makes a database open again after files were lost or
// damaged.
//
//  1. Logs, manifests and CURRENT are read completely. Directories in their place move to lost/.
//  2. The state is that of the manifest that CURRENT names or else of the newest
//     one that can be read. If it is damaged, cut off or missing, its mirror is used.
//     If both are damaged: their records before the damage.
//  3. Every table is read, and the other data of stores (Store::Salvage). Damaged parts are rewritten in new files,
//     with what can be read of them.
//  4. The result is written as a new manifest, if it differs from the old one.
//     Files that it does not need are moved to lost/.
//  5. The database is opened, and every batch of the logs that can be read is replayed.
//
// Only the contents of files, and missing files, count as damage. Any other error (no permission, a failing device, too
// many open files) before 4. ends the repair, and only step 1 has changed anything.
//
// Without manifest and mirror the state is that of the records in compaction files
// (db/open/lost_manifest.h), or of the logs if there are no tables. (Pieces could be
// found by their footers. But files also hold pieces that compactions have replaced.
// On the bottom level new records have sequence 0, so the old ones would look newer:
// deleted and overwritten records would come
// back.)
//
// Thread safety: one thread; the database's lock is held.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compassdb/repair.h"
#include "db/open/db_config.h"
#include "db/open/recovered_state.h"
#include "rocksdb/db.h"
#include "store/store.h"

namespace compassdb {

class Repairer {
 public:
  // `unknown`: for families that are not in `families`; null: they are dropped.
  Repairer(const rocksdb::DBOptions& options, std::string name,
           std::vector<rocksdb::ColumnFamilyDescriptor> families,
           const rocksdb::ColumnFamilyOptions* unknown, RepairReport* report);
  Status Run();

 private:
  using FileList = std::vector<std::pair<std::string, std::string>>;  // directory and name

  void OpenInfoLog();
  // Checks that all directories are this database's, and finds recorded ones with tables.
  Status CheckOwnership();
  Status CheckAllIsHere();
  std::set<std::string> Dirs() const;
  Status Files(FileList* files) const;
  // Checks the files that the repair cannot do without.
  Status CheckReadable();
  Status ReadThrough(const std::string& path) const;
  Status FindState();
  Status StateOfFiles();
  Status StateOfLogs();
  std::string StoredComparator() const;
  Status ForgetFlushedLogs();
  // Counts the data of logs that no replay restores; their files are kept.
  Status CheckLogs();
  Status KeepLogs();
  Status ChooseFamilies();
  Status CheckMergeOperators() const;
  Status CheckTables();
  uint64_t NumberBehindAll(const FileList& files) const;
  // Files of this repair that no manifest names yet.
  void RemoveNewFiles() const;
  std::vector<VersionEdit> StateEdits() const;
  Status WriteManifest();
  Status MoveToLost(const std::string& dir, const std::string& name);
  Status OpenAndClose();
  void Log(const std::string& line);

  const rocksdb::DBOptions options_;
  const std::string name_;
  std::vector<rocksdb::ColumnFamilyDescriptor> families_;
  const rocksdb::ColumnFamilyOptions* const unknown_;
  DbConfig config_;
  FileSystem* fs_ = nullptr;
  std::vector<std::string> children_;
  std::vector<std::string> recorded_dirs_;  // of tables, which the options do not name
  Status places_damage_;  // OK: PLACES is whole, or there is none
  RepairReport* const report_;
  uint64_t manifest_ = 0;
  uint32_t all_families_up_to_ = 0;  // others were dropped
  std::set<uint32_t> merged_;        // families with merge operands in the logs
  bool keep_all_logs_ = false;
  std::vector<uint64_t> kept_logs_;
  // The files that CheckTables found; none: it has not begun.
  std::optional<std::set<std::pair<std::string, std::string>>> files_before_;
  bool changed_ = false;  // the state differs from the manifest that CURRENT names
  RecoveredState state_;
};

}  // namespace compassdb
