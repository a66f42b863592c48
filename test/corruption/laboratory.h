// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "corruption/specimen.h"

namespace compassdb_test {

// What came of one damaged database.
enum class Verdict {
  kOpenError,   // refused with an error
  kReadError,   // opened; some reads failed with an error, the others were right
  kExact,       // everything right
  kLogTailLost, // the state after fewer batches of the log, and no error
};
inline constexpr int kVerdicts = 4;
const char* VerdictName(Verdict verdict);

// How it is examined.
struct Treatment {
  bool read_only = false;
  // After a compaction of everything, which must not turn damage into data, it is read again.
  bool compact = false;
  // If it is refused: repaired, and read again.
  bool repair = false;
  bool repair_exactly = false;  // and must then have everything
  rocksdb::WALRecoveryMode mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
};

struct Examination {
  Verdict verdict = Verdict::kExact;
  rocksdb::Status open;              // of kOpenError
  std::optional<std::string> wrong;  // wrong data: must never happen
  bool repaired = false;
};

// An environment in memory for the databases under examination. One thread.
class Laboratory {
 public:
  Laboratory();
  ~Laboratory();

  // Opens a database of these files and reads everything in several ways.
  Examination Examine(const Specimen& specimen, const Files& files, const Treatment& treatment);

 private:
  std::unique_ptr<rocksdb::Env> env_;
  uint64_t count_ = 0;
};

}  // namespace compassdb_test
