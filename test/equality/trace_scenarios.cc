// SPDX-License-Identifier: Apache-2.0
// Traces: what is recorded of each operation, byte by byte, and what a replay makes of it.

#include "equality/transcript.h"
#include "rocksdb/env.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/trace_reader_writer.h"
#include "rocksdb/trace_record.h"
#include "rocksdb/trace_record_result.h"
#include "rocksdb/utilities/replayer.h"
#include "rocksdb/write_batch.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Env;
using rocksdb::EnvOptions;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::TraceOptions;
using rocksdb::WriteOptions;

namespace {

Status Start(Transcript* t, DB* db, const TraceOptions& options, const std::string& name) {
  std::unique_ptr<rocksdb::TraceWriter> writer;
  Status s = rocksdb::NewFileTraceWriter(Env::Default(), EnvOptions(), t->Path(name), &writer);
  return s.ok() ? db->StartTrace(options, std::move(writer)) : s;
}

std::unique_ptr<rocksdb::TraceReader> NewReader(Transcript* t, const std::string& name) {
  std::unique_ptr<rocksdb::TraceReader> reader;
  t->Code("reader", rocksdb::NewFileTraceReader(Env::Default(), EnvOptions(), t->Path(name), &reader));
  return reader;
}

// The bytes of the file's records but their times.
void Bytes(Transcript* t, const std::string& name) {
  const auto reader = NewReader(t, name);
  std::string record;
  while (reader->Read(&record).ok()) {
    record.erase(0, 8);
    t->Line(Slice(record).ToString(/*hex=*/true));
  }
}

void Operations(DB* db) {
  const auto sink = [](const Status& s) { s.PermitUncheckedError(); };
  sink(db->Put(WriteOptions(), "a", "1"));
  sink(db->Delete(WriteOptions(), "gone"));
  sink(db->SingleDelete(WriteOptions(), "single"));
  sink(db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "x", "z"));
  rocksdb::WriteBatch batch;
  sink(batch.Put("b", "2"));
  sink(batch.Put("c", "3"));
  batch.PutLogData("note");
  sink(db->Write(WriteOptions(), &batch));
  sink(db->Write(WriteOptions(), &batch));  // with the sequence of the first time
  std::string value;
  sink(db->Get(ReadOptions(), "a", &value));
  sink(db->Get(ReadOptions(), "none", &value));
  bool found = false;
  db->KeyMayExist(ReadOptions(), db->DefaultColumnFamily(), "c", &value, &found);
  rocksdb::PinnableWideColumns columns;
  sink(db->GetEntity(ReadOptions(), db->DefaultColumnFamily(), "b", &columns));
  std::vector<std::string> values;
  for (const Status& s : db->MultiGet(ReadOptions(), {"c", "a", "none"}, &values)) sink(s);
  const Slice keys[] = {"b", "a"};
  rocksdb::PinnableSlice pinned[2];
  Status statuses[2];
  db->MultiGet(ReadOptions(), db->DefaultColumnFamily(), 2, keys, pinned, statuses);
  for (const Status& s : statuses) sink(s);
  const Slice lower("aa"), upper("c");
  for (int bounds = 0; bounds < 4; ++bounds) {
    ReadOptions options;
    if ((bounds & 1) != 0) options.iterate_lower_bound = &lower;
    if ((bounds & 2) != 0) options.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
    it->Seek("a");
    it->SeekForPrev("bb");
    it->SeekToFirst();
    if (it->Valid()) it->Next();
    it->SeekToLast();
    if (it->Valid()) it->Prev();
  }
}

void Recording(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  t->Code("none runs", db->EndTrace());
  int n = 0;
  const auto record = [&](const TraceOptions& options) {
    const std::string name = "trace" + std::to_string(++n);
    t->Line("--- " + name);
    t->Code("start", Start(t, db.get(), options, name));
    Operations(db.get());
    t->Code("end", db->EndTrace());
    Bytes(t, name);
  };
  TraceOptions options;
  record(options);
  options.preserve_write_order = true;
  record(options);
  options.sampling_frequency = 3;
  record(options);
  options.sampling_frequency = 1;
  for (const uint64_t filter :
       {rocksdb::kTraceFilterGet, rocksdb::kTraceFilterWrite, rocksdb::kTraceFilterIteratorSeek,
        rocksdb::kTraceFilterIteratorSeekForPrev, rocksdb::kTraceFilterMultiGet}) {
    options.filter = filter;
    record(options);
  }
  options.filter = rocksdb::kTraceFilterNone;
  options.max_trace_file_size = 300;
  record(options);
}

