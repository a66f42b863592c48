// SPDX-License-Identifier: Apache-2.0
// One change of the database's state, as in the manifest
// (docs/formats/manifest.md). Values that are not set do not change.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "manifest/file_checksum.h"
#include "manifest/page_store_edit.h"
#include "manifest/value_run_meta.h"
#include "rocksdb/status.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

using rocksdb::Status;

struct VersionEdit : PageStoreEdit {
  // Database-wide.
  std::optional<std::string> db_id;
  std::optional<uint64_t> hash_seed;
  std::optional<uint64_t> next_number;  // for files, pieces and tables alike
  std::optional<SequenceNumber> last_sequence;
  std::optional<uint32_t> max_column_family;
  // WAL files with a number below are no longer needed by any family.
  std::optional<uint64_t> min_log_number;
  // The write-ahead log `number` was synced up to `bytes`, and all before it.
  struct Synced {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };
  std::optional<Synced> synced_log;
  std::vector<FileChecksum> file_checksums;  // of files that this edit or an earlier one names

  // For one column family.
  uint32_t column_family = 0;
  std::optional<std::string> add_column_family;  // its name
  std::optional<std::string> comparator;         // its name
  bool drop_column_family = false;
  std::optional<std::string> history_low;  // full_history_ts_low of its timestamps
  std::optional<uint64_t> log_number;  // WALs below have no records of this family
  struct Added {
    int level;
    TphMeta tph;
  };
  struct Deleted {
    int level;
    uint64_t tph_id;
  };
  std::vector<Deleted> deleted;
  std::vector<Added> added;
  std::vector<uint64_t> deleted_values;  // ids of runs of the value store
  std::vector<ValueRunMeta> added_values;
  // The bytes of the value runs that jobs wrote for it. Not in the manifest.
  std::vector<std::shared_ptr<UncommittedBytes>> uncommitted_values;

  // For an edit that is about to be committed.
  void CheckInvariants() const;

  void EncodeTo(std::string* dst) const;
  // Consumes all of src; Corruption names the field.
  Status DecodeFrom(const Slice& src);
  std::string DebugString() const;
};

// Several edits that take effect together are one manifest record.
void EncodeEdits(const std::vector<VersionEdit>& edits, std::string* dst);

// The edits of a record, decoded one at a time: an edit of two bytes takes hundreds in memory.
class EditRecord {
 public:
  // Checks every edit; Corruption names what does not decode. The bytes must outlive the record.
  Status Open(const Slice& bytes);
  uint64_t size() const { return count_; }

  class Iterator {
   public:
    explicit Iterator(const EditRecord& record);
    VersionEdit& operator*() { return edit_; }  // the visitor's own
    VersionEdit* operator->() { return &edit_; }
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const { return left_ == 0; }

   private:
    void Decode();
    Slice rest_;
    uint64_t left_;
    VersionEdit edit_;
  };
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  static Status Next(Slice* rest, VersionEdit* edit);
  Slice edits_;  // after their count
  uint64_t count_ = 0;
};

}  // namespace compassdb
