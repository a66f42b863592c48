// SPDX-License-Identifier: Apache-2.0
// rocksdb::RepairDB with a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/db.h"

namespace compassdb {

struct RepairReport {
  uint64_t kept_tables = 0;       // as they were
  uint64_t rewritten_tables = 0;  // rewritten with what could be read of them
  uint64_t lost_tables = 0;       // nothing of them could be read
  uint64_t lost_records = 0;      // of tables, as the manifest counts them; of unknown families, those in the logs
  uint64_t lost_bytes = 0;        // of data blocks that could not be read, as stored
  uint64_t lost_range_deletions = 0;
  uint64_t lost_values = 0;       // separated ones; their keys are deleted
  uint64_t lost_pages = 0;        // of table-less families: pages, images, overflow records, files of them
  uint64_t damaged_logs = 0;      // places in write-ahead logs that were skipped
  std::vector<std::string> log;   // a line for each finding and step, as in LOG
  std::vector<std::string> moved;  // unneeded files, and logs of lost records: their paths below lost/
};

// As rocksdb::RepairDB. Families that are not listed are opened with `unknown`; null: they are dropped.
rocksdb::Status RepairDB(const std::string& dbname, const rocksdb::DBOptions& options,
                         const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                         const rocksdb::ColumnFamilyOptions* unknown, RepairReport* report);

}  // namespace compassdb
