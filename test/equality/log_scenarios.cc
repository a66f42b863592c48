// SPDX-License-Identifier: Apache-2.0
// Following the log, values with a time to live, and openings other than the
// usual one.

#include <functional>
#include <map>

#include "equality/transcript.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/env.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/wal_filter.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::DBWithTTL;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::TransactionLogIterator;
using rocksdb::WriteOptions;

namespace {

void WriteRest(Transcript* t, const std::string& what, TransactionLogIterator* iterator) {
  std::string line = what + ":";
  for (; iterator->Valid(); iterator->Next()) {
    const rocksdb::BatchResult batch = iterator->GetBatch();
    line += " " + std::to_string(batch.sequence) + "=" + Hex(batch.writeBatchPtr->Data());
  }
  t->Line(line);
  t->Full(what, iterator->status());
}

void WriteSince(Transcript* t, DB* db, uint64_t since) {
  const std::string what = "since " + std::to_string(since);
  std::unique_ptr<TransactionLogIterator> iterator;
  Status s = db->GetUpdatesSince(since, &iterator);
  if (s.ok()) {
    WriteRest(t, what, iterator.get());
  } else {
    t->Full(what, s);
  }
}

void WriteLogs(Transcript* t, DB* db) {
  rocksdb::VectorLogPtr logs;
  t->Code("logs", db->GetSortedWalFiles(logs));
  for (const auto& log : logs) {
    const std::string path = log->PathName();
    t->Line(std::string(log->Type() == rocksdb::kArchivedLogFile ? "archived " : "live ") +
            std::to_string(log->StartSequence()) + " in " + path.substr(0, path.rfind('/')));
  }
}

Status PutTwo(DB* db, const std::string& value) {
  rocksdb::WriteBatch batch;
  batch.Put("a", value);
  batch.PutLogData("note");
  batch.Delete("b");
  return db->Write(WriteOptions(), &batch);
}

void FollowLog(Transcript* t, const std::string& name, uint64_t ttl) {
  Options options = FreshOptions();
  options.WAL_ttl_seconds = ttl;
  auto db = OpenOrNote(t, name, options);
  if (!db) return;
  WriteSince(t, db.get(), 0);
  for (int round = 0; round < 3; ++round) {
    t->Code("put", PutTwo(db.get(), "v" + std::to_string(round)));
    t->Code("put", db->Put(WriteOptions(), "k", "w"));
    for (uint64_t since = 0; since < 11; ++since) WriteSince(t, db.get(), since);
    WriteLogs(t, db.get());
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    WriteLogs(t, db.get());
  }
  db.reset();
  db = OpenOrNote(t, name, options);
  if (!db) return;
  WriteLogs(t, db.get());
  for (uint64_t since : {0, 1, 5, 9, 10, 11}) WriteSince(t, db.get(), since);
  t->Code("put", PutTwo(db.get(), "last"));
  for (uint64_t since : {0, 1, 5, 9, 10, 11, 12}) WriteSince(t, db.get(), since);
}

void FollowWithArchive(Transcript* t) { FollowLog(t, "db", 3600); }
void FollowWithoutArchive(Transcript* t) { FollowLog(t, "db", 0); }

void FollowDeletedLog(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  t->Code("put", PutTwo(db.get(), "1"));
  std::unique_ptr<TransactionLogIterator> iterator;
  t->Code("follow", db->GetUpdatesSince(1, &iterator));
  WriteRest(t, "start", iterator.get());
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  iterator->Next();
  WriteRest(t, "deleted", iterator.get());
  t->Code("put", PutTwo(db.get(), "2"));
  iterator->Next();
  WriteRest(t, "newer log", iterator.get());
  t->Code("follow", db->GetUpdatesSince(3, &iterator));
  WriteRest(t, "again", iterator.get());
}

void FollowTail(Transcript* t) {
  Options options = FreshOptions();
  options.WAL_size_limit_MB = 10;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Code("put", PutTwo(db.get(), "1"));
  std::unique_ptr<TransactionLogIterator> iterator;
  t->Code("follow", db->GetUpdatesSince(1, &iterator));
  WriteRest(t, "start", iterator.get());
  for (size_t size : {10, 32000, 100000, 1}) {
    t->Code("put", PutTwo(db.get(), std::string(size, 'x')));
    iterator->Next();
    WriteRest(t, "tail", iterator.get());
  }
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  t->Code("unlogged", db->Put(unlogged, "u", "1"));
  t->Code("put", PutTwo(db.get(), "2"));
  iterator->Next();
  WriteRest(t, "gap", iterator.get());
  t->Code("follow", db->GetUpdatesSince(11, &iterator));
  WriteRest(t, "unlogged", iterator.get());
  t->Code("follow", db->GetUpdatesSince(12, &iterator));
  WriteRest(t, "behind it", iterator.get());
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("put", PutTwo(db.get(), "3"));
  iterator->Next();
  WriteRest(t, "other log", iterator.get());
  iterator->Next();
  WriteRest(t, "still", iterator.get());
  t->Code("destroy", (iterator.reset(), db.reset(), rocksdb::DestroyDB(t->Path("db"), options)));
  t->Code("gone", rocksdb::Env::Default()->FileExists(t->Path("db")));
}

// Its time stands still.
class ClockEnv : public rocksdb::EnvWrapper {
 public:
  ClockEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  Status GetCurrentTime(int64_t* time) override {
    *time = now;
    return Status::OK();
  }
  int64_t now = 1600000000;
};

class Append : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "Append"; }
};

