// SPDX-License-Identifier: Apache-2.0
// User-defined timestamps with range deletions, table files, transactions, indexed batches and trimming.

#include <algorithm>

#include "equality/timestamps.h"
#include "equality/transcript.h"
#include "rocksdb/comparator.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb/write_batch.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::SstFileWriter;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::WriteBatch;
using rocksdb::WriteBatchWithIndex;
using rocksdb::WriteOptions;

namespace {

void FillRanges(Transcript* t, DB* db, bool flush) {
  const WriteOptions w;
  ColumnFamilyHandle* const family = db->DefaultColumnFamily();
  for (const char* key : {"a", "b", "c", "d"}) {
    t->Code("put", db->Put(w, key, Ts(5), std::string(key) + "5"));
  }
  if (flush) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Full("delete range", db->DeleteRange(w, family, "b", "d", Ts(10)));
  t->Code("put", db->Put(w, "c", Ts(15), "c15"));
  if (flush) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Full("delete range", db->DeleteRange(w, family, "a", "c", Ts(20)));
  t->Code("put", db->Put(w, "b", Ts(25), "b25"));
  t->Code("delete", db->Delete(w, "d", Ts(25)));
  t->Full("empty range", db->DeleteRange(w, family, "x", "x", Ts(25)));
}

void Ranges(Transcript* t) {
  for (int flushes = 0; flushes < 3; ++flushes) {
    const std::string name = "db" + std::to_string(flushes);
    auto db = OpenOrNote(t, name, TimedOptions());
    if (!db) return;
    FillRanges(t, db.get(), flushes > 1);
    const rocksdb::Snapshot* snapshot = db->GetSnapshot();
    t->Full("later range",
            db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "a", "z", Ts(28)));
    if (flushes > 0) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    ReadAll(t, db.get());
    ReadAll(t, db.get(), snapshot);
    db->ReleaseSnapshot(snapshot);
    t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    ReadAll(t, db.get());
    t->Code("put", db->Put(WriteOptions(), "e", Ts(30), "e30"));
    db.reset();
    db = OpenOrNote(t, name, TimedOptions());
    if (!db) return;
    ReadAll(t, db.get());
  }
}

// Without times, which RocksDB may set to 0 below the history that is kept.
void ReadValues(Transcript* t, DB* db, uint64_t time) {
  At at(time);
  std::string line = "at " + std::to_string(time);
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    std::string value;
    const Status s = db->Get(at.options, key, &value);
    line += std::string(" ") + key + ":" + (s.ok() ? Show(value) : ShowCode(s));
  }
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(at.options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) line += " " + it->key().ToString();
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + it->value().ToString();
  t->Line(line + " " + ShowCode(it->status()));
}

void RangeHistory(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  FillRanges(t, db.get(), true);
  for (uint64_t low : {8, 15, 22, 40}) {
    const std::string bytes = Ts(low);
    const Slice ts_low = bytes;
    rocksdb::CompactRangeOptions compact;
    compact.full_history_ts_low = &ts_low;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    t->Full("compact from " + std::to_string(low), db->CompactRange(compact, nullptr, nullptr));
    for (uint64_t time : {low, low + 5, low + 20}) ReadValues(t, db.get(), time);
  }
}

// Random writes at rising times, read at times and as histories.
class RandomRanges {
 public:
  RandomRanges(Transcript* t, uint64_t seed) : t_(t), state_(seed) {
    db_ = OpenOrNote(t, "random" + std::to_string(seed), TimedOptions());
  }
  void Run() {
    if (!db_) return;
    for (int round = 0; round < 12; ++round) {
      for (int i = 0; i < 60; ++i) Write();
      const uint64_t what = Below(6);
      if (what < 3) t_->Code("flush", db_->Flush(rocksdb::FlushOptions()));
      if (what == 3) Compact();
      for (uint64_t time : {now_, low_ + Below(now_ - low_ + 1), low_ + Below(now_ - low_ + 1)}) {
        Read(time);
      }
      if (low_ > 0) continue;  // how much history is left is the library's business
      At history(now_ - Below(now_), Below(now_));
      WalkAt(t_, db_.get(), history.options, "history");
    }
  }

