// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace compassdb {

// What other parts of the database ask of background work. All with the database mutex held.
class BackgroundWork {
 public:
  // Starts what has come due.
  virtual void MaybeSchedule() = 0;
  virtual int FlushesRunning() const = 0;
  virtual int CompactionsRunning() const = 0;  // manual ones, too

 protected:
  ~BackgroundWork() = default;
};

}  // namespace compassdb
