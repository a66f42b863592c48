// SPDX-License-Identifier: Apache-2.0
// WriteBatchWithIndex: order of entries, lookups, iterators over batch and database.

#include <random>

#include "equality/transcript.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::DBOptions;
using rocksdb::Iterator;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WBWIIterator;
using rocksdb::WriteBatchWithIndex;
using rocksdb::WriteOptions;

namespace {

void Entries(Transcript* t, const std::string& what, WBWIIterator* it) {
  std::string line = what;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const rocksdb::WriteEntry entry = it->Entry();
    line += " " + std::to_string(entry.type) + ":" + Show(entry.key.ToString()) + "=" +
            Show(entry.value.ToString());
  }
  line += " | backward";
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + Show(it->Entry().key.ToString());
  t->Line(line);
}

void Refusals(Transcript* t) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true, 40);
  t->Code("put", batch.Put("k", "v"));
  t->Code("too large", batch.Put("l", std::string(50, 'x')));
  t->Code("delete range", batch.DeleteRange("a", "b"));
  t->Code("put with timestamp", batch.Put(nullptr, "k", "ts", "v"));
  t->Code("delete with timestamp", batch.Delete(nullptr, "k", "ts"));
  t->Code("merge with timestamp", batch.Merge(nullptr, "k", "ts", "v"));
  t->Code("entity", batch.PutEntity(nullptr, "k", rocksdb::WideColumns()));
  t->Code("rollback", batch.RollbackToSavePoint());
  t->Code("pop", batch.PopSavePoint());
  t->Line("size " + std::to_string(batch.GetDataSize()));
  std::string value;
  t->Value("get", batch.GetFromBatch(DBOptions(), "k", &value), value);
}

void Order(Transcript* t, bool overwrite) {
  auto db = OpenOrNote(t, overwrite ? "overwrite" : "all", MergingOptions());
  if (!db) return;
  auto* family = db->DefaultColumnFamily();
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, overwrite);
  std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  t->Code("put", batch.Put("b", "1"));
  t->Code("put", batch.Put("a", "2"));
  t->Code("merge", batch.Merge(family, "b", "3"));
  Entries(t, "first", it.get());
  batch.SetSavePoint();
  t->Code("delete", batch.Delete("b"));
  t->Code("single delete", batch.SingleDelete("c"));
  t->Code("log data", batch.PutLogData("blob"));
  t->Code("put", batch.Put("c", "4"));
  t->Code("merge", batch.Merge(family, "c", "5"));
  t->Code("put", batch.Put("", "empty"));
  Entries(t, "second", it.get());
  for (const char* key : {"", "a", "b", "c", "d"}) {
    std::string value;
    t->Value(std::string("from batch ") + key,
             batch.GetFromBatch(family, DBOptions(), key, &value), value);
    value.clear();
    t->Value(std::string("without family ") + key, batch.GetFromBatch(DBOptions(), key, &value),
             value);
  }
  t->Code("rollback", batch.RollbackToSavePoint());
  std::unique_ptr<WBWIIterator> again(batch.NewIterator(family));
  Entries(t, "after rollback", again.get());
  t->Line("count " + std::to_string(batch.GetWriteBatch()->Count()) + " bytes " +
          Hex(batch.GetWriteBatch()->Data()));
  t->Code("write", db->Write(WriteOptions(), batch.GetWriteBatch()));
  t->Scan("written", db.get());
}

// Random batches over random data; the overlay walked at random.
void Overlay(Transcript* t) {
  for (int seed = 0; seed < 12; ++seed) {
    auto db = OpenOrNote(t, "db" + std::to_string(seed), MergingOptions());
    if (!db) return;
    std::mt19937 random(static_cast<unsigned>(seed));
    auto key = [&] { return std::string(1, static_cast<char>('a' + random() % 12)); };
    for (int i = 0; i < 8; ++i) {
      t->Code("put", db->Put(WriteOptions(), key(), "d" + std::to_string(i)));
    }
    auto* family = db->DefaultColumnFamily();
    WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
    for (int i = 0; i < 10; ++i) {
      const std::string value = "b" + std::to_string(i);
      const auto kind = random() % 4;
      t->Code("batch", kind == 0   ? batch.Delete(family, key())
                       : kind == 1 ? batch.Merge(family, key(), value)
                                   : batch.Put(family, key(), value));
    }
    for (char c = 'a'; c < 'm'; ++c) {
      std::string value;
      Status s = batch.GetFromBatchAndDB(db.get(), ReadOptions(), std::string(1, c), &value);
      t->Value(std::string("get ") + c, s, value);
    }
    const Slice keys[] = {"a", "c", "d", "f", "x"};
    PinnableSlice values[5];
    Status statuses[5];
    batch.MultiGetFromBatchAndDB(db.get(), ReadOptions(), family, 5, keys, values, statuses, true);
    for (int i = 0; i < 5; ++i) {
      t->Value("multi " + keys[i].ToString(), statuses[i], values[i].ToString());
    }
    std::unique_ptr<Iterator> it(
        batch.NewIteratorWithBase(family, db->NewIterator(ReadOptions())));
    for (int step = 0; step < 60; ++step) {
      const std::string target = key();
      const auto move = random() % 8;
      if (!it->Valid() || move == 0) {
        it->Seek(target);
      } else if (move == 1) {
        it->SeekForPrev(target);
      } else if (move == 2) {
        it->SeekToFirst();
      } else if (move == 3) {
        it->SeekToLast();
      } else if (move < 6) {
        it->Next();
      } else {
        it->Prev();
      }
      t->Line(it->Valid() ? it->key().ToString() + "=" + it->value().ToString() : "end");
    }
    t->Code("status", it->status());
  }
}

}  // namespace

std::vector<Scenario> BatchIndexScenarios() {
  return {{"batch_index_refusals", Refusals},
          {"batch_index_all", [](Transcript* t) { Order(t, false); }},
          {"batch_index_overwrite", [](Transcript* t) { Order(t, true); }},
          {"batch_index_overlay", Overlay}};
}

}  // namespace compassdb_test
