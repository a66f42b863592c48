// SPDX-License-Identifier: Apache-2.0
// A database's life in a few dozen calls of the API, and what must be there afterwards whatever
// failed in it.
//
// Batches are numbered, and hold their number, so that what survived can be told. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compassdb/preset.h"
#include "rocksdb/db.h"

namespace compassdb_test {

class Script {
 public:
  // `env` outlives it.
  Script(compassdb::Preset preset, rocksdb::Env* env, std::string path);
  ~Script();

  // The database's life: it is opened twice and closed, looked at by a reader and a secondary, and repaired. Goes on
  // after failures where it can, with DB::Resume if writes are refused, which must help where the disk is `healthy` again.
  void Live(const std::function<bool()>& healthy);
  // Opens and compares, with nothing failing any more. `synced_only`: of what was acknowledged, only
  // what was synced must be there. Tells what is wrong, if anything.
  std::optional<std::string> Check(bool synced_only);

  struct Failure {
    std::string call;
    rocksdb::Status status;
  };
  // Every call that failed, in order.
  const std::vector<Failure>& failures() const { return failures_; }
  int resumed() const { return resumed_; }
  // Separated values that collections moved.
  uint64_t values_moved() const;

 private:
  struct Batch {
    bool acknowledged = false;
    bool synced = false;  // by itself or by a later call
    std::map<std::string, std::optional<std::string>> first, second;  // by family; null: deleted
  };
  bool Note(const char* call, const rocksdb::Status& s);
  enum class As { kReader, kSecondary };
  rocksdb::Options Options() const;
  bool Open(bool create);
  void Close();
  void Write(int key, size_t value_bytes, bool sync, bool remove = false);
  void WriteMany(int count, size_t value_bytes);
  void AllSynced(bool ok);
  void Maintain();
  void ReadSome();
  void ReadAll(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  void Follow();
  void LookFromOutside(As as);
  void Repair();
  void WriteAgain();

  const compassdb::Preset preset_;
  rocksdb::Options options_;
  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  bool created_ = false;  // an open that creates succeeded
  std::vector<Batch> batches_;
  std::vector<Failure> failures_;
  std::optional<std::string> wrong_;  // a read during the life
  int resumed_ = 0;
};

}  // namespace compassdb_test
