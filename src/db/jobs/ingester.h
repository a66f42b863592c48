// SPDX-License-Identifier: Apache-2.0
// Tables from other databases: ingestion, and import of column families.
//
// Ingestion runs at the front of the write queue, so that it has its place in the order of writes. Memtables with keys
// in its range are flushed first. The records of a table get one sequence, become a table of the store, and are
// committed together. The sequence is 0 if they hide nothing, nothing hides them, and no snapshot could see them. If a
// snapshot was taken before the commit, they are written again with a sequence. Writers wait during an ingestion, and
// new snapshots wait for such a commit.
//
// Thread safety: all methods, which are called without any lock.
#pragma once

#include <string>
#include <vector>

#include "db/families/family_manager.h"
#include "db/jobs/background_jobs.h"
#include "db/jobs/flusher.h"
#include "db/jobs/table_ingestion.h"
#include "db/write/write_front.h"

namespace compassdb {

class Ingester {
 public:
  // All of it outlives this.
  Ingester(const JobEnvironment& env, WriteFront& front, BackgroundJobs& jobs, Flusher& flusher, FamilyManager& manager)
      : env_(env), mu_(env.mu), front_(front), jobs_(jobs), flusher_(flusher), manager_(manager) {}

  Status Ingest(const std::vector<rocksdb::IngestExternalFileArg>& args) EXCLUDES(*mu_);
  // Creates a family of these files. *handle is null if that fails.
  Status Import(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                const rocksdb::ImportColumnFamilyOptions& import, const rocksdb::ExportImportFilesMetaData& metadata,
                rocksdb::ColumnFamilyHandle** handle);

 private:
  Status CheckFiles(const rocksdb::IngestExternalFileArg& arg);
  Status OpenFiles(const rocksdb::IngestExternalFileArg& arg, std::vector<Ingestion>* ingestions);
  Status FlushRanges(const std::vector<Ingestion>& ingestions) EXCLUDES(*mu_);
  Status AssignSequences(std::vector<Ingestion>* ingestions, bool snapshots) EXCLUDES(*mu_);
  void CloseFile(Ingestion* ingestion, bool move);

  const JobEnvironment& env_;
  Mutex* const mu_;
  WriteFront& front_;
  BackgroundJobs& jobs_;
  Flusher& flusher_;
  FamilyManager& manager_;
};

}  // namespace compassdb