class DropWord : public rocksdb::CompactionFilter {
 public:
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& value, std::string* result,
              bool* changed) const override {
    *changed = value == "change";
    if (*changed) *result = "changed";
    return value == "drop";
  }
  const char* Name() const override { return "DropWord"; }
};

std::unique_ptr<DBWithTTL> OpenTtl(Transcript* t, const Options& options, int32_t ttl,
                                   bool read_only = false) {
  DBWithTTL* db = nullptr;
  t->Code("open", DBWithTTL::Open(options, t->Path("db"), &db, ttl, read_only));
  return std::unique_ptr<DBWithTTL>(db);
}

void CompactAll(Transcript* t, DB* db, ColumnFamilyHandle* family = nullptr) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  if (family == nullptr) family = db->DefaultColumnFamily();
  t->Code("compact", db->CompactRange(options, family, nullptr, nullptr));
}

void Raw(Transcript* t, DBWithTTL* db, const std::string& key) {
  std::string value;
  Status s = db->GetBaseDB()->Get(ReadOptions(), key, &value);
  t->Line("raw " + key + ": " + ShowCode(s) + " " + Hex(value));
}

void TimeToLive(Transcript* t) {
  ClockEnv env;
  Options options = FreshOptions();
  options.env = &env;
  options.merge_operator = std::make_shared<Append>();
  auto db = OpenTtl(t, options, 100);
  if (!db) return;
  t->Code("put", db->Put(WriteOptions(), "a", "1"));
  env.now += 50;
  t->Code("put", db->Put(WriteOptions(), "b", "2"));
  t->Code("merge", db->Merge(WriteOptions(), "m", "x"));
  t->Code("merge", db->Merge(WriteOptions(), "m", "y"));
  t->Code("empty", db->Put(WriteOptions(), "e", ""));
  rocksdb::WriteBatch batch;
  batch.Put("c", "3");
  batch.PutLogData("note");
  batch.Delete("d");
  batch.Merge("b", "4");
  t->Code("batch", db->Write(WriteOptions(), &batch));
  t->Line(Hex(batch.Data()));
  for (const char* key : {"a", "b", "c", "e", "m"}) Raw(t, db.get(), key);
  t->Scan("all", db.get());
  std::vector<std::string> values;
  for (const Status& s : db->MultiGet(ReadOptions(), {"a", "b", "x"}, &values)) t->Code("multi", s);
  for (const std::string& value : values) t->Line(Show(value));
  for (int64_t step : {50, 1, 49, 1, 500}) {
    env.now += step;
    CompactAll(t, db.get());
    t->Scan("after " + std::to_string(step), db.get());
    Raw(t, db.get(), "m");
  }
  t->Code("put", db->Put(WriteOptions(), "z", "9"));
  db->SetTtl(10);
  env.now += 11;
  CompactAll(t, db.get());
  t->Scan("set", db.get());
  t->Code("put", db->Put(WriteOptions(), "z", "9"));
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  db.reset();
  db = OpenTtl(t, options, 1, /*read_only=*/true);
  if (!db) return;
  env.now += 1000;
  t->Scan("read-only", db.get());
  t->Code("put", db->Put(WriteOptions(), "z", "9"));
}