 private:
  uint64_t Below(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }
  std::string Key() { return "k" + std::to_string(10 + Below(30)); }
  void Write() {
    const WriteOptions w;
    const std::string ts = Ts(++now_);
    std::string a = Key(), b = Key();
    const uint64_t what = Below(10);
    Status s;
    if (what < 6) s = db_->Put(w, a, ts, "v" + std::to_string(now_));
    if (what == 6 || what == 7) s = db_->Delete(w, a, ts);
    if (what > 7) {
      if (b < a) std::swap(a, b);
      s = db_->DeleteRange(w, db_->DefaultColumnFamily(), a, b, ts);
    }
    if (!s.ok()) t_->Code("write", s);
  }
  void Compact() {
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    if (Below(2) == 0 && now_ > 300) low_ = std::max(low_, now_ - 100);
    const std::string bytes = Ts(low_);
    const Slice ts_low = bytes;
    if (low_ > 0) compact.full_history_ts_low = &ts_low;
    t_->Code("compact", db_->CompactRange(compact, nullptr, nullptr));
  }
  void Read(uint64_t time) {
    At at(time);
    std::string line = "at " + std::to_string(time);
    for (int i = 10; i < 40; ++i) {
      std::string value;
      const Status s = db_->Get(at.options, "k" + std::to_string(i), &value);
      line += " " + (s.ok() ? value : ShowCode(s));
    }
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.options));
    for (it->SeekToFirst(); it->Valid(); it->Next()) line += " " + it->key().ToString();
    for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + it->value().ToString();
    const std::string target = Key();
    it->Seek(target);
    if (it->Valid()) line += " seek " + it->key().ToString();
    it->SeekForPrev(target);
    if (it->Valid()) line += " for prev " + it->key().ToString();
    t_->Line(line + " " + ShowCode(it->status()));
  }

  Transcript* const t_;
  uint64_t state_;
  std::unique_ptr<DB> db_;
  uint64_t now_ = 0, low_ = 0;
};

void RandomTimes(Transcript* t) {
  for (uint64_t seed = 1; seed <= 8; ++seed) RandomRanges(t, seed).Run();
}

void RangeBatches(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  ColumnFamilyHandle* const timed = db->DefaultColumnFamily();
  const auto size_of = [](uint32_t) { return size_t{8}; };
  BatchRecorder recorder(t);
  for (const char* key : {"a", "b", "c"}) t->Code("put", db->Put(WriteOptions(), key, Ts(1), "1"));
  {
    WriteBatch batch;
    t->Full("range", batch.DeleteRange(timed, "a", "b", Ts(5)));
    t->Full("short", batch.DeleteRange(timed, "a", "b", "four"));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Full("update", batch.UpdateTimestamps(Ts(6), size_of));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Full("write", db->Write(WriteOptions(), &batch));
  }
  {
    WriteBatch batch(0, 0, 0, 8);
    t->Full("later", batch.DeleteRange("b", "c"));
    t->Full("later", batch.DeleteRange(timed, "c", "d"));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Full("write without update", db->Write(WriteOptions(), &batch));
    t->Full("update", batch.UpdateTimestamps(Ts(7), size_of));
    t->Line(Hex(batch.Data()));
    t->Full("write", db->Write(WriteOptions(), &batch));
  }
  {
    WriteBatch batch;
    t->Full("default family without size", batch.Put(timed, "a", "v"));
  }
  for (uint64_t time : {1, 5, 6, 7, 8}) ReadAt(t, db.get(), time);
}

