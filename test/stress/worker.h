// SPDX-License-Identifier: Apache-2.0
// A thread of the stress test: random operations on keys of its own in families that it shares with
// the others. Each answer is compared with a model's. Next to them are transactions, copies and the
// rest of the API.
//
// Thread safety: one thread; Settings are shared, and are for any number.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stress/bank.h"
#include "stress/entities.h"
#include "stress/stress_db.h"
#include "stress/times.h"
#include "support/db_executor.h"
#include "support/generator.h"
#include "support/model_executor.h"

namespace compassdb_test {

// What all threads share in addition to the database.
struct Settings {
  uint64_t seed = 1;
  uint64_t lose_one_in = 0;  // writes that the database does not get; 0: none
  std::atomic<uint64_t> writes_lost = 0;
  std::string directory;     // for copies and table files
  std::string repeat;        // the command line
  std::atomic<bool> stop = false;
  std::mutex report;
};

// A checkpoint that stays while the database, whose files it shares, changes. It is never written.
struct KeptCheckpoint {
  uint64_t seed = 0;  // of the options that it is read with
  Entries content;
};

class Worker {
 public:
  Worker(int number, StressDb* db, Bank* bank, Settings* settings);

  // From an opening to just before the closing. False when something was wrong; that was printed.
  bool Live(uint64_t ops);
  // Checks this worker's keys in `db`, which may be a copy.
  bool Verify(const StressDb& db, const char* when);
  // Entries that the family should have of this worker.
  size_t Count(int family) const;
  const uint64_t* done() const { return &done_; }

 private:
  bool Step();
  // Of its entities, or its times.
  template <typename Part>
  bool StepOf(Part* part, const std::string& what);
  bool Generated();
  bool ChangeFamily(const Op& op);
  bool BankOperation();
  bool EndLife();
  Entries Collect(const StressDb& db, rocksdb::ColumnFamilyHandle* handle, int slot, bool backward) const;
  bool VerifyFamily(const StressDb& db, int slot, const std::string& when);
  bool Same(const std::string& what, const Entries& expected, const Entries& found);
  std::string GetAll(const StressDb& db, rocksdb::ColumnFamilyHandle* handle, int slot, const Entries& expected) const;

  // worker_transactions.cc
  bool Transact();
  std::string TransactionStep(rocksdb::Transaction* transaction, std::vector<WriteItem>* items, int* savepoints);
  std::string WriteIn(rocksdb::Transaction* transaction, std::vector<WriteItem>* items);
  std::string ReadIn(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items);
  std::string WalkIn(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items);
  std::string EndTransaction(rocksdb::Transaction* transaction, const std::vector<WriteItem>& items);
  std::optional<std::string> Pending(const std::vector<WriteItem>& items, int family, const std::string& key) const;
  WriteItem RandomItem(int family);

  // worker_maintenance.cc
  bool Maintain();
  bool Ingest();
  bool CompactSomeFiles();
  bool ChangeFamilyOptions();
  bool ChangeDbOptions();
  bool FlushAll();
  bool Look();
  bool TakeCheckpoint();
  bool VerifyKept();
  std::string ReadKept(uint64_t seed, Entries* content) const;
  bool TakeBackup();
  bool Follow();
  bool Hold();
  bool MoveOwnFamily();
  bool VerifyCopy(const std::string& path, const char* when);

  bool Begin(const std::string& what);  // an operation; for the report
  bool Ok(const std::string& what, const rocksdb::Status& s);
  bool Fail(const std::string& what, const std::string& expected, const std::string& actual);
  int RandomFamily();
  std::string FilePath(const std::string& name) const;

  const int number_;
  StressDb* const db_;
  Bank* const bank_;
  Settings* const settings_;
  const std::string prefix_;
  Random random_;
  Profile profile_;
  Generator generator_;
  ModelExecutor model_;
  DbExecutor executor_;
  Entities entities_;
  Times times_;
  uint64_t done_ = 0;
  uint64_t writes_ = 0;
  bool may_not_compact_ = false;  // disable_auto_compactions was set
  std::optional<KeptCheckpoint> kept_;
  std::deque<std::string> last_;
};

}  // namespace compassdb_test
