// SPDX-License-Identifier: Apache-2.0
#include "trace/replayer.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "rocksdb/trace_record_result.h"
#include "trace/trace_format.h"
#include "util/mutex.h"
#include "util/start_thread.h"

namespace compassdb {
namespace {

using rocksdb::TraceRecord;
using rocksdb::TraceRecordResult;
using Callback = std::function<void(Status, std::unique_ptr<TraceRecordResult>&&)>;

class ReplayerImpl final : public rocksdb::Replayer {
 public:
  ReplayerImpl(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
               std::unique_ptr<rocksdb::TraceReader> reader)
      : handler_(TraceRecord::NewExecutionHandler(db, handles)), reader_(std::move(reader)) {}

  Status Prepare() override {
    MutexLock lock(&mu_);
    prepared_ = false;
    RawTraceRecord header;
    Status s = reader_->Reset();
    if (s.ok()) s = Read(&header);
    if (s.ok()) s = CheckTraceHeader(header);
    if (!s.ok()) return s;
    began_ = header.micros;
    prepared_ = true;
    ended_ = false;
    return s;
  }

  uint64_t GetHeaderTimestamp() const override { return began_; }

  Status Next(std::unique_ptr<TraceRecord>* record) override {
    RawTraceRecord raw;
    bool end = false;
    Status s = NextRaw(&raw, &end);
    if (end) return Status::Incomplete("Trace end.");
    return s.ok() && record != nullptr ? DecodeTraceRecord(raw, record) : s;
  }

  Status Execute(const std::unique_ptr<TraceRecord>& record,
                 std::unique_ptr<TraceRecordResult>* result) override {
    return record->Accept(handler_.get(), result);
  }

  Status Replay(const rocksdb::ReplayOptions& options, const Callback& callback) override {
    if (!(options.fast_forward > 0)) return Status::InvalidArgument("Wrong fast forward speed!");
    const size_t n = options.num_threads;
    return n <= 1 ? ReplayAlone(options.fast_forward, callback)
                  : ReplayTogether(n, options.fast_forward, callback);
  }

 private:
  Status Read(RawTraceRecord* raw) REQUIRES(mu_) {
    std::string bytes;
    Status s = reader_->Read(&bytes);
    return s.ok() ? DecodeRawTraceRecord(bytes, raw) : s;
  }

  // *end: there is none. A recording that was not ended ends with its last whole record.
  Status NextRaw(RawTraceRecord* raw, bool* end) {
    MutexLock lock(&mu_);
    if (!prepared_) return Status::Incomplete("Not prepared!");
    if (ended_) return Status::Incomplete("Trace end.");
    Status s = Read(raw);
    *end = s.IsIncomplete() || (s.ok() && raw->type == rocksdb::kTraceEnd);
    if (!*end) return s;
    ended_ = true;
    return Status::OK();
  }

  // Each operation has the same delay from the start as in the recording.
  struct Pace {
    Pace(uint64_t recorded, double fast_forward)
        : began(recorded), speed(fast_forward), start(std::chrono::steady_clock::now()) {}
    void WaitFor(uint64_t micros) const {
      if (micros <= began) return;
      const auto after = std::chrono::duration<double, std::micro>(
          static_cast<double>(micros - began) / speed);
      std::this_thread::sleep_until(
          start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(after));
    }
    const uint64_t began;
    const double speed;
    const std::chrono::steady_clock::time_point start;
  };

  // Records that cannot be run are reported and skipped.
  Status Run(const RawTraceRecord& raw, const Callback& callback) {
    std::unique_ptr<TraceRecord> record;
    Status s = DecodeTraceRecord(raw, &record);
    std::unique_ptr<TraceRecordResult> result;
    if (s.IsNotSupported()) {
      if (callback) callback(s, nullptr);
      return Status::OK();
    }
    if (!s.ok()) return s;
    s = Execute(record, callback ? &result : nullptr);
    if (callback) callback(s, std::move(result));
    return s;
  }

