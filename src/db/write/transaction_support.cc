// SPDX-License-Identifier: Apache-2.0
#include "db/write/transaction_support.h"

#include <algorithm>

#include "batch/write_batch_internal.h"
#include "db/db_impl.h"
#include "util/no_memory.h"

namespace compassdb {
namespace {

// The families that a batch has records of.
class FamilyCollector final : public BatchSink {
 public:
  Status Add(uint32_t id, SequenceNumber, ValueType, const Slice&, const Slice&) override {
    ids.insert(id);
    return Status::OK();
  }
  Status Mark(const BatchRecord&, SequenceNumber*) override { return Status::OK(); }
  std::set<uint32_t> ids;
};

}  // namespace

Status DBImpl::WriteForTransaction(const WriteOptions& options, WriteBatch* batch,
                                   const TransactionWrite& write) {
  if (process_.Inherited()) return InheritedStatus();
  return WriteBatchWith(options, batch, write, /*marks=*/true);
}

Status DBImpl::LogSection(const WriteOptions& options, const std::shared_ptr<PreparedSection>& section) {
  if (process_.Inherited()) return InheritedStatus();
  TransactionWrite write;
  write.prepare = section;
  Status s = CatchOutOfMemory("Prepare", [&] {
    front_.open_sections.Announce(section->name);
    return Status::OK();
  });
  if (!s.ok()) return s;
  s = WriteForTransaction(options, &section->batch, write);
  if (!s.ok()) front_.open_sections.Withdraw(section->name);
  return s;
}

Status OpenSections::WriteTo(WalSet* logs, SequenceNumber sequence) const {
  return CatchOutOfMemory("a log", [&] {
    Status s;
    for (const auto& section : All()) {
      rocksdb::WriteBatch copy(section->batch);
      WriteBatchInternal::SetSequence(&copy, sequence);
      if (s = logs->Append(WriteBatchInternal::Contents(&copy), /*sync=*/false); !s.ok()) break;
    }
    return s;
  });
}

void OpenSections::AreIn(uint64_t log_number, rocksdb::Logger* info_log) {
  for (const auto& section : All()) {
    section->log_number = log_number;
    LogInfo(info_log, "prepared transaction " + section->name + " is in log " + std::to_string(log_number));
  }
}

// At the front, before the insertion: the memtables that are to receive what
// was prepared keep the log of the preparation.
void DBImpl::KeepPreparedLogs(const std::vector<WriteThread::Writer*>& group) {
  for (const WriteThread::Writer* w : group) {
    if (w->ends == nullptr) continue;
    const uint64_t log_number = front_.open_sections.LogOf(*w->ends);
    FamilyCollector families;
    // It was checked before it joined the queue.
    WriteBatchInternal::InsertInto(w->batch, &families, nullptr).PermitUncheckedError();
    MutexLock lock(&mu_);
    for (const uint32_t id : families.ids) {
      ColumnFamily* const family = families_.ByIdAtFront(id);
      if (family == nullptr) continue;
      family->mem_prepared_log = std::min(family->mem_prepared_log, log_number);
    }
  }
}

}  // namespace compassdb
