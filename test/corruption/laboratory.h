// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "corruption/specimen.h"

namespace compassdb_test {

// The result for one damaged database.
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
  // If it is refused, or reads give errors: a copy is repaired, and read.
  bool repair = false;
  bool repair_exactly = false;  // and must then have everything
  // For a log: also opened with kSkipAnyCorruptedRecords, which must lose no more than a repair may.
  bool skip = false;
  std::string damaged = {};     // the file
  size_t most_lost = SIZE_MAX;  // keys that may be gone or old then
  rocksdb::WALRecoveryMode mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
};

struct Examination {
  Verdict verdict = Verdict::kExact;
  rocksdb::Status open;              // of kOpenError
  std::optional<std::string> wrong;  // wrong data: must never happen
  bool repaired = false;
  bool skipped = false;  // opened past the damage
};

// An environment in memory for the databases under examination. One thread.
class Laboratory {
 public:
  Laboratory();
  ~Laboratory();

  // Opens a database of these files and reads everything in several ways.
  Examination Examine(const Specimen& specimen, const Files& files, const Treatment& treatment);

 private:
  using Keys = std::set<std::pair<int, std::string>>;  // with their families
  enum class Way { kRepair, kSkip };
  // Repairs a database of these files, or opens it past the damage to its log. Not empty: the error in the result.
  std::optional<std::string> Recover(const Specimen& specimen, const Files& files, const Treatment& treatment, Way way);
  // The keys that are lost or old after the file is deleted and the rest is repaired. Damage to the file may lose
  // these keys, and no others. Not empty: the error.
  std::optional<std::string> KeysOfFile(const Specimen& specimen, const std::string& file, const Keys** keys);
  std::string NewPath();
  rocksdb::Env* EnvOf(const Specimen& specimen) { return specimen.kind.sealed ? sealed_.get() : env_.get(); }

  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::Env> sealed_;  // over env_
  uint64_t count_ = 0;
  std::map<std::pair<const Specimen*, std::string>, Keys> keys_of_files_;
};

}  // namespace compassdb_test
