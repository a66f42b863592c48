// SPDX-License-Identifier: Apache-2.0
// Wide columns: entities next to plain values, through every way of reading and writing them.

#include <sstream>

#include "equality/transcript.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::PinnableSlice;
using rocksdb::PinnableWideColumns;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WideColumns;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

namespace {

std::string Columns(const WideColumns& columns) {
  std::string line = "{";
  for (const auto& column : columns) {
    line += Show(column.name().ToString()) + ":" + Show(column.value().ToString()) + ";";
  }
  return line + "}";
}

const std::vector<std::string> kKeys = {"both",  "default", "gone",    "merged", "named",
                                        "never", "none",    "overlap", "plain",  "under"};

void Fill(Transcript* t, DB* db) {
  auto* family = db->DefaultColumnFamily();
  const WriteOptions w;
  t->Code("both", db->PutEntity(w, family, "both", {{"z", "3"}, {"", "1"}, {"b", "2"}}));
  t->Code("default", db->PutEntity(w, family, "default", {{rocksdb::kDefaultWideColumnName, "d"}}));
  t->Code("named", db->PutEntity(w, family, "named", {{"x", ""}, {"n", std::string(300, 'n')}}));
  t->Code("none", db->PutEntity(w, family, "none", WideColumns()));
  t->Code("plain", db->Put(w, family, "plain", "p"));
  t->Code("gone", db->PutEntity(w, family, "gone", {{"a", "1"}}));
  t->Code("gone", db->Delete(w, family, "gone"));
  t->Code("overlap", db->PutEntity(w, family, "overlap", {{"a", "1"}}));
  t->Code("overlap", db->Put(w, family, "overlap", "plain now"));
  t->Code("under", db->Put(w, family, "under", "was plain"));
  t->Code("under", db->PutEntity(w, family, "under", {{"", "entity now"}}));
}

void Walk(Transcript* t, DB* db, const ReadOptions& read = ReadOptions()) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  const auto at = [&] {
    return " " + Show(it->key().ToString()) + "=" + Show(it->value().ToString()) +
           Columns(it->columns());
  };
  std::string line = "forward";
  for (it->SeekToFirst(); it->Valid(); it->Next()) line += at();
  t->Line(line + " " + ShowCode(it->status()));
  line = "backward";
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += at();
  t->Line(line + " " + ShowCode(it->status()));
  it->Seek("n");
  if (it->Valid()) it->Next();
  if (it->Valid()) it->Prev();
  t->Line(it->Valid() ? "turned" + at() : "turned: end");
}

void Read(Transcript* t, DB* db, const ReadOptions& read = ReadOptions()) {
  auto* family = db->DefaultColumnFamily();
  std::vector<Slice> keys(kKeys.begin(), kKeys.end());
  for (const Slice& key : keys) {
    std::string value = "before";
    t->Value("get " + key.ToString(), db->Get(read, key, &value), value);
    PinnableWideColumns columns;
    const Status s = db->GetEntity(read, family, key, &columns);
    t->Code("entity " + key.ToString(), s);
    t->Line(Columns(columns.columns()) + " " + std::to_string(columns.serialized_size()));
    bool found = false;
    const bool may = db->KeyMayExist(read, family, key, &value, &found);
    t->Line(std::string("may exist ") + (may ? "yes " : found ? "surely not " : "no ") +
            (may && found ? value : ""));
    std::vector<PinnableSlice> operands(4);
    rocksdb::GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 4;
    int n = 0;
    t->Code("operands", db->GetMergeOperands(read, family, key, operands.data(), &options, &n));
    for (int i = 0; i < n; ++i) t->Line(" " + Show(operands[i].ToString()));
  }
  std::vector<std::string> values;
  const std::vector<Status> statuses = db->MultiGet(read, keys, &values);
  for (size_t i = 0; i < keys.size(); ++i) t->Value("multi", statuses[i], values[i]);
  Walk(t, db, read);
}

