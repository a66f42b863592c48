// SPDX-License-Identifier: Apache-2.0
#include "options/options_doc.h"

#include "options/option_tables.h"

namespace compassdb {

namespace {

const char* SupportName(Support support) {
  switch (support) {
    case Support::kSupported: return "works";
    case Support::kHint: return "hint";
    case Support::kRefused: return "refused";
  }
  return "";
}

// Objects print constant ids, so that defaults are the same everywhere.
template <class S>
std::string DefaultOf(const OptionInfo<S>& option) {
  if (option.type == std::string("struct")) return "";
  std::string text = option.format(ConfigOptions(), S());
  if (text.empty() && option.format_for_log != nullptr) {  // a default that is not printed
    text = option.format_for_log(S());
    if (option.type == std::string("bool")) text = text == "0" ? "false" : "true";
  }
  if (option.name == std::string("info_log_level")) return "INFO_LEVEL";  // DEBUG in debug builds
  return text.empty() ? "" : "`" + text + "`";
}

template <class S>
void AppendTable(const char* title, const OptionTable<S>& table, std::string* out) {
  *out += "### " + std::string(title) + "\n\n";
  *out += "| option | type | default | changeable | here | what it does, or why not |\n";
  *out += "| --- | --- | --- | --- | --- | --- |\n";
  std::string retired;
  for (const OptionInfo<S>& option : table) {
    if (option.type == std::string("retired")) {
      retired += (retired.empty() ? "`" : ", `") + std::string(option.name) + "`";
      continue;
    }
    *out += "| `" + std::string(option.name) + "` | " + option.type + " | " + DefaultOf(option) +
            " | " + (option.is_mutable() ? "yes" : "") + " | " + SupportName(option.support) +
            " | " + (option.has_range ? option.Range() + "; " : "") + option.note + " |\n";
  }
  *out += "\n";
  if (!retired.empty()) {
    *out += "Read and dropped, as RocksDB 7.8.3 itself does: " + retired + ".\n\n";
  }
}

}  // namespace

std::string OptionsDocument() {
  std::string out = "\n";
  AppendTable("DBOptions", DbOptionTable(), &out);
  AppendTable("ColumnFamilyOptions", FamilyOptionTable(), &out);
  AppendTable("BlockBasedTableOptions", BlockTableOptionTable(), &out);
  AppendTable("CompassTable (`compassdb::PieceTableOptions`)", PieceTableOptionTable(), &out);
  AppendTable("CompressionOptions", CompressionOptionTable(), &out);
  AppendTable("CompactionOptionsUniversal", UniversalOptionTable(), &out);
  AppendTable("CompactionOptionsFIFO", FifoOptionTable(), &out);
  return out;
}

}  // namespace compassdb
