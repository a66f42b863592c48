// SPDX-License-Identifier: Apache-2.0
// User-defined timestamps: versions of a key by time, their history, and what is refused.

#include "equality/timestamps.h"
#include "equality/transcript.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/write_batch.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

std::string Ts(uint64_t t) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(t >> (8 * i));
  return bytes;
}
std::string ShowTs(const Slice& ts) {
  if (ts.size() != 8) return "ts of " + std::to_string(ts.size());
  uint64_t t = 0;
  for (int i = 7; i >= 0; --i) t = t << 8 | static_cast<uint8_t>(ts[i]);
  return "@" + std::to_string(t);
}

namespace {

const rocksdb::Comparator* U64Comparator() {
  const rocksdb::Comparator* comparator = nullptr;
  rocksdb::Comparator::CreateFromString(rocksdb::ConfigOptions(),
                                        "leveldb.BytewiseComparator.u64ts", &comparator)
      .PermitUncheckedError();
  return comparator;
}

}  // namespace

Options TimedOptions() {
  Options options = FreshOptions();
  options.comparator = U64Comparator();
  options.disable_auto_compactions = true;
  return options;
}

namespace {

// With iter_start_ts keys are internal ones.
std::string Entry(rocksdb::Iterator* it, bool internal) {
  std::string key = it->key().ToString();
  if (internal) {
    const int type = static_cast<uint8_t>(key[key.size() - 8]);
    key = Show(key.substr(0, key.size() - 16)) + "/" + std::to_string(type);
  }
  return " " + key + ShowTs(it->timestamp()) + "=" + Show(it->value().ToString());
}

}  // namespace

void WalkAt(Transcript* t, DB* db, const ReadOptions& read, const std::string& what) {
  const bool internal = read.iter_start_ts != nullptr;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  std::string line = what + " forward";
  for (it->SeekToFirst(); it->Valid(); it->Next()) line += Entry(it.get(), internal);
  t->Line(line + " " + ShowCode(it->status()));
  // Backward, histories of RocksDB 7.8.3 show versions that neither time nor snapshot admits.
  if (!internal) {
    line = what + " backward";
    for (it->SeekToLast(); it->Valid(); it->Prev()) line += Entry(it.get(), internal);
    t->Line(line + " " + ShowCode(it->status()));
  }
  for (const char* target : {"a", "b", "bb", "c", "z"}) {
    it->Seek(target);
    line = what + " seek " + target + (it->Valid() ? Entry(it.get(), internal) : " end");
    if (it->Valid()) {
      it->Next();
      line += " next" + (it->Valid() ? Entry(it.get(), internal) : " end");
    }
    if (!internal) {
      it->SeekForPrev(target);
      line += " for prev" + (it->Valid() ? Entry(it.get(), internal) : " end");
      if (it->Valid()) {
        it->Prev();
        line += " prev" + (it->Valid() ? Entry(it.get(), internal) : " end");
      }
    }
    t->Line(line + " " + ShowCode(it->status()));
  }
}

void ReadAt(Transcript* t, DB* db, uint64_t time, const rocksdb::Snapshot* snapshot, bool deletions) {
  At at(time);
  at.options.snapshot = snapshot;
  const std::string what = "at " + std::to_string(time);
  const std::vector<Slice> keys = {"a", "b", "c", "d", "e", "nokey"};
  std::string line = what;
  for (const Slice& key : keys) {
    std::string value, timestamp;
    const Status s = db->Get(at.options, key, &value, &timestamp);
    line += " " + key.ToString() + ":" +
            (s.ok() ? Show(value) : ShowCode(s) + " " + std::to_string(value.size())) +
            (s.ok() || deletions ? ShowTs(timestamp) : "");
    std::string plain;
    if (db->Get(at.options, key, &plain).code() != s.code()) line += " differs";
  }
  t->Line(line);
  line = what + " multi";
  std::vector<std::string> values, timestamps;
  const std::vector<Status> statuses = db->MultiGet(at.options, keys, &values, &timestamps);
  for (size_t i = 0; i < keys.size(); ++i) {
    line += " " + (statuses[i].ok() ? Show(values[i]) + ShowTs(timestamps[i])
                                    : ShowCode(statuses[i]));
  }
  t->Line(line);
  WalkAt(t, db, at.options, what);
}

