// SPDX-License-Identifier: Apache-2.0
// A database's life in a few dozen calls of the API, and what must exist afterwards, after any
// failure in it.
//
// Batches are numbered, and hold their number, so that what survived is known. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faults/scenario.h"
#include "rocksdb/db.h"

namespace compassdb_test {

class Script : public Scenario {
 public:
  // `env` outlives it.
  Script(std::string layout, rocksdb::Env* env, std::string path);
  ~Script() override;
  // Before the database's life begins.
  void UseDirectIo() { options_.use_direct_reads = options_.use_direct_io_for_flush_and_compaction = true; }

  // The database's life: it is opened twice and closed, looked at by a reader and a secondary, and repaired. Continues
  // after failures where it can, with DB::Resume if writes are refused, which must help where the disk is `healthy` again.
  void Live(const std::function<bool()>& healthy) override;
  std::optional<std::string> Check(bool synced_only) override;
  int resumed() const override { return resumed_; }
  std::optional<std::string> Idle() const override;

 private:
  struct Batch {
    bool acknowledged = false;
    bool synced = false;  // by itself or by a later call
    int life = 0;         // between two openings
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
  void RenewSome();
  void ReadSome();
  // The reader: the database itself, or another one that has the first `known` batches.
  struct View {
    bool own = true;
    bool follows = false;  // is late, by as much as reads that lie make it
    size_t known = SIZE_MAX;
  };
  // The key holds what the newest batch that the view must have wrote, or a later one. No value: it is absent.
  bool Fits(int family, const std::string& key, const std::string* value, const View& view) const;
  bool MustKnow(const Batch& batch, const View& view) const;
  void Compare(const char* call, int family, const std::string& key, const std::string* value, const View& view);
  // What a scan over everything found; `whole`: without an error.
  void CompareScan(const char* call, int family, const std::map<std::string, std::string>& found, bool whole, const View& view);
  void CompareSeek(const char* call, rocksdb::Iterator* it, int family, const View& view);
  void ReadAll(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles, const View& view);
  void Follow();
  void LookFromOutside(As as);
  void Repair();
  void WriteAgain();

  const std::string layout_;
  rocksdb::Options options_;
  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  bool created_ = false;  // an open that creates succeeded
  std::vector<Batch> batches_;
  std::optional<std::string> wrong_;  // a read during the life
  int resumed_ = 0;
  int life_ = 0;
};

}  // namespace compassdb_test
