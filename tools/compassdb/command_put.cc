// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/options.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "commands.h"

namespace compassdb_cli {
namespace {

struct PutFlags {
  std::string key, value, value_file;
  bool create_cf = false;
};

int Put(const Globals& globals, PutFlags flags, Database* database) {
  if (flags.create_cf) {
    const rocksdb::Status s = database->CreateFamily(globals);
    if (!s.ok()) return Fail("put", s);
  }
  rocksdb::ColumnFamilyHandle* family = database->Family("put", globals);
  if (family == nullptr) return kFailed;
  rocksdb::WriteOptions options;
  options.sync = true;  // what the command reports as done survives a crash
  const rocksdb::Status s = database->db()->Put(options, family, flags.key, flags.value);
  return s.ok() ? kOk : Fail("put", s);
}

// Everything that can be wrong with the arguments, before a database is made.
int Prepare(const Globals& globals, bool has_value, PutFlags* flags) {
  if (has_value == !flags->value_file.empty())
    return Fail(kUsage, "put", "give either VALUE or --value-file");
  if (flags->create_cf && globals.cf.empty())
    return Fail(kUsage, "put", "--create-cf needs --cf NAME");
  if (!DecodeArgument("put", "KEY", globals.KeyHex(), &flags->key)) return kUsage;
  if (has_value)
    return DecodeArgument("put", "VALUE", globals.ValueHex(), &flags->value) ? kOk : kUsage;
  std::ifstream file;
  if (flags->value_file != "-") file.open(flags->value_file, std::ios::binary);
  std::istream& in = flags->value_file == "-" ? std::cin : file;
  std::ostringstream value;
  // Of an empty file nothing can be inserted, which sets failbit in `value`.
  if (!in || (in.peek() != std::istream::traits_type::eof() && !(value << in.rdbuf())) || in.bad()) {
    return Fail(kFailed, "put: cannot read", flags->value_file);
  }
  flags->value = std::move(value).str();
  return kOk;
}

}  // namespace

void AddPut(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<PutFlags>();
  auto has_value = std::make_shared<CLI::Option*>(nullptr);
  CLI::App* command = AddCommand(
      app, globals, "put", "Write one record, synced; makes the database if missing", [=] {
        PutFlags prepared = *flags;
        int code = Prepare(*globals, (*has_value)->count() > 0, &prepared);
        if (code != kOk) return code;
        std::unique_ptr<Database> database;
        code = Database::Open("put", *globals, Database::ModeToMake(*globals, prepared.create_cf), &database);
        if (code != kOk) return code;
        code = Put(*globals, prepared, database.get());
        if (code != kOk) return code;
        const rocksdb::Status s = database->Close();
        return s.ok() ? kOk : Fail("put", s);
      });
  command->add_option("KEY", flags->key, "the key")->required();
  *has_value = command->add_option("VALUE", flags->value, "the value");
  command->add_option("--value-file", flags->value_file,
                      "read the value from this file (-: standard input)");
  command->add_flag("--create-cf", flags->create_cf, "make the column family if missing");
}

}  // namespace compassdb_cli
