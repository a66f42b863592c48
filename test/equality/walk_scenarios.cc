// SPDX-License-Identifier: Apache-2.0
// Random walks of iterators under prefixes and bounds.

#include <random>

#include "equality/transcript.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;

namespace {

// With `least` letters: fixed prefixes need keys that are not shorter.
std::string RandomKey(std::mt19937* random, size_t least) {
  std::string key;
  for (auto n = least + (*random)() % (6 - least); n > 0; --n) key += static_cast<char>('a' + (*random)() % 3);
  return key;
}

void Fill(Transcript* t, rocksdb::DB* db, std::mt19937* random, size_t least) {
  for (int i = 0; i < 300; ++i) {
    const std::string key = RandomKey(random, least);
    const auto kind = (*random)() % 10;
    if (kind < 7) {
      db->Put(WriteOptions(), key, std::to_string(i)).PermitUncheckedError();
    } else if (kind < 9) {
      db->Delete(WriteOptions(), key).PermitUncheckedError();
    } else {
      db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), key, key + "b")
          .PermitUncheckedError();
    }
    if (i == 100 || i == 200) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
}

// One walk of some steps; every position on one line.
void Walk(Transcript* t, rocksdb::DB* db, const ReadOptions& read, std::mt19937* random,
          size_t least, const std::string& what) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  std::string line = what;
  for (int step = 0; step < 12; ++step) {
    const auto kind = (*random)() % 8;
    if (!it->Valid() || kind == 0) {
      const std::string target = RandomKey(random, least);
      switch ((*random)() % 5) {
        case 0:
          it->SeekToFirst();
          line += " first";
          break;
        case 1:
          it->SeekToLast();
          line += " last";
          break;
        case 2:
          it->SeekForPrev(target);
          line += " before " + target;
          break;
        default:
          it->Seek(target);
          line += " seek " + target;
      }
    } else if (kind < 5) {
      it->Next();
      line += " next";
    } else {
      it->Prev();
      line += " prev";
    }
    line += it->Valid() ? "=" + it->key().ToString() + ":" + it->value().ToString() : "=end";
  }
  t->Line(line + " " + ShowCode(it->status()));
}

void Bounds(Transcript* t) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    auto db = OpenOrNote(t, "db" + std::to_string(seed), FreshOptions());
    if (!db) return;
    std::mt19937 random(seed);
    Fill(t, db.get(), &random, 0);
    for (int i = 0; i < 150; ++i) {
      const std::string lower = RandomKey(&random, 0), upper = RandomKey(&random, 0);
      const Slice lower_slice(lower), upper_slice(upper);
      ReadOptions read;
      const auto which = random() % 4;
      if (which & 1) read.iterate_lower_bound = &lower_slice;
      if (which & 2) read.iterate_upper_bound = &upper_slice;
      Walk(t, db.get(), read, &random, 0,
           "[" + (which & 1 ? lower : "-") + "," + (which & 2 ? upper : "-") + ")");
    }
  }
}

void PrefixWalks(Transcript* t) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    Options options = FreshOptions();
    if (seed % 2 != 0) {
      rocksdb::BlockBasedTableOptions table;
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(20));
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    }
    options.prefix_extractor.reset(seed / 2 == 1 ? rocksdb::NewCappedPrefixTransform(2)
                                             : rocksdb::NewFixedPrefixTransform(2));
    auto db = OpenOrNote(t, "db" + std::to_string(seed), options);
    if (!db) return;
    std::mt19937 random(seed);
    Fill(t, db.get(), &random, 2);
    for (int i = 0; i < 150; ++i) {
      const std::string lower = RandomKey(&random, 2), upper = RandomKey(&random, 2);
      const Slice lower_slice(lower), upper_slice(upper);
      ReadOptions read;
      const auto which = random() % 4;
      if (which & 1) read.iterate_lower_bound = &lower_slice;
      if (which & 2) read.iterate_upper_bound = &upper_slice;
      read.prefix_same_as_start = random() % 2 != 0;
      read.total_order_seek = !read.prefix_same_as_start && random() % 2 != 0;
      read.auto_prefix_mode = !read.prefix_same_as_start && !read.total_order_seek;
      Walk(t, db.get(), read, &random, 2,
           std::string(read.prefix_same_as_start ? "prefix" : "") +
               (read.auto_prefix_mode ? "auto" : "") + "[" + (which & 1 ? lower : "-") + "," +
               (which & 2 ? upper : "-") + ")");
    }
  }
}

// Memtables that hash by prefix have no total order but on request.
void HashedMemtables(Transcript* t) {
  for (const bool skip_list : {true, false}) {
    Options options = FreshOptions();
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
    options.allow_concurrent_memtable_write = false;
    options.memtable_factory.reset(skip_list ? rocksdb::NewHashSkipListRepFactory(1000)
                                             : rocksdb::NewHashLinkListRepFactory(1000));
    auto db = OpenOrNote(t, skip_list ? "skip" : "link", options);
    if (!db) return;
    for (const char* key : {"aaa1", "aaa2", "aaa3", "bbb1", "bbb2", "ccc1"}) {
      t->Code("put", db->Put(WriteOptions(), key, key));
    }
    t->Code("delete", db->Delete(WriteOptions(), "aaa2"));
    for (const char* order : {"bucket", "total", "auto", "flushed"}) {
      if (std::string(order) == "flushed") t->Code("flush", db->Flush(rocksdb::FlushOptions()));
      ReadOptions read;
      read.total_order_seek = std::string(order) == "total";
      read.auto_prefix_mode = std::string(order) == "auto";
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
      const auto show = [&](const std::string& what, bool forward) {
        std::string line = std::string(order) + " " + what + ":";
        for (; it->Valid(); forward ? it->Next() : it->Prev()) line += " " + it->key().ToString();
        t->Line(line + " " + ShowCode(it->status()));
      };
      it->SeekToFirst();
      show("first", true);
      it->SeekToLast();
      show("last", false);
      for (const char* target : {"aaa0", "aaa2", "aaa9", "bbb2", "ddd1"}) {
        it->Seek(target);
        show(std::string("from ") + target, true);
        if (!skip_list) continue;  // RocksDB's linked lists do not go back
        it->SeekForPrev(target);
        show(std::string("back from ") + target, false);
      }
    }
  }
}

}  // namespace

std::vector<Scenario> WalkScenarios() {
  return {{"walks_in_bounds", Bounds},
          {"walks_in_prefixes", PrefixWalks},
          {"hashed_memtables", HashedMemtables}};
}

}  // namespace compassdb_test