void Forms(Transcript* t) {
  const Options options = FreshOptions();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  Fill(t, db.get());
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  ReadOptions then;
  then.snapshot = snapshot;
  t->Code("later", db->PutEntity(WriteOptions(), db->DefaultColumnFamily(), "both", {{"l", "4"}}));
  t->Code("later", db->SingleDelete(WriteOptions(), "none"));
  Read(t, db.get());
  Read(t, db.get(), then);
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  Read(t, db.get());
  Read(t, db.get(), then);
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  Read(t, db.get());
  Read(t, db.get(), then);
  db->ReleaseSnapshot(snapshot);
  t->Code("again", db->PutEntity(WriteOptions(), db->DefaultColumnFamily(), "gone", {{"w", "w"}}));
  t->Code("range", db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "n", "nz"));
  db.reset();
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  Read(t, db.get());
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  Read(t, db.get());
  rocksdb::Checkpoint* made = nullptr;
  t->Code("checkpoint", rocksdb::Checkpoint::Create(db.get(), &made));
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  t->Code("checkpoint", checkpoint->CreateCheckpoint(t->Path("copy")));
  auto copy = OpenOrNote(t, "copy", options);
  if (copy) Read(t, copy.get());
}

void Refusals(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  auto* family = db->DefaultColumnFamily();
  t->Code("twice", db->PutEntity(WriteOptions(), family, "k", {{"a", "1"}, {"b", ""}, {"a", "2"}}));
  t->Code("default twice", db->PutEntity(WriteOptions(), family, "k", {{"", "1"}, {"", "2"}}));
  t->Full("no family", db->PutEntity(WriteOptions(), nullptr, "k", {{"a", "1"}}));
  PinnableWideColumns columns;
  t->Full("get, no family", db->GetEntity(ReadOptions(), nullptr, "k", &columns));
  t->Full("get, no result", db->GetEntity(ReadOptions(), family, "k", nullptr));
  const std::string ts(8, 't');
  const Slice timestamp(ts);
  ReadOptions timed;
  timed.timestamp = &timestamp;
  t->Code("get, timestamp", db->GetEntity(timed, family, "k", &columns));
  rocksdb::WriteBatchWithIndex index;
  t->Full("index", index.PutEntity(family, "k", {{"a", "1"}}));
  t->Full("index, no family", index.PutEntity(nullptr, "k", {{"a", "1"}}));
  WriteBatch batch;
  t->Full("batch, no family", batch.PutEntity(nullptr, "k", {{"a", "1"}}));
  t->Code("batch, twice", batch.PutEntity(family, "k", {{"a", "1"}, {"a", "1"}}));
  t->Line(std::to_string(batch.Count()) + (batch.HasPutEntity() ? " has" : " has not"));
  WriteBatch small(0, 30);
  t->Full("too large", small.PutEntity(family, "k", {{"a", std::string(100, 'v')}}));
  t->Line(std::to_string(small.Count()));
}

class Recorder : public WriteBatch::Handler {
 public:
  explicit Recorder(Transcript* t) : t_(t) {}
  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    t_->Line("put " + std::to_string(id) + " " + key.ToString() + " " + value.ToString());
    return Status::OK();
  }
  Status PutEntityCF(uint32_t id, const Slice& key, const Slice& entity) override {
    t_->Line("entity " + std::to_string(id) + " " + key.ToString() + " " +
             Hex(entity.ToString()));
    return Status::OK();
  }

 private:
  Transcript* const t_;
};

class OnlyPuts : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
};

