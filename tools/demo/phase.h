// SPDX-License-Identifier: Apache-2.0
// One phase of the demonstration: counts, shows progress, prints its rate.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace package_demo {

class Phase {
 public:
  Phase(int number, std::string name) : number_(number), name_(std::move(name)) {}

  void Update(uint64_t count, uint64_t total) {
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    if (!terminal_) return;
    fmt::print(stderr, "\r[{}/{}] {:<14} {:3.0f} %  {:.0f}/s\033[K", number_, kPhases, name_,
               100.0 * static_cast<double>(count) / static_cast<double>(total),
               static_cast<double>(count) / Seconds());
    std::fflush(stderr);
  }

  // `detail` ends the line: what was checked, or how much data it was.
  void Finish(uint64_t count, const std::string& unit, const std::string& detail) {
    const double seconds = Seconds();
    if (terminal_) fmt::print(stderr, "\r\033[K");
    fmt::print("[{}/{}] {:<14} {:>9} {:<9} in {:6.2f} s  {:>9.0f}/s  {}\n", number_, kPhases, name_,
               count, unit, seconds, static_cast<double>(count) / seconds, detail);
    std::fflush(stdout);
  }

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  static constexpr int kPhases = 6;

 private:
  using Clock = std::chrono::steady_clock;
  const int number_;
  const std::string name_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace package_demo