std::string ShowStored(const std::string& key) {
  return key.size() < 8 ? "short" : Show(key.substr(0, key.size() - 8)) + ShowTs(key.substr(key.size() - 8));
}

void WriteTable(Transcript* t, const std::string& path) {
  SstFileWriter writer(rocksdb::EnvOptions(), TimedOptions());
  t->Full("open", writer.Open(path));
  t->Full("put without", writer.Put("a", "v"));
  t->Full("delete without", writer.Delete("a"));
  t->Full("range without", writer.DeleteRange("a", "b"));
  t->Full("merge", writer.Merge("a", "v"));
  t->Full("put short", writer.Put("a", "four", "v"));
  t->Full("delete short", writer.Delete("a", "four"));
  t->Full("range short", writer.DeleteRange("a", "b", "four"));
  t->Full("put", writer.Put("a", Ts(5), "a5"));
  t->Full("older", writer.Put("a", Ts(4), "a4"));
  t->Full("newer", writer.Put("a", Ts(6), "a6"));
  t->Full("again", writer.Put("a", Ts(4), "a4"));
  t->Full("delete", writer.Delete("b", Ts(7)));
  t->Full("older", writer.Put("b", Ts(3), "b3"));
  t->Full("key before", writer.Put("a", Ts(1), "a1"));
  t->Full("range", writer.DeleteRange("c", "e", Ts(8)));
  t->Full("range", writer.DeleteRange("x", "z", Ts(9)));
  rocksdb::ExternalSstFileInfo info;
  t->Full("finish", writer.Finish(&info));
  t->Line("info " + ShowStored(info.smallest_key) + " " + ShowStored(info.largest_key) + " " +
          ShowStored(info.smallest_range_del_key) + " " + ShowStored(info.largest_range_del_key) +
          " " + std::to_string(info.num_entries) + " " + std::to_string(info.num_range_del_entries));
}

void ReadKeys(Transcript* t, DB* db, uint64_t time) {
  At at(time);
  std::string line = "at " + std::to_string(time);
  for (const char* key : {"a", "b", "c", "d", "k", "y"}) {
    std::string value, timestamp;
    const Status s = db->Get(at.options, key, &value, &timestamp);
    line += std::string(" ") + key + ":" + (s.ok() ? Show(value) + ShowTs(timestamp) : ShowCode(s));
  }
  t->Line(line);
  WalkAt(t, db, at.options, line.substr(0, line.find(' ', 3)));
}

void Tables(Transcript* t) {
  const std::string path = t->Path("file.sst");
  WriteTable(t, path);
  rocksdb::SstFileReader reader(TimedOptions());
  t->Code("open", reader.Open(path));
  for (uint64_t time : {2, 3, 5, 7, 9}) {
    for (uint64_t from : {UINT64_MAX, uint64_t{0}, uint64_t{4}}) {
      At at(time, from);
      std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(at.options));
      std::string line = "at " + std::to_string(time) + " from " + std::to_string(from);
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        line += " " + Show(it->key().ToString()) + ShowTs(it->timestamp()) + "=" +
                Show(it->value().ToString());
      }
      t->Line(line + " " + ShowCode(it->status()));
    }
  }
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  const rocksdb::IngestExternalFileOptions ingest;
  t->Code("ingest", db->IngestExternalFile({path}, ingest));
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  for (uint64_t time : {2, 4, 7, 9}) ReadKeys(t, db.get(), time);
  const auto file = [&](const std::string& name,
                        const std::vector<std::pair<std::string, uint64_t>>& entries) {
    SstFileWriter writer(rocksdb::EnvOptions(), TimedOptions());
    t->Code("open", writer.Open(t->Path(name)));
    for (const auto& [key, time] : entries) {
      t->Code("put", writer.Put(key, Ts(time), key + std::to_string(time)));
    }
    t->Code("finish", writer.Finish());
    return t->Path(name);
  };
  t->Code("newer over", db->IngestExternalFile({file("2", {{"a", 12}, {"a", 11}, {"c", 12}})}, ingest));
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  for (uint64_t time : {7, 11, 12}) ReadKeys(t, db.get(), time);
  t->Code("put", db->Put(WriteOptions(), "a", Ts(20), "a20"));
  t->Code("over memory", db->IngestExternalFile({file("3", {{"a", 30}})}, ingest));
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  t->Code("next to it", db->IngestExternalFile({file("4", {{"zz", 3}})}, ingest));
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  for (uint64_t time : {12, 20, 30}) ReadKeys(t, db.get(), time);
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  for (uint64_t time : {2, 7, 12, 20, 30}) ReadKeys(t, db.get(), time);
}

