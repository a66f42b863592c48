// SPDX-License-Identifier: Apache-2.0
// For RepairDB: the state of a database whose manifest and mirror are missing, from the records that jobs left in their
// files (manifest/job_record.h).
//
// A table is known by the record of its job, in the file that the job wrote. That file exists while the table is in
// use. Later records show whether it is in use: each lists the tables of its family, and the files whose jobs were not
// committed at that time. So a table of an earlier record that is not listed, and whose file was not being written,
// is dead.
//
// A job that no later record knows may have been committed or not. It counts as committed. The record is at the end of
// the file, so the file is complete. Reads find the same as in the files that the job replaced. (The opposite would
// be wrong: replaced files may have holes, and a flush leaves no log.)
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/open/recovered_state.h"
#include "manifest/job_record.h"

namespace compassdb {

// Whether all directories with tables are known. PLACES has them all, and only a database that never had another
// directory has no PLACES. OPTIONS shows that PLACES was not lost with other files.
bool KnowsAllDirectories(FileSystem* fs, const std::string& dir);

// For a database without tables. *before: there was data before the oldest log, up to this sequence, which deletions
// may have dropped; 0: none. Corruption if tables may be elsewhere, or if no log can be read.
Status CheckLogsAreAll(FileSystem* fs, const std::string& dir, const std::string& wal_dir, SequenceNumber* before);

// The id of the database: the last one of `ids`, those that its files have from the oldest to the newest, or a later one
// in IDENTITY, or else that of its logs. An error names a log that has none of these.
Status FindDatabaseId(FileSystem* fs, const std::string& dir, const std::string& wal_dir, const std::vector<std::string>& ids,
                      std::string* id);

class LostManifest {
 public:
  // `log` gets what is uncertain, line by line.
  explicit LostManifest(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

  // For each file that is not empty. An error names a file without a record, or one that does not match the others.
  Status Add(FileSystem* fs, const std::string& path, uint64_t number);
  // After the last one. `*state` is empty.
  Status Find(RecoveredState* state);
  // For FindDatabaseId: a copy has its own id, from its first open on.
  std::vector<std::string> Ids() const;
  // Families up to this id that are not in the state were dropped.
  uint32_t all_families_up_to() const { return all_families_up_to_; }

 private:
  struct Job {
    std::string path;
    uint64_t file = 0;
    uint64_t file_id = 0;
    JobRecord record;
    const Job* judge = nullptr;  // the newest record that knows the job's fate
    bool committed = false;
  };
  struct Table {
    const VersionEdit::Added* added;
    const Job* job;
    bool dead = false;
    int level = 0;
  };
  static const VersionEdit::Deleted* Listed(const Job& job, uint64_t table);
  static std::string IdOf(const Job& job) { return job.record.state.front().db_id.value_or(""); }
  Status CheckIds() const;
  void JudgeByLaterRecords();
  void JudgeTheLast();
  bool IsWhole(const TphMeta& table) const;
  Status CheckFiles(const Table& table) const;
  Status CheckForGaps() const;

  using TableKey = std::pair<uint32_t, uint64_t>;  // family and id
  const std::function<void(const std::string&)> log_;
  std::map<uint64_t, Job> jobs_;        // by order
  std::map<uint64_t, uint64_t> files_;  // ids by number
  std::map<TableKey, Table> tables_;
  uint32_t all_families_up_to_ = 0;
};

}  // namespace compassdb
