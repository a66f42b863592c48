// SPDX-License-Identifier: Apache-2.0
// Gets, iterators, snapshots, properties, comparators of the user's own.

#include <algorithm>
#include <cstring>
#include <map>

#include "equality/transcript.h"
#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Options;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

namespace {

void GetForms(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  t->Code("empty key", db->Put(WriteOptions(), "", "empty key's value"));
  t->Code("empty value", db->Put(WriteOptions(), "empty", ""));
  std::string large(3 << 20, 'L');
  t->Code("large value", db->Put(WriteOptions(), "large", large));
  std::string long_key(100000, 'K');
  t->Code("long key", db->Put(WriteOptions(), long_key, "long"));
  t->Code("delete", db->Put(WriteOptions(), "gone", "x"));
  t->Code("delete", db->Delete(WriteOptions(), "gone"));
  for (int round = 0; round < 2; round++) {
    std::string value;
    for (const std::string& key : {std::string(), std::string("empty"), std::string("large"),
                                   long_key, std::string("gone"), std::string("never")}) {
      value = "left from before";
      Status s = db->Get(ReadOptions(), key, &value);
      t->Value("get " + Show(key), s, value);
      PinnableSlice pinned;
      s = db->Get(ReadOptions(), db->DefaultColumnFamily(), key, &pinned);
      t->Value("pinned " + Show(key), s, pinned.ToString());
    }
    std::vector<std::string> values;
    std::vector<Slice> keys = {"empty", "never", "", "gone", "empty"};
    std::vector<Status> statuses = db->MultiGet(ReadOptions(), keys, &values);
    for (size_t i = 0; i < keys.size(); i++) t->Value("multi", statuses[i], values[i]);
    t->Full("not found", db->Get(ReadOptions(), "never", &value));
    if (round == 0) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  t->Scan("all", db.get());
}

void IteratorEdges(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  auto walk = [&](const std::string& what, ReadOptions options) {
    t->Scan(what, db.get(), nullptr, options);
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
    for (const char* target : {"", "a", "b", "bb", "d", "e", "z"}) {
      it->Seek(target);
      std::string line = std::string("seek ") + target + " " +
                         (it->Valid() ? it->key().ToString() : "end");
      it->SeekForPrev(target);
      line += " for prev " + (it->Valid() ? it->key().ToString() : "end");
      if (it->Valid()) {
        it->Next();
        line += " next " + (it->Valid() ? it->key().ToString() : "end");
      }
      if (it->Valid()) {
        it->Prev();
        line += " prev " + (it->Valid() ? it->key().ToString() : "end");
      }
      t->Line(line + " " + ShowCode(it->status()));
    }
  };
  walk("empty database", ReadOptions());
  for (const char* key : {"b", "c", "d", "f"}) {
    db->Put(WriteOptions(), key, key).PermitUncheckedError();
    if (key[0] == 'c') t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  t->Code("delete", db->Delete(WriteOptions(), "c"));
  walk("plain", ReadOptions());
  Slice b = "b";
  Slice d = "d";
  Slice e = "e";
  ReadOptions bounded;
  bounded.iterate_lower_bound = &b;
  bounded.iterate_upper_bound = &d;
  walk("b to d", bounded);
  bounded.iterate_lower_bound = &d;
  bounded.iterate_upper_bound = &e;
  walk("d to e", bounded);
  bounded.iterate_lower_bound = &e;
  bounded.iterate_upper_bound = &b;
  walk("e to b", bounded);
  ReadOptions skipping;
  skipping.max_skippable_internal_keys = 1;
  for (int i = 0; i < 5; i++) {
    db->Put(WriteOptions(), "m", "x").PermitUncheckedError();
    db->Delete(WriteOptions(), "m" + std::to_string(i)).PermitUncheckedError();
  }
  t->Code("many", db->Put(WriteOptions(), "z", "z"));
  walk("all", ReadOptions());
}

void IgnoredRanges(Transcript* t) {
  auto db = OpenOrNote(t, "db", MergingOptions());
  if (!db) return;
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  const auto read = [&](const std::string& what) {
    for (const char* key : {"a", "b", "c", "d"}) {
      std::string value;
      const Status s = db->Get(ignoring, key, &value);
      t->Value(what + " " + key, s, value);
    }
    std::vector<std::string> values;
    for (const Status& s : db->MultiGet(ignoring, {"a", "b", "c", "d"}, &values)) t->Code("several", s);
    t->Scan(what, db.get(), nullptr, ignoring);
    t->Scan("all count", db.get());
  };
  for (const char* key : {"a", "b", "c"}) t->Code("put", db->Put(WriteOptions(), key, "old"));
  t->Code("merge", db->Merge(WriteOptions(), "c", "more"));
  const rocksdb::Snapshot* before = db->GetSnapshot();  // keeps what is covered
  t->Code("range", db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "b", "d"));
  read("in the memtable");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("put", db->Put(WriteOptions(), "d", "new"));
  t->Code("delete", db->Delete(WriteOptions(), "a"));
  read("in tables");
  db->ReleaseSnapshot(before);
}

void IteratorLife(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  t->Code("put", db->Put(WriteOptions(), "a", "1"));
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions()));
  t->Code("put", db->Put(WriteOptions(), "b", "2"));
  auto count = [&] {
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) n++;
    t->Line(std::to_string(n) + " entries " + ShowCode(it->status()));
  };
  count();
  t->Full("refresh", it->Refresh());
  count();
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  t->Code("delete", db->Delete(WriteOptions(), "a"));
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  count();
  t->Full("refresh", it->Refresh());
  count();
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  ReadOptions at;
  at.snapshot = snapshot;
  it.reset(db->NewIterator(at));
  t->Code("put", db->Put(WriteOptions(), "c", "3"));
  count();
  it.reset();
  db->ReleaseSnapshot(snapshot);
  std::string property;
  it.reset(db->NewIterator(ReadOptions()));
  it->SeekToFirst();
  t->Code("unknown property", it->GetProperty("no.such", &property));
  t->Code("pinned property", it->GetProperty("rocksdb.iterator.is-key-pinned", &property));
  t->Line(property);
}

