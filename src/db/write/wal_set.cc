// SPDX-License-Identifier: Apache-2.0
#include "db/write/wal_set.h"

#include <utility>

#include "db/report/info_log.h"
#include "db/report/statistics_util.h"
#include "util/no_memory.h"

namespace compassdb {

Status WalSet::StartFirst(WalHeader header, const std::string& db_id) {
  MutexLock lock(&mu_);
  mark_.SetDatabase(db_id);
  Status s = NextNumber(&header.number);
  return s.ok() ? StartLocked(header) : s;
}

Status WalSet::Start(bool give_up_failed) {
  MutexLock lock(&mu_);
  if (!error_.ok() && !give_up_failed) return error_;
  WalWriter* const current = logs_.back().writer.get();
  // Buffered bytes of the old log must reach the kernel: its successor has its
  // length, and recovery takes a shorter log for a crash.
  if (error_.ok()) {
    if (Status s = current->Flush(); !s.ok()) {
      Fail(s);
      if (!give_up_failed) return s;
    }
  }
  const Status started = CatchOutOfMemory("a log", [&]() NO_THREAD_SAFETY_ANALYSIS {
    uint64_t number;
    Status s = NextNumber(&number);
    if (!s.ok()) return s;
    WalHeader header = current->SuccessorHeader(number, !error_.ok());
    header.predecessor_acknowledged = AcknowledgedEnd(header.predecessor);
    return StartLocked(header);
  });
  if (!started.ok()) return started;
  if (!error_.ok()) {
    AwaitClosedSync();
    given_up_ = logs_[logs_.size() - 2].number;
    gap_ = error_;
    for (size_t i = 0; i + 1 < logs_.size(); ++i) {
      logs_[i].writer.reset();
      logs_[i].reusable = false;
    }
  }
  error_ = Status::OK();
  return Status::OK();
}

Status WalSet::CreateLog(const WalHeader& header, std::unique_ptr<WalWriter>* writer) {
  while (!spares_.empty()) {
    const uint64_t spare = spares_.front();
    rejected_.push_back(spare);  // unless the call succeeds
    spares_.pop_front();
    Status s = WalWriter::CreateOver(fs_, dir_, spare, options_.file, header, writer);
    if (s.ok()) {
      rejected_.pop_back();
      return s;
    }
    compassdb::LogInfo(options_.info_log,
                       "cannot write over " + WalFileName(dir_, spare) + ": " + s.ToString());
  }
  return WalWriter::Create(fs_, dir_, options_.file, header, writer);
}

// The number of a log whose name is durable, or will be when it is begun.
Status WalSet::NextNumber(uint64_t* number) {
  if (leftover_) {
    if (Status s = fs_->SyncDir(dir_); !s.ok()) return s;
    leftover_ = false;
  }
  if (options_.recycle == 0) return ahead_.Take(dir_, number);
  *number = new_number_();
  return Status::OK();
}

Status WalSet::StartLocked(const WalHeader& header) {
  // Before there is a file: memory may run out.
  Log& log = logs_.emplace_back();
  log.number = header.number;
  const Status s = CatchOutOfMemory("a log", [&]() NO_THREAD_SAFETY_ANALYSIS {
    Status made = CreateLog(header, &log.writer);
    // Before anything in it is acknowledged: no log, synced or not, may have a successor whose name is lost.
    if (made.ok() && options_.recycle > 0) made = fs_->SyncDir(dir_);
    return made;
  });
  if (!s.ok()) {
    // A log without a successor must not be between others, nor come back there in a power cut.
    logs_.pop_back();
    leftover_ = true;
    fs_->DeleteFile(WalFileName(dir_, header.number)).PermitUncheckedError();
    return s;
  }
  log.bytes = log.writer->Size();
  log.unsynced = true;
  log.reusable = true;
  total_bytes_.fetch_add(log.bytes, std::memory_order_relaxed);
  current_number_.store(header.number, std::memory_order_release);
  current_empty_.store(true, std::memory_order_release);
  return Status::OK();
}

void WalSet::AddRecovered(uint64_t number, uint64_t bytes) {
  MutexLock lock(&mu_);
  Log log;
  log.number = number;
  log.bytes = bytes;
  total_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  logs_.push_back(std::move(log));
}

SyncedLog WalSet::synced() const {
  MutexLock lock(&synced_mu_);
  return synced_;
}

void WalSet::SetSynced(const SyncedLog& synced) {
  MutexLock lock(&synced_mu_);
  synced_ = synced;
}

uint64_t WalSet::AcknowledgedEnd(uint64_t number) const {
  MutexLock lock(&synced_mu_);
  const auto it = acknowledged_ends_.find(number);
  return it != acknowledged_ends_.end() ? it->second : UINT64_MAX;
}

Status WalSet::Append(const Slice& record, bool sync, BatchPlace* place) {
  MutexLock lock(&mu_);
  if (!error_.ok()) return error_;
  Log& log = logs_.back();
  const uint64_t begin = log.bytes;
  // Bytes that were added to the log's buffer when memory ran out must never be written.
  Status s = CatchOutOfMemory("a log", [&] { return log.writer->AddBatch(record, place); });
  if (s.ok() && !options_.manual_flush) s = log.writer->Flush();
  const uint64_t bytes = log.writer->Size() - log.bytes;
  log.bytes += bytes;
  log.unsynced = true;
  current_empty_.store(false, std::memory_order_release);
  total_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  bytes_appended_.fetch_add(bytes, std::memory_order_relaxed);
  Tick(statistics_, rocksdb::WAL_FILE_BYTES, bytes);
  if (s.ok() && sync) s = SyncLogs(true);
  if (!s.ok()) {
    Fail(s);
    MutexLock ends(&synced_mu_);
    acknowledged_ends_[log.number] = begin;
  }
  return s;
}

void WalSet::NoteSynced(Log* log) {
  syncs_.fetch_add(1, std::memory_order_relaxed);
  Tick(statistics_, rocksdb::WAL_FILE_SYNCED, 1);
  log->unsynced = false;
  if (options_.values != nullptr) options_.values->DropTail(log->number);
  if (NeedsMark(*log)) {
    SetSynced({log->number, log->writer->SyncedSize()});
    mark_.Write({log->number, log->writer->SyncedSize()});
  }
}

Status WalSet::SyncLogs(bool with_current) {
  AwaitClosedSync();
  for (size_t i = 0; i < logs_.size(); ++i) {
    Log& log = logs_[i];
    const bool current = i + 1 == logs_.size();
    if (log.writer == nullptr || (current && !with_current)) continue;
    if (log.unsynced) {
      if (Status s = log.writer->Sync(); !s.ok()) return s;
      NoteSynced(&log);
    }
    if (!current) {
      if (Status s = log.writer->Close(); !s.ok()) return s;
      log.writer.reset();
    }
  }
  return Status::OK();
}

void WalSet::Fail(const Status& error) {
  error_ = error;
  current_empty_.store(false, std::memory_order_release);
  for (Log& log : logs_) log.reusable = false;  // the error may be an older log's
}

Status WalSet::Flush() {
  MutexLock lock(&mu_);
  return FlushLocked();
}

Status WalSet::FlushedLogs(std::vector<LogInfo>* logs) {
  MutexLock lock(&mu_);
  Status s = FlushLocked();
  for (const Log& log : logs_) logs->push_back({log.number, log.bytes});
  return s;
}

Status WalSet::FlushLocked() {
  if (Status s = Failure(); !s.ok()) return s;
  if (logs_.empty() || logs_.back().writer == nullptr) return Status::OK();
  Status s = logs_.back().writer->Flush();
  if (!s.ok()) Fail(s);
  return s;
}

Status WalSet::Sync() {
  MutexLock lock(&mu_);
  if (Status s = Failure(); !s.ok()) return s;
  Status s = SyncLogs(true);
  if (!s.ok()) Fail(s);
  return s;
}

Status WalSet::SyncUnrecorded() {
  MutexLock lock(&mu_);
  if (!error_.ok()) return error_;
  Status s = logs_.back().writer->SyncUnrecorded();
  if (!s.ok()) Fail(s);
  return s;
}

WalSet::Log* WalSet::FirstUnsyncedClosed() {
  for (size_t i = 0; i + 1 < logs_.size(); ++i) {
    if (logs_[i].writer != nullptr && logs_[i].unsynced) return &logs_[i];
  }
  return nullptr;
}

Status WalSet::SyncClosedLogs() {
  AwaitClosedSync();
  Status s;
  while (Log* const log = s.ok() ? FirstUnsyncedClosed() : nullptr) {
    syncing_closed_ = true;
    mu_.Unlock();
    s = log->writer->Sync();
    mu_.Lock();
    syncing_closed_ = false;
    closed_synced_.SignalAll();
    if (s.ok()) NoteSynced(log);
  }
  return s.ok() ? SyncLogs(false) : s;  // closes them
}

Status WalSet::SyncClosed() {
  MutexLock lock(&mu_);
  Status s = SyncClosedLogs();
  // A gap before the current log: nothing behind it would survive a crash.
  if (!s.ok()) Fail(s);
  return s;
}

bool WalSet::EnsureClosedAreDurable() {
  MutexLock lock(&mu_);
  if (given_up_ != 0 || !error_.ok()) return false;
  Status s = SyncClosedLogs();
  if (!s.ok()) Fail(s);
  return s.ok();
}

Status WalSet::Close() {
  MutexLock lock(&mu_);
  AwaitClosedSync();
  ahead_.DeleteAll();
  Status result = Failure();
  for (Log& log : logs_) {
    if (log.writer == nullptr) continue;
    const bool last = &log == &logs_.back();
    Status s = last && result.ok() ? log.writer->Seal() : log.writer->Close();
    if (result.ok()) result = s;
    if (result.ok() && NeedsMark(log)) {
      SetSynced({log.number, log.writer->SyncedSize()});
      if (mark_.begun()) mark_.Write({log.number, log.writer->SyncedSize()});
    }
    log.writer.reset();
  }
  return result;
}

std::vector<WalSet::LogInfo> WalSet::Logs() const {
  MutexLock lock(&mu_);
  std::vector<LogInfo> infos;
  for (const Log& log : logs_) infos.push_back({log.number, log.bytes});
  return infos;
}

std::vector<uint64_t> WalSet::TakeBelow(uint64_t number) {
  MutexLock lock(&mu_);
  AwaitClosedSync();
  std::vector<uint64_t> taken = std::exchange(rejected_, {});
  while (logs_.size() > 1 && logs_.front().number < number) {
    Log log = std::move(logs_.front());
    logs_.pop_front();
    total_bytes_.fetch_sub(log.bytes, std::memory_order_relaxed);
    bool keep = log.reusable && spares_.size() < options_.recycle;
    if (options_.values != nullptr) {
      options_.values->DropTail(log.number);
      keep = keep && !options_.values->IsOpen(log.number);
    }
    // Writes its last bytes, before the file becomes another log's.
    log.writer.reset();
    if (keep) {
      spares_.push_back(log.number);
    } else {
      taken.push_back(log.number);
    }
  }
  return taken;
}

std::vector<uint64_t> WalSet::Spares() const {
  MutexLock lock(&mu_);
  return {spares_.begin(), spares_.end()};
}

std::vector<uint64_t> WalSet::TakeSpares() {
  MutexLock lock(&mu_);
  std::vector<uint64_t> taken = std::exchange(rejected_, {});
  taken.insert(taken.end(), spares_.begin(), spares_.end());
  spares_.clear();
  return taken;
}

}  // namespace compassdb
