// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_path.h"

#include <algorithm>
#include <set>
#include <string>

#include "batch/write_batch_internal.h"
#include "db/report/info_log.h"
#include "db/report/statistics_util.h"
#include "db/write/add_logged.h"
#include "env/limited_bytes.h"
#include "format/user_timestamp.h"
#include "util/no_memory.h"
#include "util/perf_span.h"

namespace compassdb {
namespace {

// Groups with less data are inserted by the leader: waking the followers twice
// costs more than inserting their batches.
constexpr size_t kParallelInsertBytes = 32 << 10;

// Inserts a batch's records into the memtables of their families.
class MemTableSink final : public BatchSink {
 public:
  MemTableSink(const ColumnFamilySet* families, const LoggedBatch& logged, bool concurrent)
      : families_(families), logged_(logged), concurrent_(concurrent) {}

  Status Add(uint32_t id, SequenceNumber sequence, ValueType type, const Slice& key,
             const Slice& value) override {
    if (family_ == nullptr || id != id_) {
      family_ = families_->ByIdAtFront(id);
      id_ = id;
      if (family_ == nullptr) return Status::OK();  // dropped since the batch was checked
    }
    if (type == kTypeRangeDeletion && CompareKeys(family_->user_comparator(), key, value) >= 0) {
      return Status::OK();
    }
    MemTable* const mem = family_->memtables().active().get();
    Status s = AddLogged(mem, logged_, sequence, type, key, value, concurrent_);
    if (s.ok() && !full_) full_ = mem->ShouldFlush();
    return s;
  }
  // The marks of two-phase commit are for recovery.
  Status Mark(const BatchRecord&, SequenceNumber*) override { return Status::OK(); }
  bool full() const { return full_; }

 private:
  const ColumnFamilySet* const families_;
  const LoggedBatch& logged_;
  const bool concurrent_;
  ColumnFamily* family_ = nullptr;
  uint32_t id_ = 0;
  bool full_ = false;
};

// Refuses batches that must not reach the log.
class BatchChecker final : public BatchSink {
 public:
  BatchChecker(const ColumnFamilySet* families, bool ignore_missing, bool marks)
      : families_(families), ignore_missing_(ignore_missing), marks_(marks) {}

  Status Add(uint32_t id, SequenceNumber, ValueType type, const Slice& key,
             const Slice& value) override {
    if (Status s = WriteBatchInternal::CheckSizes(key.size(), value.size()); !s.ok()) return s;
    if (family_ == nullptr || id != id_) {
      family_ = families_->ById(id);
      id_ = id;
    }
    if (family_ == nullptr) {
      if (ignore_missing_) return Status::OK();
      return Status::InvalidArgument("Invalid column family specified in write batch",
                                     "id " + std::to_string(id));
    }
    if (family_->timestamp_size() != 0) {
      if (type == kTypeMerge || type == kTypeWideColumnEntity ||
          key.size() < family_->timestamp_size() ||
          (type == kTypeRangeDeletion && value.size() < family_->timestamp_size())) {
        return Status::InvalidArgument("write batch holds a key without timestamp, column family",
                                       family_->name());
      }
    }
    if (type == kTypeRangeDeletion && CompareKeys(family_->user_comparator(), key, value) > 0) {
      return Status::InvalidArgument("DeleteRange: end key comes before start key");
    }
    if (type == kTypeMerge && family_->merge_operator() == nullptr) {
      return Status::InvalidArgument("Merge: column family has no merge_operator",
                                     family_->name());
    }
    return Status::OK();
  }
  Status Mark(const BatchRecord& mark, SequenceNumber* next) override {
    return marks_ ? Status::OK() : BatchSink::Mark(mark, next);
  }

