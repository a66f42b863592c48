// SPDX-License-Identifier: Apache-2.0
// A progress line with rates on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace compassdb_cli {

class Progress {
 public:
  // `verb` as in "loaded 12 records". A quiet one prints nothing.
  Progress(std::string verb, bool quiet);
  bool quiet() const { return quiet_; }

  // Call often; prints twice a second on a terminal, else every five seconds.
  void Update(uint64_t records, uint64_t bytes);
  // For the lines that follow: how much of the source is read, if that is known.
  void SetShare(uint64_t done, uint64_t all) {
    percent_ = all == 0 ? -1 : static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(all));
  }
  // The closing line.
  void Finish(uint64_t records, uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  std::string Line(uint64_t records, uint64_t bytes) const;

  const std::string verb_;
  const bool quiet_;
  const bool terminal_;
  int percent_ = -1;  // below 0: unknown
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace compassdb_cli
