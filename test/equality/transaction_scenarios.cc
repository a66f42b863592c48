// SPDX-License-Identifier: Apache-2.0
// Transactions: states and their refusals, locks, snapshots, save points, two-phase commit.

#include "equality/transcript.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::DB;
using rocksdb::FlushOptions;
using rocksdb::Iterator;
using rocksdb::OptimisticTransactionDB;
using rocksdb::OptimisticTransactionOptions;
using rocksdb::ReadOptions;
using rocksdb::Snapshot;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionDBOptions;
using rocksdb::TransactionOptions;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

namespace {

void Note(Transcript* t, const std::string& what, const Status& s) {
  t->Code(what + " subcode " + std::to_string(s.subcode()), s);
}

std::unique_ptr<TransactionDB> OpenLocking(Transcript* t, const std::string& name,
                                           TransactionDBOptions options = TransactionDBOptions()) {
  options.transaction_lock_timeout = 5;
  options.default_lock_timeout = 5;
  TransactionDB* db = nullptr;
  t->Code("open", TransactionDB::Open(MergingOptions(), options, t->Path(name), &db));
  return std::unique_ptr<TransactionDB>(db);
}

std::unique_ptr<Transaction> Begin(TransactionDB* db,
                                   const TransactionOptions& options = TransactionOptions()) {
  return std::unique_ptr<Transaction>(db->BeginTransaction(WriteOptions(), options));
}

void Numbers(Transcript* t, Transaction* txn) {
  t->Line("keys " + std::to_string(txn->GetNumKeys()) + " puts " +
          std::to_string(txn->GetNumPuts()) + " deletes " + std::to_string(txn->GetNumDeletes()) +
          " merges " + std::to_string(txn->GetNumMerges()) + " state " +
          std::to_string(txn->GetState()));
}

void Read(Transcript* t, Transaction* txn, const std::string& key) {
  std::string value;
  const Status s = txn->Get(ReadOptions(), key, &value);
  t->Value("get " + key, s, s.ok() ? Show(value) : "");
}

void States(Transcript* t) {
  auto db = OpenLocking(t, "db");
  if (!db) return;
  auto txn = Begin(db.get());
  Note(t, "prepare without name", txn->Prepare());
  Note(t, "put", txn->Put("k", "v"));
  Note(t, "commit", txn->Commit());
  Numbers(t, txn.get());
  Note(t, "commit again", txn->Commit());
  Note(t, "rollback", txn->Rollback());
  Note(t, "name", txn->SetName("late"));
  db->BeginTransaction(WriteOptions(), TransactionOptions(), txn.get());
  Numbers(t, txn.get());
  Note(t, "empty name", txn->SetName(""));
  Note(t, "long name", txn->SetName(std::string(513, 'x')));
  Note(t, "name", txn->SetName("name"));
  Note(t, "another name", txn->SetName("other"));
  Note(t, "same name", Begin(db.get())->SetName("name"));
  Note(t, "rollback", txn->Rollback());
  Note(t, "commit after rollback", txn->Commit());
  TransactionOptions strict;
  strict.skip_prepare = false;
  Note(t, "commit without prepare", Begin(db.get(), strict)->Commit());
  txn = Begin(db.get());
  Note(t, "batch at commit", txn->GetCommitTimeWriteBatch()->Put("with", "commit"));
  Note(t, "commit", txn->Commit());
  Note(t, "snapshot of a commit", txn->CommitAndTryCreateSnapshot());
  t->Scan("end", db.get());
}

void LockLimit(Transcript* t) {
  TransactionDBOptions limited;
  limited.max_num_locks = 2;
  auto db = OpenLocking(t, "db", limited);
  if (!db) return;
  auto txn = Begin(db.get());
  for (const char* key : {"a", "b", "c", "a"}) Note(t, key, txn->Put(key, "v"));
  Note(t, "commit", txn->Commit());
  t->Scan("end", db.get());
}

void Locks(Transcript* t) {
  auto db = OpenLocking(t, "db");
  if (!db) return;
  auto one = Begin(db.get());
  auto two = Begin(db.get());
  Note(t, "one puts a", one->Put("a", "1"));
  Note(t, "two puts a", two->Put("a", "2"));
  Note(t, "outside puts a", db->Put(WriteOptions(), "a", "3"));
  WriteBatch batch;
  batch.Put("a", "4").PermitUncheckedError();
  Note(t, "a batch puts a", db->Write(WriteOptions(), &batch));
  Note(t, "outside puts b", db->Put(WriteOptions(), "b", "3"));
  std::string value;
  Note(t, "one shares c", one->GetForUpdate(ReadOptions(), "c", &value, false));
  Note(t, "two shares c", two->GetForUpdate(ReadOptions(), "c", &value, false));
  Note(t, "one writes c", one->Put("c", "1"));
  two->UndoGetForUpdate("c");
  Numbers(t, two.get());
  Note(t, "one writes c", one->Put("c", "1"));
  Note(t, "two shares c", two->GetForUpdate(ReadOptions(), "c", &value, false));
  t->Line("locks " + std::to_string(db->GetLockStatusData().size()));
  Note(t, "one deletes d", one->Delete("d"));
  Note(t, "one deletes e", one->Delete("e"));
  Numbers(t, one.get());
  Note(t, "one commits", one->Commit());
  t->Line("locks " + std::to_string(db->GetLockStatusData().size()));
  Note(t, "two puts a", two->Put("a", "2"));
  Note(t, "two commits", two->Commit());
  Note(t, "range", db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "a", "b"));
  WriteBatch range;
  range.DeleteRange("a", "b").PermitUncheckedError();
  Note(t, "range in a batch", db->Write(WriteOptions(), &range));
  rocksdb::TransactionDBWriteOptimizations promise;
  promise.skip_concurrency_control = true;
  Note(t, "range with a promise", db->Write(WriteOptions(), promise, &range));
  t->Scan("end", db.get());
}