void Prefixes(Transcript* t) {
  Options options = FreshOptions();
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int i = 0; i < 30; i++) {
    std::string key = "p" + std::to_string(10 + i / 5) + "k" + std::to_string(i);
    db->Put(WriteOptions(), key, "v").PermitUncheckedError();
    if (i % 10 == 9) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  ReadOptions same;
  same.prefix_same_as_start = true;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(same));
  for (const char* target : {"p10", "p12k11", "p12k99", "p13", "p99", "p15k29"}) {
    std::string line = std::string("from ") + target;
    for (it->Seek(target); it->Valid(); it->Next()) line += " " + it->key().ToString();
    t->Line(line + " " + ShowCode(it->status()));
  }
  ReadOptions total;
  total.total_order_seek = true;
  t->Scan("total order", db.get(), nullptr, total);
}

// Orders by the number that the key spells, so that bytewise order is wrong.
class NumberComparator : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "Numbers"; }
  int Compare(const Slice& a, const Slice& b) const override {
    long x = strtol(a.ToString().c_str(), nullptr, 10);
    long y = strtol(b.ToString().c_str(), nullptr, 10);
    return x < y ? -1 : (x > y ? 1 : 0);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  // "7" and "007" are one key.
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
};

// Which of two equal spellings of a key an iterator shows is the engine's choice.
void ScanNumbers(Transcript* t, rocksdb::DB* db) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions()));
  auto number = [&] { return std::to_string(strtol(it->key().ToString().c_str(), nullptr, 10)); };
  std::string line = "all:";
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    line += " " + number() + "=" + it->value().ToString();
  }
  line += " " + ShowCode(it->status()) + " back:";
  for (it->SeekToLast(); it->Valid(); it->Prev()) line += " " + number();
  t->Line(line + " " + ShowCode(it->status()));
}

