// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "streams.h"

namespace compassdb_cli {

Progress::Progress(std::string verb, bool quiet)
    : verb_(std::move(verb)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

std::string Progress::Line(uint64_t records, uint64_t bytes) const {
  const double seconds =
      std::max(1e-9, std::chrono::duration<double>(Clock::now() - start_).count());
  return fmt::format("{} {} records, {:.1f} MB in {:.2f} s ({:.0f} records/s, {:.1f} MB/s)", verb_,
                     records, static_cast<double>(bytes) / 1e6, seconds,
                     static_cast<double>(records) / seconds,
                     static_cast<double>(bytes) / 1e6 / seconds);
}

void Progress::Update(uint64_t records, uint64_t bytes) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(terminal_ ? 500 : 5000)) return;
  shown_ = now;
  PrintError("{}{}{}{}", terminal_ ? "\r" : "", Line(records, bytes),
             percent_ < 0 ? "" : fmt::format(", {} % of the source", percent_), terminal_ ? "\033[K" : "\n");
}

void Progress::Finish(uint64_t records, uint64_t bytes) {
  if (quiet_) return;
  PrintError("{}{}\n", terminal_ ? "\r\033[K" : "", Line(records, bytes));
}

}  // namespace compassdb_cli
