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
  // The closing line.
  void Finish(uint64_t records, uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  std::string Line(uint64_t records, uint64_t bytes) const;

  const std::string verb_;
  const bool quiet_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace compassdb_cli