 private:
  const ColumnFamilySet* const families_;
  const bool ignore_missing_;
  const bool marks_;
  std::shared_ptr<ColumnFamily> family_;
  uint32_t id_ = 0;
};

// The families of a batch's records.
class FamilyCollector final : public BatchSink {
 public:
  Status Add(uint32_t id, SequenceNumber, ValueType, const Slice&, const Slice&) override {
    ids.insert(id);
    return Status::OK();
  }
  Status Mark(const BatchRecord&, SequenceNumber*) override { return Status::OK(); }
  std::set<uint32_t> ids;
};

// Waits until the limiter lets the batch through, if it asks for that.
Status LimitWalRate(const rocksdb::DBOptions& db, const WriteOptions& options, size_t bytes) {
  if (options.rate_limiter_priority == rocksdb::Env::IO_TOTAL) return Status::OK();
  if (options.rate_limiter_priority != rocksdb::Env::IO_USER) {
    return Status::InvalidArgument(
        "WriteOptions::rate_limiter_priority only allows Env::IO_TOTAL and Env::IO_USER");
  }
  if (options.disableWAL || db.manual_wal_flush) {
    return Status::InvalidArgument(
        "WriteOptions::rate_limiter_priority needs a WAL, and no DBOptions::manual_wal_flush");
  }
  rocksdb::RateLimiter* const limiter = db.rate_limiter.get();
  if (limiter == nullptr || !limiter->IsRateLimited(rocksdb::RateLimiter::OpType::kWrite)) {
    return Status::OK();
  }
  RequestInBursts(limiter, bytes, rocksdb::Env::IO_USER, rocksdb::RateLimiter::OpType::kWrite);
  return Status::OK();
}

}  // namespace

Status WritePath::Write(const WriteOptions& options, WriteBatch* batch, const TransactionWrite& transaction,
                        bool marks) {
  if (Status s = config_.CheckWritable("Write"); !s.ok()) return s;
  if (batch == nullptr) return Status::InvalidArgument("Batch is nullptr!");
  // Prepared records get their timestamps at the commit.
  if (WriteBatchInternal::NeedsTimestamps(batch) && !transaction.prepare) {
    return Status::InvalidArgument("write batch must have timestamp(s) set");
  }
  if (tracing_.running()) [[unlikely]] {
    tracing_.Write(WriteBatchInternal::Contents(batch), /*in_order=*/false);
  }
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("Sync writes has to enable WAL.");
  }
  if (options.protection_bytes_per_key == 8) {
    if (Status s = WriteBatchInternal::Protect(batch); !s.ok()) return s;
  } else if (options.protection_bytes_per_key != 0) {
    return Status::InvalidArgument("WriteOptions::protection_bytes_per_key must be zero or eight");
  }
  StopWatch watch(config_.clock, config_.options.statistics.get(), rocksdb::DB_WRITE);
  Status s = CatchOutOfMemory("Write", [&] { return CheckBatch(options, batch, marks); });
  if (!s.ok()) return s;
  const size_t bytes = WriteBatchInternal::ByteSize(batch);
  // The end of a prepared transaction releases its locks, and is not delayed.
  if (transaction.ends == nullptr) s = stalls_.DelayLowPriority(options, bytes, shutting_down_);
  if (!s.ok()) return s;
  if (s = LimitWalRate(config_.options, options, bytes); !s.ok()) return s;
  return Join(options, batch, transaction);
}

Status WritePath::CheckBatch(const WriteOptions& options, const WriteBatch* batch, bool marks) {
  BatchChecker checker(&families_, options.ignore_missing_column_families, marks);
  return WriteBatchInternal::InsertInto(batch, &checker, nullptr);
}

