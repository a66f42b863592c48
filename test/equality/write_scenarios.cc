// SPDX-License-Identifier: Apache-2.0
// WriteBatch, write options, range deletions, merges that go wrong.

#include "equality/transcript.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/write_batch.h"
#include "support/family.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

namespace {

class Printer : public WriteBatch::Handler {
 public:
  explicit Printer(Transcript* t) : t_(t) {}
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Note("Put", family, key, value);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return Note("Delete", family, key, "");
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return Note("SingleDelete", family, key, "");
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return Note("DeleteRange", family, begin, end);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Note("Merge", family, key, value);
  }
  void LogData(const Slice& blob) override { t_->Line("LogData " + Show(blob.ToString())); }
  bool Continue() override { return left_-- > 0; }

 private:
  Status Note(const char* what, uint32_t family, const Slice& key, const Slice& value) {
    t_->Line(std::string(what) + " " + std::to_string(family) + " " + Show(key.ToString()) + " " +
             Show(value.ToString()));
    if (key == "stop") return Status::Aborted("asked to stop");
    return Status::OK();
  }
  Transcript* t_;
  int left_ = 12;
};

void BatchBytes(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  ColumnFamilyHandle* family = nullptr;
  t->Code("create", db->CreateColumnFamily(ColumnFamilyOptions(), "family", &family));
  if (family == nullptr) return;
  WriteBatch batch;
  auto note = [&](const std::string& what) {
    t->Line(what + " " + std::to_string(batch.Count()) + " " + std::to_string(batch.GetDataSize()) +
            " " + Hex(batch.Data()));
    t->Line(std::to_string(batch.HasPut()) + std::to_string(batch.HasDelete()) +
            std::to_string(batch.HasSingleDelete()) + std::to_string(batch.HasDeleteRange()) +
            std::to_string(batch.HasMerge()));
  };
  note("empty");
  t->Code("put", batch.Put("key", "value"));
  t->Code("put in family", batch.Put(family, std::string(200, 'k'), std::string(300, 'v')));
  batch.SetSavePoint();
  t->Code("delete", batch.Delete(family, "key"));
  t->Code("single delete", batch.SingleDelete("key"));
  t->Code("range", batch.DeleteRange(family, "a", "z"));
  t->Code("merge", batch.Merge("key", ""));
  t->Code("log data", batch.PutLogData(Slice("blob\0data", 9)));
  note("full");
  Printer printer(t);
  t->Full("iterate", batch.Iterate(&printer));
  WriteBatch copy = batch;
  t->Code("rollback", batch.RollbackToSavePoint());
  note("rolled back");
  t->Full("rollback without point", batch.RollbackToSavePoint());
  t->Full("pop without point", batch.PopSavePoint());
  t->Full("copy's rollback", copy.RollbackToSavePoint());
  Slice key_parts[] = {"ab", "cd"};
  Slice value_parts[] = {"1", "", "23"};
  t->Code("parts", batch.Put(family, rocksdb::SliceParts(key_parts, 2),
                             rocksdb::SliceParts(value_parts, 3)));
  t->Code("parts", batch.Delete(rocksdb::SliceParts(key_parts, 2)));
  note("parts");
  t->Code("write", db->Write(WriteOptions(), &batch));
  note("after write");
  batch.Clear();
  note("cleared");
  t->Scan("family", db.get(), family);
  db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
}

void HandlerStops(Transcript* t) {
  WriteBatch batch;
  for (int i = 0; i < 20; i++) {
    batch.Put("key" + std::to_string(i), "v").PermitUncheckedError();
  }
  Printer twelve(t);
  t->Full("continue says no", batch.Iterate(&twelve));
  batch.Clear();
  batch.Put("stop", "").PermitUncheckedError();
  batch.Put("never", "").PermitUncheckedError();
  Printer aborting(t);
  t->Full("handler fails", batch.Iterate(&aborting));
}

