// SPDX-License-Identifier: Apache-2.0
// While one is alive, SIGINT, SIGTERM and SIGHUP are noted instead of ending the process, so that unfinished work
// can be undone; afterwards the process ends by the signal. What the caller ignores stays ignored. One at a time.
// A helper process is ended at once, so that a command that waits for it continues. A closed pipe ends nothing: writes
// to it fail.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace compassdb_cli {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;

  // The signal, or 0.
  static int noted();
  // The helper process, 0 for none.
  static void SetHelper(pid_t pid);

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_;
  struct sigaction pipe_before_;
};

}  // namespace compassdb_cli
