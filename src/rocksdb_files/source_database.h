// SPDX-License-Identifier: Apache-2.0
// A database of RocksDB or LevelDB, read without that library and without any change to it: its manifest, tables, blob
// files and logs. Nobody may write to it meanwhile.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb_files/blob_files.h"
#include "rocksdb_files/manifest_state.h"
#include "rocksdb_files/table_file.h"

namespace compassdb::rocksdb_files {

struct SourceOptions {
  FileSystem* fs = nullptr;
  std::string dir;
  std::string log_dir;                // empty: `dir`
  std::vector<std::string> db_paths;  // of tables; empty: `dir`
  // Null for a name that is not known: the family is not readable then.
  std::function<const Comparator*(const std::string& name)> comparator;
};

class SourceCursor;

class SourceDatabase {
 public:
  // Reads the manifest and the logs.
  static Status Open(const SourceOptions& options, std::unique_ptr<SourceDatabase>* database);
  ~SourceDatabase();
  SourceDatabase(const SourceDatabase&) = delete;
  SourceDatabase& operator=(const SourceDatabase&) = delete;

  const ManifestState& manifest() const { return manifest_; }
  // Transactions of the logs that were prepared, and neither committed nor rolled back.
  std::vector<std::string> PreparedTransactions() const;
  // The last log, or the manifest, ends inside of a record, or in bytes that do not verify: after a crash, or by damage.
  bool log_torn() const { return log_torn_; }
  bool manifest_torn() const { return manifest_torn_; }

  // Walks what a reader of the database sees of a family.
  Status NewCursor(uint32_t family, std::unique_ptr<SourceCursor>* cursor);

 private:
  friend class SourceCursor;
  struct Record {
    std::string key;  // internal
    std::string value;
  };
  // What the logs have of a family.
  struct LoggedFamily {
    std::vector<Record> records;  // sorted when a cursor is made
    bool sorted = false;
    std::vector<RangeTombstone> tombstones;
  };

  explicit SourceDatabase(const SourceOptions& options) : options_(options), blob_files_(options.fs, options.db_paths.empty() ? options.dir : options.db_paths[0]) {}
  Status FindLogs(std::vector<uint64_t>* numbers) const;
  Status CheckTrackedLogs(const std::vector<uint64_t>& numbers) const;
  bool Needs(const LiveFamily& family, uint64_t log) const;
  Status ReplayLog(uint64_t number);
  Status ReplayBatch(uint64_t log, const Slice& batch);
  Status ReplayRecord(uint64_t log, const struct BatchRecord& record);
  Status Commit(uint64_t log, const Slice& name, SequenceNumber sequence);
  const Comparator* ComparatorOf(const LiveFamily& family) const;
  Status OpenTable(const LiveFamily& family, const LiveTable& table, std::unique_ptr<TableFile>* opened) const;

  const SourceOptions options_;
  ManifestState manifest_;
  std::map<uint32_t, LoggedFamily> logged_;
  std::map<std::string, std::vector<std::pair<uint32_t, Record>>> prepared_;  // by name: family and record
  std::vector<std::pair<uint32_t, Record>> section_;                          // that is being read
  bool in_section_ = false;
  SequenceNumber next_sequence_ = 0;  // 0: nothing was replayed
  bool log_torn_ = false;
  bool manifest_torn_ = false;
  BlobFiles blob_files_;
};

// What a reader sees of one key.
class SourceCursor {
 public:
  ~SourceCursor();
  void SeekToFirst();
  bool Valid() const { return valid_; }
  void Next();
  const Status& status() const { return status_; }

  // Without a timestamp.
  const std::string& key() const { return key_; }
  // The value, or what merge operands are applied to; null: there is none, so there are operands.
  const std::string* value() const { return has_value_ ? &value_ : nullptr; }
  // The value is that of a wide-column entity, encoded.
  bool entity() const { return entity_; }
  // Oldest first.
  const std::vector<std::string>& operands() const { return operands_; }

  // Of the family's tables.
  uint64_t BytesRead() const;
  uint64_t BytesInAll() const;

 private:
  friend class SourceDatabase;
  struct Source;  // records in the order of internal keys
  struct TableSource;
  struct LoggedSource;

  SourceCursor(SourceDatabase* database, const LiveFamily* family, const Comparator* comparator);
  Status Open();
  Status OpenTables();
  void Push(Source* source);
  Source* Pop();
  bool TakeKey();
  bool TakeRecord(const Slice& internal_key, const Slice& value, bool* done);
  bool TakeReference(const Slice& user_key, const Slice& value);
  bool Fail(const Status& s);

  SourceDatabase* const database_;
  const LiveFamily* const family_;
  const InternalKeyComparator order_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Source*> heap_;
  RangeTombstoneList tombstones_;
  bool valid_ = false;
  Status status_;
  std::string key_, value_, user_key_;
  bool has_value_ = false;
  bool entity_ = false;
  std::vector<std::string> operands_;
};

}  // namespace compassdb::rocksdb_files