// A database whose default family is plain, and a family with timestamps.
struct TimedTransactions {
  explicit TimedTransactions(Transcript* transcript) : t(transcript) {
    rocksdb::TransactionDBOptions options;
    options.transaction_lock_timeout = 1;
    options.default_lock_timeout = 1;
    TransactionDB* opened = nullptr;
    t->Code("open", TransactionDB::Open(FreshOptions(), options, t->Path("db"), &opened));
    db.reset(opened);
    if (db) t->Code("family", db->CreateColumnFamily(TimedOptions(), "timed", &timed));
  }
  ~TimedTransactions() {
    if (db && timed != nullptr) t->Code("close", db->DestroyColumnFamilyHandle(timed));
  }
  std::unique_ptr<Transaction> Begin(bool snapshot = false) const {
    rocksdb::TransactionOptions options;
    options.set_snapshot = snapshot;
    return std::unique_ptr<Transaction>(db->BeginTransaction(WriteOptions(), options));
  }
  void Commit(const std::string& key, uint64_t time) const {
    auto txn = Begin();
    t->Full("put", txn->Put(timed, key, key + std::to_string(time)));
    t->Full("set", txn->SetCommitTimestamp(time));
    t->Full("commit", txn->Commit());
  }
  void Read(uint64_t time) const {
    At at(time);
    std::string line = "at " + std::to_string(time);
    for (const char* key : {"a", "b", "c", "d"}) {
      std::string value;
      const Status s = db->Get(at.options, timed, key, &value);
      line += std::string(" ") + key + ":" + (s.ok() ? Show(value) : ShowCode(s));
    }
    t->Line(line);
  }
  Transcript* const t;
  std::unique_ptr<TransactionDB> db;
  ColumnFamilyHandle* timed = nullptr;
};

void Transactions(Transcript* t) {
  const TimedTransactions env(t);
  if (env.timed == nullptr) return;
  ColumnFamilyHandle* const timed = env.timed;
  std::string value;
  auto txn = env.Begin();
  t->Full("put", txn->Put(timed, "a", "v"));
  t->Line("time " + std::to_string(txn->GetCommitTimestamp()));
  t->Full("commit without time", txn->Commit());
  t->Full("set", txn->SetCommitTimestamp(10));
  t->Full("commit again", txn->Commit());
  env.Read(100);
  txn = env.Begin();
  t->Full("plain", txn->Put("p", "v"));
  t->Full("commit plain", txn->Commit());
  env.Commit("a", 10);
  env.Commit("b", 20);
  for (uint64_t time : {9, 10, 20}) env.Read(time);
  txn = env.Begin();
  t->Full("merge", txn->Merge(timed, "a", "m"));
  t->Full("delete", txn->Delete(timed, "a"));
  t->Full("single delete", txn->SingleDelete(timed, "b"));
  t->Full("untracked", txn->PutUntracked(timed, "c", "c"));
  BatchRecorder recorder(t);
  t->Full("iterate", txn->GetWriteBatch()->GetWriteBatch()->Iterate(&recorder));
  At at(50);
  t->Full("get", txn->Get(at.options, timed, "a", &value));
  t->Value("get", txn->Get(at.options, timed, "c", &value), value);
  t->Full("get without time", txn->Get(ReadOptions(), timed, "c", &value));
  t->Full("for update", txn->GetForUpdate(at.options, timed, "c", &value));
  t->Full("for update", txn->GetForUpdate(ReadOptions(), timed, "c", &value));
  t->Full("set", txn->SetCommitTimestamp(30));
  t->Full("commit", txn->Commit());
  for (uint64_t time : {20, 29, 30}) env.Read(time);
  t->Full("outside", env.db->Put(WriteOptions(), timed, "a", "v"));
  t->Full("outside", env.db->Delete(WriteOptions(), timed, "a"));
  WriteBatch batch;
  t->Full("batch", batch.Put(timed, "a", Ts(5), "v"));
  t->Full("outside", env.db->Write(WriteOptions(), &batch));
  t->Code("outside", env.db->DeleteRange(WriteOptions(), timed, "a", "b", Ts(5)));
}

