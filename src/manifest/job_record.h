// SPDX-License-Identifier: Apache-2.0
// What a compaction file says of the job that wrote it, at its end (docs/formats/compaction_file.md). Only a repair
// without manifest and mirror reads it: with all records of a database it knows which tables were in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manifest/version_edit.h"
#include "table/file/compaction_file.h"

namespace compassdb {

struct JobRecord {
  // Records of a database are made one after the other: later ones have higher numbers.
  uint64_t order = 0;
  // The database and its families, without tables, when the record was made.
  std::vector<VersionEdit> state;
  // What the job wants committed, which may not have happened.
  VersionEdit job;
  // Of the job's family, when the record was made: its tables, and the files of jobs that were not committed.
  std::vector<VersionEdit::Deleted> live;
  std::vector<uint64_t> writing;
};

Status AppendJobRecord(const JobRecord& record, CompactionFileWriter* file);

// *found: the file has one, which is whole. NotSupported for one of a newer version.
Status ReadJobRecord(const CompactionFile& file, bool* found, JobRecord* record);

}  // namespace compassdb