void MalformedBatches(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  WriteBatch good;
  good.Put("key", "value").PermitUncheckedError();
  good.Delete("key2").PermitUncheckedError();
  std::string bytes = good.Data();
  for (size_t length = 0; length < bytes.size(); length++) {
    WriteBatch cut(bytes.substr(0, length));
    Printer printer(t);
    t->Full("cut to " + std::to_string(length), cut.Iterate(&printer));
  }
  std::string count = bytes;
  count[8] = 7;
  WriteBatch miscounted(count);
  Printer printer(t);
  t->Full("wrong count", miscounted.Iterate(&printer));
  t->Scan("nothing written", db.get());
}

void BatchLimits(Transcript* t) {
  WriteBatch batch(0, 64);
  t->Full("fits", batch.Put("key", "value"));
  t->Full("too large", batch.Put("key", std::string(100, 'x')));
  t->Line(std::to_string(batch.Count()) + " " + Hex(batch.Data()));
  t->Full("fits still", batch.Delete("k"));
  t->Line(std::to_string(batch.Count()) + " " + Hex(batch.Data()));
}

void WriteOptionErrors(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  WriteOptions options;
  options.sync = true;
  options.disableWAL = true;
  t->Full("sync without WAL", db->Put(options, "a", "b"));
  options.sync = false;
  t->Full("without WAL", db->Put(options, "a", "b"));
  t->Full("null batch", db->Write(WriteOptions(), nullptr));
  options = WriteOptions();
  options.low_pri = true;
  t->Full("low priority", db->Put(options, "c", "d"));
  options = WriteOptions();
  options.no_slowdown = true;
  t->Full("no slowdown", db->Put(options, "e", "f"));
  t->Full("sync wal", db->SyncWAL());
  t->Full("flush wal", db->FlushWAL(true));
  t->Scan("contents", db.get());
}

void Ranges(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  auto fill = [&] {
    for (char c = 'a'; c <= 'j'; c++) {
      db->Put(WriteOptions(), std::string(1, c), std::string(2, c)).PermitUncheckedError();
    }
  };
  auto range = [&](const Slice& begin, const Slice& end) {
    Status s = db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), begin, end);
    t->Code("range " + Show(begin.ToString()) + " " + Show(end.ToString()), s);
    t->Scan("left", db.get());
  };
  fill();
  range("c", "e");
  range("e", "e");
  fill();
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  range("", "b");
  range("i", "zzz");
  db->Put(WriteOptions(), "a", "again").PermitUncheckedError();
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  range("d", std::string("f\0", 2));
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  ReadOptions old;
  old.snapshot = snapshot;
  t->Scan("snapshot", db.get(), nullptr, old);
  db->ReleaseSnapshot(snapshot);
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  t->Scan("compacted", db.get());
}

// Fails on the operand "fail".
class FailingOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "Failing"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->new_value = in.existing_value != nullptr ? in.existing_value->ToString() : "";
    for (const Slice& operand : in.operand_list) {
      if (operand == "fail") return false;
      out->new_value += operand.ToString();
    }
    return true;
  }
};

// Without the sub-code, which a failed merge has in RocksDB 11 and not in 7.8.3.
void Failed(Transcript* t, const std::string& what, const Status& s) {
  t->Code(what, s.IsCorruption() ? Status::Corruption() : s);
}

void FailingMerges(Transcript* t) {
  {
    auto db = OpenOrNote(t, "db", FreshOptions());
    if (!db) return;
    t->Code("put", db->Put(WriteOptions(), "a", "1"));
    t->Code("merge without operator", db->Merge(WriteOptions(), "a", "2"));
  }
  Options options = FreshOptions();
  options.merge_operator = std::make_shared<FailingOperator>();
  auto db = OpenOrNote(t, "failing", options);
  if (!db) return;
  for (const char* operand : {"x", "y", "fail", "z"}) {
    t->Code("merge", db->Merge(WriteOptions(), "bad", operand));
    t->Code("merge", db->Merge(WriteOptions(), "good", operand[0] == 'f' ? "f" : operand));
  }
  t->Code("put", db->Put(WriteOptions(), "after", "1"));
  for (int round = 0; round < 2; round++) {
    std::string value;
    Status s = db->Get(ReadOptions(), "bad", &value);
    Failed(t, "get bad", s);
    s = db->Get(ReadOptions(), "good", &value);
    t->Value("get good", s, value);
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(ReadOptions()));
    it->SeekToFirst();
    t->Line("first " + (it->Valid() ? it->key().ToString() : "invalid"));
    if (it->Valid()) it->Next();
    t->Line(it->Valid() ? "valid" : "invalid");
    Failed(t, "iterator", it->status());
    it->Seek("good");
    t->Line("seek past it " + (it->Valid() ? it->value().ToString() : "invalid"));
    Failed(t, "iterator", it->status());
    if (round == 0) t->Code("overwrite", db->Put(WriteOptions(), "bad", "healed"));
  }
}

