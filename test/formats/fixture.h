// SPDX-License-Identifier: Apache-2.0
// The contents of all fixtures, and a database that is opened to compare them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"

namespace compassdb_test {

#define REQUIRE(condition, ...)                         \
  do {                                                  \
    if (!(condition)) {                                 \
      fprintf(stderr, "FAILED: " __VA_ARGS__);          \
      fprintf(stderr, " (%s)\n", #condition);           \
      return false;                                     \
    }                                                   \
  } while (0)

using Entries = std::map<std::string, std::string>;

// Two families, with a layout of Layouts(). `env`: null is the default one.
class Opened {
 public:
  Opened(const std::string& layout, const std::string& path, bool create, rocksdb::Env* env = nullptr);
  ~Opened();
  Entries Scan(int family) const;

  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status;
};

std::string Key(int i);
std::string Value(int i, int version);
// The number of its directory, test/formats/<number>.
int ReleaseOf(const std::filesystem::path& release);
// The contents of a release's fixtures, by family; written into `opened` if that is not null.
bool Contents(int release, const Opened* opened, Entries expected[2]);
// By scans and by Gets. Says what differs.
bool Same(const Opened& opened, const Entries expected[2], const std::string& when);

}  // namespace compassdb_test