void TimeToLiveFilters(Transcript* t) {
  ClockEnv env;
  DropWord filter;
  Options options = FreshOptions();
  options.env = &env;
  options.compaction_filter = &filter;
  auto db = OpenTtl(t, options, 100);
  if (!db) return;
  t->Code("put", db->Put(WriteOptions(), "a", "drop"));
  t->Code("put", db->Put(WriteOptions(), "b", "change"));
  t->Code("put", db->Put(WriteOptions(), "c", "keep"));
  CompactAll(t, db.get());
  t->Scan("filtered", db.get());
  Raw(t, db.get(), "b");
  db->SetTtl(1);
  env.now += 50;
  CompactAll(t, db.get());
  t->Scan("set", db.get());
  env.now += 51;
  CompactAll(t, db.get());
  t->Scan("expired", db.get());
  ColumnFamilyHandle* family = nullptr;
  options.compaction_filter = nullptr;
  t->Code("create", db->CreateColumnFamilyWithTtl(options, "short", &family, 10));
  t->Code("put", db->Put(WriteOptions(), family, "k", "v"));
  env.now += 11;
  CompactAll(t, db.get(), family);
  t->Scan("short", db.get(), family);
  t->Code("destroy", db->DestroyColumnFamilyHandle(family));
  db.reset();
  DBWithTTL* opened = nullptr;
  std::vector<ColumnFamilyHandle*> handles;
  t->Full("sizes", DBWithTTL::Open(options, t->Path("db"), {{"default", options}, {"short", options}},
                                   &handles, &opened, {1}));
}

void TimeToLiveDamage(Transcript* t) {
  ClockEnv env;
  Options options = FreshOptions();
  options.env = &env;
  auto plain = OpenOrNote(t, "db", options);
  if (!plain) return;
  t->Code("put", plain->Put(WriteOptions(), "long", "no time in here"));
  t->Code("put", plain->Put(WriteOptions(), "low", std::string("x\x01\x02\x03\x04", 5)));
  t->Code("put", plain->Put(WriteOptions(), "short", "abc"));
  plain.reset();
  auto db = OpenTtl(t, options, 10);
  if (!db) return;
  for (const char* key : {"long", "low", "short"}) {
    std::string value;
    Status s = db->Get(ReadOptions(), key, &value);
    t->Full(key, s);
    if (s.ok()) t->Line(value);
  }
  std::vector<std::string> values;
  for (const Status& s : db->MultiGet(ReadOptions(), {"long", "low", "short"}, &values)) {
    t->Full("multi", s);
  }
}

