// SPDX-License-Identifier: Apache-2.0
// The database that the threads of a stress test share, and copies of it.
//
// Families: kSharedFamilies that always exist, and one of each thread, which alone creates, uses and drops
// it. Thread safety: Open and Close while no thread runs; a thread's own family is that thread's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "support/family.h"
#include "support/op.h"

namespace compassdb_test {

constexpr int kSharedFamilies = 4;
constexpr int kFilteredFamily = 3;  // takes no merges and no entities
constexpr int kOwnFamily = 4;       // as a thread sees it
static_assert(kOwnFamily < kMaxFamilies);

// What a thread works on: the shared families, then its own.
std::vector<FamilySpec> StressFamilies(int thread);

class StressDb {
 public:
  enum class Kind { kPlain, kLocking, kOptimistic };

  // Sealed: its files are encrypted (support/sealed_env.h).
  StressDb(std::string path, std::string layout, bool sealed, int threads);
  ~StressDb() { Close(); }
  StressDb(const StressDb&) = delete;
  StressDb& operator=(const StressDb&) = delete;

  // With options from the seed, in one of the three kinds.
  rocksdb::Status Open(uint64_t seed);
  // As kPlain, without what Open does to begin with.
  rocksdb::Status OpenReadOnly(uint64_t seed);
  // `path` is a running primary's: its shared families and the thread's own, as it has them at the moment.
  rocksdb::Status OpenSecondary(const std::string& secondary_path, uint64_t seed, int thread);
  rocksdb::Status Close();

  rocksdb::DB* db() const { return db_.get(); }
  Kind kind() const { return kind_; }
  rocksdb::TransactionDB* locking() const { return static_cast<rocksdb::TransactionDB*>(db_.get()); }
  rocksdb::OptimisticTransactionDB* optimistic() const { return static_cast<rocksdb::OptimisticTransactionDB*>(db_.get()); }
  bool secondary() const { return secondary_; }
  const std::string& path() const { return path_; }
  const std::string& layout() const { return layout_; }
  bool sealed() const { return sealed_ != nullptr; }
  rocksdb::Env* env() const { return sealed() ? sealed_.get() : rocksdb::Env::Default(); }
  int threads() const { return threads_; }

  // By slot as the thread sees it; the own one null where it does not exist.
  std::vector<rocksdb::ColumnFamilyHandle*> Handles(int thread) const;
  rocksdb::Status CreateOwn(int thread, uint64_t seed);
  rocksdb::Status DropOwn(int thread);
  // As they may be while the database is open; others by another seed.
  rocksdb::ColumnFamilyOptions FamilyOptions(int slot, int thread, uint64_t family_seed) const;
  // What the layout does not have.
  bool HasIngestion() const { return layout_ != "tableless"; }
  bool HasSecondaries() const { return layout_ != "tableless"; }
  bool HasSeparatedValues() const { return layout_ != "tableless"; }

 private:
  // `only`: own families of that thread alone; -1: of all.
  rocksdb::Status Describe(std::vector<rocksdb::ColumnFamilyDescriptor>* families, int only = -1) const;
  rocksdb::DBOptions DbOptions() const;
  void Adopt(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

  const std::string path_;
  const std::string layout_;
  const std::unique_ptr<rocksdb::Env> sealed_;
  const int threads_;
  uint64_t seed_ = 0;
  Kind kind_ = Kind::kPlain;
  bool secondary_ = false;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // the shared ones, then by thread
};

}  // namespace compassdb_test
