// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "db/jobs/background_work.h"
#include "db/jobs/error_handler.h"
#include "db/open/db_config.h"
#include "db/read/snapshot_list.h"
#include "db/write/wal_set.h"
#include "db/write/write_counters.h"
#include "family/column_family.h"
#include "family/stall_controller.h"
#include "manifest/extent_ledger.h"
#include "util/mutex.h"

namespace compassdb {

// The sources of reports. Other parts of the database own them.
struct ReportSources {
  const DbConfig& config;
  const ColumnFamilySet& families;
  const ExtentLedger& ledger;
  const SnapshotList& snapshots;
  WalSet& wals;
  ErrorHandler& errors;
  WriteCounters& written;
  const std::atomic<SequenceNumber>& last_sequence;
  Mutex& mu;  // the database mutex, for options that change, for families, and for the fields below
  const StallController& stalls;
  BackgroundWork& background;
};

}  // namespace compassdb