void Secondary(Transcript* t) {
  Options options = FreshOptions();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Code("primary", db->TryCatchUpWithPrimary());
  t->Code("put", PutTwo(db.get(), "1"));
  ColumnFamilyHandle* family = nullptr;
  t->Code("create", db->CreateColumnFamily(options, "other", &family));
  t->Code("put", db->Put(WriteOptions(), family, "k", "v"));
  options.max_open_files = -1;
  DB* opened = nullptr;
  t->Code("open", DB::OpenAsSecondary(options, t->Path("db"), t->Path("second"), &opened));
  std::unique_ptr<DB> second(opened);
  if (!second) return;
  t->Line(second->GetName() == t->Path("db") ? "its name" : "another name");
  const auto look = [&](const std::string& what) {
    t->Scan(what, second.get());
    t->Line("sequence " + std::to_string(second->GetLatestSequenceNumber()));
  };
  look("opened");
  t->Code("put", PutTwo(db.get(), "2"));
  t->Code("put", db->Put(WriteOptions(), "c", "3"));
  look("before");
  t->Code("catch up", second->TryCatchUpWithPrimary());
  look("after");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("put", db->Put(WriteOptions(), "d", "4"));
  t->Code("catch up", second->TryCatchUpWithPrimary());
  look("flushed");
  t->Code("delete", db->Delete(WriteOptions(), "a"));
  CompactAll(t, db.get());
  t->Code("catch up", second->TryCatchUpWithPrimary());
  look("compacted");
  const auto refused = [&](const std::string& what, const Status& status) {
    t->Says(what, status, "Not supported operation in secondary mode.");
  };
  refused("put", second->Put(WriteOptions(), "x", "1"));
  refused("delete", second->Delete(WriteOptions(), "x"));
  refused("merge", second->Merge(WriteOptions(), "x", "1"));
  rocksdb::WriteBatch batch;
  batch.Put("x", "1");
  refused("write", second->Write(WriteOptions(), &batch));
  refused("flush", second->Flush(rocksdb::FlushOptions()));
  refused("compact", second->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  refused("set", second->SetOptions({{"disable_auto_compactions", "true"}}));
  refused("set", second->SetDBOptions({{"max_background_jobs", "3"}}));
  refused("sync", second->SyncWAL());
  refused("disable", second->DisableFileDeletions());
  refused("enable", second->EnableFileDeletions(false));
  std::vector<std::string> files;
  uint64_t bytes = 0;
  refused("live", second->GetLiveFiles(files, &bytes));
  refused("ingest", second->IngestExternalFile({t->Path("none")}, rocksdb::IngestExternalFileOptions()));
  second.reset();
  std::vector<ColumnFamilyHandle*> handles;
  t->Code("families", DB::OpenAsSecondary(options, t->Path("db"), t->Path("second"),
                                          {{"default", options}, {"other", options}}, &handles,
                                          &opened));
  second.reset(opened);
  if (!second) return;
  t->Scan("other", second.get(), handles[1]);
  t->Code("drop", db->DropColumnFamily(family));
  t->Code("catch up", second->TryCatchUpWithPrimary());
  t->Scan("dropped", second.get(), handles[1]);
  for (ColumnFamilyHandle* handle : handles) delete handle;
  second.reset();
  t->Code("unknown", DB::OpenAsSecondary(options, t->Path("db"), t->Path("second"),
                                         {{"default", options}, {"none", options}}, &handles,
                                         &opened));
  delete family;
}

// Answers for the batches in order.
class ScriptedFilter : public rocksdb::WalFilter {
 public:
  explicit ScriptedFilter(Transcript* t) : t_(t) {}
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* new_batch, bool* changed) override {
    t_->Line("batch " + Hex(batch.Data()));
    const int n = seen_++;
    if (n == change) {
      *changed = true;
      for (int i = 0; i < records; ++i) new_batch->Put("new" + std::to_string(i), "1");
    }
    return n == at ? answer : WalProcessingOption::kContinueProcessing;
  }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& numbers,
                                const std::map<std::string, uint32_t>& ids) override {
    for (const auto& [name, id] : ids) {
      t_->Line(name + " " + std::to_string(id) + " " + std::to_string(numbers.count(id)));
    }
  }
  const char* Name() const override { return "Scripted"; }

  int at = -1, change = -1, records = 0;
  WalProcessingOption answer = WalProcessingOption::kContinueProcessing;

 private:
  Transcript* const t_;
  int seen_ = 0;
};

