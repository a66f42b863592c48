// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "db/copy/live_files.h"
#include "db/families/family_factory.h"
#include "db/families/family_manager.h"
#include "db/jobs/manifest_state.h"
#include "db/report/event_log.h"
#include "db/report/listeners.h"
#include "db/report/reports.h"

namespace compassdb {

// The parts of a database that are filled while it is opened or repaired, when nothing else uses them.
struct DatabaseParts {
  const DbConfig& config;
  Ownership* ownership;  // null: of a database that is repaired
  StoreContext& stores;
  FileCache& tables;
  ExtentLedger& ledger;
  SpareFiles& spare_files;
  Mutex& mu;  // the database mutex
  ColumnFamilySet& families;
  ManifestState& manifest_state;
  CommitQueue& commits;
  WriteFront& front;
  SpaceReclaimer& space;
  FamilyFactory& family_factory;
  FamilyManager& family_manager;
  OptionsFiles& options_files;
  LiveFiles& live_files;
  Reports& reports;
  const Listeners& listeners;
  const EventLog& event_log;
  std::atomic<int>& next_job_id;
};

}  // namespace compassdb
