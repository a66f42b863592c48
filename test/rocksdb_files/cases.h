// SPDX-License-Identifier: Apache-2.0
// The databases that write_databases makes: every option of RocksDB that changes bytes on disk. Built with RocksDB's own
// headers, of any version from 7.8 on.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <functional>
#include <string>
#include <vector>

namespace compassdb_test {

// What is written in addition to values.
enum Contents : unsigned {
  kValues = 0,
  kVersions = 1,         // snapshots keep many versions of keys
  kRangeDeletions = 2,
  kMerges = 4,
  kInLog = 8,            // the newest records stay in the log
  kIngested = 16,        // two files are ingested
  kFamilies = 32,        // a second column family
  kTimestamps = 64,      // keys have timestamps
  kEntities = 128,       // records of wide columns
  kTimed = 256,          // values with a time (TimedPut)
};

struct Case {
  std::string name;
  unsigned contents = kValues;
  // The options of the database and of its families; both are made of defaults.
  std::function<void(rocksdb::Options*, rocksdb::BlockBasedTableOptions*)> adjust = {};
};

std::vector<Case> AllCases();

}  // namespace compassdb_test
