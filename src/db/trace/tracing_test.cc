// SPDX-License-Identifier: Apache-2.0
// Traces are recorded, read again and replayed.
#include "trace/tracing.h"

#include <atomic>

#include "db/testing/db_test_util.h"
#include "rocksdb/trace_record_result.h"
#include "rocksdb/utilities/replayer.h"
#include "rocksdb/write_batch.h"
#include "trace/trace_format.h"

namespace compassdb {
namespace {

constexpr char kTrace[] = "/trace";

// A record in a few words.
class Describer final : public rocksdb::TraceRecord::Handler {
 public:
  using Result = std::unique_ptr<rocksdb::TraceRecordResult>;
  Status Handle(const rocksdb::WriteQueryTraceRecord& record, Result*) override {
    WriteBatch batch(record.GetWriteBatchRep().ToString());
    text += "write " + std::to_string(batch.Count()) + ";";
    return Status::OK();
  }
  Status Handle(const rocksdb::GetQueryTraceRecord& record, Result*) override {
    text += "get " + std::to_string(record.GetColumnFamilyID()) + record.GetKey().ToString() + ";";
    return Status::OK();
  }
  Status Handle(const rocksdb::IteratorSeekQueryTraceRecord& record, Result*) override {
    const bool prev = record.GetSeekType() == rocksdb::IteratorSeekQueryTraceRecord::kSeekForPrev;
    text += (prev ? "prev " : "seek ") + record.GetKey().ToString() + "[" +
            record.GetLowerBound().ToString() + "," + record.GetUpperBound().ToString() + ";";
    return Status::OK();
  }
  Status Handle(const rocksdb::MultiGetQueryTraceRecord& record, Result*) override {
    text += "multi";
    const auto keys = record.GetKeys();
    for (size_t i = 0; i < keys.size(); ++i) {
      text += " " + std::to_string(record.GetColumnFamilyIDs()[i]) + keys[i].ToString();
    }
    text += ";";
    return Status::OK();
  }
  using WriteBatch = rocksdb::WriteBatch;
  std::string text;
};

class TracingTest : public DbTest {
 protected:
  void Start(const rocksdb::TraceOptions& options = rocksdb::TraceOptions()) {
    std::unique_ptr<rocksdb::TraceWriter> writer;
    ASSERT_TRUE(
        rocksdb::NewFileTraceWriter(env_.get(), rocksdb::EnvOptions(), kTrace, &writer).ok());
    const Status s = db_->StartTrace(options, std::move(writer));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void End() { ASSERT_TRUE(db_->EndTrace().ok()); }
  std::unique_ptr<rocksdb::Replayer> NewReplayer() {
    std::unique_ptr<rocksdb::TraceReader> reader;
    EXPECT_TRUE(
        rocksdb::NewFileTraceReader(env_.get(), rocksdb::EnvOptions(), kTrace, &reader).ok());
    std::unique_ptr<rocksdb::Replayer> replayer;
    std::vector<rocksdb::ColumnFamilyHandle*> handles = handles_;
    if (handles.empty()) handles.push_back(db_->DefaultColumnFamily());
    EXPECT_TRUE(db_->NewDefaultReplayer(handles, std::move(reader), &replayer).ok());
    return replayer;
  }
  // What was recorded.
  std::string Recorded() {
    const auto replayer = NewReplayer();
    EXPECT_TRUE(replayer->Prepare().ok());
    Describer describer;
    while (true) {
      std::unique_ptr<rocksdb::TraceRecord> record;
      const Status s = replayer->Next(&record);
      if (s.IsIncomplete()) break;
      EXPECT_TRUE(s.ok()) << s.ToString();
      EXPECT_GE(record->GetTimestamp(), replayer->GetHeaderTimestamp());
      EXPECT_TRUE(record->Accept(&describer, nullptr).ok());
    }
    return describer.text;
  }
  void ReadOfEachKind() {
    Get("a");
    std::vector<std::string> values;
    db_->MultiGet(rocksdb::ReadOptions(), {"a", "b"}, &values);
    const rocksdb::Slice lower("a"), upper("c");
    rocksdb::ReadOptions bounded;
    bounded.iterate_lower_bound = &lower;
    bounded.iterate_upper_bound = &upper;
    for (const auto& options : {rocksdb::ReadOptions(), bounded}) {
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
      it->Seek("b");
      it->SeekForPrev("bb");
      it->SeekToFirst();
      it->SeekToLast();
    }
  }
};

TEST_F(TracingTest, EachKindOfOperation) {
  OpenDb();
  ASSERT_TRUE(Put("before", "1").ok());
  EXPECT_TRUE(db_->EndTrace().IsIOError());
  Start();
  ASSERT_TRUE(Put("a", "1").ok());
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.Delete("before").ok());
  ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  ReadOfEachKind();
  End();
  Get("after");
  EXPECT_EQ(Recorded(),
            "write 1;write 2;get 0a;multi 0a 0b;seek b[,;prev bb[,;"
            "seek b[a,c;prev bb[a,c;seek a[a,c;prev c[a,c;");
}

TEST_F(TracingTest, FilterSamplingAndSize) {
  OpenDb();
  const auto recorded = [&](const rocksdb::TraceOptions& options) {
    Start(options);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(Put("a", "1").ok());
    ReadOfEachKind();
    End();
    return Recorded();
  };
  rocksdb::TraceOptions options;
  options.filter = rocksdb::kTraceFilterWrite | rocksdb::kTraceFilterIteratorSeek |
                   rocksdb::kTraceFilterIteratorSeekForPrev;
  EXPECT_EQ(recorded(options), "get 0a;multi 0a 0b;");
  options.filter = rocksdb::kTraceFilterGet | rocksdb::kTraceFilterMultiGet |
                   rocksdb::kTraceFilterIteratorSeek | rocksdb::kTraceFilterIteratorSeekForPrev;
  options.sampling_frequency = 3;
  EXPECT_EQ(recorded(options), "write 1;");
  options.sampling_frequency = 1;
  options.preserve_write_order = true;
  EXPECT_EQ(recorded(options), "write 1;write 1;write 1;write 1;");
  options.max_trace_file_size = 0;
  EXPECT_EQ(recorded(options), "");
}

TEST_F(TracingTest, ReplayMakesTheSameDatabase) {
  families_ = {"default", "other"};
  options_.create_missing_column_families = true;
  options_.merge_operator = std::make_shared<AppendOperator>();
  OpenDb();
  rocksdb::TraceOptions ordered;
  ordered.preserve_write_order = true;
  Start(ordered);
  for (int i = 0; i < 2000; ++i) {
    const std::string key = Key(i * 7 % 400);
    rocksdb::ColumnFamilyHandle* const family = handles_[static_cast<size_t>(i % 2)];
    const rocksdb::WriteOptions write;
    if (i % 11 == 0) {
      ASSERT_TRUE(db_->Delete(write, family, key).ok());
    } else if (i % 5 == 0) {
      ASSERT_TRUE(db_->Merge(write, family, key, std::to_string(i)).ok());
    } else {
      ASSERT_TRUE(db_->Put(write, family, key, std::to_string(i)).ok());
    }
    if (i % 97 == 0) {
      ASSERT_TRUE(db_->DeleteRange(write, family, Key(i % 300), Key(i % 300 + 5)).ok());
    }
    if (i % 10 == 0) GetIn(i % 2, key);
  }
  End();
  const auto all = [&](rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
    std::string text;
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + "=" + it->value().ToString() + "\n";
    }
    return text;
  };
  const std::string first = all(db_.get(), handles_[0]), second = all(db_.get(), handles_[1]);
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  OpenDb();
  const auto replayer = NewReplayer();
  const auto forget = [](Status, std::unique_ptr<rocksdb::TraceRecordResult>&&) {};
  rocksdb::ReplayOptions fast(1, 1e6);
  EXPECT_TRUE(replayer->Replay(fast, forget).IsIncomplete());  // not prepared
  ASSERT_TRUE(replayer->Prepare().ok());
  std::atomic<int> results{0}, failed{0};
  const auto count = [&](Status s, std::unique_ptr<rocksdb::TraceRecordResult>&& result) {
    ++results;
    if (!s.ok() || result == nullptr) ++failed;
  };
  Status s = replayer->Replay(fast, count);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_GT(results, 2200);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(all(db_.get(), handles_[0]), first);
  EXPECT_EQ(all(db_.get(), handles_[1]), second);
  EXPECT_TRUE(replayer->Replay(fast, forget).IsIncomplete());  // at the end
  // Again, by several threads: the order may differ, the number may not.
  ASSERT_TRUE(replayer->Prepare().ok());
  const int alone = results;
  fast.num_threads = 4;
  s = replayer->Replay(fast, count);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(results, 2 * alone);
  EXPECT_EQ(failed, 0);
  fast.fast_forward = 0;
  EXPECT_TRUE(replayer->Replay(fast, forget).IsInvalidArgument());
}

TEST_F(TracingTest, AFailureEndsTheReplay) {
  families_ = {"default", "other"};
  options_.create_missing_column_families = true;
  OpenDb();
  Start();
  ASSERT_TRUE(Put("a", "1").ok());
  GetIn(1, "a");
  ASSERT_TRUE(Put("b", "1").ok());
  End();
  CloseDb();
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  families_.clear();
  for (const uint32_t threads : {1u, 3u}) {
    OpenDb();
    const auto replayer = NewReplayer();  // without the other family
    ASSERT_TRUE(replayer->Prepare().ok());
    const Status s = replayer->Replay(rocksdb::ReplayOptions(threads, 1e6), nullptr);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_EQ(Get("a"), "1");
  }
}

TEST_F(TracingTest, WhatWasNotEndedIsReplayedToItsEnd) {
  OpenDb();
  Start();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(Put("b", "2").ok());
  std::string data;
  ASSERT_TRUE(ReadFileToString(fs_.get(), kTrace, &data).ok());
  End();
  for (const bool torn : {false, true}) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(kTrace, FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(Slice(data.data(), data.size() - (torn ? 3 : 0))).ok());
    ASSERT_TRUE(file->Close().ok());
    const auto replayer = NewReplayer();
    ASSERT_TRUE(replayer->Prepare().ok());
    int results = 0;
    const Status s = replayer->Replay(
        rocksdb::ReplayOptions(1, 1e6),
        [&](Status, std::unique_ptr<rocksdb::TraceRecordResult>&&) { ++results; });
    EXPECT_EQ(s.code(), torn ? Status::kCorruption : Status::kOk) << s.ToString();
    EXPECT_EQ(results, torn ? 1 : 2);
  }
}

