// SPDX-License-Identifier: Apache-2.0
// Files that are deleted little by little, so that the device is not busy with it. They wait under a name
// that ends in ".trash", large ones are cut from their ends first.
//
// What waits when this ends stays, and is found by its name when its database is opened again.
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
// Of a file that a database has put away.
bool IsTrashName(const std::string& name);

class TrashBin {
 public:
  // Files longer than `chunk` bytes (0: none) are cut by as many at a time. `gone` is told of each file
  // that has been deleted, and of each that could not be, with the error.
  TrashBin(uint64_t chunk, std::function<void(const std::string& path, const Status& status)> gone)
      : chunk_(chunk), gone_(std::move(gone)), changed_(&mu_) {}
  ~TrashBin();

  // Bytes per second; not positive: what waits goes at once.
  void SetRate(int64_t bytes_per_second);
  // A file under its name as trash. Nothing happens if it waits already. It is deleted at once if the system has no
  // thread for this.
  void Add(std::shared_ptr<FileSystem> fs, const std::string& path, uint64_t bytes);
  uint64_t bytes() const;  // that wait

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
