// SPDX-License-Identifier: Apache-2.0
// Opening, closing, column families and their errors.

#include "equality/transcript.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::WriteOptions;

namespace {

void OpenErrors(Transcript* t) {
  DB* db = nullptr;
  Options options;
  t->Says("open missing", DB::Open(options, t->Path("missing"), &db),
          "does not exist (create_if_missing is false)");
  t->Line(db == nullptr ? "null" : "not null");
  t->Code("read-only missing", DB::OpenForReadOnly(options, t->Path("missing"), &db));
  std::vector<std::string> names;
  t->Code("list missing", DB::ListColumnFamilies(options, t->Path("missing"), &names));
  options = FreshOptions();
  auto first = OpenOrNote(t, "db", options);
  if (!first) return;
  t->Code("second opener", DB::Open(options, t->Path("db"), &db));
  t->Code("destroy while open", rocksdb::DestroyDB(t->Path("db"), options));
  first.reset();
  options.error_if_exists = true;
  t->Full("error_if_exists", DB::Open(options, t->Path("db"), &db));
  options.error_if_exists = false;
  t->Code("destroy", rocksdb::DestroyDB(t->Path("db"), options));
  options.create_if_missing = false;
  t->Says("open destroyed", DB::Open(options, t->Path("db"), &db),
          "does not exist (create_if_missing is false)");
  t->Code("destroy missing", rocksdb::DestroyDB(t->Path("db"), options));
}

void ReadOnlyWrites(Transcript* t) {
  const std::string kReadOnly = "Not supported operation in read only mode.";
  Options options = FreshOptions();
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    t->Code("put", db->Put(WriteOptions(), "a", "1"));
    t->Code("put", db->Put(WriteOptions(), "b", "2"));
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    t->Code("put", db->Put(WriteOptions(), "b", "3"));
  }
  DB* opened = nullptr;
  t->Code("read-only", DB::OpenForReadOnly(options, t->Path("db"), &opened));
  std::unique_ptr<DB> db(opened);
  if (!db) return;
  t->Scan("contents", db.get());
  rocksdb::WriteBatch batch;
  t->Code("batch", batch.Put("x", "y"));
  t->Says("put", db->Put(WriteOptions(), "a", "2"), kReadOnly);
  t->Says("delete", db->Delete(WriteOptions(), "a"), kReadOnly);
  t->Says("write", db->Write(WriteOptions(), &batch), kReadOnly);
  t->Says("flush", db->Flush(rocksdb::FlushOptions()), kReadOnly);
  t->Says("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), kReadOnly);
  std::string value;
  Status s = db->Get(ReadOptions(), "b", &value);
  t->Value("get", s, value);
  // Read-only twice is allowed.
  DB* again = nullptr;
  t->Code("read-only again", DB::OpenForReadOnly(options, t->Path("db"), &again));
  delete again;
}

void FamilyLifecycle(Transcript* t) {
  const std::string kInvalidFamily = "Invalid column family specified in write batch";
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  ColumnFamilyHandle* one = nullptr;
  ColumnFamilyHandle* two = nullptr;
  t->Code("create one", db->CreateColumnFamily(ColumnFamilyOptions(), "one", &one));
  t->Says("create one again", db->CreateColumnFamily(ColumnFamilyOptions(), "one", &two),
          "Column family already exists");
  t->Code("create two", db->CreateColumnFamily(ColumnFamilyOptions(), "two", &two));
  if (one == nullptr || two == nullptr) return;
  t->Line(one->GetName() + " " + std::to_string(one->GetID()) + " " + two->GetName() + " " +
          std::to_string(two->GetID()));
  t->Full("drop default", db->DropColumnFamily(db->DefaultColumnFamily()));
  t->Code("put", db->Put(WriteOptions(), one, "key", "value"));
  t->Code("put", db->Put(WriteOptions(), two, "key", "other"));
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions(), one));
  t->Code("drop one", db->DropColumnFamily(one));
  t->Says("drop one again", db->DropColumnFamily(one), "Column family already dropped!");
  std::string value;
  Status s = db->Get(ReadOptions(), one, "key", &value);
  t->Value("get from dropped", s, value);
  t->Code("flush dropped", db->Flush(rocksdb::FlushOptions(), one));
  t->Code("options of dropped", db->SetOptions(one, {{"write_buffer_size", "3000000"}}));
  t->Says("put to dropped", db->Put(WriteOptions(), one, "key", "value"), kInvalidFamily);
  rocksdb::WriteBatch batch;
  batch.Put(two, "key2", "two").PermitUncheckedError();
  batch.Put(one, "key2", "one").PermitUncheckedError();
  t->Says("batch with dropped", db->Write(WriteOptions(), &batch), kInvalidFamily);
  s = db->Get(ReadOptions(), two, "key2", &value);
  t->Value("its other half", s, value);
  it->SeekToFirst();
  t->Line(std::string("old iterator ") + (it->Valid() ? it->key().ToString() : "invalid"));
  it.reset();
  t->Code("recreate one", db->CreateColumnFamily(ColumnFamilyOptions(), "one", &one));
  t->Line("id " + std::to_string(one->GetID()));
  s = db->Get(ReadOptions(), one, "key", &value);
  t->Value("get from new one", s, value);
  db->DestroyColumnFamilyHandle(one).PermitUncheckedError();
  db->DestroyColumnFamilyHandle(two).PermitUncheckedError();
}

