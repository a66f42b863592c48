// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "corruption/damage.h"
#include "rocksdb/db.h"
#include "support/model.h"

namespace compassdb_test {

// The last commit to the manifest, except that of a close; and what is in the log behind it.
enum class LastCommit {
  kFlush,          // or a compaction; the logs no longer have it
  kIngestion,      // no log ever had these
  kFamily,         // the second family is created
  kUnloggedFlush,  // with disableWAL
  kTransactions,   // a flush; each batch behind it is a transaction's, prepared and committed, and one stays prepared
};

enum class Logs {
  kPlain,
  kRecycled,    // the last one overwrites an older one, whose bytes are left behind it
  kCompressed,  // with zstd
};

struct SpecimenKind {
  std::string layout;
  // Closed properly; else the files are those of a process that was killed.
  bool closed = true;
  LastCommit last = LastCommit::kFlush;
  bool sealed = false;  // encrypted (support/sealed_env.h): the files are what is stored
  Logs logs = Logs::kPlain;

  std::string ToString() const;
};

// A small database with everything in it: two families, several levels, range deletions, merges,
// compressed blocks, and a write-ahead log with batches that no table holds. And its expected contents:
// `states[i]` after the first i of the batches in the log (the last one is the truth).
struct Specimen {
  using State = std::vector<std::map<std::string, std::string>>;  // by family
  SpecimenKind kind;
  Files files;
  std::vector<State> states;
  // Values that a key ever had, by family; not of keys that were merged.
  std::vector<std::map<std::string, std::set<std::string>>> ever;
};

// Fails the program when the database cannot be made.
Specimen MakeSpecimen(const SpecimenKind& kind, uint64_t seed);

// Common parts of creation and examination.
inline constexpr int kSpecimenFamilies = 2;
inline constexpr int kSpecimenKeys = 250;

struct Opened {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status;

  ~Opened() { Close(); }
  void Close();
};
rocksdb::DBOptions SpecimenOptions(rocksdb::Env* env, rocksdb::WALRecoveryMode mode, const SpecimenKind& kind);
std::vector<rocksdb::ColumnFamilyDescriptor> SpecimenFamilies(const std::string& layout);
void OpenSpecimen(const rocksdb::DBOptions& options, const std::string& path,
                  const std::string& layout, bool read_only, Opened* out);
// Ends the program if the test's own work fails.
void Must(const rocksdb::Status& s, const char* what);

}  // namespace compassdb_test
