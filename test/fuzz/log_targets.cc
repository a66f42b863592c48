// SPDX-License-Identifier: Apache-2.0
// Record logs, write-ahead logs and batches.
#include "batch/write_batch_internal.h"
#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "log/log_reader.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

class Counter final : public BatchSink {
 public:
  Status Add(uint32_t, SequenceNumber, ValueType, const Slice& key, const Slice& value) override {
    bytes_ += key.size() + value.size();
    return Status::OK();
  }
  Status Mark(const BatchRecord&, SequenceNumber*) override { return Status::OK(); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

void ReadBatch(const Slice& bytes) {
  rocksdb::WriteBatch batch;
  if (!WriteBatchInternal::SetContents(&batch, bytes).ok()) return;
  Counter counter;
  SequenceNumber next = 0;
  const Status s = WriteBatchInternal::InsertInto(&batch, &counter, &next);
  if (s.ok()) AcceptFuzzInput();
  FUZZ_CHECK(counter.bytes() <= bytes.size());
  class Handler final : public rocksdb::WriteBatch::Handler {
   public:
    Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
    Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
    Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status MarkBeginPrepare(bool) override { return Status::OK(); }
    Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
    Status MarkNoop(bool) override { return Status::OK(); }
    Status MarkCommit(const Slice&) override { return Status::OK(); }
    Status MarkRollback(const Slice&) override { return Status::OK(); }
  } handler;
  batch.Iterate(&handler).PermitUncheckedError();
  (void)batch.HasPut();
  (void)batch.HasMerge();
  (void)batch.HasDeleteRange();
  rocksdb::WriteBatch sum;
  if (s.ok() && sum.Put("k", "v").ok()) WriteBatchInternal::Append(&sum, &batch).PermitUncheckedError();
}

FUZZ_TARGET(write_batch, 512 << 10) { ReadBatch(input); }

void ReadLog(FileSystem* fs, const Slice& input, LogReader::Leftovers leftovers) {
  std::unique_ptr<SequentialFile> file;
  FUZZ_CHECK(fs->NewSequentialFile("/log", &file).ok());
  LogReader reader(std::move(file), "/log", 7);
  reader.Expect(leftovers);
  Slice record;
  uint64_t end = 0;
  for (;;) {
    const LogRead read = reader.ReadRecord(&record);
    if (read == LogRead::kRecord) {
      FUZZ_CHECK(record.size() <= input.size());
      FUZZ_CHECK(reader.RecordOffset() >= end && reader.EndOffset() <= input.size());
      end = reader.EndOffset();
    } else if (read == LogRead::kCorruption) {
      FUZZ_CHECK(!reader.status().ok());
    } else {
      if (read == LogRead::kEnd && end > 0) AcceptFuzzInput();
      break;
    }
  }
}

FUZZ_TARGET(record_log, 512 << 10) {
  MemoryFileSystem fs;
  WriteFile(&fs, "/log", input);
  for (const auto leftovers : {LogReader::Leftovers::kBehindRecords,
                               LogReader::Leftovers::kAtBeginning, LogReader::Leftovers::kNone}) {
    ReadLog(&fs, input, leftovers);
  }
}

// Logs 7, 8, ...: { bytes:length-prefixed }.
FUZZ_TARGET(wal, 4 << 20) {
  MemoryFileSystem fs;
  FUZZ_CHECK(fs.CreateDir("/db").ok());
  std::vector<uint64_t> numbers;
  for (const auto& [name, bytes] : UnpackFiles(input)) {
    numbers.push_back(7 + numbers.size());
    WriteFile(&fs, WalFileName("/db", numbers.back()), bytes);
    if (numbers.size() == 4) break;
  }
  bool good = true;
  for (const auto mode :
       {WalRecoveryMode::kTolerateCorruptedTailRecords, WalRecoveryMode::kAbsoluteConsistency,
        WalRecoveryMode::kPointInTimeRecovery, WalRecoveryMode::kSkipAnyCorruptedRecords}) {
    WalRecoveryOptions options;
    options.mode = mode;
    options.wal_dir = "/db";
    options.min_number = 7;
    WalRecoveryReport report;
    const auto replay = [](uint64_t, const Slice& batch, const BatchPlace&) {
      ReadBatch(batch);
      return Status::OK();
    };
    good &= RecoverWals(&fs, options, numbers, replay, &report).ok() && report.records > 0 && report.problems.empty();
  }
  if (good) AcceptFuzzInput();
}

}  // namespace
}  // namespace compassdb_test