Status WritePath::Join(const WriteOptions& options, WriteBatch* batch, const TransactionWrite& transaction) {
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  WriteThread::Writer w;
  w.batch = batch;
  w.sync = options.sync;
  w.disable_wal = options.disableWAL;
  w.no_slowdown = options.no_slowdown;
  w.low_pri = options.low_pri;
  w.bytes = WriteBatchInternal::ByteSize(batch);
  w.check = transaction.check;
  if (transaction.prepare != nullptr) w.section = &transaction.prepare;
  w.ends = transaction.ends;
  w.count = w.section != nullptr ? 0 : WriteBatchInternal::Count(batch);
  const rocksdb::PerfLevel level = CurrentPerfLevel();
  PerfSpan waiting(level, &rocksdb::PerfContext::write_thread_wait_nanos);
  const WriteThread::State joined = front_.queue.Join(&w);
  waiting.End();
  switch (joined) {
    case WriteThread::State::kLeader:
      Tick(statistics, rocksdb::WRITE_DONE_BY_SELF);
      w.status = WriteAsLeader(&w);
      return w.status;
    case WriteThread::State::kInsert: {
      const PerfSpan inserting(level, &rocksdb::PerfContext::write_memtable_time);
      w.status = InsertBatch(w, /*concurrent=*/true);
    }
      front_.queue.CompleteInsert(&w);
      break;
    default:
      break;
  }
  Tick(statistics, rocksdb::WRITE_DONE_BY_OTHER);
  return w.status;
}

// Nothing may be thrown before the lead is handed over.
Status WritePath::WriteAsLeader(WriteThread::Writer* leader) {
  const rocksdb::PerfLevel level = CurrentPerfLevel();
  PerfSpan scheduling(level, &rocksdb::PerfContext::write_scheduling_flushes_compactions_time);
  Status s = CatchOutOfMemory("Write", [&] { return admission_.Admit(*leader); });
  scheduling.End();
  PerfSpan before(level, &rocksdb::PerfContext::write_pre_and_post_process_time);
  if (s.IsMemoryLimit() && !errors_.writes_refused()) {
    // Some family's memtable may be switched in part.
    background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kMemTable);
  }
  if (s.ok() && leader->check != nullptr) s = (*leader->check)();
  Group group;
  if (const Status built = CatchOutOfMemory("Write", [&] {
        group = front_.queue.BuildGroup(leader);
        return Status::OK();
      });
      !built.ok()) {
    group = {leader};
    if (s.ok()) s = built;
  }
  std::atomic<int> running{0};
  if (s.ok()) {
    // No other thread assigns sequences while this one leads.
    SequenceNumber next = front_.last_sequence.load(std::memory_order_relaxed) + 1;
    size_t bytes = 0;
    for (WriteThread::Writer* w : group) {
      if (tracing_.running()) [[unlikely]] {
        tracing_.Write(WriteBatchInternal::Contents(w->batch), /*in_order=*/true);
      }
      w->sequence = next;
      WriteBatchInternal::SetSequence(w->batch, next);
      next += w->count;
      bytes += w->bytes;
    }
    before.End();
    PerfSpan logging(level, &rocksdb::PerfContext::write_wal_time);
    if (!leader->disable_wal) {
      s = CatchOutOfMemory("Write", [&] { return LogGroup(group, leader->sync); });
    } else {
      front_.unlogged_data.store(true, std::memory_order_relaxed);
    }
    logging.End();
    if (s.ok()) {
      const PerfSpan inserting(level, &rocksdb::PerfContext::write_memtable_time);
      const Status inserted = CatchOutOfMemory("Write", [&] {
        KeepPreparedLogs(group);
        InsertGroup(group, &running);
        return Status::OK();
      });
      if (!inserted.ok()) {
        for (WriteThread::Writer* w : group) {
          if (w->status.ok()) w->status = inserted;  // perhaps none was inserted
        }
      }
      // Before another thread may write open sections into another log.
      for (const WriteThread::Writer* w : group) {
        if (w->ends != nullptr && w->status.ok()) front_.open_sections.Ended(*w->ends);
      }
    }
    // Published also after a failure: the numbers may be in the log, so they are
    // not assigned again.
    front_.last_sequence.store(next - 1, std::memory_order_release);
    if (s.ok()) {
      rocksdb::Statistics* const statistics = config_.options.statistics.get();
      Tick(statistics, rocksdb::NUMBER_KEYS_WRITTEN, next - group.front()->sequence);
      Tick(statistics, rocksdb::BYTES_WRITTEN, bytes);
      if (!leader->disable_wal) Tick(statistics, rocksdb::WRITE_WITH_WAL, group.size());
      Record(statistics, rocksdb::BYTES_PER_WRITE, bytes);
      front_.written.Add(group.size(), next - group.front()->sequence, bytes, /*logged=*/!leader->disable_wal);
    }
  }
  before.End();
  const PerfSpan afterwards(level, &rocksdb::PerfContext::write_pre_and_post_process_time);
  Status result = s;
  if (s.ok()) {
    for (const WriteThread::Writer* w : group) {
      if (!w->status.ok()) {
        // The log has what the memtable lacks: only a reopen repairs that.
        background_errors_.SetBackgroundError(w->status, rocksdb::BackgroundErrorReason::kMemTable);
      }
    }
    result = leader->status;
  } else {
    for (WriteThread::Writer* w : group) w->status = s;
  }
  front_.queue.ExitGroup(group);
  return result;
}

