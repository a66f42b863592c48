// SPDX-License-Identifier: Apache-2.0
// A thread's family with timestamps, and what each of its keys held at every time. Times only grow, so that
// RocksDB answers the same.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "stress/stress_db.h"
#include "support/random.h"

namespace compassdb_test {

// Thread safety: none.
class Times {
 public:
  Times(int thread, uint64_t seed);

  // One operation. What is wrong, or nothing; `done` says what it was.
  std::string Step(const StressDb& db, std::string* done);
  // All of it, at the last time and at the first that is kept.
  std::string Compare(const StressDb& db) const;

 private:
  using Versions = std::map<uint64_t, std::optional<std::string>>;  // by time; nothing: deleted then

  std::string Key();
  std::string Write(const StressDb& db);
  std::string WriteMany(const StressDb& db);
  std::string Read(const StressDb& db, const std::string& key, uint64_t time) const;
  std::string Walk(const StressDb& db, uint64_t time, bool backward) const;
  // All versions since `start`, as iter_start_ts shows them.
  std::string WalkHistory(const StressDb& db, uint64_t start, uint64_t time) const;
  std::string Forget(const StressDb& db, bool compact);
  uint64_t SomeTime();

  const int thread_;
  Random random_;
  std::map<std::string, Versions> state_;
  uint64_t now_ = 1;
  uint64_t low_ = 1;  // reads at earlier times are not for the asking
};

}  // namespace compassdb_test
