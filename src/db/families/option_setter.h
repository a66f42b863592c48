// SPDX-License-Identifier: Apache-2.0
// Changes options of an open database: SetOptions and SetDBOptions.
//
// Thread safety: all methods. One change at a time; it takes effect at the front of the write queue.
#pragma once

#include <string>
#include <unordered_map>

#include "db/families/family_observer.h"
#include "db/jobs/scheduler.h"
#include "db/open/db_config.h"
#include "db/report/stats_dump.h"
#include "db/space/space_reclaimer.h"
#include "db/write/wal_set.h"
#include "db/write/write_thread.h"

namespace compassdb {

// The parts that use options of the database that may change.
struct OptionUsers {
  StoreContext& stores;
  WalSet& logs;
  Scheduler& scheduler;
  StatsDump& stats;
};

class OptionSetter {
 public:
  using Changes = std::unordered_map<std::string, std::string>;
  OptionSetter(DbConfig& config, Mutex* mu, WriteThread& queue, const OptionUsers& users,
               const ColumnFamilySet& families, SpaceReclaimer& space, FamilyObserver& observer)
      : config_(config),
        mu_(mu),
        queue_(queue),
        users_(users),
        families_(families),
        space_(space),
        observer_(observer) {}

  Status SetFamilyOptions(const std::shared_ptr<ColumnFamily>& family, const Changes& changes)
      EXCLUDES(one_at_a_time_, *mu_);
  Status SetDbOptions(const Changes& changes) EXCLUDES(one_at_a_time_, *mu_);
  rocksdb::DBOptions DbOptions() const EXCLUDES(*mu_);

 private:
  Status ChangeFamily(const std::shared_ptr<ColumnFamily>& family, const Changes& changes)
      REQUIRES(one_at_a_time_) EXCLUDES(*mu_);
  Status ChangeDb(const Changes& changes) REQUIRES(one_at_a_time_) EXCLUDES(*mu_);
  void LogInputs(const std::string& call, const Changes& changes) const;
  void LogResult(const std::string& call, const Status& s) const;

  DbConfig& config_;
  Mutex* const mu_;
  WriteThread& queue_;
  const OptionUsers users_;
  const ColumnFamilySet& families_;
  SpaceReclaimer& space_;
  FamilyObserver& observer_;
  Mutex one_at_a_time_;  // before the front
};

}  // namespace compassdb
