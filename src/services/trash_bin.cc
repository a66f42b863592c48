// SPDX-License-Identifier: Apache-2.0
#include "services/trash_bin.h"

#include <algorithm>

#include "env/missing.h"
#include "format/file_names.h"
#include "util/start_thread.h"

namespace compassdb {

bool IsTrashName(const std::string& name) {
  const size_t suffix = sizeof(kTrashSuffix) - 1;
  if (name.size() <= suffix || name.compare(name.size() - suffix, suffix, kTrashSuffix) != 0) {
    return false;
  }
  uint64_t number = 0;
  FileType type;
  return ParseFileName(name.substr(0, name.size() - suffix), &number, &type) &&
         (type == FileType::kPieceFile || type == FileType::kPageFile);
}

TrashBin::~TrashBin() {
  std::thread thread;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    changed_.SignalAll();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

void TrashBin::SetRate(int64_t bytes_per_second) {
  MutexLock lock(&mu_);
  rate_ = bytes_per_second;
  progress_.reset();
  changed_.SignalAll();
}

void TrashBin::Add(std::shared_ptr<FileSystem> fs, const std::string& path, uint64_t bytes) {
  {
    MutexLock lock(&mu_);
    if (closing_ || paths_.count(path) > 0) return;
    if (thread_.joinable() || StartThread(&thread_, "trash", [this] { Run(); })) {
      paths_.insert(path);
      bytes_ += bytes;
      items_.push_back({std::move(fs), path, bytes});
      changed_.SignalAll();
      return;
    }
  }
  // The system has no thread for this: the caller deletes the file at once.
  const Status s = fs->DeleteFile(path);
  gone_(path, IsMissing(s) ? Status::OK() : s);
}

uint64_t TrashBin::bytes() const {
  MutexLock lock(&mu_);
  return bytes_;
}

// True if the file was deleted, or cannot be.
bool TrashBin::DeleteSome(const Item& item, uint64_t* freed, Status* status) const {
  uint64_t links = 0;
  if (chunk_ > 0 && item.bytes > chunk_ && item.fs->GetLinkCount(item.path, &links).ok() &&
      links == 1) {
    // A file with a second name is still used, and its bytes would not be freed.
    if (item.fs->TruncateFile(item.path, item.bytes - chunk_).ok()) {
      *freed = chunk_;
      return false;
    }
  }
  *freed = item.bytes;
  *status = item.fs->DeleteFile(item.path);
  if (IsMissing(*status)) *status = Status::OK();
  return true;
}

double TrashBin::SecondsToWait() const {
  if (!progress_ || rate_ <= 0) return 0;
  const std::chrono::duration<double> past = std::chrono::steady_clock::now() - progress_->since;
  return static_cast<double>(progress_->deleted) / static_cast<double>(rate_) - past.count();
}

void TrashBin::Run() NO_THREAD_SAFETY_ANALYSIS {
  mu_.Lock();
  while (!closing_) {
    // Waits for the last deletion, even if there is nothing more to delete yet.
    if (const double seconds = SecondsToWait(); seconds > 0) {
      // At most an hour at a time: a low rate gives times that overflow a clock.
      const double millis = std::clamp(seconds * 1000, 1.0, 3600e3);
      changed_.WaitFor(std::chrono::milliseconds(static_cast<int64_t>(millis)));
      continue;
    }
    if (items_.empty()) {
      progress_.reset();
      changed_.Wait();
      continue;
    }
    if (!progress_) progress_ = Progress{std::chrono::steady_clock::now()};
    const Item item = items_.front();
    mu_.Unlock();
    uint64_t freed = 0;
    Status s;
    const bool whole = DeleteSome(item, &freed, &s);
    if (whole) gone_(item.path, s);
    mu_.Lock();
    bytes_ -= freed;
    if (progress_) progress_->deleted += freed;
    if (whole) {
      paths_.erase(item.path);
      items_.pop_front();
    } else {
      items_.front().bytes -= freed;
    }
  }
  mu_.Unlock();
}

}  // namespace compassdb