  Status ReplayAlone(double fast_forward, const Callback& callback) {
    const Pace pace(began_, fast_forward);
    while (true) {
      RawTraceRecord raw;
      bool end = false;
      Status s = NextRaw(&raw, &end);
      if (!s.ok() || end) return s;
      pace.WaitFor(raw.micros);
      if (s = Run(raw, callback); !s.ok()) return s;
    }
  }

  // One thread reads and keeps the pace, `n` others run.
  Status ReplayTogether(size_t n, double fast_forward, const Callback& callback);

  const std::unique_ptr<TraceRecord::Handler> handler_;
  Mutex mu_;
  const std::unique_ptr<rocksdb::TraceReader> reader_;
  bool prepared_ GUARDED_BY(mu_) = false;
  bool ended_ GUARDED_BY(mu_) = false;
  std::atomic<uint64_t> began_{0};
};

// Records that wait for a thread; a few, so that what is read keeps its pace.
class Queue {
 public:
  explicit Queue(size_t most) : most_(most), changed_(&mu_) {}
  // False: an operation has failed, and the replay ends.
  bool Put(RawTraceRecord&& raw) {
    MutexLock lock(&mu_);
    while (records_.size() >= most_ && error_.ok()) changed_.Wait();
    if (!error_.ok()) return false;
    records_.push_back(std::move(raw));
    changed_.SignalAll();
    return true;
  }
  void Close() {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.SignalAll();
  }
  // False: there is no more work.
  bool Take(RawTraceRecord* raw) {
    MutexLock lock(&mu_);
    while (records_.empty() && !closed_) changed_.Wait();
    if (records_.empty() || !error_.ok()) return false;
    *raw = std::move(records_.front());
    records_.pop_front();
    changed_.SignalAll();
    return true;
  }
  // Keeps the error of the failed operation that is first in the trace.
  void Failed(uint64_t micros, const Status& error) {
    MutexLock lock(&mu_);
    if (!error_.ok() && micros >= failed_at_) return;
    error_ = error;
    failed_at_ = micros;
    changed_.SignalAll();
  }
  Status error() {
    MutexLock lock(&mu_);
    return error_;
  }

 private:
  const size_t most_;
  Mutex mu_;
  CondVar changed_;
  std::deque<RawTraceRecord> records_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  Status error_ GUARDED_BY(mu_);
  uint64_t failed_at_ GUARDED_BY(mu_) = 0;
};

Status ReplayerImpl::ReplayTogether(size_t n, double fast_forward, const Callback& callback) {
  Queue queue(64 * n);
  std::vector<std::thread> threads;
  threads.reserve(n);
  while (threads.size() < n) {
    std::thread thread;
    const bool started = StartThread(&thread, NumberedName("play", threads.size()), [&] {
      RawTraceRecord raw;
      while (queue.Take(&raw)) {
        if (Status s = Run(raw, callback); !s.ok()) queue.Failed(raw.micros, s);
      }
    });
    if (!started) break;  // the existing threads do the work
    threads.push_back(std::move(thread));
  }
  if (threads.empty()) return ReplayAlone(fast_forward, callback);
  const Pace pace(began_, fast_forward);
  Status s;
  while (true) {
    RawTraceRecord raw;
    bool end = false;
    s = NextRaw(&raw, &end);
    if (!s.ok() || end) break;
    pace.WaitFor(raw.micros);
    if (!queue.Put(std::move(raw))) break;
  }
  queue.Close();
  for (std::thread& thread : threads) thread.join();
  const Status failed = queue.error();
  return failed.ok() ? s : failed;
}

}  // namespace

std::unique_ptr<rocksdb::Replayer> NewReplayer(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
    std::unique_ptr<rocksdb::TraceReader> reader) {
  return std::make_unique<ReplayerImpl>(db, handles, std::move(reader));
}

}  // namespace compassdb
