// SPDX-License-Identifier: Apache-2.0
#include "db/space/space_reclaimer.h"

#include "db/space/schedule_once.h"
#include "format/file_names.h"
#include "options/table_factories.h"

namespace compassdb {

SpaceReclaimer::SpaceReclaimer(const DbConfig& config, bool read_only, const DatabaseFiles& files, Mutex* db_mu,
                               Scheduler& scheduler, BackgroundWork& work, const DeletionObservers& observers)
    : config_(config),
      read_only_(read_only),
      files_(files),
      db_mu_(db_mu),
      scheduler_(scheduler),
      work_(work),
      tracked_(config.owned_fs, config.options.sst_file_manager.get()),
      obsolete_(config, files, db_mu, tracked_, scheduler, observers),
      holes_(config, files, tracked_, obsolete_, scheduler, db_mu, work) {}

void SpaceReclaimer::Start(const ColumnFamilySet& families) {
  for (const auto& family : families.All()) {
    VersionEdit all;
    {
      MutexLock lock(db_mu_);
      family->store()->Snapshot(&all);
    }
    for (const ValueRunMeta& run : all.added_values) obsolete_.AddValueFile(run.extent.file_number);
  }
  started_ = true;
  Configure(families);
  Schedule();
}

void SpaceReclaimer::Stop() {
  started_ = false;
  holes_.Stop();
}

void SpaceReclaimer::Configure(const ColumnFamilySet& families) {
  if (const auto family = families.ById(0); family != nullptr) {
    holes_.Configure(TableSettingsOf(family->options().table_factory.get()).piece);
  }
}

void SpaceReclaimer::Purge(int job_id) {
  if (read_only_) return;
  obsolete_.Purge(job_id);
  holes_.Schedule();
}

void SpaceReclaimer::Schedule() {
  if (!started_) return;
  holes_.Schedule();
  obsolete_.SchedulePurge();
}

void SpaceReclaimer::StatesReleased() {
  if (!started_) return;
  Schedule();
  if (files_.ledger.releases() == looked_at_) return;
  ScheduleOnce(scheduler_, &look_scheduled_, [this] {
    look_scheduled_ = false;
    MutexLock lock(db_mu_);
    work_.MaybeSchedule();
  });
}

void SpaceReclaimer::Wait() {
  holes_.Wait();
  obsolete_.Wait();
}

void SpaceReclaimer::Close() {
  Purge();
  obsolete_.Close();
}

Status SpaceReclaimer::Track(const JobReport& report) {
  for (const JobReport::ValueFile& file : report.value_files) obsolete_.AddValueFile(file.number);
  for (const std::string& path : report.output_paths) tracked_.Track(path);
  for (const JobReport::ValueFile& file : report.value_files) tracked_.Track(file.path);
  if (!report.output_paths.empty() && tracked_.Full()) return Status::SpaceLimit("Max allowed space was reached");
  return Status::OK();
}

Status SpaceReclaimer::TrackAll() {
  if (config_.options.sst_file_manager == nullptr) return Status::OK();
  JobReport all;
  for (const std::string& dir : files_.tables.dirs()->All()) {
    std::vector<std::string> names;
    config_.fs->GetChildren(dir, &names).PermitUncheckedError();  // it was read just before
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (ParseFileName(name, &number, &type) && type == FileType::kPieceFile) {
        all.output_paths.push_back(JoinPath(dir, name));
      }
    }
  }
  return Track(all);
}

void SpaceReclaimer::UntrackAll() {
  for (const std::string& dir : files_.tables.dirs()->All()) tracked_.UntrackDirectory(dir);
}

}  // namespace compassdb
