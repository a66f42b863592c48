// SPDX-License-Identifier: Apache-2.0
#include <compassdb/repair.h>
#include <fmt/core.h>

#include "commands.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

std::string Lost(const compassdb::RepairReport& report) {
  std::string text;
  const auto add = [&](uint64_t n, const char* what) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
  };
  add(report.lost_tables, "tables as a whole");
  add(report.lost_records, "records");
  add(report.lost_range_deletions, "range deletions");
  add(report.lost_bytes, "bytes of data blocks");
  add(report.lost_values, "separated values");
  add(report.lost_pages, "pages");
  add(report.damaged_logs, "places in write-ahead logs");
  return text.empty() ? "nothing" : text;
}

// Does not open the database first, and does not need its OPTIONS file.
int Repair(const Globals& globals) {
  if (!globals.cf.empty() && globals.preset.empty()) {
    return Fail(kUsage, "repair", "--cf says whose options --preset gives; all column families are repaired");
  }
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status stored = ReadOptionsFile(globals, &options, &families);
  if (!stored.ok()) {
    options = globals.DbOptions();
    families.clear();
    if (!stored.IsNotFound() && !stored.IsPathNotFound()) {
      Fail(kFailed, "repair: continues with default options", stored.ToString());
    }
  }
  if (const rocksdb::Status s = ChooseWalDir(globals, &options); !s.ok()) return Fail("repair", s);
  std::vector<rocksdb::ColumnFamilyDescriptor> unknown{{"unknown", rocksdb::ColumnFamilyOptions()}};
  for (auto* chosen : {&families, &unknown}) {
    if (rocksdb::Status s = UsePreset(globals, chosen); !s.ok()) return Fail(kUsage, "repair", s.ToString());
  }
  if (globals.memory_mb > 0) options.memory_limit = globals.memory_mb << 20;
  compassdb::RepairReport report;
  const rocksdb::Status s = compassdb::RepairDB(globals.db, options, families, &unknown[0].options, &report);
  for (const std::string& line : report.log) {
    if (!globals.quiet || line.starts_with("uncertain: ")) PrintOut("{}\n", line);
  }
  if (!s.ok()) return Fail("repair", s);
  PrintOut("kept: {} tables as they were, {} rewritten\n", report.kept_tables, report.rewritten_tables);
  PrintOut("lost: {}\n", Lost(report));
  for (const std::string& path : report.moved) PrintOut("moved: {}\n", path);
  return FinishOutput("repair", kOk);
}

}  // namespace

void AddRepair(CLI::App* app, Globals* globals) {
  AddCommand(app, globals, "repair",
             "Make a damaged database open again; what is not needed is moved to DIR/lost, and what was lost is printed",
             [=] { return Repair(*globals); });
}

}  // namespace compassdb_cli
