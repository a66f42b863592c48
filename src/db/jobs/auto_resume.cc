// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/auto_resume.h"

#include <algorithm>
#include <chrono>

#include "db/jobs/resumer.h"
#include "db/report/info_log.h"
#include "db/report/statistics_util.h"
#include "util/start_thread.h"

namespace compassdb {
namespace {

// With less free space than this, only each tenth round tries.
constexpr uint64_t kLeastFreeBytes = 256 << 10;
constexpr int kRoundsWithoutSpace = 10;
constexpr uint64_t kLeastMicros = 1000;

bool MayEndByItself(const Status& error) {
  return (error.IsNoSpace() || error.IsMemoryLimit()) && error.severity() < Status::kFatalError;
}

// The database's directory with the file that the error names. It may be on a separate file system.
std::string DirOf(const Status& error, const DbConfig& config, const std::vector<std::string>& table_dirs) {
  const std::string message = error.getState() == nullptr ? "" : error.getState();
  std::string found;
  const auto look = [&](const std::string& dir) {
    if (dir.size() > found.size() && message.find(dir + "/") != std::string::npos) found = dir;
  };
  look(config.wal_dir);
  for (const std::string& dir : table_dirs) look(dir);
  return found.empty() ? config.name : found;
}

// If the free space is unknown, it is tried.
bool HasSpace(FileSystem* fs, const std::string& dir) {
  uint64_t free = 0;
  return !fs->GetFreeSpace(dir, &free).ok() || free >= kLeastFreeBytes;
}

}  // namespace

void AutoResume::Begin(const Status& error, rocksdb::BackgroundErrorReason reason) {
  if (!MayEndByItself(error) || config_.options.max_bgerror_resume_count <= 0) return;
  {
    MutexLock lock(&mu_);
    if (running_ || stopped_) return;
  }
  if (!listeners_.ErrorRecoveryBegins(reason, error)) return;
  MutexLock lock(&mu_);
  if (running_ || stopped_) return;
  if (reporting_) {
    // Do not wait for it: it may be the caller, or need a lock of the caller.
    running_ = true;
    next_ = error;
    return;
  }
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  next_ = error;
  if (!Start()) {
    LogInfo(config_.info_log.get(), "no thread to resume by itself: the next refused write tries again");
  }
}

bool AutoResume::Start() {
  const bool started = StartThread(&thread_, "retry", [this, error = next_] { Loop(error); });
  missing_ = !started;
  if (!started) return false;
  running_ = true;
  Tick(config_.options.statistics.get(), rocksdb::ERROR_HANDLER_AUTORESUME_COUNT);
  return true;
}

void AutoResume::StartIfMissing() {
  if (!missing_.load(std::memory_order_relaxed)) return;
  MutexLock lock(&mu_);
  if (missing_ && !running_ && !stopped_ && !thread_.joinable()) Start();
}

void AutoResume::Loop(Status old_error) {
  while (true) {
    Status error = Try();
    if (error.ok()) return;  // resumed, by this or another caller, which called the listeners
    if (MayEndByItself(error)) error = Status::Aborted("Exceeded resume retry count");
    listeners_.ErrorRecoveryEnds(old_error, error);
    MutexLock lock(&mu_);
    reporting_ = false;
    if (!running_) return;
    old_error = next_;
  }
}

Status AutoResume::Try() {
  const rocksdb::DBOptions& options = config_.options;
  const auto pause = std::chrono::microseconds(
      std::max<uint64_t>(options.bgerror_resume_retry_interval, kLeastMicros));
  int waited = 0;
  for (int tries = options.max_bgerror_resume_count;;) {
    Status error;
    {
      MutexLock lock(&mu_);
      if (!stopped_) changed_.WaitFor(pause);
      // An error that is set now sees running_, or comes after it.
      error = errors_.error();
      if (stopped_ || tries <= 0 || !MayEndByItself(error)) {
        running_ = false;
        if (stopped_) error = Status::OK();
        reporting_ = !error.ok();
        return error;
      }
    }
    space_.Press();
    const std::string dir = DirOf(error, config_, dirs_.All());
    if (++waited < kRoundsWithoutSpace && !HasSpace(config_.fs, dir)) continue;
    waited = 0;
    --tries;
    Tick(options.statistics.get(), rocksdb::ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
    // The next round checks the result.
    if (!resumer_.ResumeUnasked().ok()) continue;
    Tick(options.statistics.get(), rocksdb::ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
    Record(options.statistics.get(), rocksdb::ERROR_HANDLER_AUTORESUME_RETRY_COUNT,
           static_cast<uint64_t>(options.max_bgerror_resume_count - tries));
  }
}

void AutoResume::Stop() {
  std::thread thread;
  {
    MutexLock lock(&mu_);
    stopped_ = true;
    changed_.SignalAll();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

}  // namespace compassdb