void ReadAll(Transcript* t, DB* db, const rocksdb::Snapshot* snapshot) {
  for (uint64_t time : {0, 1, 5, 10, 15, 20, 25, 30, 100}) ReadAt(t, db, time, snapshot);
  const Slice bound = "e";
  for (uint64_t start : {0, 10, 20}) {
    At at(25, start);
    at.options.iterate_upper_bound = &bound;
    at.options.snapshot = snapshot;
    WalkAt(t, db, at.options, "history from " + std::to_string(start));
  }
}

Status BatchRecorder::Note(const char* what, uint32_t id, const Slice& key, const Slice& value) {
  t_->Line(std::string(what) + " " + std::to_string(id) + " " + Hex(key.ToString()) + " " + Hex(value.ToString()));
  return Status::OK();
}

namespace {

void FillAt(Transcript* t, DB* db, uint64_t time, int kind) {
  const WriteOptions w;
  const std::string ts = Ts(time);
  const std::string value = "v" + std::to_string(time);
  t->Code("put a", db->Put(w, "a", ts, value));
  if (kind == 1) t->Code("delete b", db->Delete(w, "b", ts));
  if (kind != 1) t->Code("put b", db->Put(w, "b", ts, value));
  if (kind == 0) t->Code("put c", db->Put(w, "c", ts, value));
  if (kind == 1) t->Code("single delete c", db->SingleDelete(w, "c", ts));
  if (kind == 2) t->Code("put d", db->Put(w, "d", ts, value));
}

void Versions(Transcript* t) {
  for (int flushes = 0; flushes < 3; ++flushes) {
    const std::string name = "db" + std::to_string(flushes);
    auto db = OpenOrNote(t, name, TimedOptions());
    if (!db) return;
    FillAt(t, db.get(), 5, 0);
    if (flushes > 1) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    FillAt(t, db.get(), 10, 1);
    const rocksdb::Snapshot* snapshot = db->GetSnapshot();
    if (flushes > 0) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    FillAt(t, db.get(), 20, 2);
    t->Code("same time", db->Put(WriteOptions(), "e", Ts(20), "first"));
    t->Code("same time", db->Put(WriteOptions(), "e", Ts(20), "second"));
    ReadAll(t, db.get());
    ReadAll(t, db.get(), snapshot);
    db->ReleaseSnapshot(snapshot);
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    ReadAll(t, db.get());
    FillAt(t, db.get(), 30, 1);
    db.reset();
    db = OpenOrNote(t, name, TimedOptions());
    if (!db) return;
    ReadAll(t, db.get());
  }
}

void History(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  ColumnFamilyHandle* family = db->DefaultColumnFamily();
  std::string low;
  for (uint64_t time : {5, 10, 20, 30}) FillAt(t, db.get(), time, static_cast<int>(time / 10) % 2);
  t->Full("increase", db->IncreaseFullHistoryTsLow(family, Ts(12)));
  t->Full("get", db->GetFullHistoryTsLow(family, &low));
  t->Line(ShowTs(low));
  t->Full("same", db->IncreaseFullHistoryTsLow(family, Ts(12)));
  t->Full("lower", db->IncreaseFullHistoryTsLow(family, Ts(11)));
  t->Full("of another size", db->IncreaseFullHistoryTsLow(family, "four"));
  t->Full("empty", db->IncreaseFullHistoryTsLow(family, ""));
  std::string value;
  for (uint64_t time : {5, 11, 12, 13}) {
    At at(time);
    t->Full("get at " + std::to_string(time), db->Get(at.options, "a", &value));
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(at.options));
    it->SeekToFirst();
    t->Full("iterate at " + std::to_string(time), it->status());
  }
  for (uint64_t time : {15, 25, 100}) ReadAt(t, db.get(), time, nullptr, /*deletions=*/false);
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  for (uint64_t time : {15, 25, 100}) ReadAt(t, db.get(), time, nullptr, /*deletions=*/false);
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  for (uint64_t time : {15, 25, 100}) ReadAt(t, db.get(), time, nullptr, /*deletions=*/false);
  db.reset();
  db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  family = db->DefaultColumnFamily();
  t->Full("get", db->GetFullHistoryTsLow(family, &low));
  t->Line(ShowTs(low));
  const std::string bytes = Ts(25);
  Slice ts_low = bytes;
  rocksdb::CompactRangeOptions compact;
  compact.full_history_ts_low = &ts_low;
  t->Full("compact from 25", db->CompactRange(compact, nullptr, nullptr));
  t->Full("get", db->GetFullHistoryTsLow(family, &low));
  t->Line(ShowTs(low));
  for (uint64_t time : {25, 100}) ReadAt(t, db.get(), time, nullptr, /*deletions=*/false);
  const std::string before = Ts(3);
  ts_low = before;
  t->Full("compact from 3", db->CompactRange(compact, nullptr, nullptr));
  const std::string all = Ts(50);
  ts_low = all;
  t->Full("compact from 50", db->CompactRange(compact, nullptr, nullptr));
  for (uint64_t time : {50, 100}) ReadAt(t, db.get(), time, nullptr, /*deletions=*/false);
}