void Snapshots(Transcript* t) {
  auto db = OpenLocking(t, "db");
  if (!db) return;
  Note(t, "put", db->Put(WriteOptions(), "k", "old"));
  TransactionOptions with_snapshot;
  with_snapshot.set_snapshot = true;
  auto txn = Begin(db.get(), with_snapshot);
  Note(t, "outside", db->Put(WriteOptions(), "k", "new"));
  Note(t, "put", txn->Put("k", "mine"));
  Read(t, txn.get(), "k");
  std::string value;
  Note(t, "for update", txn->GetForUpdate(ReadOptions(), "k", &value));
  Note(t, "unvalidated", txn->GetForUpdate(ReadOptions(), "k", &value, true, false));
  t->Line(value);
  ReadOptions old;
  old.snapshot = txn->GetSnapshot();
  t->Value("old", txn->Get(old, "k", &value), value);
  Note(t, "unvalidated of a snapshot", txn->GetForUpdate(old, "k", &value, true, false));
  Note(t, "assumed", txn->Put(db->DefaultColumnFamily(), "never", "v", true));
  Note(t, "untracked", txn->PutUntracked("u", "v"));
  Numbers(t, txn.get());
  Note(t, "rollback", txn->Rollback());
  txn = Begin(db.get());
  txn->SetSnapshotOnNextOperation();
  t->Line(txn->GetSnapshot() == nullptr ? "none" : "set");
  Note(t, "outside", db->Put(WriteOptions(), "k", "newer"));
  Note(t, "put", txn->Put("k", "mine"));
  t->Line(txn->GetSnapshot() == nullptr ? "none" : "set");
  Note(t, "commit", txn->Commit());
  txn = Begin(db.get());
  std::shared_ptr<const Snapshot> made;
  Note(t, "put", txn->Put("k", "at 100"));
  Note(t, "commit at 100", txn->CommitAndTryCreateSnapshot(nullptr, 100, &made));
  t->Line(made == nullptr ? "none" : std::to_string(made->GetTimestamp()));
  Note(t, "at 50", db->CreateTimestampedSnapshot(50).first);
  Note(t, "at 100", db->CreateTimestampedSnapshot(100).first);
  Note(t, "put", db->Put(WriteOptions(), "k", "later"));
  Note(t, "at 100", db->CreateTimestampedSnapshot(100).first);
  Note(t, "at 101", db->CreateTimestampedSnapshot(101).first);
  ReadOptions then;
  then.snapshot = made.get();
  t->Value("then", db->Get(then, "k", &value), value);
  std::vector<std::shared_ptr<const Snapshot>> all;
  Note(t, "all", db->GetAllTimestampedSnapshots(all));
  t->Line(std::to_string(all.size()));
  all.clear();
  Note(t, "none", db->GetTimestampedSnapshots(5, 5, all));
  db->ReleaseTimestampedSnapshotsOlderThan(101);
  Note(t, "all", db->GetAllTimestampedSnapshots(all));
  t->Line(std::to_string(all.size()));
  t->Line(db->GetTimestampedSnapshot(100) == nullptr ? "gone" : "there");
}