void OwnComparator(Transcript* t) {
  static NumberComparator numbers;
  Options options = FreshOptions();
  options.comparator = &numbers;
  options.write_buffer_size = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int i = 0; i < 60; i++) {
    int number = (i * 37) % 53 - 20;
    db->Put(WriteOptions(), std::to_string(number), "v" + std::to_string(i))
        .PermitUncheckedError();
    if (i % 20 == 19) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  t->Code("put", db->Put(WriteOptions(), "007", "seven"));
  t->Code("delete", db->Delete(WriteOptions(), "+9"));
  t->Code("range", db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "-5", "0"));
  for (int round = 0; round < 3; round++) {
    std::string value;
    for (const char* key : {"7", "0007", "9", "-3", "11", "100"}) {
      Status s = db->Get(ReadOptions(), key, &value);
      t->Value(std::string("get ") + key, s, value);
    }
    ScanNumbers(t, db.get());
    if (round == 0) {
      t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    } else {
      t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    }
  }
}

void Snapshots(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  std::vector<const rocksdb::Snapshot*> snapshots;
  for (int i = 0; i < 8; i++) {
    t->Code("put", db->Put(WriteOptions(), "k", std::to_string(i)));
    if (i % 2 == 0) t->Code("delete", db->Delete(WriteOptions(), "k"));
    if (i % 3 == 0) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    snapshots.push_back(db->GetSnapshot());
  }
  auto read = [&] {
    std::string line;
    for (const rocksdb::Snapshot* snapshot : snapshots) {
      ReadOptions at;
      at.snapshot = snapshot;
      std::string value;
      Status s = db->Get(at, "k", &value);
      line += " " + (s.ok() ? value : ShowCode(s));
    }
    t->Line(line);
  };
  read();
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  read();
  std::string number;
  t->Line(std::to_string(db->GetProperty("rocksdb.num-snapshots", &number)) + " " + number);
  for (size_t i = 0; i < snapshots.size(); i += 2) db->ReleaseSnapshot(snapshots[i]);
  for (size_t i = 1; i < snapshots.size(); i += 2) {
    snapshots[i / 2] = snapshots[i];
  }
  snapshots.resize(snapshots.size() / 2);
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  read();
  db->ReleaseSnapshot(nullptr);
  for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
  t->Line(db->GetProperty("rocksdb.num-snapshots", &number) ? number : "none");
}

