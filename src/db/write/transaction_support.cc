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
    open_sections_.Announce(section->name);
    return Status::OK();
  });
  if (!s.ok()) return s;
  s = WriteForTransaction(options, &section->batch, write);
  if (!s.ok()) open_sections_.Withdraw(section->name);
  return s;
}

Status DBImpl::LogOpenSections() {
  return CatchOutOfMemory("a log", [&] {
    Status s;
    for (const auto& section : open_sections_.All()) {
      WriteBatch copy(section->batch);
      WriteBatchInternal::SetSequence(&copy, last_sequence_.load() + 1);
      if (s = wals_.Append(WriteBatchInternal::Contents(&copy), /*sync=*/false); !s.ok()) break;
    }
    return s;
  });
}

void DBImpl::OpenSectionsAreIn(uint64_t log_number) {
  for (const auto& section : open_sections_.All()) {
    section->log_number = log_number;
    LogInfo(config_.info_log.get(), "prepared transaction " + section->name + " is in log " +
                                        std::to_string(log_number));
  }
}

RecoveredTransactions DBImpl::TakeRecoveredTransactions() {
  MutexLock lock(&mu_);
  return std::move(recovered_transactions_);
}

// At the front, before the insertion: the memtables that are to receive what
// was prepared keep the log of the preparation.
void DBImpl::KeepPreparedLogs(const std::vector<WriteThread::Writer*>& group) {
  for (const WriteThread::Writer* w : group) {
    if (w->ends == nullptr) continue;
    const uint64_t log_number = open_sections_.LogOf(*w->ends);
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