void Validation(Transcript* t) {
  const TimedTransactions env(t);
  if (env.timed == nullptr) return;
  ColumnFamilyHandle* const timed = env.timed;
  env.Commit("a", 10);
  env.Commit("b", 20);
  std::string value;
  At at(15), other(16);
  auto txn = env.Begin();
  t->Full("read time", txn->SetReadTimestampForValidation(15));
  t->Value("for update", txn->GetForUpdate(ReadOptions(), timed, "a", &value), value);
  t->Value("for update", txn->GetForUpdate(at.options, timed, "a", &value), value);
  t->Full("other time", txn->GetForUpdate(other.options, timed, "a", &value));
  t->Full("unvalidated", txn->GetForUpdate(at.options, timed, "a", &value, true, false));
  t->Full("plain", txn->GetForUpdate(ReadOptions(), "p", &value));
  t->Full("plain at", txn->GetForUpdate(at.options, "p", &value));
  t->Full("newer", txn->GetForUpdate(at.options, timed, "b", &value));
  t->Full("newer", txn->Put(timed, "b", "v"));
  t->Full("new", txn->Put(timed, "c", "c"));
  t->Full("lower", txn->SetReadTimestampForValidation(14));
  t->Full("set", txn->SetCommitTimestamp(14));
  t->Full("set", txn->SetCommitTimestamp(15));
  t->Full("set", txn->SetCommitTimestamp(40));
  t->Full("commit", txn->Commit());
  for (uint64_t time : {15, 39, 40}) env.Read(time);
  txn = env.Begin(/*snapshot=*/true);
  env.Commit("a", 50);
  t->Full("after the snapshot", txn->Put(timed, "a", "v"));
  t->Full("read time", txn->SetReadTimestampForValidation(60));
  env.Commit("b", 55);
  t->Full("after the snapshot", txn->Put(timed, "b", "v"));
  t->Full("unlike these", txn->Put(timed, "d", "d"));
  auto second = env.Begin();
  t->Code("locked", second->Put(timed, "d", "v"));
  t->Full("set", txn->SetCommitTimestamp(70));
  t->Full("commit", txn->Commit());
  for (uint64_t time : {50, 60, 70}) env.Read(time);
}