Status WritePath::LogGroup(const Group& group, bool sync) {
  const WriteBatch* record = group.front()->batch;
  WriteBatch merged;
  if (group.size() > 1 || !record->GetWalTerminationPoint().is_cleared()) {
    for (WriteThread::Writer* w : group) {
      w->logged.at = WriteBatchInternal::ByteSize(&merged);
      if (Status s = WriteBatchInternal::Append(&merged, w->batch, /*wal_only=*/true); !s.ok()) {
        return s;  // nothing has been written: the batches are too large together
      }
      w->logged.bytes = Slice(WriteBatchInternal::Contents(w->batch).data() + kBatchHeaderBytes,
                              WriteBatchInternal::ByteSize(&merged) - w->logged.at);
    }
    WriteBatchInternal::SetSequence(&merged, group.front()->sequence);
    record = &merged;
  } else {
    group.front()->logged.at = 0;
    group.front()->logged.bytes = WriteBatchInternal::Contents(record);
  }
  if (front_.log_values.enabled()) OpenLog();
  const Slice bytes = WriteBatchInternal::Contents(record);
  sync = sync || (log_file_ != nullptr && front_.log_values.NeedsSync(bytes.size()));
  BatchPlace place;
  Status s;
  {
    rocksdb::Statistics* const statistics = config_.options.statistics.get();
    StopWatch watch(config_.clock, sync ? statistics : nullptr, rocksdb::WAL_FILE_SYNC_MICROS);
    s = front_.logs.Append(bytes, sync, &place);
  }
  if (!s.ok()) {
    errors_.SetWalFailed();
    for (const WriteThread::Writer* w : group) {
      // The mark may be in the log or not: only recovery can decide whether the section is open.
      if (w->ends != nullptr) s = Status(s, Status::kFatalError);
    }
    background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kWriteCallback);
    return s;
  }
  if (log_file_ != nullptr && place.at != UINT64_MAX) {
    if (!sync) log_file_->Keep(PlaceInLog(place.end, place.at), bytes);
    for (WriteThread::Writer* w : group) {
      w->logged.file = log_file_;
      w->logged.end = place.end;
      w->logged.at += place.at;
    }
  }
  for (const WriteThread::Writer* w : group) {
    if (w->section != nullptr) front_.open_sections.Logged(*w->section, front_.logs.current_number());
  }
  return s;
}

// For addresses of values in it. If that fails, memtables get the values.
void WritePath::OpenLog() {
  const uint64_t number = front_.logs.current_number();
  if (number == log_number_) return;
  log_number_ = number;
  log_file_.reset();
  if (Status s = front_.log_values.Open(number, &log_file_); !s.ok()) {
    LogInfo(config_.info_log.get(),
            "values of log " + std::to_string(number) + " stay in memory: " + s.ToString());
  }
}