TEST(TraceFormatTest, DamageIsFound) {
  RawTraceRecord raw;
  EXPECT_TRUE(DecodeRawTraceRecord("short", &raw).IsCorruption());
  std::string record, payload;
  const Slice keys[] = {"a", "bc"};
  EncodeTracedMultiGet({1, 2}, 2, keys, &payload);
  EncodeTraceRecord(77, rocksdb::kTraceMultiGet, payload, &record);
  ASSERT_TRUE(DecodeRawTraceRecord(record, &raw).ok());
  EXPECT_EQ(raw.micros, 77u);
  std::unique_ptr<rocksdb::TraceRecord> decoded;
  ASSERT_TRUE(DecodeTraceRecord(raw, &decoded).ok());
  EXPECT_TRUE(DecodeRawTraceRecord(record + "x", &raw).IsCorruption());
  for (size_t n = 8; n < payload.size(); ++n) {
    raw.payload = payload.substr(0, n);
    EXPECT_TRUE(DecodeTraceRecord(raw, &decoded).IsCorruption()) << n;
  }
  raw.type = rocksdb::kTraceEnd;
  EXPECT_TRUE(DecodeTraceRecord(raw, &decoded).IsNotSupported());
  EXPECT_TRUE(CheckTraceHeader(raw).IsCorruption());
  raw.type = rocksdb::kTraceBegin;
  EXPECT_TRUE(CheckTraceHeader(raw).IsCorruption());
  raw.payload = TraceHeader();
  EXPECT_TRUE(CheckTraceHeader(raw).ok());
  raw.payload[raw.payload.find("0.2")] = '9';
  EXPECT_TRUE(CheckTraceHeader(raw).IsNotSupported());
}

}  // namespace
}  // namespace compassdb
