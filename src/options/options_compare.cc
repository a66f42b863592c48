// SPDX-License-Identifier: Apache-2.0
#include "options/options_compare.h"

#include <set>

#include "api/option_string.h"
#include "options/option_tables.h"
#include "options/table_factories.h"

namespace compassdb {

namespace {

using rocksdb::ColumnFamilyOptions;

bool IsExact(const ConfigOptions& config) {
  return config.sanity_level == ConfigOptions::kSanityLevelExactMatch;
}

bool In(const std::set<std::string>& names, const std::string& name) {
  return names.count(name) > 0;
}

Status Changed(const std::string& option, const std::string& is, const std::string& was) {
  return Status::InvalidArgument(option, "is " + is + ", stored as " + was);
}

// The name in "{id=name;option=value;}".
std::string IdOf(const std::string& text) {
  std::string id;
  OptionMap options;
  ParseObjectString(text, "", &id, &options);
  return id.empty() ? text : id;
}

// Whether an object may be given where another one, or none, was stored.
bool SameObject(const ConfigOptions& config, const std::string& option, const std::string& was,
                const std::string& is) {
  if (was == is) return true;
  const bool from_null = was == "nullptr" &&
                         In({"merge_operator", "prefix_extractor",
                             "memtable_insert_with_hint_prefix_extractor",
                             "file_checksum_gen_factory"},
                            option);
  return from_null || (!IsExact(config) && IdOf(was) == IdOf(is));
}

// Compares two factories of the same name.
Status CompareTables(const ConfigOptions& config, const std::string& where,
                     const rocksdb::TableFactory* stored, const rocksdb::TableFactory* given) {
  if (stored == nullptr || given == nullptr) return Status::OK();
  OptionMap was;
  for (auto& [name, value] : ListTableOptions(config, *stored)) was[name] = value;
  for (const auto& [name, value] : ListTableOptions(config, *given)) {
    if (was[name] == value || (name == "filter_policy" && was[name] == "nullptr")) continue;
    // The code is that of RocksDB.
    return Status::Corruption(where + "table_factory: " + name,
                              "is " + value + ", stored as " + was[name]);
  }
  return Status::OK();
}

}  // namespace

Status CompareDbOptions(const ConfigOptions& config, const rocksdb::DBOptions& stored,
                        const rocksdb::DBOptions& given) {
  if (!IsExact(config)) return Status::OK();
  for (const OptionInfo<rocksdb::DBOptions>& option : DbOptionTable()) {
    if ((option.flags & kNoPrint) != 0 || option.name == std::string("db_host_id")) continue;
    const std::string was = option.format(config, stored);
    const std::string is = option.format(config, given);
    if (!SameObject(config, option.name, was, is)) return Changed(option.name, is, was);
  }
  return Status::OK();
}

Status CompareFamilyOptions(const ConfigOptions& config, const NamedFamilyOptions& stored,
                            const OptionMap& objects, const ColumnFamilyOptions& given) {
  const std::string where = "column family " + stored.name + ": ";
  const std::set<std::string> loose = {"comparator", "merge_operator", "table_factory"};
  const std::set<std::string> never = {"compression_opts", "bottommost_compression_opts",
                                       "table_properties_collectors"};
  for (const OptionInfo<ColumnFamilyOptions>& option : FamilyOptionTable()) {
    const std::string name = option.name;
    if ((option.flags & kNoPrint) != 0 || In(never, name)) continue;
    if (!IsExact(config) && !In(loose, name)) continue;
    const auto object = objects.find(name);
    std::string was = option.format(config, stored.options);
    std::string is = option.format(config, given);
    if (object != objects.end()) {
      was = object->second;
      is = EscapeObjectText(is);
    }
    if (!SameObject(config, name, was, is)) return Changed(where + name, is, was);
  }
  if (!IsExact(config)) return Status::OK();
  return CompareTables(config, where, stored.options.table_factory.get(),
                       given.table_factory.get());
}

}  // namespace compassdb
