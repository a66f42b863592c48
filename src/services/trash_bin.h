// SPDX-License-Identifier: Apache-2.0
// Files that are deleted slowly, so that the device is not busy with it. They have names that end in
// ".trash"; large ones are truncated from their ends first.
//
// Files that are left when this ends are found by their names when the database is opened again.
//
// Thread safety: all methods. One thread deletes, from the first file on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>

#include "env/file_system.h"
#include "util/mutex.h"

namespace compassdb {

inline constexpr char kTrashSuffix[] = ".trash";
// The name of a file as trash.
bool IsTrashName(const std::string& name);

class TrashBin {
 public:
  // Files longer than `chunk` bytes (0: none) are truncated by as many at a time. `gone` is called for each
  // file that was deleted, or could not be, with the error.
  TrashBin(uint64_t chunk, std::function<void(const std::string& path, const Status& status)> gone)
      : chunk_(chunk), gone_(std::move(gone)), changed_(&mu_) {}
  ~TrashBin();

  // Bytes per second; not positive: pending files are deleted at once.
  void SetRate(int64_t bytes_per_second);
  // A file under its name as trash. Does nothing if it is pending already. Deletes it at once if the system has no
  // thread for this.
  void Add(std::shared_ptr<FileSystem> fs, const std::string& path, uint64_t bytes);
  uint64_t bytes() const;  // pending

 private:
  struct Item {
    std::shared_ptr<FileSystem> fs;
    std::string path;
    uint64_t bytes;
  };
  // Since the rate was last set, or there was last nothing to do.
  struct Progress {
    std::chrono::steady_clock::time_point since;
    uint64_t deleted = 0;
  };
  void Run();
  double SecondsToWait() const REQUIRES(mu_);
  // Deletes the file, or a chunk of it. *freed: how many bytes.
  bool DeleteSome(const Item& item, uint64_t* freed, Status* status) const;

  const uint64_t chunk_;
  const std::function<void(const std::string& path, const Status& status)> gone_;
  mutable Mutex mu_;
  CondVar changed_;
  bool closing_ GUARDED_BY(mu_) = false;
  int64_t rate_ GUARDED_BY(mu_) = 0;
  std::deque<Item> items_ GUARDED_BY(mu_);
  std::unordered_set<std::string> paths_ GUARDED_BY(mu_);  // of the items
  uint64_t bytes_ GUARDED_BY(mu_) = 0;
  std::optional<Progress> progress_ GUARDED_BY(mu_);
  std::thread thread_ GUARDED_BY(mu_);
};

}  // namespace compassdb
