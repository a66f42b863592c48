// SPDX-License-Identifier: Apache-2.0
// OPTIONS files and option strings.
#include "api/option_string.h"
#include "fuzz/fuzz_target.h"
#include "options/options_file.h"
#include "rocksdb/convenience.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

FUZZ_TARGET(options_file, 512 << 10) {
  rocksdb::ConfigOptions config;
  rocksdb::DBOptions db;
  std::vector<NamedFamilyOptions> families;
  if (ParseOptionsFile(config, "OPTIONS-000005", input.ToString(), &db, &families).ok()) AcceptFuzzInput();
  config.ignore_unknown_options = true;
  ParseOptionsFile(config, "OPTIONS-000005", input.ToString(), &db, &families).PermitUncheckedError();
}

FUZZ_TARGET(option_string, 64 << 20) {
  const std::string text = input.ToString();
  OptionMap map;
  if (ParseOptionString(text, &map).ok()) {
    AcceptFuzzInput();
    size_t bytes = 0;
    for (const auto& [name, value] : map) bytes += name.size() + value.size();
    FUZZ_CHECK(bytes <= text.size());
  }
  rocksdb::ConfigOptions config;
  rocksdb::DBOptions db;
  rocksdb::GetDBOptionsFromString(config, db, text, &db).PermitUncheckedError();
  rocksdb::ColumnFamilyOptions family;
  rocksdb::GetColumnFamilyOptionsFromString(config, family, text, &family).PermitUncheckedError();
  rocksdb::BlockBasedTableOptions table;
  rocksdb::GetBlockBasedTableOptionsFromString(config, table, text, &table).PermitUncheckedError();
}

}  // namespace
}  // namespace compassdb_test
