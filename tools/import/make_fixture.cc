// SPDX-License-Identifier: Apache-2.0
// make_fixture KIND DIR: writes a small RocksDB database with data that is
// more than plain records, for the tests of `compassdb import`.
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
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
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "OwnComparator"; }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {}
  void FindShortSuccessor(std::string* key) const override {}
};

Status Fill(const std::string& kind, rocksdb::DB* db) {
  rocksdb::WriteOptions w;
  Status s = db->Put(w, "a", "1");
  if (kind == "merge" || kind == "stringappend") {
    s = db->Merge(w, "m", "x");
    if (s.ok()) s = db->Merge(w, "m", "y");
  } else if (kind == "entity") {
    s = db->PutEntity(w, db->DefaultColumnFamily(), "e", {{"c1", "v1"}, {"c2", "v2"}});
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  rocksdb::Options options;
  options.create_if_missing = true;
  const OwnComparator comparator;
  if (kind == "merge") options.merge_operator = std::make_shared<OwnMerge>();
  if (kind == "stringappend") {
    rocksdb::ConfigOptions config;
    Status s = rocksdb::MergeOperator::CreateFromString(config, "StringAppendOperator",
                                                        &options.merge_operator);
    if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  }
  if (kind == "comparator") options.comparator = &comparator;
  if (kind == "reverse") options.comparator = rocksdb::ReverseBytewiseComparator();
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
  if (s.ok() && kind != "merge") s = db->Flush(rocksdb::FlushOptions());
  delete db;
  if (!s.ok()) std::fprintf(stderr, "make_fixture: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
