// SPDX-License-Identifier: Apache-2.0
// A thread's wide-column entities, and what they should hold. They have keys of their own next to those of
// support/generator.h, which knows no entities.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "stress/stress_db.h"
#include "support/random.h"

namespace compassdb_test {

// Thread safety: none.
class Entities {
 public:
  Entities(int thread, uint64_t seed);

  // One operation. What is wrong, or nothing; `done` says what it was.
  std::string Step(const StressDb& db, std::string* done);
  // All of them, at present.
  std::string Compare(const StressDb& db, int family) const;
  // Of a family, now.
  size_t count(int family) const;
  // Snapshots are checked and released: the database will be closed.
  std::string Release(const StressDb& db);

 private:
  using Columns = std::map<std::string, std::string>;  // the default column has no name
  using State = std::map<std::pair<int, std::string>, Columns>;

  std::string Key();
  std::string Write(const StressDb& db, int family, std::string* done);
  std::string WriteMany(const StressDb& db);
  std::string Read(const StressDb& db, int family, const std::string& key, const State& state,
                   const rocksdb::Snapshot* snapshot) const;
  std::string Walk(const StressDb& db, int family, const State& state, const rocksdb::Snapshot* snapshot) const;
  Columns SomeColumns();

  const int thread_;
  const std::string prefix_;
  Random random_;
  State state_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
  State then_;  // at the snapshot
};

}  // namespace compassdb_test
