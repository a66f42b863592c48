// SPDX-License-Identifier: Apache-2.0
// Frees disk space that an open database no longer uses: whole files (ObsoleteFiles), and holes in files that are still
// in use (HolePuncher). Also keeps the SstFileManager up to date. It frees nothing of a read-only
// database.
//
// Thread safety: all methods. Purge, Wait and Close are called without any lock held.
#pragma once

#include <atomic>
#include <string>

#include "db/jobs/background_work.h"
#include "db/space/hole_puncher.h"
#include "db/space/obsolete_files.h"
#include "db/space/tracked_files.h"
#include "family/column_family.h"

namespace compassdb {

class SpaceReclaimer final : public ReleaseListener {
 public:
  SpaceReclaimer(const DbConfig& config, bool read_only, const DatabaseFiles& files, Mutex* db_mu,
                 Scheduler& scheduler, BackgroundWork& work, const DeletionObservers& observers);

  // The database is open: frees what was dead at the last close or crash. Jobs may free space from now on.
  void Start(const ColumnFamilySet& families) EXCLUDES(*db_mu_);
  // Uses the current options. The files are of all families, so the options of the default one count.
  void Configure(const ColumnFamilySet& families);

  // Deletes what is obsolete now. For listeners: after that job.
  void Purge(int job_id = 0) EXCLUDES(*db_mu_);
  // The same by jobs, holes, too; from Start to Stop.
  void Schedule();
  // A writer waits for room: all holes are punched now.
  void Press() { holes_.Press(); }
  // The last user of replaced files has released them, perhaps much later: there may be files to free, or to rewrite
  // if holes cannot be punched.
  void StatesReleased() override;
  // [database mutex] Jobs look for work now: earlier releases need no other look.
  void JobsLook() { looked_at_ = files_.ledger.releases(); }
  // Waits for running deletions and punches.
  void Wait();

  // From now on only Purge schedules jobs. Call it before the scheduler ends.
  void Stop();
  // Deletes obsolete files a last time. Afterwards another process may own the files.
  void Close();

  // A job wrote these files; SpaceLimit if they take more space than is allowed. Before its commit, after which another
  // job may delete them.
  Status Track(const JobReport& report);
  // The same for all files on disk, when the database is opened.
  Status TrackAll();
  void UntrackAll();

  ObsoleteFiles& obsolete() { return obsolete_; }
  TrackedFiles& tracked() { return tracked_; }

 private:
  const DbConfig& config_;
  const bool read_only_;
  const DatabaseFiles files_;
  Mutex* const db_mu_;
  Scheduler& scheduler_;
  BackgroundWork& work_;
  TrackedFiles tracked_;
  ObsoleteFiles obsolete_;
  HolePuncher holes_;
  std::atomic<bool> started_{false};
  std::atomic<bool> look_scheduled_{false};
  std::atomic<uint64_t> looked_at_{0};  // ExtentLedger::releases when jobs looked for work last
};

}  // namespace compassdb
