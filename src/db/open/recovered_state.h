// SPDX-License-Identifier: Apache-2.0
// The state in a manifest: the sum of its edits.
//
// Thread safety: one thread at a time. Errors are Corruption and name what an
// edit refers to and does not exist.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/version_edit.h"

namespace compassdb {

struct RecoveredFamily {
  std::string name;
  std::string comparator;
  uint64_t log_number = 0;
  std::string history_low;  // of user-defined timestamps
  std::map<uint64_t, VersionEdit::Added> tables;  // by id
  std::map<uint64_t, ValueRunMeta> values;        // runs of the value store, by id
  // For a table-less store.
  std::optional<PageGeometry> page_geometry;
  std::map<uint32_t, PageSectionMeta> page_sections;
  std::map<uint64_t, PageRunMeta> page_runs;  // by id
  SequenceNumber folded_sequence = 0;
  SequenceNumber in_place_sequence = 0;
  bool keys_whole = false;

  // Tables, values and pages as one edit of that family.
  VersionEdit AllTables(uint32_t id) const;
  // Adds the numbers of the files of tables and values.
  void AddFiles(std::set<uint64_t>* numbers) const;
  // What the edit says of pages.
  Status ApplyPages(const VersionEdit& edit);
};

struct RecoveredState {
  std::map<uint32_t, RecoveredFamily> families;
  std::string db_id;
  uint64_t hash_seed = 0;
  uint64_t next_number = 1;
  uint64_t min_log_number = 0;
  VersionEdit::Synced synced_log;
  std::map<uint64_t, FileChecksum> file_checksums;  // by number, some perhaps of files that are gone
  SequenceNumber last_sequence = 0;
  uint32_t max_column_family = 0;

  Status Apply(VersionEdit edit);
  Status ApplyAll(const EditRecord& edits);
  // The checksums of the files with tables and values.
  std::vector<FileChecksum> LiveChecksums() const;
};

}  // namespace compassdb
