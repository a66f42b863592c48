// SPDX-License-Identifier: Apache-2.0
#include <compassdb/index.h>

#include "commands.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

void Print(const std::string& text) {
  WriteOutput(text);
  if (!text.empty() && text.back() != '\n') WriteOutput("\n");
}

// Levels, tables, pieces, live share, index memory and amplification are
// known to the engine; it formats them.
int Stats(const Globals& globals, bool json, const std::string& property, Database* database) {
  std::vector<rocksdb::ColumnFamilyHandle*> families = database->families();
  if (!globals.cf.empty()) {
    families = {database->Family("stats", globals)};
    if (families[0] == nullptr) return kFailed;
  }
  const std::string name = !property.empty() ? property
                           : json            ? "compassdb.stats-json"
                                             : "compassdb.stats";
  for (rocksdb::ColumnFamilyHandle* family : families) {
    std::string text;
    // The figures are of loaded indexes, so load them first.
    const rocksdb::Status s = compassdb::LoadIndex(database->db(), family);
    if (!s.ok()) return Fail("stats", s);
    if (!database->db()->GetProperty(family, name, &text)) {
      return Fail(kFailed, "stats: no such property", name);
    }
    if (!json && property.empty()) Print("Column family " + family->GetName());
    Print(text);
  }
  if (!json && property.empty()) {
    Print("Jobs and stalls are counted since open. Those of a running program are in its property compassdb.stats.");
  }
  return FinishOutput("stats", kOk);
}

}  // namespace

void AddStats(CLI::App* app, Globals* globals) {
  auto json = std::make_shared<bool>(false);
  auto property = std::make_shared<std::string>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "stats", "Levels, tables, pieces, live share, index memory, amplification",
      OpenMode::kRead,
      [=](Database* database) { return Stats(*globals, *json, *property, database); });
  command->add_flag("--json", *json, "one JSON object per column family");
  command->add_option("--property", *property,
                      "print this property instead, e.g. rocksdb.levelstats");
}

}  // namespace compassdb_cli
