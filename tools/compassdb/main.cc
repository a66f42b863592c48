// SPDX-License-Identifier: Apache-2.0
// compassdb: work on any CompassDB database from the command line.
#include <compassdb/preset.h>
#include <fmt/core.h>
#include <rocksdb/version.h>

#include <iostream>

#include "commands.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

std::string PresetNames() {
  std::string names;
  for (compassdb::Preset preset : compassdb::AllPresets()) {
    names += (names.empty() ? "" : ", ") + compassdb::PresetName(preset);
  }
  return names;
}

int Main(int argc, char** argv) {
  OpenStandardStreams();
  std::ios::sync_with_stdio(false);
  Globals globals;
  CLI::App app{"compassdb: work on a CompassDB database", "compassdb"};
  app.set_version_flag(
      "--version", fmt::format("compassdb {} (API of RocksDB {}.{}.{})", COMPASSDB_VERSION_STRING,
                               ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH));
  app.require_subcommand(1);
  app.footer("Exit codes: compassdb help exit-codes");
  app.add_option("--db", globals.db, "directory of the database");
  app.add_option("--cf,--column_family", globals.cf, "column family (default: \"default\")");
  app.add_option("--wal-dir", globals.wal_dir, "directory of the database's logs (default: as the database has recorded)");
  app.add_option("--preset", globals.preset,
                 "commands that write: the family's (without --cf: all families') options from now on: " +
                     PresetNames());
  app.add_option("--key-file", globals.key_files,
                 "key of encrypted files (32 bytes, or 64 hex digits); more than once: the first one writes")
      ->allow_extra_args(false);
  app.add_option("--memory-mb", globals.memory_mb,
                 "cap of memtables, cached blocks and index together (DBOptions::memory_limit)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20));
  app.add_flag("--hex", globals.hex, "keys and values are hex, 0x...");
  app.add_flag("--key_hex,--key-hex", globals.key_hex, "keys are hex");
  app.add_flag("--value_hex,--value-hex", globals.value_hex, "values are hex");
  app.add_flag("--quiet,-q", globals.quiet, "no progress on standard error");
  for (auto add : {AddLoad, AddGet, AddPut, AddDelete, AddScan, AddStats, AddVerify, AddRepair, AddCompact,
                   AddDump, AddImport, AddExport, AddTuneSeparation, AddPlanTableless,
                   AddHelp}) {
    add(&app, &globals);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    const int code = app.exit(e);
    return std::cout.flush() ? code : Fail(kFailed, "usage", "cannot write standard output");
  } catch (const CLI::ParseError& e) {
    std::string what = Shortened(e.what());
    const std::vector<std::string> extra = app.remaining();
    if (app.get_subcommands().empty() && !extra.empty() && !extra[0].starts_with("-")) {
      what = "unknown command " + UnknownCommand(app, extra[0]);
    }
    return Fail(kUsage, "usage", what + " (compassdb --help)");
  } catch (const std::exception& e) {
    return Fail(kFailed, "failed", e.what());  // no memory
  }
  return globals.exit_code;
}

}  // namespace
}  // namespace compassdb_cli

int main(int argc, char** argv) { return compassdb_cli::Main(argc, argv); }
