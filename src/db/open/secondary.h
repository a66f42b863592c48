// SPDX-License-Identifier: Apache-2.0
// Follows the manifest and the logs of a primary that continues to write, in this
// process or another one.
//
// The primary deletes files and punches holes into others, but no holes into a
// file with two names. So a secondary gives every compaction file that it needs
// a second name, in a directory of its own:
//
//   1. read the manifest up to its end;
//   2. link the files that its state names;
//   3. read on: if there is anything new, the files may have been punched before
//      they were linked, so back to 2 with the new state.
//
// If the third step finds nothing new, the files of the state were in use when the
// links were made, and stay whole as long as the links exist.
//
// If links cannot be made (another file system, no permission) files are held
// open instead, all or those of one directory. So they outlive their deletion. Checksums are then always
// verified, so a hole is Corruption and never a wrong answer.
//
// A round of catching up prepares everything and then installs all of it at once:
// tables, memtables with one log each, and the last sequence. A compaction may
// have dropped records that only older sequences see, so old and new are never mixed.
//
// Thread safety: CatchUp by several threads, one after the other, with concurrent
// readers. Lock order: mu_ > the database mutex.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/open/db_config.h"
#include "db/open/recovered_state.h"
#include "db/read/followed_primary.h"
#include "db/space/database_files.h"
#include "db/write/transaction_support.h"
#include "env/file_system.h"
#include "family/column_family.h"
#include "util/mutex.h"
#include "wal/wal_reader.h"

namespace compassdb {

// The directory of links of one open secondary. The next secondary with
// the same path deletes those of closed ones.
class LinkDir {
 public:
  // Within `secondary_path`; null if links to the files of `primary` cannot be made there.
  static std::unique_ptr<LinkDir> Make(FileSystem* fs, const std::string& secondary_path,
                                       const std::string& primary, const std::string& session);
  ~LinkDir();
  LinkDir(const LinkDir&) = delete;
  LinkDir& operator=(const LinkDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  LinkDir(FileSystem* fs, std::string path, std::unique_ptr<FileLock> lock)
      : fs_(fs), path_(std::move(path)), lock_(std::move(lock)) {}
  static bool Clear(FileSystem* fs, const std::string& path);

  FileSystem* const fs_;
  const std::string path_;
  std::unique_ptr<FileLock> lock_;
};

class Secondary final : public FollowedPrimary {
 public:
  // `shown_sequence`: the newest that readers may see. `garbage` is notified of states that no reader has any longer.
  // `tables`: where the primary has its compaction files; one directory or more. `links` may be null. `names`: of the
  // families that are opened.
  Secondary(const DbConfig& config, const DatabaseFiles& files, ColumnFamilySet& families,
            std::atomic<SequenceNumber>& shown_sequence, Mutex* db_mu, ReleaseListener& garbage,
            const std::vector<std::string>& tables, std::unique_ptr<LinkDir> links, std::set<std::string> names);

  // The state from which the families are built. Call CatchUp after it.
  Status Open(RecoveredState* state) EXCLUDES(mu_);
  Status CatchUp() EXCLUDES(mu_);
  // FollowedPrimary
  bool MayPunch() const override { return !has_links(); }
  bool CatchUpPast(const Status& s) override EXCLUDES(mu_) {
    return s.IsCorruption() && !has_links() && CatchUp().ok();
  }
  // Whether it has links to all files that it needs.
  bool has_links() const { return links_ != nullptr && !holds_open_.load(std::memory_order_relaxed); }

 private:
  struct Change {
    std::shared_ptr<ColumnFamily> family;
    VersionEdit edit;
    std::unique_ptr<Store::Prepared> prepared;
  };
  Status Capture() REQUIRES(mu_);
  Status ReadManifest(bool* changed) REQUIRES(mu_);
  std::set<uint64_t> FilesNeeded() REQUIRES(mu_);
  Status TakeFile(uint64_t number) REQUIRES(mu_);
  void GiveFilesBack() REQUIRES(mu_);
  Status Prepare(std::vector<Change>* changes) REQUIRES(mu_);
  Status ReadLogs() REQUIRES(mu_);
  Status CheckSynced() const REQUIRES(mu_);
  enum class Entry {
    kEntered,
    kEmpty,   // it was not begun, perhaps
    kNotYet,  // it has nothing yet, or does not follow the last read log
  };
  Status EnterLog(uint64_t number, const std::set<uint64_t>& empty, Entry* entry) REQUIRES(mu_);
  Status ReadLog() REQUIRES(mu_);
  Status ApplyBatch(const Slice& record) REQUIRES(mu_);
  void Install(std::vector<Change>* changes) REQUIRES(mu_);

  const DbConfig& config_;
  const DatabaseFiles files_;
  ColumnFamilySet& families_;
  std::atomic<SequenceNumber>& shown_sequence_;
  Mutex* const db_mu_;
  ReleaseListener& garbage_;
  TableDirs primary_;
  const std::unique_ptr<LinkDir> links_;
  const std::set<std::string> names_;
  std::atomic<bool> holds_open_{false};  // some file is held open, although there are links
  Mutex mu_;
  uint64_t manifest_ GUARDED_BY(mu_) = 0;
  uint64_t manifest_offset_ GUARDED_BY(mu_) = 0;
  RecoveredState state_ GUARDED_BY(mu_);
  bool installed_ GUARDED_BY(mu_) = false;    // the tables of state_ are those of the families
  bool files_taken_ GUARDED_BY(mu_) = false;  // all that state_ needs, and it was checked since
  std::set<uint64_t> taken_ GUARDED_BY(mu_);
  uint64_t log_ GUARDED_BY(mu_) = 0;  // read up to log_offset_
  uint64_t log_offset_ GUARDED_BY(mu_) = 0;
  uint64_t memtables_log_ GUARDED_BY(mu_) = 0;  // the one that memtables were last begun for
  bool memtables_hidden_ GUARDED_BY(mu_) = false;  // all are newer than those that readers have
  std::unique_ptr<WalReader> reader_ GUARDED_BY(mu_);
  RecoveredTransactions prepared_ GUARDED_BY(mu_);
  SequenceNumber last_sequence_ GUARDED_BY(mu_) = 0;  // of all that was read
};

}  // namespace compassdb