void OwnWrites(Transcript* t) {
  const TimedTransactions env(t);
  if (env.timed == nullptr) return;
  for (uint64_t time : {10, 20}) {
    for (const char* key : {"a", "c", "e"}) env.Commit(key, time);
  }
  auto txn = env.Begin();
  t->Full("put", txn->Put(env.timed, "b", "own"));
  t->Full("put", txn->Put(env.timed, "a", "own"));
  t->Full("delete", txn->Delete(env.timed, "c"));
  txn->SetSavePoint();
  t->Full("put", txn->Put(env.timed, "d", "gone"));
  t->Full("roll back", txn->RollbackToSavePoint());
  for (uint64_t time : {5, 15, 25}) {
    At at(time);
    std::unique_ptr<rocksdb::Iterator> it(txn->GetIterator(at.options, env.timed));
    std::string line = "at " + std::to_string(time);
    const auto entry = [&] { line += " " + it->key().ToString() + "=" + it->value().ToString(); };
    for (it->SeekToFirst(); it->Valid(); it->Next()) entry();
    line += " |";
    for (it->SeekToLast(); it->Valid(); it->Prev()) entry();
    line += " |";
    for (it->Seek("b"); it->Valid(); it->Next()) entry();
    t->Line(line + " " + ShowCode(it->status()));
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        txn->MultiGet(at.options, {env.timed, env.timed, env.timed}, {"a", "c", "e"}, &values);
    for (size_t i = 0; i < statuses.size(); ++i) t->Value("multi", statuses[i], values[i]);
  }
  txn->DisableIndexing();
  t->Full("unindexed", txn->Put(env.timed, "d", "d"));
  txn->EnableIndexing();
  t->Full("set", txn->SetCommitTimestamp(30));
  t->Full("commit", txn->Commit());
  for (uint64_t time : {29, 30}) env.Read(time);
  txn = env.Begin();
  t->Full("name", txn->SetName("two phases"));
  t->Full("put", txn->Put(env.timed, "a", "prepared"));
  t->Full("prepare", txn->Prepare());
  t->Full("set", txn->SetCommitTimestamp(40));
  t->Full("commit", txn->Commit());
  for (uint64_t time : {39, 40}) env.Read(time);
}

