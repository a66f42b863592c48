// SPDX-License-Identifier: Apache-2.0
//
// Files of earlier builds are in test/formats/<number>/: databases, one per layout, an encrypted one, a directory of
// backups, and a table file. This build must read exact data from it, continue with it, and refuse what says it is of a
// newer format.
//
//   formats_test --fixtures=test/formats
//   formats_test --make=test/formats/2     writes them again, for a release with a new format

#include <cstdio>
#include <filesystem>

#include "formats/databases.h"
#include "formats/fixture.h"
#include "formats/others.h"
#include "support/flags.h"
#include "support/layout.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;

bool Make(const std::string& dir) {
  for (const std::string& layout : Layouts()) {
    if (!MakeDatabase(layout, fs::path(dir) / layout, /*env=*/nullptr)) return false;
  }
  return MakeOthers(dir);
}

bool Check(const std::string& fixtures) {
  int databases = 0, others = 0;
  for (const auto& release : fs::directory_iterator(fixtures)) {
    if (!release.is_directory()) continue;
    for (const std::string& layout : Layouts()) {
      const fs::path fixture = release.path() / layout;
      if (!fs::is_directory(fixture)) continue;  // a layout that came later
      ++databases;
      if (!OpensWithExactData(layout, fixture, /*env=*/nullptr) || !NewerVersionsAreRefused(layout, fixture)) return false;
    }
    if (!CheckOthers(release.path(), &others)) return false;
  }
  printf("%d databases, %d others\n", databases, others);
  REQUIRE(databases > 0 && others > 0, "no fixtures in %s", fixtures.c_str());
  return true;
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const std::string fixtures = flags.String("fixtures", ""), make = flags.String("make", "");
  flags.RejectUnknown();
  if (fixtures.empty() == make.empty()) {
    fprintf(stderr, "--fixtures=DIR or --make=DIR\n");
    return 2;
  }
  return (make.empty() ? Check(fixtures) : Make(make)) ? 0 : 1;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
