// SPDX-License-Identifier: Apache-2.0
#include "db/open/log_contents.h"

#include <memory>

#include "batch/write_batch_internal.h"
#include "table/piece/piece_salvage.h"
#include "wal/wal_reader.h"

namespace compassdb {
namespace {

class Counter final : public BatchSink {
 public:
  explicit Counter(LogContents* contents) : contents_(contents) {}
  Status Add(uint32_t family, SequenceNumber, ValueType type, const Slice&, const Slice&) override {
    ++contents_->records[family];
    if (type == kTypeMerge) contents_->merged.insert(family);
    return Status::OK();
  }
  Status Mark(const BatchRecord&, SequenceNumber*) override { return Status::OK(); }

 private:
  LogContents* const contents_;
};

}  // namespace

Status ReadLogContents(FileSystem* fs, const std::string& wal_dir, uint64_t number, LogContents* contents) {
  std::unique_ptr<WalReader> log;
  Status s = WalReader::Open(fs, wal_dir, number, &log);
  if (!s.ok()) return IsDamage(s) ? Status::OK() : s;
  Counter counter(contents);
  LogRead read = log->ReadHeader();
  while (read == LogRead::kRecord || read == LogRead::kCorruption) {
    Slice record;
    read = log->ReadBatch(&record);
    rocksdb::WriteBatch batch;
    if (read == LogRead::kRecord && WriteBatchInternal::SetContents(&batch, record).ok()) {
      WriteBatchInternal::InsertInto(&batch, &counter, nullptr).PermitUncheckedError();
    }
  }
  return read == LogRead::kError && !IsDamage(log->status()) ? log->status() : Status::OK();
}

}  // namespace compassdb