void IndexedBatches(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  ColumnFamilyHandle* const family = db->DefaultColumnFamily();
  for (const char* key : {"a", "b", "z"}) t->Code("put", db->Put(WriteOptions(), key, Ts(5), "5"));
  WriteBatchWithIndex batch(TimedOptions().comparator, 0, true);
  t->Full("put", batch.Put(family, "a", "v"));
  t->Code("put at", batch.Put(family, "a", Ts(3), "v"));
  t->Full("put at", batch.Put(nullptr, "a", Ts(3), "v"));
  t->Code("delete at", batch.Delete(family, "a", Ts(3)));
  t->Code("single delete at", batch.SingleDelete(family, "a", Ts(3)));
  t->Full("merge", batch.Merge(family, "a", "v"));
  t->Full("delete", batch.Delete(family, "b"));
  t->Full("single delete", batch.SingleDelete(family, "c"));
  t->Full("again", batch.Put(family, "a", "v2"));
  t->Full("without handle", batch.Put("d", "dd"));
  {
    std::unique_ptr<rocksdb::WBWIIterator> it(batch.NewIterator(family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const rocksdb::WriteEntry entry = it->Entry();
      t->Line(std::to_string(entry.type) + " " + Hex(entry.key.ToString()) + " " +
              Show(entry.value.ToString()));
    }
  }
  std::string value;
  At at(50);
  for (const char* key : {"a", "b", "z"}) {
    value.clear();
    t->Value("batch", batch.GetFromBatch(family, rocksdb::DBOptions(), key, &value), value);
    t->Full("no time", batch.GetFromBatchAndDB(db.get(), ReadOptions(), family, key, &value));
    t->Value("both", batch.GetFromBatchAndDB(db.get(), at.options, family, key, &value), value);
  }
  std::unique_ptr<rocksdb::Iterator> it(
      batch.NewIteratorWithBase(family, db->NewIterator(at.options), &at.options));
  std::string line;
  for (it->SeekToFirst(); it->Valid(); it->Next()) line += " " + it->key().ToString();
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + it->key().ToString();
  t->Line("walk" + line);
  it.reset();
  BatchRecorder recorder(t);
  t->Full("iterate", batch.GetWriteBatch()->Iterate(&recorder));
  t->Full("write", db->Write(WriteOptions(), batch.GetWriteBatch()));
  t->Full("update",
          batch.GetWriteBatch()->UpdateTimestamps(Ts(9), [](uint32_t) { return size_t{8}; }));
  t->Value("batch", batch.GetFromBatch(family, rocksdb::DBOptions(), "a", &value), value);
  t->Full("write", db->Write(WriteOptions(), batch.GetWriteBatch()));
  for (uint64_t time : {8, 9}) ReadAt(t, db.get(), time);
}

void Optimistic(Transcript* t) {
  rocksdb::OptimisticTransactionDB* opened = nullptr;
  t->Code("open", rocksdb::OptimisticTransactionDB::Open(TimedOptions(), t->Path("db"), &opened));
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db(opened);
  if (!db) return;
  t->Full("put", db->Put(WriteOptions(), "a", Ts(5), "5"));
  t->Full("put without", db->Put(WriteOptions(), "a", "5"));
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
  t->Full("read time", txn->SetReadTimestampForValidation(3));
  t->Full("commit time", txn->SetCommitTimestamp(9));
  At at(50);
  std::string value;
  t->Value("get", txn->Get(at.options, "a", &value), value);
  t->Full("get without", txn->Get(ReadOptions(), "a", &value));
  t->Full("for update without", txn->GetForUpdate(ReadOptions(), "a", &value));
  txn.reset(db->BeginTransaction(WriteOptions()));
  t->Full("untracked", txn->PutUntracked("u", "v"));
  t->Full("commit", txn->Commit());
}

void Trim(Transcript* t) {
  Options plain = FreshOptions();
  for (bool flush : {false, true}) {
    const std::string name = flush ? "flushed" : "logged";
    {
      auto db = OpenOrNote(t, name, TimedOptions());
      if (!db) return;
      ColumnFamilyHandle* family = nullptr;
      t->Code("family", db->CreateColumnFamily(plain, "plain", &family));
      t->Code("plain", db->Put(WriteOptions(), family, "p", "v"));
      FillRanges(t, db.get(), flush);
      t->Code("close", db->DestroyColumnFamilyHandle(family));
    }
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{"default", TimedOptions()},
                                                                   {"plain", plain}};
    for (uint64_t time : {22, 12, 5}) {  // RocksDB 7.8.3 asserts where nothing is left
      std::vector<ColumnFamilyHandle*> handles;
      DB* opened = nullptr;
      t->Full("trim to " + std::to_string(time),
              DB::OpenAndTrimHistory(TimedOptions(), t->Path(name), families, &handles, &opened,
                                     Ts(time)));
      std::unique_ptr<DB> db(opened);
      if (!db) return;
      for (uint64_t at : {1, 3, 5, 12, 15, 22, 30}) ReadAt(t, db.get(), at, nullptr, false);
      std::string value;
      t->Value("plain", db->Get(ReadOptions(), handles[1], "p", &value), value);
      for (ColumnFamilyHandle* handle : handles) {
        t->Code("close", db->DestroyColumnFamilyHandle(handle));
      }
    }
    rocksdb::DBOptions unflushed = TimedOptions();
    unflushed.avoid_flush_during_recovery = true;
    std::vector<ColumnFamilyHandle*> handles;
    DB* opened = nullptr;
    t->Full("without flush", DB::OpenAndTrimHistory(unflushed, t->Path(name), families, &handles,
                                                    &opened, Ts(3)));
  }
}

}  // namespace

std::vector<Scenario> TimedScenarios() {
  return {{"timed_ranges", Ranges},
          {"timed_range_history", RangeHistory},
          {"timed_range_batches", RangeBatches},
          {"timed_random", RandomTimes},
          {"timed_tables", Tables},
          {"timed_transactions", Transactions},
          {"timed_validation", Validation},
          {"timed_own_writes", OwnWrites},
          {"timed_indexed_batches", IndexedBatches},
          {"timed_optimistic", Optimistic},
          {"timed_trim", Trim}};
}

}  // namespace compassdb_test
