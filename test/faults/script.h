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
#include "faults/scenario.h"
#include "rocksdb/db.h"

namespace compassdb_test {

class Script : public Scenario {
 public:
  // `env` outlives it.
  Script(compassdb::Preset preset, rocksdb::Env* env, std::string path);
  ~Script() override;

  // The database's life: it is opened twice and closed, looked at by a reader and a secondary, and repaired. Goes on
  // after failures where it can, with DB::Resume if writes are refused, which must help where the disk is `healthy` again.
  void Live(const std::function<bool()>& healthy) override;
  std::optional<std::string> Check(bool synced_only) override;
  int resumed() const override { return resumed_; }
  std::optional<std::string> Idle() const override;

 private:
  struct Batch {
    bool acknowledged = false;
    bool synced = false;  // by itself or by a later call
    std::map<std::string, std::optional<std::string>> first, second;  // by family; null: deleted
  };
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
  std::optional<std::string> wrong_;  // a read during the life
  int resumed_ = 0;
};

}  // namespace compassdb_test
