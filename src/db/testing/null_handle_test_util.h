// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"

namespace compassdb {

// Methods without a status give a null handle the answer of an empty family.
inline void ExpectNullHandlesEmpty(rocksdb::DB* db) {
  rocksdb::ColumnFamilyHandle* const none = nullptr;
  std::string text;
  std::map<std::string, std::string> map;
  uint64_t number = 7, size = 7;
  EXPECT_FALSE(db->GetProperty(none, "rocksdb.stats", &text));
  EXPECT_FALSE(db->GetIntProperty(none, "rocksdb.num-snapshots", &number));
  EXPECT_FALSE(db->GetMapProperty(none, "rocksdb.cfstats", &map));
  db->GetApproximateMemTableStats(none, rocksdb::Range("a", "b"), &number, &size);
  EXPECT_EQ(number + size, 0u);
  EXPECT_EQ(db->NumberLevels(none) + db->MaxMemCompactionLevel(none) +
                db->Level0StopWriteTrigger(none),
            0);
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(none, &metadata);
  EXPECT_EQ(metadata.file_count, 0u);
  EXPECT_EQ(db->GetOptions(none).num_levels, rocksdb::Options().num_levels);
  bool found = true;
  db->KeyMayExist(rocksdb::ReadOptions(), none, "k", &text, &found);
  EXPECT_FALSE(found);
}

// Every method with a handle refuses a null one.
inline void ExpectNullHandlesRefused(rocksdb::DB* db) {
  using rocksdb::Status;
  rocksdb::ColumnFamilyHandle* const none = nullptr;
  const std::vector<rocksdb::ColumnFamilyHandle*> some{db->DefaultColumnFamily(), none};
  const rocksdb::WriteOptions write;
  const rocksdb::ReadOptions read;
  rocksdb::PinnableSlice pinned;
  rocksdb::PinnableWideColumns columns;
  std::string text;
  const rocksdb::Range range("a", "b");
  const rocksdb::RangePtr range_ptr;
  uint64_t number = 7;
  rocksdb::TablePropertiesCollection tables;
  std::vector<rocksdb::Iterator*> iterators;
  int count = 0;
  rocksdb::GetMergeOperandsOptions operands;
  const std::vector<std::pair<std::string, std::function<Status()>>> calls = {
      {"Put", [&] { return db->Put(write, none, "k", "v"); }},
      {"Put, ts", [&] { return db->Put(write, none, "k", "ts", "v"); }},
      {"Delete", [&] { return db->Delete(write, none, "k"); }},
      {"Delete, ts", [&] { return db->Delete(write, none, "k", "ts"); }},
      {"SingleDelete", [&] { return db->SingleDelete(write, none, "k"); }},
      {"SingleDelete, ts", [&] { return db->SingleDelete(write, none, "k", "ts"); }},
      {"Merge", [&] { return db->Merge(write, none, "k", "v"); }},
      {"PutEntity", [&] { return db->PutEntity(write, none, "k", {}); }},
      {"Get", [&] { return db->Get(read, none, "k", &pinned); }},
      {"Get, string", [&] { return db->Get(read, none, "k", &text); }},
      {"GetEntity", [&] { return db->GetEntity(read, none, "k", &columns); }},
      {"GetMergeOperands",
       [&] { return db->GetMergeOperands(read, none, "k", &pinned, &operands, &count); }},
      {"MultiGet", [&] {
         std::vector<std::string> values;
         return db->MultiGet(read, some, {"k", "l"}, &values)[1];
       }},
      {"MultiGet, one family", [&] {
         const rocksdb::Slice key("k");
         Status s;
         db->MultiGet(read, none, 1, &key, &pinned, &s);
         return s;
       }},
      {"MultiGet, families", [&] {
         const rocksdb::Slice keys[] = {"k", "l"};
         rocksdb::ColumnFamilyHandle* handles[] = {some[0], some[1]};
         rocksdb::PinnableSlice values[2];
         Status statuses[2];
         db->MultiGet(read, 2, handles, keys, values, statuses);
         return statuses[1];
       }},
      {"NewIterator", [&] {
         const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read, none));
         return it->status();
       }},
      {"NewIterators", [&] { return db->NewIterators(read, some, &iterators); }},
      {"Flush", [&] { return db->Flush(rocksdb::FlushOptions(), none); }},
      {"Flush, families", [&] { return db->Flush(rocksdb::FlushOptions(), some); }},
      {"CompactRange",
       [&] { return db->CompactRange(rocksdb::CompactRangeOptions(), none, nullptr, nullptr); }},
      {"CompactFiles",
       [&] { return db->CompactFiles(rocksdb::CompactionOptions(), none, {"000001.sst"}, 1); }},
      {"SuggestCompactRange", [&] { return db->SuggestCompactRange(none, nullptr, nullptr); }},
      {"PromoteL0", [&] { return db->PromoteL0(none, 1); }},
      {"DeleteFilesInRanges", [&] { return rocksdb::DeleteFilesInRanges(db, none, &range_ptr, 1); }},
      {"EnableAutoCompaction", [&] { return db->EnableAutoCompaction(some); }},
      {"IngestExternalFile", [&] {
         return db->IngestExternalFile(none, {"x"}, rocksdb::IngestExternalFileOptions());
       }},
      {"SetOptions", [&] { return db->SetOptions(none, {{"write_buffer_size", "65536"}}); }},
      {"DropColumnFamily", [&] { return db->DropColumnFamily(none); }},
      {"GetApproximateSizes", [&] {
         return db->GetApproximateSizes(rocksdb::SizeApproximationOptions(), none, &range, 1,
                                        &number);
       }},
      {"GetPropertiesOfAllTables", [&] { return db->GetPropertiesOfAllTables(none, &tables); }},
      {"GetPropertiesOfTablesInRange",
       [&] { return db->GetPropertiesOfTablesInRange(none, &range, 1, &tables); }},
  };
  for (const auto& [name, call] : calls) {
    const Status s = call();
    EXPECT_TRUE(s.IsInvalidArgument()) << name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("andle"), std::string::npos) << name << ": " << s.ToString();
  }
  // Some databases do not have these.
  EXPECT_FALSE(db->Get(read, none, "k", &text, &text).ok());
  EXPECT_FALSE(db->DeleteRange(write, none, "a", "b").ok());
  EXPECT_FALSE(db->DeleteRange(write, none, "a", "b", "ts").ok());
  ExpectNullHandlesEmpty(db);
}

}  // namespace compassdb
