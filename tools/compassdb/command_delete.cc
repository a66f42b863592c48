// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/options.h>

#include "commands.h"

namespace compassdb_cli {
namespace {

int Delete(const Globals& globals, const std::string& key, Database* database) {
  rocksdb::ColumnFamilyHandle* family = database->Family("delete", globals);
  if (family == nullptr) return kFailed;
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status s = database->db()->Delete(options, family, key);
  return s.ok() ? kOk : Fail("delete", s);
}

}  // namespace

void AddDelete(CLI::App* app, Globals* globals) {
  auto key = std::make_shared<std::string>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "delete", "Delete a key, synced; no error if it does not exist", OpenMode::kWrite,
      [=] { return DecodeArgument("delete", "KEY", globals->KeyHex(), key.get()) ? kOk : kUsage; },
      [=](Database* database) { return Delete(*globals, *key, database); });
  command->add_option("KEY", *key, "the key")->required();
}

}  // namespace compassdb_cli