void SavePoints(Transcript* t) {
  auto db = OpenLocking(t, "db");
  if (!db) return;
  auto txn = Begin(db.get());
  Note(t, "rollback", txn->RollbackToSavePoint());
  Note(t, "pop", txn->PopSavePoint());
  Note(t, "put", txn->Put("a", "1"));
  txn->SetSavePoint();
  Note(t, "put", txn->Put("a", "2"));
  Note(t, "put", txn->Put("b", "2"));
  txn->SetSavePoint();
  Note(t, "merge", txn->Merge("c", "3"));
  std::string value;
  Note(t, "read", txn->GetForUpdate(ReadOptions(), "d", &value));
  txn->UndoGetForUpdate("d");
  txn->UndoGetForUpdate("a");
  Numbers(t, txn.get());
  Note(t, "pop", txn->PopSavePoint());
  Note(t, "delete", txn->Delete("a"));
  Read(t, txn.get(), "a");
  Read(t, txn.get(), "c");
  Note(t, "rollback", txn->RollbackToSavePoint());
  Numbers(t, txn.get());
  t->Line("locks " + std::to_string(db->GetLockStatusData().size()) + " count " +
          std::to_string(txn->GetWriteBatch()->GetWriteBatch()->Count()));
  Read(t, txn.get(), "a");
  std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    t->Line(it->key().ToString() + "=" + it->value().ToString());
  }
  it.reset();
  Note(t, "commit", txn->Commit());
  WriteBatch source;
  source.Put("x", "1").PermitUncheckedError();
  source.Delete("a").PermitUncheckedError();
  txn = Begin(db.get());
  Note(t, "rebuild", txn->RebuildFromWriteBatch(&source));
  source.DeleteRange("a", "b").PermitUncheckedError();
  Note(t, "rebuild with a range", txn->RebuildFromWriteBatch(&source));
  Numbers(t, txn.get());
  Note(t, "commit", txn->Commit());
  TransactionOptions small;
  small.max_write_batch_size = 30;
  txn = Begin(db.get(), small);
  Note(t, "too large", txn->Put("s", std::string(40, 'x')));
  Numbers(t, txn.get());
  Note(t, "rollback", txn->Rollback());
  t->Scan("end", db.get());
}

void Expiry(Transcript* t) {
  auto db = OpenLocking(t, "db");
  if (!db) return;
  TransactionOptions options;
  options.expiration = 200;  // milliseconds: a busy machine must not reach it before the put
  auto txn = Begin(db.get(), options);
  Note(t, "put", txn->Put("k", "mine"));
  db->GetEnv()->SleepForMicroseconds(400000);
  Note(t, "another takes it", db->Put(WriteOptions(), "k", "theirs"));
  Note(t, "commit", txn->Commit());
  Note(t, "rollback", txn->Rollback());
  Numbers(t, txn.get());
  t->Scan("end", db.get());
}

