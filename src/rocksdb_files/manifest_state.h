// SPDX-License-Identifier: Apache-2.0
// What a manifest of RocksDB or LevelDB says: families, their files, logs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "format/internal_key.h"

namespace compassdb::rocksdb_files {

struct LiveTable {
  int level = 0;
  uint64_t number = 0;
  uint32_t path = 0;  // of db_paths or cf_paths
  uint64_t size = 0;
  std::string smallest, largest;  // internal keys; without timestamps if they were not kept
  SequenceNumber smallest_sequence = 0;
  SequenceNumber largest_sequence = kMaxSequenceNumber;  // of LevelDB: not known
};

struct LiveBlobFile {
  uint64_t number = 0;
  uint64_t values = 0;
  uint64_t bytes = 0;
};

struct LiveFamily {
  uint32_t id = 0;
  std::string name;
  std::string comparator;
  uint64_t log_number = 0;  // older logs have nothing of it
  std::map<uint64_t, LiveTable> tables;        // by number
  std::map<uint64_t, LiveBlobFile> blob_files;
};

struct ManifestState {
  std::map<uint32_t, LiveFamily> families;  // by number; 0 is the default family
  std::string database_id;
  uint64_t min_log_to_keep = 0;
  uint64_t previous_log = 0;  // LevelDB's: older than log_number, and needed too
  uint64_t next_file = 0;
  SequenceNumber last_sequence = 0;
  std::map<uint64_t, uint64_t> logs;  // with track_and_verify_wals_in_manifest: the synced sizes
};

// Applies one record of a manifest. Edits of a group are kept until it is complete.
class ManifestReplay {
 public:
  ManifestReplay();
  Status Apply(const Slice& edit);
  // After the last. An incomplete group is left out: it was not committed.
  const ManifestState& state() const { return state_; }

 private:
  struct Edit;
  Status ApplyDecoded(const Edit& edit);
  ManifestState state_;
  std::vector<std::string> group_;
};

// Reads the manifest that CURRENT names. *torn: it ends inside of an edit, or in bytes that do not verify.
Status ReadManifest(FileSystem* fs, const std::string& dir, ManifestState* state, bool* torn);

}  // namespace compassdb::rocksdb_files