// Kind of result, status and values.
class Describer final : public rocksdb::TraceRecordResult::Handler {
 public:
  explicit Describer(Transcript* t) : t_(t) {}
  Status Handle(const rocksdb::StatusOnlyTraceExecutionResult& r) override {
    t_->Code("write", r.GetStatus());
    return Status::OK();
  }
  Status Handle(const rocksdb::SingleValueTraceExecutionResult& r) override {
    t_->Value("get", r.GetStatus(), r.GetValue());
    return Status::OK();
  }
  Status Handle(const rocksdb::MultiValuesTraceExecutionResult& r) override {
    for (size_t i = 0; i < r.GetValues().size(); ++i) {
      t_->Value("multi", r.GetMultiStatus()[i], r.GetValues()[i]);
    }
    return Status::OK();
  }
  Status Handle(const rocksdb::IteratorTraceExecutionResult& r) override {
    t_->Line("seek " + r.GetKey().ToString() + "=" + r.GetValue().ToString() +
             (r.GetValid() ? "" : " nothing"));
    return Status::OK();
  }

 private:
  Transcript* const t_;
};

void Replaying(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  t->Code("start", Start(t, db.get(), TraceOptions(), "trace"));
  Operations(db.get());
  t->Code("end", db->EndTrace());
  t->Scan("recorded", db.get());
  auto copy = OpenOrNote(t, "copy", FreshOptions());
  if (!copy) return;
  std::unique_ptr<rocksdb::Replayer> replayer;
  t->Code("replayer", copy->NewDefaultReplayer({copy->DefaultColumnFamily()},
                                               NewReader(t, "trace"), &replayer));
  std::unique_ptr<rocksdb::TraceRecord> record;
  t->Full("next, not prepared", replayer->Next(&record));
  const auto nothing = [](Status s, std::unique_ptr<rocksdb::TraceRecordResult>&&) {
    s.PermitUncheckedError();
  };
  t->Full("replay, not prepared", replayer->Replay(rocksdb::ReplayOptions(1, 1e6), nothing));
  t->Full("prepare", replayer->Prepare());
  t->Line(replayer->GetHeaderTimestamp() > 0 ? "has a time" : "has none");
  t->Full("backward", replayer->Replay(rocksdb::ReplayOptions(1, -1), nothing));
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<rocksdb::TraceRecordResult> result;
    t->Full("next", replayer->Next(&record));
    t->Code("execute", replayer->Execute(record, &result));
    Describer describer(t);
    if (result != nullptr) t->Code("result", result->Accept(&describer));
  }
  t->Scan("some of it", copy.get());
  t->Full("replay", replayer->Replay(rocksdb::ReplayOptions(1, 1e6),
                                     [t](Status s, std::unique_ptr<rocksdb::TraceRecordResult>&& result) {
                                       t->Code("executed", s);
                                       Describer describer(t);
                                       if (result != nullptr) t->Code("result", result->Accept(&describer));
                                     }));
  t->Scan("replayed", copy.get());
  t->Full("next, at the end", replayer->Next(&record));
  t->Full("replay, at the end", replayer->Replay(rocksdb::ReplayOptions(1, 1e6), nothing));
  t->Full("prepare again", replayer->Prepare());
  t->Full("by three threads", replayer->Replay(rocksdb::ReplayOptions(3, 1e6), nullptr));
  // Without the family that the trace speaks of.
  ColumnFamilyHandle* other = nullptr;
  t->Code("family", copy->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "other", &other));
  std::unique_ptr<rocksdb::Replayer> without;
  t->Code("replayer", copy->NewDefaultReplayer({other}, NewReader(t, "trace"), &without));
  t->Full("prepare", without->Prepare());
  t->Code("replay", without->Replay(rocksdb::ReplayOptions(1, 1e6), nothing));
  t->Code("close", copy->DestroyColumnFamilyHandle(other));
}

void Damaged(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  int n = 0;
  const auto replay = [&](const std::string& what, const std::string& bytes) {
    const std::string name = "damaged" + std::to_string(++n);
    t->Line("--- " + what);
    t->Code("write", rocksdb::WriteStringToFile(Env::Default(), bytes, t->Path(name)));
    std::unique_ptr<rocksdb::Replayer> replayer;
    t->Code("replayer", db->NewDefaultReplayer({db->DefaultColumnFamily()}, NewReader(t, name), &replayer));
    const Status s = replayer->Prepare();
    t->Code("prepare", s);
    if (!s.ok()) return;
    std::unique_ptr<rocksdb::TraceRecord> record;
    const Status next = replayer->Next(&record);
    t->Code("next", next);
    if (next.ok()) t->Code("again", replayer->Next(&record));
  };
  t->Code("start", Start(t, db.get(), TraceOptions(), "trace"));
  t->Code("put", db->Put(WriteOptions(), "a", "1"));
  t->Code("end", db->EndTrace());
  std::string whole;
  t->Code("read", rocksdb::ReadFileToString(Env::Default(), t->Path("trace"), &whole));
  replay("whole", whole);
  replay("empty", "");
  std::string other = whole;
  other[13] = 'X';
  replay("another magic", other);
  other = whole;
  other[8] = rocksdb::kTraceGet;
  replay("another type first", other);
  replay("no end", whole.substr(0, whole.size() - 13));
  replay("cut", whole.substr(0, whole.size() - 20));
}

}  // namespace

std::vector<Scenario> TraceScenarios() {
  return {{"trace_recording", Recording},
          {"trace_replaying", Replaying},
          {"trace_damaged", Damaged}};
}

}  // namespace compassdb_test
