// SPDX-License-Identifier: Apache-2.0
// The commands: each adds itself to the command line and, when chosen, leaves
// its exit code in globals->exit_code.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "database.h"
#include "exit_codes.h"
#include "keys.h"

namespace compassdb_cli {

void AddCompact(CLI::App* app, Globals* globals);
void AddDelete(CLI::App* app, Globals* globals);
void AddDump(CLI::App* app, Globals* globals);
void AddExport(CLI::App* app, Globals* globals);
void AddGet(CLI::App* app, Globals* globals);
void AddHelp(CLI::App* app, Globals* globals);
void AddImport(CLI::App* app, Globals* globals);
void AddLoad(CLI::App* app, Globals* globals);
void AddPlanTableless(CLI::App* app, Globals* globals);
void AddPut(CLI::App* app, Globals* globals);
void AddRepair(CLI::App* app, Globals* globals);
void AddScan(CLI::App* app, Globals* globals);
void AddStats(CLI::App* app, Globals* globals);
void AddTuneSeparation(CLI::App* app, Globals* globals);
void AddVerify(CLI::App* app, Globals* globals);

// The word in quotes, and the command that was probably meant.
std::string UnknownCommand(const CLI::App& app, const std::string& word);

// Adds a command that needs --db and opens no database by itself.
inline CLI::App* AddCommand(CLI::App* app, Globals* globals, const std::string& name,
                            const std::string& text, std::function<int()> run) {
  CLI::App* command = app->add_subcommand(name, text);
  command->fallthrough();
  command->callback([globals, name, run] {
    rocksdb::Status s;
    if (!globals->key_files.empty()) s = EnvWithKeys(globals->key_files, &globals->encrypted);
    std::error_code ec;
    const std::filesystem::file_status place = std::filesystem::status(globals->db, ec);
    const bool is_file = std::filesystem::exists(place) && !std::filesystem::is_directory(place);
    globals->exit_code = globals->db.empty() ? Fail(kUsage, name, "--db DIR is required")
                         : is_file           ? Fail(kFailed, name, globals->db + " is a file, not the directory of a database")
                         : !s.ok()           ? Fail(kUsage, name + ": --key-file", s.ToString())
                                             : run();
  });
  return command;
}

// Adds a command that works on an open database, which is closed after it. `prepare` checks the arguments before
// it is opened.
template <typename Prepare, typename Run>
CLI::App* AddDatabaseCommand(CLI::App* app, Globals* globals, const std::string& name, const std::string& text,
                             OpenMode mode, Prepare prepare, Run run) {
  return AddCommand(app, globals, name, text, [globals, name, mode, prepare, run] {
    int code = prepare();
    if (code != kOk) return code;
    std::unique_ptr<Database> database;
    code = Database::Open(name, *globals, mode, &database);
    if (code != kOk) return code;
    code = run(database.get());
    const rocksdb::Status s = database->Close();
    return code == kOk && !s.ok() ? Fail(name, s) : code;
  });
}

template <typename Run>
CLI::App* AddDatabaseCommand(CLI::App* app, Globals* globals, const std::string& name,
                             const std::string& text, OpenMode mode, Run run) {
  return AddDatabaseCommand(app, globals, name, text, mode, [] { return static_cast<int>(kOk); }, run);
}

}  // namespace compassdb_cli