void TwoPhases(Transcript* t) {
  for (int round = 0; round < 2; ++round) {
    auto db = OpenLocking(t, "db" + std::to_string(round));
    if (!db) return;
    auto txn = Begin(db.get());
    Note(t, "name", txn->SetName("x"));
    Note(t, "put", txn->Put("a", "1"));
    Note(t, "put", txn->Put("b", "1"));
    txn->SetSavePoint();
    Note(t, "merge", txn->Merge("c", "1"));
    Note(t, "prepare", txn->Prepare());
    Numbers(t, txn.get());
    Note(t, "prepare again", txn->Prepare());
    Note(t, "rollback to save point", txn->RollbackToSavePoint());
    Note(t, "late put", txn->Put("b", "late"));
    Note(t, "late delete", txn->Delete("c"));
    Note(t, "late put untracked", txn->PutUntracked("d", "late"));
    Note(t, "same name", Begin(db.get())->SetName("x"));
    t->Scan("prepared", db.get());
    if (round == 0) {
      Note(t, "batch at commit", txn->GetCommitTimeWriteBatch()->Put("with", "commit"));
      Note(t, "commit", txn->Commit());
    } else {
      Note(t, "rollback", txn->Rollback());
    }
    Numbers(t, txn.get());
    t->Scan("ended", db.get());
    t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
    txn.reset();
    txn = Begin(db.get());
    Note(t, "name", txn->SetName("y"));
    Note(t, "put", txn->Put("y", "1"));
    Note(t, "delete", txn->Delete("a"));
    Note(t, "prepare", txn->Prepare());
    txn.reset();
    Note(t, "flush", db->Flush(FlushOptions()));
    db.reset();
    db = OpenLocking(t, "db" + std::to_string(round));
    if (!db) return;
    std::vector<Transaction*> all;
    db->GetAllPreparedTransactions(&all);
    for (Transaction* found : all) {
      t->Line(found->GetName());
      Numbers(t, found);
    }
    t->Scan("reopened", db.get());
    txn.reset(db->GetTransactionByName("y"));
    if (!txn) return;
    Read(t, txn.get(), "y");
    Note(t, "end", round == 0 ? txn->Commit() : txn->Rollback());
    txn.reset();
    db.reset();
    db = OpenLocking(t, "db" + std::to_string(round));
    if (!db) return;
    db->GetAllPreparedTransactions(&all);
    t->Line("prepared " + std::to_string(all.size()));
    t->Scan("end", db.get());
  }
}

void Optimistic(Transcript* t) {
  for (const auto policy : {rocksdb::OccValidationPolicy::kValidateSerial,
                            rocksdb::OccValidationPolicy::kValidateParallel}) {
    rocksdb::OptimisticTransactionDBOptions options;
    options.validate_policy = policy;
    OptimisticTransactionDB* opened = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    t->Code("open", OptimisticTransactionDB::Open(
                        MergingOptions(), options,
                        t->Path("db" + std::to_string(static_cast<int>(policy))),
                        {rocksdb::ColumnFamilyDescriptor("default", MergingOptions())}, &handles,
                        &opened));
    std::unique_ptr<OptimisticTransactionDB> db(opened);
    if (!db) return;
    auto begin = [&](bool set_snapshot) {
      OptimisticTransactionOptions begin_options;
      begin_options.set_snapshot = set_snapshot;
      return std::unique_ptr<Transaction>(db->BeginTransaction(WriteOptions(), begin_options));
    };
    auto txn = begin(false);
    Note(t, "prepare", txn->Prepare());
    Note(t, "name", txn->SetName("x"));
    Note(t, "put", txn->Put("k", "mine"));
    Read(t, txn.get(), "k");
    Note(t, "outside", db->Put(WriteOptions(), "k", "theirs"));
    Note(t, "commit", txn->Commit());
    Numbers(t, txn.get());
    Note(t, "rollback", txn->Rollback());
    Numbers(t, txn.get());
    Note(t, "put", txn->Put("k", "again"));
    Note(t, "commit", txn->Commit());
    Numbers(t, txn.get());
    Note(t, "commit nothing", txn->Commit());
    txn = begin(true);
    Note(t, "outside", db->Put(WriteOptions(), "s", "theirs"));
    std::string value;
    Note(t, "read", txn->GetForUpdate(ReadOptions(), "s", &value));
    Note(t, "commit", txn->Commit());
    txn = begin(false);
    Note(t, "read", txn->GetForUpdate(ReadOptions(), "s", &value));
    txn->UndoGetForUpdate("s");
    Note(t, "untracked", txn->PutUntracked("u", "v"));
    Note(t, "outside", db->Put(WriteOptions(), "s", "theirs again"));
    Note(t, "outside", db->Put(WriteOptions(), "u", "theirs"));
    Note(t, "commit", txn->Commit());
    WriteBatch range;
    range.DeleteRange("a", "b").PermitUncheckedError();
    Note(t, "range", db->Write(WriteOptions(), &range));
    t->Scan("end", db.get());
    txn.reset();
    for (auto* handle : handles) {
      t->Code("handle", db->DestroyColumnFamilyHandle(handle));
    }
  }
}

}  // namespace

std::vector<Scenario> TransactionScenarios() {
  return {{"transaction_states", States},         {"transaction_locks", Locks},
          {"transaction_lock_limit", LockLimit},
          {"transaction_snapshots", Snapshots},   {"transaction_save_points", SavePoints},
          {"transaction_expiry", Expiry},         {"transaction_two_phases", TwoPhases},
          {"transaction_optimistic", Optimistic}};
}

}  // namespace compassdb_test
