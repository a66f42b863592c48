// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "support/model.h"
#include "support/op.h"
#include "support/profile.h"
#include "support/tuning.h"

namespace compassdb_test {

// Applies operations to a database through the public API and answers each
// with a text, in the words of ModelExecutor. Thread safety: none, but several
// executors may share one database (see Attach).
class DbExecutor {
 public:
  struct Config {
    std::string path;
    std::vector<FamilySpec> families;
    Tuning tuning;
    bool vary_tuning = true;       // each reopen takes other options
    rocksdb::Env* env = nullptr;
  };

  explicit DbExecutor(Config config);
  ~DbExecutor();

  // Opens with the families that exist by this executor's own account.
  rocksdb::Status Open(bool read_only = false);
  void Close();
  // Uses an open database, which it does not own, until Close, with these families as its slots.
  void Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

  std::string Run(const Op& op);
  Entries Dump(int family, int snapshot);
  rocksdb::DB* db() { return db_.get(); }
  rocksdb::ColumnFamilyHandle* handle(int family) { return handles_[family]; }
  // Of an attached database: a family was created or dropped.
  void SetHandle(int family, rocksdb::ColumnFamilyHandle* handle) { handles_[family] = handle; }
  // The bytes of the last WriteBatch written, as its Data() gave them.
  const std::string& last_batch() const { return last_batch_; }

 private:
  rocksdb::DB* Db() { return attached_ != nullptr ? attached_ : db_.get(); }
  rocksdb::ReadOptions ReadAt(int snapshot) const;
  std::vector<rocksdb::ColumnFamilyDescriptor> Descriptors(std::vector<int>* slots) const;
  std::string RunWrite(const Op& op);
  rocksdb::Status WriteOne(const rocksdb::WriteOptions& options, const WriteItem& item);
  rocksdb::Status WriteBatchOf(const rocksdb::WriteOptions& options,
                               const std::vector<WriteItem>& items);
  std::string RunGet(const Op& op);
  std::string RunMultiGet(const Op& op);
  std::string RunKeyMayExist(const Op& op);
  std::string RunScan(const Op& op);
  std::string RunNewIterator(const Op& op);
  std::string RunMoves(const Op& op);
  std::string RunMaintenance(const Op& op);
  std::string RunReadOnly(const Op& op);
  std::string Found(int family, const rocksdb::Status& status, std::string value) const;
  void Move(const IteratorMove& move, int slot, std::string* out);
  void ReleaseReaders();
  Entries Collect(rocksdb::Iterator* it, int family, bool backward) const;

  Config config_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::DB* attached_ = nullptr;
  std::vector<bool> exists_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::string last_batch_;
  const rocksdb::Snapshot* snapshots_[kMaxSnapshots] = {};
  struct IteratorState {
    std::unique_ptr<rocksdb::Iterator> it;
    int family = 0;
    IteratorSpec spec;  // owns the bounds
    rocksdb::Slice lower;
    rocksdb::Slice upper;
  };
  std::unique_ptr<IteratorState> iterators_[kMaxIterators];
};

}  // namespace compassdb_test
