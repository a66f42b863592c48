// SPDX-License-Identifier: Apache-2.0
// Gives the disk back what an open database does not use any more: whole files (ObsoleteFiles), and holes in files that
// are still in use (HolePuncher). Also keeps the SstFileManager up to date. Of a database that is only read it frees
// nothing.
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

  // The database is open: frees what was dead at the last close, or in a crash. Jobs may free space from now on.
  void Start(const ColumnFamilySet& families) EXCLUDES(*db_mu_);
  // Goes by the options as they are now. The files are of all families: what the default one says counts.
  void Configure(const ColumnFamilySet& families);

  // Deletes what is obsolete now. For listeners: after that job.
  void Purge(int job_id = 0) EXCLUDES(*db_mu_);
  // Has it done by jobs, holes too; from Start to Stop.
  void Schedule();
  // Somebody waits for room: all holes are punched now.
  void Press() { holes_.Press(); }
  // The last user of what had been replaced lets go of it, perhaps long after that: there may be files to free, or,
  // where holes cannot be punched, to rewrite.
  void StatesReleased() override;
  // [database mutex] Jobs look for work now: it need not be done again because of what was released before.
  void JobsLook() { looked_at_ = files_.ledger.releases(); }
  // Waits for what deletes or punches now.
  void Wait();

  // Nothing but Purge asks for jobs any more. Before the scheduler ends.
  void Stop();
  // Deletes what is obsolete a last time. Afterwards the files may be another's.
  void Close();

  // A job wrote these files; SpaceLimit if they take more space than is allowed. Before its commit, after which another
  // job may delete them.
  Status Track(const JobReport& report);
  // The same of all that there is on disk, when the database is opened.
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
