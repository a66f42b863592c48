// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "commands.h"
#include "scanner.h"
#include "streams.h"

namespace compassdb_cli {

// Always lossless: hex is the default, in the form that `ldb load --hex` and
// `compassdb load` read.
void AddDump(CLI::App* app, Globals* globals) {
  auto format = std::make_shared<OutputFormat>(OutputFormat::kHex);
  CLI::App* command = AddDatabaseCommand(
      app, globals, "dump", "Print all records of a column family; feeds `ldb load --hex`",
      OpenMode::kRead, [=](Database* database) {
        ScanFlags all;
        all.format = *format;
        all.whole = true;
        uint64_t count = 0;
        const int code = WriteRange("dump", *globals, all, database, &count);
        if (code == kOk && !globals->quiet) PrintError("dumped {} records\n", count);
        return code;
      });
  static const std::map<std::string, OutputFormat> formats = {
      {"text", OutputFormat::kText}, {"hex", OutputFormat::kHex}, {"json", OutputFormat::kJson}};
  command->add_option("--format", *format, "hex (default), json or text (key TAB value, escaped)")
      ->transform(CLI::CheckedTransformer(formats));
}

}  // namespace compassdb_cli