void Refusals(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  ColumnFamilyHandle* plain = nullptr;
  Options options = FreshOptions();
  t->Code("family", db->CreateColumnFamily(options, "plain", &plain));
  ColumnFamilyHandle* const timed = db->DefaultColumnFamily();
  const WriteOptions w;
  t->Full("put without", db->Put(w, "k", "v"));
  t->Full("delete without", db->Delete(w, "k"));
  t->Full("single delete without", db->SingleDelete(w, "k"));
  t->Full("delete range without", db->DeleteRange(w, timed, "a", "b"));
  t->Full("merge without", db->Merge(w, "k", "v"));
  t->Full("entity", db->PutEntity(w, timed, "k", {{"a", "1"}}));
  t->Full("put short", db->Put(w, "k", "four", "v"));
  t->Full("delete short", db->Delete(w, "k", "four"));
  t->Full("single delete short", db->SingleDelete(w, "k", "four"));
  t->Full("delete range short", db->DeleteRange(w, timed, "a", "b", "four"));
  t->Code("merge", db->Merge(w, timed, "k", Ts(1), "v"));
  t->Full("put to plain", db->Put(w, plain, "k", Ts(1), "v"));
  t->Full("delete from plain", db->Delete(w, plain, "k", Ts(1)));
  t->Full("single delete from plain", db->SingleDelete(w, plain, "k", Ts(1)));
  t->Full("delete range from plain", db->DeleteRange(w, plain, "a", "b", Ts(1)));
  std::string value, timestamp;
  PinnableSlice pinned;
  t->Full("get without", db->Get(ReadOptions(), "k", &value));
  At at(5);
  t->Full("get from plain", db->Get(at.options, plain, "k", &value));
  const Slice four = "four";
  ReadOptions odd;
  odd.timestamp = &four;
  t->Full("get short", db->Get(odd, "k", &value));
  t->Full("get short from plain", db->Get(odd, plain, "k", &value));
  std::vector<std::string> values;
  t->Full("multi without", db->MultiGet(ReadOptions(), {"k"}, &values)[0]);
  t->Full("multi short", db->MultiGet(odd, {"k"}, &values)[0]);
  t->Full("multi from plain", db->MultiGet(at.options, {plain}, {"k"}, &values)[0]);
  for (const ReadOptions& read : {ReadOptions(), odd}) {
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    t->Full("iterate", it->status());
    std::vector<rocksdb::Iterator*> iterators;
    t->Full("iterators", db->NewIterators(read, {timed}, &iterators));
    for (rocksdb::Iterator* i : iterators) delete i;
  }
  {
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(at.options, plain));
    t->Full("iterate plain", it->status());
  }
  t->Full("history of plain", db->IncreaseFullHistoryTsLow(plain, Ts(1)));
  std::string low;
  t->Full("history of plain", db->GetFullHistoryTsLow(plain, &low));
  t->Full("no result", db->GetFullHistoryTsLow(timed, nullptr));
  const std::string bytes = Ts(1);
  const Slice ts_low = bytes;
  rocksdb::CompactRangeOptions compact;
  compact.full_history_ts_low = &ts_low;
  const Slice bound = "b";
  t->Full("compact a range", db->CompactRange(compact, &bound, nullptr));
  t->Code("destroy", db->DestroyColumnFamilyHandle(plain));
}