void Batches(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  ColumnFamilyHandle* second = nullptr;
  t->Code("family", db->CreateColumnFamily(FreshOptions(), "second", &second));
  WriteBatch batch;
  t->Line(batch.HasPutEntity() ? "has" : "has not");
  t->Code("entity", batch.PutEntity(db->DefaultColumnFamily(), "k", {{"b", "2"}, {"a", "1"}}));
  batch.SetSavePoint();
  t->Code("entity", batch.PutEntity(second, "l", {{"", "x"}}));
  t->Line(batch.HasPutEntity() && !batch.HasPut() ? "has" : "has not");
  t->Line(Hex(batch.Data()));
  Recorder recorder(t);
  t->Code("iterate", batch.Iterate(&recorder));
  OnlyPuts only;
  t->Code("iterate", batch.Iterate(&only));
  WriteBatch read(batch.Data());
  t->Line(read.HasPutEntity() && !read.HasPut() ? "has" : "has not");
  t->Code("write", db->Write(WriteOptions(), &read));
  t->Code("rollback", batch.RollbackToSavePoint());
  t->Line(Hex(batch.Data()));
  for (auto* family : {db->DefaultColumnFamily(), second}) {
    for (const char* key : {"k", "l"}) {
      PinnableWideColumns columns;
      t->Code(key, db->GetEntity(ReadOptions(), family, key, &columns));
      t->Line(Columns(columns.columns()));
      PinnableWideColumns moved(std::move(columns));
      t->Line(Columns(moved.columns()) + (moved == columns ? " same" : " not same"));
    }
  }
  std::ostringstream text;
  text << rocksdb::WideColumn("n", "v") << " " << std::hex << rocksdb::WideColumn("n", "v");
  t->Line(text.str());
  t->Code("destroy", db->DestroyColumnFamilyHandle(second));
}

// The result of a merge onto an entity, in any place of the entity. RocksDB 7.8.3 also fails to flush and
// compact it, and GetEntity of a merged plain value in a table yields no columns: not repeated here.
void Merges(Transcript* t) {
  for (int flushes = 0; flushes < 2; ++flushes) {
    auto db = OpenOrNote(t, "db" + std::to_string(flushes), MergingOptions());
    if (!db) return;
    auto* family = db->DefaultColumnFamily();
    t->Code("entity", db->PutEntity(WriteOptions(), family, "merged", {{"", "d"}, {"a", "1"}}));
    t->Code("below", db->Merge(WriteOptions(), family, "both", "m"));
    t->Code("plain", db->Put(WriteOptions(), family, "plain", "p"));
    if (flushes == 1) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    t->Code("above", db->PutEntity(WriteOptions(), family, "both", {{"", "e"}, {"a", "1"}}));
    t->Code("merge", db->Merge(WriteOptions(), family, "plain", "q"));
    Walk(t, db.get());
    t->Code("merge", db->Merge(WriteOptions(), family, "merged", "m"));
    for (const char* key : {"both", "merged", "plain"}) {
      std::string value;
      t->Code(std::string("get ") + key, db->Get(ReadOptions(), key, &value));
      PinnableWideColumns columns;
      t->Code(std::string("entity ") + key, db->GetEntity(ReadOptions(), family, key, &columns));
      if (std::string(key) != "plain") t->Line(Columns(columns.columns()));
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions()));
      it->Seek(key);
      t->Full(std::string("seek ") + (it->Valid() ? it->key().ToString() : "end"), it->status());
      it->SeekForPrev(key);
      t->Full(std::string("for prev ") + (it->Valid() ? it->key().ToString() : "end"),
              it->status());
    }
  }
}

// Counts what it is shown; removes what it may.
class Remover : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "Remover"; }
  Decision FilterV2(int, const Slice& key, ValueType type, const Slice& value, std::string*,
                    std::string*) const override {
    seen += " " + key.ToString() + ":" + std::to_string(static_cast<int>(type)) + ":" +
            std::to_string(value.size());
    return Decision::kRemove;
  }
  mutable std::string seen;
};

void Filtered(Transcript* t) {
  Remover remover;
  Options options = FreshOptions();
  options.compaction_filter = &remover;
  options.disable_auto_compactions = true;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  Fill(t, db.get());
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  remover.seen.clear();
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  t->Code("compact", db->CompactRange(all, nullptr, nullptr));
  t->Line("seen" + remover.seen);
  Walk(t, db.get());
}

}  // namespace

std::vector<Scenario> EntityScenarios() {
  return {{"entity_forms", Forms},
          {"entity_refusals", Refusals},
          {"entity_batches", Batches},
          {"entity_merges", Merges},
          {"entity_filter", Filtered}};
}

}  // namespace compassdb_test
