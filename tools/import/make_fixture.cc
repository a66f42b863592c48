// SPDX-License-Identifier: Apache-2.0
// make_fixture KIND DIR [TEXT]: writes a small RocksDB database with data that is
// more than plain records, for the tests of `compassdb import`. TEXT: the delimiter
// of kind append; the wal_dir of kind logs; a directory of tables of kind paths; a key of the
// user's in the family of kind stats.
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/wide_columns.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using rocksdb::Slice;
using rocksdb::Status;

class OwnMerge : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice& key, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger* logger) const override {
    *result = (existing == nullptr ? "" : existing->ToString()) + value.ToString();
    return true;
  }
  const char* Name() const override { return "OwnMerge"; }
};

class OwnComparator : public rocksdb::Comparator {
 public:
  explicit OwnComparator(size_t timestamp_size = 0) : Comparator(timestamp_size) {}
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "OwnComparator"; }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {}
  void FindShortSuccessor(std::string* key) const override {}
};

// As RocksDB's own of that name, which its headers do not have. Of a single key nothing is compared.
class TimestampsComparator : public OwnComparator {
 public:
  TimestampsComparator() : OwnComparator(8) {}
  const char* Name() const override { return "leveldb.BytewiseComparator.u64ts"; }
  int CompareTimestamp(const Slice& a, const Slice& b) const override { return a.compare(b); }
  int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override { return a.compare(b); }
};

Status Fill(const std::string& kind, rocksdb::DB* db) {
  rocksdb::WriteOptions w;
  Status s = kind == "timestamps" ? Status::OK() : db->Put(w, "a", "1");
  if (kind == "merge" || kind == "stringappend" || kind == "append" || kind == "add" || kind == "one" || kind == "unsorted") {
    if (kind == "add") return db->Merge(w, "n", std::string("\2\0\0\0\0\0\0\0", 8));
    s = db->Merge(w, "m", "x");
    if (s.ok() && kind != "one" && kind != "unsorted") s = db->Merge(w, "m", "y");
  } else if (kind == "entity") {
    s = db->PutEntity(w, db->DefaultColumnFamily(), "e", {{"c1", "v1"}, {"c2", "v2"}});
  } else if (kind == "timestamps") {
    s = db->Put(w, "a", std::string(8, '\1'), "1");
  } else if (kind == "deleted") {
    s = db->Put(w, "b", "2");
    if (s.ok()) s = db->Put(w, "c", "3");
    if (s.ok()) s = db->Delete(w, "a");
    if (s.ok()) s = db->DeleteRange(w, db->DefaultColumnFamily(), "b", "c");
  } else {
    s = db->Put(w, "b", "2");
  }
  return s;
}

// One transaction is prepared, and neither committed nor rolled back.
int MakePrepared(const rocksdb::Options& options, const std::string& path) {
  rocksdb::TransactionDB* db = nullptr;
  Status s = rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), path, &db);
  if (!s.ok()) return 1;
  const std::unique_ptr<rocksdb::TransactionDB> closes(db);
  const std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction(rocksdb::WriteOptions()));
  s = transaction->SetName("one");
  if (s.ok()) s = transaction->Put("p", "1");
  if (s.ok()) s = transaction->Prepare();
  return s.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const std::string kind = argv[1], text = argc == 4 ? argv[3] : "";
  rocksdb::Options options;
  options.create_if_missing = true;
  const OwnComparator comparator;
  const TimestampsComparator with_timestamps;
  if (kind == "merge") options.merge_operator = std::make_shared<OwnMerge>();
  rocksdb::ConfigOptions config;
  if (kind == "append" || kind == "one") {
    rocksdb::MergeOperator::CreateFromString(config, "StringAppendOperator", &options.merge_operator).PermitUncheckedError();
    options.merge_operator->ConfigureOption(config, "delimiter", text).PermitUncheckedError();
  }
  if (kind == "add") {
    rocksdb::MergeOperator::CreateFromString(config, "UInt64AddOperator", &options.merge_operator).PermitUncheckedError();
  }
  if (kind == "unsorted") {
    rocksdb::MergeOperator::CreateFromString(config, "MergeSortOperator", &options.merge_operator).PermitUncheckedError();
  }
  if (kind == "cuckoo") {
    options.table_factory.reset(rocksdb::NewCuckooTableFactory());
    options.allow_mmap_reads = true;
  }
  if (kind == "timestamps") options.comparator = &with_timestamps;
  if (kind == "logs") options.wal_dir = text;
  if (kind == "paths") options.db_paths = {{text, UINT64_MAX}};
  if (kind == "levels") options.num_levels = 12;
  if (kind == "stringappend") {
    Status s = rocksdb::MergeOperator::CreateFromString(config, "StringAppendOperator",
                                                        &options.merge_operator);
    if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  }
  if (kind == "comparator") options.comparator = &comparator;
  if (kind == "reverse") options.comparator = rocksdb::ReverseBytewiseComparator();
  if (kind == "prepared") return MakePrepared(options, argv[2]);
  rocksdb::DB* db = nullptr;
  Status s = rocksdb::DB::Open(options, argv[2], &db);
  if (s.ok()) s = Fill(kind, db);
  if (s.ok() && kind == "families") {
    for (const auto& [name, order] : {std::pair("user:1#\\2", rocksdb::ReverseBytewiseComparator()),
                                      std::pair("last", rocksdb::BytewiseComparator())}) {
      rocksdb::ColumnFamilyOptions family;
      family.comparator = order;
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      if (s.ok()) s = db->CreateColumnFamily(family, name, &handle);
      if (s.ok()) s = db->Put(rocksdb::WriteOptions(), handle, "k", name);
      if (s.ok()) s = db->DestroyColumnFamilyHandle(handle);
    }
  }
  if (s.ok() && kind == "stats") {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    s = db->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "___rocksdb_stats_history___", &handle);
    if (s.ok()) s = db->Put(rocksdb::WriteOptions(), handle, "1700000000#rocksdb.bytes", "7");
    if (s.ok() && !text.empty()) s = db->Put(rocksdb::WriteOptions(), handle, text, "8");
    if (s.ok()) s = db->DestroyColumnFamilyHandle(handle);
  }
  if (s.ok() && kind == "levels") {
    rocksdb::CompactRangeOptions compact;
    compact.change_level = true;
    compact.target_level = 11;
    s = db->CompactRange(compact, nullptr, nullptr);
  }
  if (s.ok() && kind != "merge" && kind != "unsorted" && kind != "logs" && kind != "append") s = db->Flush(rocksdb::FlushOptions());
  delete db;
  if (!s.ok()) std::fprintf(stderr, "make_fixture: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