void Batches(Transcript* t) {
  auto db = OpenOrNote(t, "db", TimedOptions());
  if (!db) return;
  ColumnFamilyHandle* plain = nullptr;
  t->Code("family", db->CreateColumnFamily(FreshOptions(), "plain", &plain));
  ColumnFamilyHandle* const timed = db->DefaultColumnFamily();
  const auto size_of = [](uint32_t id) { return id == 0 ? size_t{8} : size_t{0}; };
  BatchRecorder recorder(t);
  {
    WriteBatch batch;
    t->Full("put", batch.Put(timed, "a", Ts(5), "v5"));
    t->Full("delete", batch.Delete(timed, "b", Ts(5)));
    t->Full("single delete", batch.SingleDelete(timed, "c", Ts(5)));
    t->Full("plain", batch.Put(plain, "p", "v"));
    t->Full("plain with", batch.Put(plain, "p", Ts(5), "v"));
    t->Full("short", batch.Put(timed, "a", "four", "v"));
    t->Full("without family", batch.Put(nullptr, "a", Ts(5), "v"));
    t->Full("delete without family", batch.Delete(nullptr, "a", Ts(5)));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Full("update", batch.UpdateTimestamps(Ts(6), size_of));
    t->Full("write", db->Write(WriteOptions(), &batch));
  }
  {
    WriteBatch batch(0, 0, 0, 8);
    t->Full("later", batch.Put("a", "v7"));
    t->Full("later", batch.Put(timed, "b", "v7"));
    t->Full("later", batch.Delete(timed, "c"));
    t->Full("later", batch.SingleDelete(timed, "d"));
    t->Full("later", batch.Put(plain, "p", "w"));
    t->Full("merge", batch.Merge(timed, "e", "x"));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Full("short", batch.UpdateTimestamps("four", size_of));
    t->Full("unknown family", batch.UpdateTimestamps(
                                  Ts(7), [](uint32_t) { return std::numeric_limits<size_t>::max(); }));
    t->Full("update", batch.UpdateTimestamps(Ts(7), size_of));
    t->Full("iterate", batch.Iterate(&recorder));
    t->Line(Hex(batch.Data()));
    t->Full("write", db->Write(WriteOptions(), &batch));
  }
  {
    WriteBatch batch(0, 0, 0, 8);
    t->Full("put", batch.Put("f", "v"));
    t->Full("write without update", db->Write(WriteOptions(), &batch));
  }
  ReadAt(t, db.get(), 6);
  ReadAt(t, db.get(), 7);
  std::string value;
  t->Value("plain", db->Get(ReadOptions(), plain, "p", &value), value);
  t->Code("destroy", db->DestroyColumnFamilyHandle(plain));
}

}  // namespace

std::vector<Scenario> TimestampScenarios() {
  return {{"timestamp_versions", Versions},
          {"timestamp_history", History},
          {"timestamp_refusals", Refusals},
          {"timestamp_batches", Batches}};
}

}  // namespace compassdb_test