void Properties(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  for (int i = 0; i < 10; i++) {
    db->Put(WriteOptions(), "k" + std::to_string(i), "v").PermitUncheckedError();
  }
  t->Code("delete", db->Delete(WriteOptions(), "k3"));
  const char* const kEqual[] = {"rocksdb.num-immutable-mem-table",
                                "rocksdb.mem-table-flush-pending",
                                "rocksdb.compaction-pending",
                                "rocksdb.background-errors",
                                "rocksdb.num-entries-active-mem-table",
                                "rocksdb.num-deletes-active-mem-table",
                                "rocksdb.num-entries-imm-mem-tables",
                                "rocksdb.num-snapshots",
                                "rocksdb.oldest-snapshot-time",
                                "rocksdb.is-file-deletions-enabled",
                                "rocksdb.is-write-stopped",
                                "rocksdb.actual-delayed-write-rate",
                                "rocksdb.num-files-at-level0",
                                "rocksdb.num-files-at-level99",
                                "rocksdb.no-such-property",
                                "num-snapshots",
                                ""};
  const char* const kPresent[] = {"rocksdb.stats",
                                  "rocksdb.num-running-flushes",
                                  "rocksdb.num-running-compactions",
                                  "rocksdb.cfstats",
                                  "rocksdb.dbstats",
                                  "rocksdb.levelstats",
                                  "rocksdb.sstables",
                                  "rocksdb.cur-size-active-mem-table",
                                  "rocksdb.cur-size-all-mem-tables",
                                  "rocksdb.size-all-mem-tables",
                                  "rocksdb.estimate-table-readers-mem",
                                  "rocksdb.num-live-versions",
                                  "rocksdb.current-super-version-number",
                                  "rocksdb.estimate-live-data-size",
                                  "rocksdb.total-sst-files-size",
                                  "rocksdb.live-sst-files-size",
                                  "rocksdb.base-level",
                                  "rocksdb.estimate-pending-compaction-bytes",
                                  "rocksdb.min-log-number-to-keep",
                                  "rocksdb.block-cache-capacity",
                                  "rocksdb.block-cache-usage",
                                  "rocksdb.block-cache-pinned-usage",
                                  "rocksdb.aggregated-table-properties",
                                  "rocksdb.aggregated-table-properties-at-level0",
                                  "rocksdb.aggregated-table-properties-at-level7",
                                  "rocksdb.stats",
                                  "rocksdb.cfstats",
                                  "rocksdb.cfstats-no-file-histogram",
                                  "rocksdb.dbstats",
                                  "rocksdb.levelstats",
                                  "rocksdb.options-statistics"};
  for (int round = 0; round < 2; round++) {
    for (const char* name : kEqual) {
      std::string text;
      uint64_t number = 0;
      bool known = db->GetProperty(name, &text);
      bool integer = db->GetIntProperty(name, &number);
      t->Line(std::string(name) + " " + (known ? text : "unknown") + " " +
              (integer ? std::to_string(number) : "unknown"));
    }
    for (const char* name : kPresent) {
      std::string text;
      uint64_t number = 0;
      std::map<std::string, std::string> map;
      t->Line(std::string(name) + (db->GetProperty(name, &text) ? " known" : " unknown") +
              (db->GetIntProperty(name, &number) ? " integer" : "") +
              (db->GetAggregatedIntProperty(name, &number) ? " sum" : "") +
              (db->GetMapProperty(name, &map) ? " map" : ""));
    }
    std::map<std::string, std::string> map;
    db->GetMapProperty("rocksdb.dbstats", &map);
    for (const auto& [name, value] : map) {
      t->Line(name + (name.find("db.user_") == 0 && name != "db.user_write_stall_micros" ? " " + value : ""));
    }
    db->GetMapProperty("rocksdb.aggregated-table-properties", &map);
    for (const auto& [name, value] : map) t->Line(name);
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
}

// A scan has brought all blocks into memory: reads that use only the cache have an answer for each key.
void CacheOnlyReads(Transcript* t) {
  for (const bool filter : {false, true}) {
    Options options = FreshOptions();
    options.disable_auto_compactions = true;
    rocksdb::BlockBasedTableOptions table;
    if (filter) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_cache = rocksdb::NewLRUCache(8 << 20);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    auto db = OpenOrNote(t, filter ? "filter" : "plain", options);
    if (!db) return;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 300; i += 2) {
        db->Put(WriteOptions(), "key" + std::to_string(1000 + i), "round" + std::to_string(round))
            .PermitUncheckedError();
      }
      t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    }
    t->Scan("all", db.get());
    ReadOptions memory;
    memory.read_tier = rocksdb::kBlockCacheTier;
    for (int i = 0; i < 300; i++) {
      const std::string key = "key" + std::to_string(1000 + i);
      std::string value, may;
      bool found = false;
      t->Value("get " + key, db->Get(memory, key, &value), value);
      t->Line(db->KeyMayExist(memory, key, &may, &found) ? "may exist" + std::string(found ? " " + may : "") : "does not exist");
    }
    t->Scan("from memory", db.get(), nullptr, memory);
  }
}

}  // namespace

std::vector<Scenario> ReadScenarios() {
  return {{"get_forms", GetForms},           {"iterator_edges", IteratorEdges},
          {"iterator_life", IteratorLife},   {"prefixes", Prefixes},
          {"own_comparator", OwnComparator}, {"snapshots", Snapshots},
          {"properties", Properties},        {"ignored_ranges", IgnoredRanges},
          {"cache_only_reads", CacheOnlyReads}};
}

}  // namespace compassdb_test
