// SPDX-License-Identifier: Apache-2.0
// A record of the job that wrote a compaction file, at the file's end (docs/formats/compaction_file.md). Only a repair
// without manifest and mirror reads it: all records of a database together say which tables were in use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manifest/version_edit.h"
#include "table/file/compaction_file.h"

namespace compassdb {

struct JobRecord {
  // Later records of a database have higher numbers.
  uint64_t order = 0;
  // The database and its families, without tables, when the record was made.
  std::vector<VersionEdit> state;
  // The job's edit, which may not have been committed.
  VersionEdit job;
  // The job's family when the record was made: its tables, and the files of jobs that were not committed.
  std::vector<VersionEdit::Deleted> live;
  std::vector<uint64_t> writing;
};

Status AppendJobRecord(const JobRecord& record, CompactionFileWriter* file);

// *found: the file has a whole record. NotSupported for a newer version.
Status ReadJobRecord(const CompactionFile& file, bool* found, JobRecord* record);

// Where the extents of a file end: at its record, or at its end. Null if that is not known.
std::optional<uint64_t> EndOfExtents(const CompactionFile& file);

}  // namespace compassdb
