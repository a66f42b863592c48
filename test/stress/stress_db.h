// SPDX-License-Identifier: Apache-2.0
// The database that the threads of a stress test share, and copies of it.
//
// Families: kSharedFamilies that always exist, one of each thread, which alone creates, uses, moves and drops
// it, and one of each with timestamps, which always exists. Thread safety: Open and Close while no thread
// runs; a thread's families are that thread's.
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

// Properties of a database other than its layout.
enum class Flavour {
  kUsual,
  kSealed,    // its files are encrypted (support/sealed_env.h)
  kExpiring,  // a DBWithTTL, of values that live longer than the test
};
const char* NameOf(Flavour flavour);

// The families of a thread: the shared ones, then its own.
std::vector<FamilySpec> StressFamilies(int thread);

class StressDb {
 public:
  enum class Kind { kPlain, kLocking, kOptimistic };

  StressDb(std::string path, std::string layout, Flavour flavour, int threads);
  ~StressDb() { Close(); }
  StressDb(const StressDb&) = delete;
  StressDb& operator=(const StressDb&) = delete;

  // With options from the seed, in one of the three kinds; kPlain where values expire.
  rocksdb::Status Open(uint64_t seed);
  // Like kPlain, without the first steps of Open.
  rocksdb::Status OpenReadOnly(uint64_t seed);
  // `path` is a running primary's: its shared families and the thread's own, as it has them at the moment.
  rocksdb::Status OpenSecondary(const std::string& secondary_path, uint64_t seed, int thread);
  rocksdb::Status Close();
  // A short life of a table-less database with tableless_key_store=false: what the log gives back is flushed. The next
  // opening rebuilds the key stores.
  rocksdb::Status FlushWithoutKeys(uint64_t seed);

  rocksdb::DB* db() const { return db_.get(); }
  Kind kind() const { return kind_; }
  rocksdb::TransactionDB* locking() const { return static_cast<rocksdb::TransactionDB*>(db_.get()); }
  rocksdb::OptimisticTransactionDB* optimistic() const { return static_cast<rocksdb::OptimisticTransactionDB*>(db_.get()); }
  bool secondary() const { return secondary_; }
  const std::string& path() const { return path_; }
  const std::string& layout() const { return layout_; }
  Flavour flavour() const { return flavour_; }
  rocksdb::Env* env() const { return sealed_ != nullptr ? sealed_.get() : rocksdb::Env::Default(); }
  int threads() const { return threads_; }

  // By slot as the thread sees it; the own one null where it does not exist.
  std::vector<rocksdb::ColumnFamilyHandle*> Handles(int thread) const;
  rocksdb::Status CreateOwn(int thread, uint64_t seed);
  rocksdb::Status DropOwn(int thread);
  // Exports the own family, drops it, and creates it again from the export.
  rocksdb::Status MoveOwn(int thread, uint64_t seed, const std::string& directory, bool move_files);
  // Null where values expire.
  rocksdb::ColumnFamilyHandle* TimedFamily(int thread) const;
  // As they may be while the database is open; others by another seed.
  rocksdb::ColumnFamilyOptions FamilyOptions(int slot, int thread, uint64_t family_seed) const;
  // What the layout does not have. Values that expire have a form of the database, which ingested files lack.
  bool HasIngestion() const { return layout_ != "tableless" && flavour_ != Flavour::kExpiring; }
  bool HasSecondaries() const { return layout_ != "tableless" && flavour_ != Flavour::kExpiring; }
  bool HasSeparatedValues() const { return layout_ != "tableless"; }
  bool HasImports() const { return layout_ != "tableless"; }
  bool HasTtl() const { return layout_ != "tableless"; }
  bool HasEntities() const { return flavour_ != Flavour::kExpiring; }

 private:
  // `only`: families of that thread alone, in addition to the shared ones; -1: of all.
  rocksdb::Status Describe(std::vector<rocksdb::ColumnFamilyDescriptor>* families, int only = -1) const;
  rocksdb::ColumnFamilyOptions TimedOptions(int thread) const;
  rocksdb::Status OpenExpiring(bool read_only);
  rocksdb::DBOptions DbOptions() const;
  bool IndexesLog() const { return layout_ == "tableless" && seed_ % 2 == 1; }
  void ChangePages(uint64_t seed, rocksdb::ColumnFamilyOptions* options) const;
  void Adopt(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

  const std::string path_;
  const std::string layout_;
  const Flavour flavour_;
  const std::unique_ptr<rocksdb::Env> sealed_;
  const int threads_;
  uint64_t seed_ = 0;
  Kind kind_ = Kind::kPlain;
  bool secondary_ = false;
  bool without_keys_ = false;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // the shared ones, own ones by thread, timed ones by thread
};

}  // namespace compassdb_test
