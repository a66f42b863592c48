// SPDX-License-Identifier: Apache-2.0
// Notifies listeners of the files and parts of one job while it runs. For each file that is begun, it
// notifies again when the file is written or the job has failed.
//
// Thread safety: all methods. Lock order: mu_ is a leaf; listeners are called without it.
#pragma once

#include <set>
#include <string>

#include "db/report/listeners.h"
#include "util/mutex.h"

namespace compassdb {

class JobListener final : public JobObserver {
 public:
  enum class Kind { kFlush, kRecovery, kCompaction, kManualCompaction, kIngestion };
  JobListener(const Listeners* listeners, JobContext job, Kind kind)
      : listeners_(listeners), job_(std::move(job)), kind_(kind) {}

  // For JobReport::observer: null if there are no listeners.
  JobObserver* observer() { return listeners_->empty() ? nullptr : this; }
  // Before the job runs: its levels and reason.
  void SetInputs(const JobReport& inputs);
  // After the job, before its edit is committed. A job may be tried again afterwards.
  void JobEnded(const JobReport& report, const Status& status);

  void FileBegins(const std::string& path, bool values) override;
  void FilesEnd(const JobReport& done) override;
  void PartBegins(int part) override;
  void PartEnds(int part, const JobReport& done, const Status& status) override;

 private:
  void NotifyFiles(const JobReport& done, const Status& status);
  bool TakeFile(std::set<std::string>* files, const std::string& path) EXCLUDES(mu_);
  rocksdb::SubcompactionJobInfo PartInfo(int part) const;
  rocksdb::TableFileCreationBriefInfo Table(const std::string& path) const;
  rocksdb::BlobFileCreationBriefInfo ValueFile(const std::string& path) const;
  void NotifyTable(const std::string& path, const JobReport& done, size_t at, const Status& status) const;
  void NotifyValueFile(const JobReport::ValueFile& file, const JobReport& done,
                     const Status& status) const;
  bool compaction() const { return kind_ == Kind::kCompaction || kind_ == Kind::kManualCompaction; }

  const Listeners* const listeners_;
  const JobContext job_;
  const Kind kind_;
  JobReport inputs_;  // set before the job runs
  Mutex mu_;
  std::set<std::string> tables_ GUARDED_BY(mu_);       // begun; paths
  std::set<std::string> value_files_ GUARDED_BY(mu_);  // likewise
};

}  // namespace compassdb
