// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corruption/damage.h"
#include "rocksdb/db.h"
#include "support/model.h"

namespace compassdb_test {

// A small closed database with everything in it: two families, several levels,
// range deletions, merges, compressed blocks, and a write-ahead log with batches that
// no table holds. And what it must answer: `states[i]` after the first i of the
// batches in the log (the last one is the truth).
struct Specimen {
  using State = std::vector<std::map<std::string, std::string>>;  // by family
  std::string path;
  std::vector<State> states;
};

// Fails the program when the database cannot be made.
Specimen MakeSpecimen(const std::string& path, uint64_t seed);

// What came of one damaged database.
enum class Verdict {
  kOpenError,   // refused with an error
  kReadError,   // opened; some reads failed with an error, the others were right
  kExact,       // everything right
  kLogTailLost, // the state after fewer batches of the log, and no error
};
const char* VerdictName(Verdict verdict);

struct Examination {
  Verdict verdict = Verdict::kExact;
  std::optional<std::string> wrong;  // wrong data: must never happen
};

// Opens (read-only or not) and reads everything in several ways; with `compact`
// also after a compaction of everything, which must not turn damage into data.
Examination Examine(const Specimen& specimen, const std::string& path, bool read_only,
                    bool compact);

}  // namespace compassdb_test
