// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/options.h>

#include "commands.h"

namespace compassdb_cli {
namespace {

struct CompactFlags {
  std::string from, to;
  CLI::Option* from_option = nullptr;
  CLI::Option* to_option = nullptr;
};

int Prepare(const Globals& globals, CompactFlags* flags) {
  const bool from = globals.KeyHex() && flags->from_option->count() > 0;
  const bool to = globals.KeyHex() && flags->to_option->count() > 0;
  return DecodeArgument("compact", "--from", from, &flags->from) && DecodeArgument("compact", "--to", to, &flags->to)
             ? kOk
             : kUsage;
}

int Compact(const Globals& globals, const CompactFlags& flags, Database* database) {
  const bool has_from = flags.from_option->count() > 0, has_to = flags.to_option->count() > 0;
  std::vector<rocksdb::ColumnFamilyHandle*> families = database->families();
  if (!globals.cf.empty()) {
    families = {database->Family("compact", globals)};
    if (families[0] == nullptr) return kFailed;
  }
  const rocksdb::Slice from = flags.from, to = flags.to;
  // Tables of the deepest level are rewritten, too, as `ldb compact` does: what is dead in them is dropped.
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (rocksdb::ColumnFamilyHandle* family : families) {
    const rocksdb::Status s = database->db()->CompactRange(
        options, family, has_from ? &from : nullptr, has_to ? &to : nullptr);
    if (!s.ok()) return Fail("compact: column family " + family->GetName(), s);
  }
  return kOk;
}

}  // namespace

void AddCompact(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<CompactFlags>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "compact", "Compact all column families, or that of --cf", OpenMode::kWrite,
      [=] { return Prepare(*globals, flags.get()); },
      [=](Database* database) { return Compact(*globals, *flags, database); });
  flags->from_option = command->add_option("--from", flags->from, "first key of the range");
  flags->to_option = command->add_option("--to", flags->to, "last key of the range");
}

}  // namespace compassdb_cli