void FamilyOpening(Transcript* t) {
  {
    auto db = OpenOrNote(t, "db", FreshOptions());
    if (!db) return;
    for (const char* name : {"b", "a", "c"}) {
      ColumnFamilyHandle* handle = nullptr;
      t->Code("create", db->CreateColumnFamily(ColumnFamilyOptions(), name, &handle));
      if (handle == nullptr) return;
      t->Code("put", db->Put(WriteOptions(), handle, "name", name));
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  DB* db = nullptr;
  std::vector<std::string> names;
  t->Code("list", DB::ListColumnFamilies(FreshOptions(), t->Path("db"), &names));
  for (const std::string& name : names) t->Line("family " + name);
  t->Code("open default only", DB::Open(FreshOptions(), t->Path("db"), &db));
  std::vector<ColumnFamilyHandle*> handles;
  auto open = [&](const std::string& what, const std::vector<std::string>& wanted) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : wanted) descriptors.emplace_back(name, ColumnFamilyOptions());
    handles.clear();
    db = nullptr;
    Status s = DB::Open(FreshOptions(), t->Path("db"), descriptors, &handles, &db);
    t->Full(what, s);
    for (ColumnFamilyHandle* handle : handles) {
      std::string value;
      Status got = db->Get(ReadOptions(), handle, "name", &value);
      t->Value(handle->GetName() + " " + std::to_string(handle->GetID()), got, value);
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    delete db;
  };
  open("without default", {"a", "b", "c"});
  open("unknown", {"default", "a", "b", "c", "d"});
  open("in another order", {"c", "default", "a", "b"});
  std::vector<ColumnFamilyDescriptor> some = {{"default", ColumnFamilyOptions()},
                                              {"b", ColumnFamilyOptions()}};
  handles.clear();
  t->Code("read-only subset",
          DB::OpenForReadOnly(FreshOptions(), t->Path("db"), some, &handles, &db));
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  if (!handles.empty()) delete db;
}

void WrongComparator(Transcript* t) {
  {
    auto db = OpenOrNote(t, "db", FreshOptions());
    if (!db) return;
    t->Code("put", db->Put(WriteOptions(), "a", "1"));
  }
  Options reverse = FreshOptions();
  reverse.comparator = rocksdb::ReverseBytewiseComparator();
  DB* db = nullptr;
  t->Code("open with another comparator", DB::Open(reverse, t->Path("db"), &db));
  auto again = OpenOrNote(t, "db", FreshOptions());
  if (again) t->Scan("unharmed", again.get());
}

void Sequences(Transcript* t) {
  uint64_t last = 0;
  for (int round = 0; round < 3; round++) {
    auto db = OpenOrNote(t, "db", FreshOptions());
    if (!db) return;
    t->Line("at open " + std::to_string(db->GetLatestSequenceNumber()));
    for (int i = 0; i < 10; i++) {
      db->Put(WriteOptions(), "k" + std::to_string(i), "v").PermitUncheckedError();
    }
    rocksdb::WriteBatch batch;
    batch.Put("a", "b").PermitUncheckedError();
    batch.Delete("c").PermitUncheckedError();
    batch.DeleteRange("d", "e").PermitUncheckedError();
    batch.PutLogData("nothing").PermitUncheckedError();
    t->Code("write", db->Write(WriteOptions(), &batch));
    rocksdb::WriteBatch empty;
    t->Code("empty", db->Write(WriteOptions(), &empty));
    t->Line("after batch " + std::to_string(db->GetLatestSequenceNumber()));
    const rocksdb::Snapshot* snapshot = db->GetSnapshot();
    t->Line("snapshot " + std::to_string(snapshot->GetSequenceNumber()));
    db->ReleaseSnapshot(snapshot);
    if (round > 0) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    last = db->GetLatestSequenceNumber();
    t->Line("at close " + std::to_string(last));
  }
}

}  // namespace

std::vector<Scenario> OpenScenarios() {
  return {{"open_errors", OpenErrors},         {"read_only_writes", ReadOnlyWrites},
          {"family_lifecycle", FamilyLifecycle}, {"family_opening", FamilyOpening},
          {"wrong_comparator", WrongComparator}, {"sequences", Sequences}};
}

}  // namespace compassdb_test
