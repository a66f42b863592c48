// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/jobs/commit.h"
#include "db/write/wal_set.h"
#include "manifest/extent_ledger.h"
#include "table/file/file_cache.h"

namespace compassdb {

// The parts that know which files a database has.
struct DatabaseFiles {
  FileCache& tables;
  ExtentLedger& ledger;
  CommitQueue& commits;
  WalSet& logs;
};

}  // namespace compassdb
