// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "commands.h"
#include "scanner.h"

namespace compassdb_cli {

void AddScan(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<ScanFlags>();
  auto options = std::make_shared<std::map<std::string, CLI::Option*>>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "scan", "Print records in key order", OpenMode::kRead, [=](Database* database) {
        ScanFlags range = *flags;
        range.has_from = (*options)["from"]->count() > 0;
        range.has_to = (*options)["to"]->count() > 0;
        range.has_prefix = (*options)["prefix"]->count() > 0;
        if ((*options)["format"]->count() == 0 && globals->hex) range.format = OutputFormat::kHex;
        if (!DecodeRange("scan", *globals, &range)) return static_cast<int>(kUsage);
        uint64_t count = 0;
        return WriteRange("scan", *globals, range, database, &count);
      });
  static const std::map<std::string, OutputFormat> formats = {
      {"text", OutputFormat::kText}, {"hex", OutputFormat::kHex}, {"json", OutputFormat::kJson}};
  (*options)["from"] = command->add_option("--from", flags->from, "first key (inclusive)");
  (*options)["to"] = command->add_option("--to", flags->to, "end of the range (exclusive)");
  (*options)["prefix"] =
      command->add_option("--prefix", flags->prefix, "only keys that begin with this");
  command->add_option("--limit,--max_keys", flags->limit, "at most so many records");
  (*options)["format"] =
      command
          ->add_option("--format", flags->format,
                       "text (key TAB value, escaped), hex (as ldb dump --hex) or json")
          ->transform(CLI::CheckedTransformer(formats));
  command->add_flag("--keys-only,--no_value", flags->keys_only, "leave the values out");
  command->add_flag("--reverse", flags->reverse, "from the last key to the first");
}

}  // namespace compassdb_cli