void WalFilters(Transcript* t) {
  using Answer = rocksdb::WalFilter::WalProcessingOption;
  using Mode = rocksdb::WALRecoveryMode;
  int n = 0;
  const auto run = [&](const std::string& what, Mode mode, bool paranoid,
                       const std::function<void(ScriptedFilter*)>& script) {
    t->Line("-- " + what);
    const std::string name = "db" + std::to_string(n++);
    Options options = FreshOptions();
    auto db = OpenOrNote(t, name, options);
    if (!db) return;
    for (int i = 0; i < 5; ++i) {
      t->Code("put", db->Put(WriteOptions(), "k" + std::to_string(i), "v"));
    }
    db.reset();
    ScriptedFilter filter(t);
    script(&filter);
    options.wal_filter = &filter;
    options.wal_recovery_mode = mode;
    options.paranoid_checks = paranoid;
    DB* opened = nullptr;
    Status s = DB::Open(options, t->Path(name), &opened);
    t->Code("open", s);
    db.reset(opened);
    if (db) t->Scan("filtered", db.get());
    db.reset();
    options.wal_filter = nullptr;
    db = OpenOrNote(t, name, options);
    if (db) t->Scan("again", db.get());
  };
  run("all", Mode::kPointInTimeRecovery, true, [](ScriptedFilter*) {});
  for (Answer answer : {Answer::kIgnoreCurrentRecord, Answer::kStopReplay}) {
    run("answer " + std::to_string(static_cast<int>(answer)), Mode::kPointInTimeRecovery, true,
        [&](ScriptedFilter* f) {
          f->at = 2;
          f->answer = answer;
        });
  }
  for (Mode mode : {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                    Mode::kPointInTimeRecovery}) {
    run("corrupt in mode " + std::to_string(static_cast<int>(mode)), mode, true,
        [](ScriptedFilter* f) {
          f->at = 2;
          f->answer = Answer::kCorruptedRecord;
        });
  }
  run("corrupt, not paranoid", Mode::kPointInTimeRecovery, false, [](ScriptedFilter* f) {
    f->at = 2;
    f->answer = Answer::kCorruptedRecord;
  });
  for (int records : {0, 1, 2}) {
    run("change to " + std::to_string(records), Mode::kPointInTimeRecovery, true,
        [&](ScriptedFilter* f) {
          f->change = 2;
          f->records = records;
        });
  }
}

void ReadOnly(Transcript* t) {
  Options options = FreshOptions();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Code("put", PutTwo(db.get(), "1"));
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("put", PutTwo(db.get(), "2"));
  db.reset();
  DB* opened = nullptr;
  t->Code("open", DB::OpenForReadOnly(options, t->Path("db"), &opened));
  db.reset(opened);
  if (!db) return;
  t->Scan("all", db.get());
  WriteSince(t, db.get(), 1);
  const auto refused = [&](const std::string& what, const Status& status) {
    t->Says(what, status, "Not supported operation in read only mode.");
  };
  refused("put", db->Put(WriteOptions(), "x", "1"));
  refused("delete", db->Delete(WriteOptions(), "x"));
  refused("single", db->SingleDelete(WriteOptions(), "x"));
  refused("merge", db->Merge(WriteOptions(), "x", "1"));
  refused("flush", db->Flush(rocksdb::FlushOptions()));
  refused("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  refused("sync", db->SyncWAL());
  refused("disable", db->DisableFileDeletions());
  refused("enable", db->EnableFileDeletions(false));
  t->Code("compact files", db->CompactFiles(rocksdb::CompactionOptions(), {"000001.sst"}, 1));
  t->Full("catch up", db->TryCatchUpWithPrimary());
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  ReadOptions at;
  at.snapshot = snapshot;
  t->Scan("snapshot", db.get(), nullptr, at);
  db->ReleaseSnapshot(snapshot);
}

void Repair(Transcript* t) {
  Options options = FreshOptions();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int i = 0; i < 100; ++i) {
    t->Code("put", db->Put(WriteOptions(), "key" + std::to_string(1000 + i), std::string(300, 'v')));
  }
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("put", PutTwo(db.get(), "1"));
  t->Code("open", rocksdb::RepairDB(t->Path("db"), options));
  db.reset();
  t->Code("whole", rocksdb::RepairDB(t->Path("db"), options));
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Scan("whole", db.get());
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  db.reset();
  t->Code("current", rocksdb::Env::Default()->DeleteFile(t->Path("db/CURRENT")));
  t->Code("lost", rocksdb::RepairDB(t->Path("db"), options));
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Scan("lost", db.get());
}

}  // namespace

std::vector<Scenario> LogScenarios() {
  return {{"follow-archive", FollowWithArchive}, {"follow-plain", FollowWithoutArchive},
          {"follow-tail", FollowTail},           {"follow-deleted-log", FollowDeletedLog},
          {"ttl", TimeToLive},
          {"ttl-filters", TimeToLiveFilters},    {"ttl-damage", TimeToLiveDamage},
          {"secondary", Secondary},              {"wal-filter", WalFilters},
          {"read-only", ReadOnly},               {"repair", Repair}};
}

}  // namespace compassdb_test
