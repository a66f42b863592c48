// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/trace_reader_writer.h"
#include "rocksdb/trace_record.h"
#include "rocksdb/trace_record_result.h"
#include "rocksdb/unique_id.h"
#include "rocksdb/write_batch.h"

namespace rocksdb {
namespace {

TEST(Trace, FilesGiveBackTheirRecords) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  std::unique_ptr<TraceWriter> writer;
  ASSERT_TRUE(NewFileTraceWriter(env.get(), EnvOptions(), "/trace", &writer).ok());
  const std::string first = std::string("12345678T\x03\0\0\0abc", 16);
  const std::string second = std::string("12345678T\0\0\0\0", 13);
  ASSERT_TRUE(writer->Write(first).ok());
  ASSERT_TRUE(writer->Write(second).ok());
  ASSERT_TRUE(writer->Write("cut").ok());
  EXPECT_EQ(writer->GetFileSize(), 32u);
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_FALSE(writer->Write("more").ok());
  std::unique_ptr<TraceReader> reader;
  ASSERT_TRUE(NewFileTraceReader(env.get(), EnvOptions(), "/trace", &reader).ok());
  std::string record;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(reader->Read(&record).ok());
    EXPECT_EQ(record, first);
    ASSERT_TRUE(reader->Read(&record).ok());
    EXPECT_EQ(record, second);
    EXPECT_TRUE(reader->Read(&record).IsCorruption());  // within a record
    ASSERT_TRUE(reader->Reset().ok());
  }
  ASSERT_TRUE(reader->Close().ok());
  EXPECT_FALSE(NewFileTraceReader(env.get(), EnvOptions(), "/none", &reader).ok());
}

// Notes the value of a Get.
class Results : public TraceRecordResult::Handler {
 public:
  Status Handle(const StatusOnlyTraceExecutionResult& r) override { return r.GetStatus(); }
  Status Handle(const SingleValueTraceExecutionResult& r) override {
    text += "get:" + r.GetValue() + ":" + r.GetStatus().ToString() + " ";
    return Status::OK();
  }
  Status Handle(const MultiValuesTraceExecutionResult& r) override {
    for (const auto& value : r.GetValues()) text += "multi:" + value + " ";
    return Status::OK();
  }
  Status Handle(const IteratorTraceExecutionResult& r) override {
    text += "seek:" + r.GetKey().ToString() + "=" + r.GetValue().ToString() + " ";
    return Status::OK();
  }
  std::string text;
};

TEST(Trace, RecordsRunOnADatabase) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(options, "/db", &opened).ok());
  std::unique_ptr<DB> db(opened);
  std::unique_ptr<TraceRecord::Handler> handler(
      TraceRecord::NewExecutionHandler(db.get(), {db->DefaultColumnFamily()}));
  Results results;
  const auto run = [&](TraceRecord&& record) {
    std::unique_ptr<TraceRecordResult> result;
    Status s = record.Accept(handler.get(), &result);
    if (s.ok() && result != nullptr) s = result->Accept(&results);
    return s;
  };
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(run(WriteQueryTraceRecord(batch.Data(), 1)).ok());
  ASSERT_TRUE(run(GetQueryTraceRecord(0, std::string("a"), 2)).ok());
  ASSERT_TRUE(run(GetQueryTraceRecord(0, std::string("z"), 3)).ok());
  ASSERT_TRUE(run(IteratorSeekQueryTraceRecord(IteratorSeekQueryTraceRecord::kSeek, 0,
                                               std::string("aa"), 4))
                  .ok());
  ASSERT_TRUE(run(IteratorSeekQueryTraceRecord(IteratorSeekQueryTraceRecord::kSeekForPrev, 0,
                                               std::string("az"), 5))
                  .ok());
  ASSERT_TRUE(run(MultiGetQueryTraceRecord({0, 0}, std::vector<std::string>{"a", "b"}, 6)).ok());
  EXPECT_EQ(results.text, "get:1:OK get::NotFound:  seek:b=2 seek:a=1 multi:1 multi:2 ");
  EXPECT_TRUE(run(GetQueryTraceRecord(9, std::string("a"), 7)).IsCorruption());
  EXPECT_TRUE(run(MultiGetQueryTraceRecord({0}, std::vector<std::string>{}, 8)).IsInvalidArgument());
}

TEST(UniqueId, IsShownInGroups) {
  EXPECT_EQ(UniqueIdToHumanString(std::string(12, '\xab')), "ABABABABABABABAB-ABABABAB");
}

}  // namespace
}  // namespace rocksdb
