// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "commands.h"
#include "scanner.h"

namespace compassdb_cli {
namespace {

using ScanOptions = std::map<std::string, CLI::Option*>;

int Prepare(const Globals& globals, ScanOptions* options, ScanFlags* range) {
  range->has_from = (*options)["from"]->count() > 0;
  range->has_to = (*options)["to"]->count() > 0;
  range->has_prefix = (*options)["prefix"]->count() > 0;
  if ((*options)["format"]->count() == 0 && globals.hex) range->format = OutputFormat::kHex;
  return DecodeRange("scan", globals, range) ? kOk : kUsage;
}

}  // namespace

void AddScan(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<ScanFlags>();
  auto options = std::make_shared<ScanOptions>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "scan", "Print records in key order", OpenMode::kRead,
      [=] { return Prepare(*globals, options.get(), flags.get()); },
      [=](Database* database) {
        uint64_t count = 0;
        return WriteRange("scan", *globals, *flags, database, &count);
      });
  static const std::map<std::string, OutputFormat> formats = {
      {"text", OutputFormat::kText}, {"hex", OutputFormat::kHex}, {"json", OutputFormat::kJson}};
  (*options)["from"] = command->add_option("--from", flags->from, "first key (inclusive)");
  (*options)["to"] = command->add_option("--to", flags->to, "end of the range (exclusive)");
  (*options)["prefix"] =
      command->add_option("--prefix", flags->prefix, "only keys that begin with this");
  command->add_option("--limit,--max_keys", flags->limit, "at most this number of records");
  (*options)["format"] =
      command
          ->add_option("--format", flags->format,
                       "text (key TAB value, escaped), hex (as ldb dump --hex) or json")
          ->transform(CLI::CheckedTransformer(formats));
  command->add_flag("--keys-only,--no_value", flags->keys_only, "leave the values out");
  command->add_flag("--reverse", flags->reverse, "from the last key to the first");
}

}  // namespace compassdb_cli
