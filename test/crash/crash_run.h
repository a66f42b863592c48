// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/disk.h"
#include "crash/two_phase.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "support/generator.h"
#include "support/history.h"
#include "support/random.h"
#include "support/tuning.h"

namespace compassdb_test {

// Fills a database on a simulated disk, cuts its power, reopens and checks:
//  - the state equals the model at some prefix of the batches: none is split
//    (over families too), none invented, none missing before a surviving one;
//  - the prefix holds every batch acknowledged with sync, before a SyncWAL, or
//    before a Flush;
//  - Open succeeds (RocksDB's kTolerateCorruptedTailRecords may refuse a log with a hole in its
//    unsynced part; its kPointInTimeRecovery must then open it);
//  - kAbsoluteConsistency refuses a torn log, and opens when all logs are whole;
//  - of ours, everything in the files is whole (VerifyChecksum), not only what keys lead to; no file exists that
//    nothing names, except spare ones; and a forced collection leaves only live separated values;
//  - prepared sections are found, see TwoPhase;
//  - the state found is durable: another cut right after the open does not lose it.
// Every second database has its tables in two directories, every third its logs in one of their
// own. Every second of ours recycles logs, in the recovery mode that allows it.
// Pages of table-less families have 4, 8 or 32 KiB, and one life in three has no key store.
// Everything except thread timing follows from the seed. Thread safety: none.
class CrashRun {
 public:
  struct Options {
    uint64_t seed = 1;
    int operations = 150;  // at most, between two cuts
    SyncKind left_out = SyncKind::kNone;
    std::string layout = "tuned";  // of Layouts()
    // The database's directory exists, durably; else the engine has to make
    // it so before it promises anything.
    bool directory_exists = false;
    bool sealed = false;  // files are encrypted; of ours, and not table-less
    // Table-less families expect, in most lives, that the disk never tears a page; and whether that is so.
    bool expect_atomic = false;
    bool atomic = false;
    bool large_values = false;  // of up to 8 KiB
    bool two_phase = false;     // a TransactionDB; of ours
  };

  explicit CrashRun(const Options& options);
  ~CrashRun();

  // One life of the database: open, write until the power fails, restart, reopen,
  // check. The power fails before the change or sync with this number, counted from
  // the start of the open; 0: only at the end. Returns what is wrong, if anything.
  std::optional<std::string> Life(uint64_t cut_at_change, uint64_t cut_at_sync, const Cut& cut);
  // The state of the disk after each of the cuts.
  const std::vector<uint64_t>& states() const { return states_; }
  // Of the last life, up to the cut.
  uint64_t changes() const { return changes_; }
  uint64_t syncs() const { return syncs_; }
  uint64_t cuts() const { return cuts_; }
  // Written without a journal, over all lives.
  uint64_t unjournaled_pages() const { return unjournaled_pages_; }
  // Holes that were punched, over all lives, and cuts just before one.
  uint64_t punches() const { return disk_.punches(); }
  uint64_t cuts_at_punches() const { return disk_.cuts_at_punches(); }
  // Opens that found a prepared section, over all lives.
  uint64_t prepared_found() const { return two_phase_.found(); }
  // Separated values that collections moved, over all lives.
  uint64_t values_moved() const { return statistics_->getTickerCount(rocksdb::BLOB_DB_GC_NUM_KEYS_RELOCATED); }

 private:
  rocksdb::ColumnFamilyOptions FamilyOptions(int slot) const;
  rocksdb::Status Open();
  rocksdb::Status OpenWithMode(rocksdb::WALRecoveryMode mode);
  bool Recycles() const;
  bool IndexesLog() const;  // memtable_as_log_index
  // Of table-less families in this life, while it works: no key stores. The recovery rebuilds them, to read them.
  bool Keyless() const;
  rocksdb::Status OpenForWork();
  void Close();
  // Until the power fails or the operations are done; a failure that no power
  // cut explains is an error.
  std::optional<std::string> Work();
  rocksdb::Status WriteSome();
  // A batch without deletions of ranges, which transactions do not take.
  rocksdb::Status WriteInTwoPhases(std::vector<WriteItem> items);
  rocksdb::Status MaintainSome();
  rocksdb::Status Maintain(const Op& op);
  // Creates or drops the third family.
  rocksdb::Status ChangeFamily();
  // The third family must exist or not as acknowledged; both are right if the
  // power failed in between.
  std::optional<std::string> CheckFamilies();
  // Reopens, perhaps with further cuts during recovery, and compares.
  std::optional<std::string> Verify(const Cut& cut);
  // Of ours: no compaction file is left that no manifest names.
  std::optional<std::string> CheckFiles();
  // Of ours: after a collection of everything, separated values take about the live bytes.
  std::optional<std::string> CheckValues(const std::vector<Entries>& families);
  // With the power back on. Empty if it opened as expected.
  std::optional<std::string> Reopen();
  void Restart();
  std::optional<std::string> ReadAll(std::vector<Entries>* families);

  const Options options_;
  Profile profile_;
  Random random_;
  Generator generator_;
  Disk disk_;
  History history_;
  Tuning tuning_;
  const std::shared_ptr<rocksdb::Statistics> statistics_ = rocksdb::CreateDBStatistics();
  std::unique_ptr<rocksdb::DB> db_;
  TwoPhase two_phase_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // by slot; the third may be missing
  bool working_ = false;
  bool third_family_ = false;
  bool changing_family_ = false;  // a creation or drop was begun and not acknowledged
  uint64_t changes_ = 0;
  uint64_t syncs_ = 0;
  uint64_t cuts_ = 0;
  uint64_t unjournaled_pages_ = 0;
  std::vector<uint64_t> states_;
};

}  // namespace compassdb_test