void WritePath::InsertGroup(const Group& group, std::atomic<int>* running) {
  size_t bytes = 0;
  for (const WriteThread::Writer* w : group) bytes += w->bytes;
  if (group.size() > 1 && bytes >= kParallelInsertBytes &&
      config_.options.allow_concurrent_memtable_write) {
    front_.queue.StartParallelInsert(group, running);
    group.front()->status = InsertBatch(*group.front(), /*concurrent=*/true);
    front_.queue.AwaitInserts(group.front(), running);
  } else {
    for (WriteThread::Writer* w : group) w->status = InsertBatch(*w, /*concurrent=*/false);
  }
  if (config_.write_buffers != nullptr) families_.ChargeAllAtFront();
}

Status WritePath::InsertBatch(const WriteThread::Writer& writer, bool concurrent) {
  if (writer.section != nullptr) return Status::OK();
  MemTableSink sink(&families_, writer.logged, concurrent);
  Status s = CatchOutOfMemory("Write", [&] {
    return WriteBatchInternal::InsertInto(writer.batch, &sink, nullptr);
  });
  if (sink.full()) memtable_switch_.MemTableIsFull();
  return s;
}

Status WritePath::LogSection(const WriteOptions& options, const std::shared_ptr<PreparedSection>& section) {
  TransactionWrite write;
  write.prepare = section;
  Status s = CatchOutOfMemory("Prepare", [&] {
    front_.open_sections.Announce(section->name);
    return Status::OK();
  });
  if (!s.ok()) return s;
  s = Write(options, &section->batch, write, /*marks=*/true);
  if (!s.ok()) front_.open_sections.Withdraw(section->name);
  return s;
}

// Before the insertion: the memtables that will get the prepared records keep the log of the preparation.
void WritePath::KeepPreparedLogs(const Group& group) {
  front_.queue.AssertAtFront();
  for (const WriteThread::Writer* w : group) {
    if (w->ends == nullptr) continue;
    const uint64_t log_number = front_.open_sections.LogOf(*w->ends);
    FamilyCollector collector;
    // It was checked before it joined the queue.
    WriteBatchInternal::InsertInto(w->batch, &collector, nullptr).PermitUncheckedError();
    MutexLock lock(mu_);
    for (const uint32_t id : collector.ids) {
      ColumnFamily* const family = families_.ByIdAtFront(id);
      if (family == nullptr) continue;
      family->memtables().KeepPreparedLog(log_number);
    }
  }
}

Status WritePath::FlushLog(bool sync) {
  if (Status s = config_.CheckWritable("FlushWAL"); !s.ok()) return s;
  ExclusiveWrite front(&front_.queue);
  Status s = sync ? front_.logs.Sync() : front_.logs.Flush();
  if (!s.ok()) {
    errors_.SetWalFailed();
    background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kWriteCallback);
  }
  return s;
}

Status WritePath::LockLog() {
  if (Status s = config_.CheckWritable("LockWAL"); !s.ok()) return s;
  {
    MutexLock lock(mu_);
    if (log_locks_ > 0) {
      ++log_locks_;
      return Status::OK();
    }
  }
  auto front = std::make_unique<ExclusiveWrite>(&front_.queue);
  if (Status s = front_.logs.Flush(); !s.ok()) return s;
  MutexLock lock(mu_);
  ++log_locks_;
  log_lock_ = std::move(front);
  return Status::OK();
}

Status WritePath::UnlockLog() {
  std::unique_ptr<ExclusiveWrite> front;
  MutexLock lock(mu_);
  if (log_locks_ == 0) return Status::Aborted("UnlockWAL without LockWAL");
  if (--log_locks_ == 0) front = std::move(log_lock_);
  return Status::OK();
}

void WritePath::AbandonLogLock() {
  std::unique_ptr<ExclusiveWrite> abandoned;
  MutexLock lock(mu_);
  abandoned = std::move(log_lock_);
}

}  // namespace compassdb
