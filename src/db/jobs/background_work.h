// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace compassdb {

// What other parts of the database need from background work. All with the database mutex held.
class BackgroundWork {
 public:
  // Starts work that is due.
  virtual void MaybeSchedule() = 0;
  // Waits until background work changed something, or for that long. If the system has no thread for that work, the
  // caller does a part of it instead. Releases the mutex while it waits.
  virtual void AwaitBackground(std::chrono::milliseconds most) = 0;
  virtual int FlushesRunning() const = 0;
  virtual int CompactionsRunning() const = 0;  // manual ones, too

 protected:
  ~BackgroundWork() = default;
};

}  // namespace compassdb