void MergeForms(Transcript* t) {
  for (MergeKind kind : {MergeKind::kAppend, MergeKind::kAdd, MergeKind::kCommands}) {
    Options options = FreshOptions();
    options.merge_operator = MergeOperatorOf(kind);
    auto db = OpenOrNote(t, "db" + std::to_string(static_cast<int>(kind)), options);
    if (!db) return;
    auto operand = [&](int i) {
      return kind == MergeKind::kAdd ? EncodeNumber(static_cast<uint64_t>(i) * 1000003)
                                     : "+x" + std::to_string(i);
    };
    t->Code("put", db->Put(WriteOptions(), "base", operand(7)));
    const rocksdb::Snapshot* snapshot = nullptr;
    for (int i = 0; i < 9; i++) {
      t->Code("merge", db->Merge(WriteOptions(), "base", operand(i)));
      t->Code("merge", db->Merge(WriteOptions(), "bare", operand(i)));
      if (i == 4) t->Code("delete", db->Delete(WriteOptions(), "base"));
      if (i == 2 || i == 6) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
      if (i == 5) snapshot = db->GetSnapshot();
    }
    ReadOptions old;
    old.snapshot = snapshot;
    t->Scan("now", db.get());
    t->Scan("then", db.get(), nullptr, old);
    t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    t->Scan("now", db.get());
    t->Scan("then", db.get(), nullptr, old);
    db->ReleaseSnapshot(snapshot);
  }
}

void ProtectedWrites(Transcript* t) {
  auto db = OpenOrNote(t, "db", MergingOptions());
  if (!db) return;
  WriteOptions write;
  write.protection_bytes_per_key = 8;
  t->Code("put", db->Put(write, "a", "1"));
  t->Code("merge", db->Merge(write, "a", "2"));
  t->Code("single", db->SingleDelete(write, "b"));
  t->Code("range", db->DeleteRange(write, db->DefaultColumnFamily(), "c", "d"));
  WriteBatch batch(0, 0, 8, 0);
  t->Line(std::to_string(batch.GetProtectionBytesPerKey()));
  t->Code("add", batch.Put("e", "1"));
  batch.SetSavePoint();
  t->Code("add", batch.Put("f", "1"));
  t->Code("back", batch.RollbackToSavePoint());
  t->Code("add", batch.Delete("a"));
  t->Code("verify", batch.VerifyChecksum());
  WriteBatch copy(batch);
  t->Code("write", db->Write(WriteOptions(), &batch));
  const_cast<std::string&>(copy.Data()).back() ^= 1;
  t->Code("verify changed", copy.VerifyChecksum());
  t->Scan("all", db.get());
  write = WriteOptions();
  write.rate_limiter_priority = rocksdb::Env::IO_USER;
  t->Code("limited", db->Put(write, "g", "1"));
  write.disableWAL = true;
  t->Code("limited without log", db->Put(write, "g", "2"));
  write = WriteOptions();
  write.rate_limiter_priority = rocksdb::Env::IO_HIGH;
  t->Code("high", db->Put(write, "g", "3"));
  t->Scan("all", db.get());
}

}  // namespace

std::vector<Scenario> WriteScenarios() {
  return {{"batch_bytes", BatchBytes},          {"handler_stops", HandlerStops},
          {"malformed_batches", MalformedBatches}, {"batch_limits", BatchLimits},
          {"write_options", WriteOptionErrors}, {"ranges", Ranges},
          {"failing_merges", FailingMerges},    {"merge_forms", MergeForms},
          {"protected_writes", ProtectedWrites}};
}

}  // namespace compassdb_test
