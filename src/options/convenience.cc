// SPDX-License-Identifier: Apache-2.0
// The string functions of rocksdb/convenience.h.
#include "rocksdb/convenience.h"

#include "options/option_tables.h"
#include "options/table_factories.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/object_registry.h"
#include "util/compression.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using compassdb::OptionMap;
using compassdb::OptionTable;

// The functions without ConfigOptions: an object that cannot be made here is an error,
// and the options do not change.
ConfigOptions LegacyConfig(bool input_strings_escaped, bool ignore_unknown_options) {
  ConfigOptions config;
  config.input_strings_escaped = input_strings_escaped;
  config.ignore_unknown_options = ignore_unknown_options;
  return config;
}

// As in RocksDB, one code for every error in a text, or in a map that is not of a table.
Status AsInvalid(const Status& s) {
  if (s.ok() || s.IsInvalidArgument()) return s;
  return Status::InvalidArgument(s.getState() == nullptr ? "" : s.getState());
}

template <class S>
Status FromMap(const ConfigOptions& config, const OptionTable<S>& table, const S& base,
               const OptionMap& map, S* result) {
  S options = base;
  const Status s = AsInvalid(compassdb::ParseOptions(config, table, map, &options));
  *result = s.ok() ? options : base;
  return s;
}

template <class S>
Status FromString(const ConfigOptions& config, const OptionTable<S>& table, const S& base,
                  const std::string& text, S* result) {
  OptionMap map;
  const Status s = compassdb::ParseOptionString(text, &map);
  if (s.ok()) return FromMap(config, table, base, map, result);
  *result = base;
  return s;
}

// For tables: as a factory with the options `base` takes them.
template <class S>
Status TableFromMap(const ConfigOptions& config, TableFactory* factory, const S& base,
                    const OptionMap& map, S* result) {
  const Status s = compassdb::ConfigureTable(config, map, factory);
  *result = s.ok() ? *factory->GetOptions<S>() : base;
  return s;
}

}  // namespace

EnvOptions::EnvOptions(const DBOptions& options)
    : use_mmap_reads(options.allow_mmap_reads),
      use_mmap_writes(options.allow_mmap_writes),
      use_direct_reads(options.use_direct_reads),
      allow_fallocate(options.allow_fallocate),
      set_fd_cloexec(options.is_fd_close_on_exec),
      bytes_per_sync(options.bytes_per_sync),
      strict_bytes_per_sync(options.strict_bytes_per_sync),
      compaction_readahead_size(options.compaction_readahead_size),
      random_access_max_buffer_size(options.random_access_max_buffer_size),
      writable_file_max_buffer_size(options.writable_file_max_buffer_size),
      rate_limiter(options.rate_limiter.get()) {}

ConfigOptions::ConfigOptions(const DBOptions& options)
    : env(options.env), registry(ObjectRegistry::NewInstance()) {}

Status GetDBOptionsFromMap(const ConfigOptions& config, const DBOptions& base,
                           const std::unordered_map<std::string, std::string>& map,
                           DBOptions* new_options) {
  return FromMap(config, compassdb::DbOptionTable(), base, map, new_options);
}

Status GetDBOptionsFromMap(const DBOptions& base,
                           const std::unordered_map<std::string, std::string>& map,
                           DBOptions* new_options, bool escaped, bool ignore_unknown) {
  return GetDBOptionsFromMap(LegacyConfig(escaped, ignore_unknown), base, map, new_options);
}

Status GetDBOptionsFromString(const ConfigOptions& config, const DBOptions& base,
                              const std::string& text, DBOptions* new_options) {
  return FromString(config, compassdb::DbOptionTable(), base, text, new_options);
}

Status GetDBOptionsFromString(const DBOptions& base, const std::string& text,
                              DBOptions* new_options) {
  return GetDBOptionsFromString(LegacyConfig(false, false), base, text, new_options);
}

Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                     const std::unordered_map<std::string, std::string>& map,
                                     ColumnFamilyOptions* new_options) {
  return FromMap(config, compassdb::FamilyOptionTable(), base, map, new_options);
}

Status GetColumnFamilyOptionsFromMap(const ColumnFamilyOptions& base,
                                     const std::unordered_map<std::string, std::string>& map,
                                     ColumnFamilyOptions* new_options, bool escaped,
                                     bool ignore_unknown) {
  return GetColumnFamilyOptionsFromMap(LegacyConfig(escaped, ignore_unknown), base, map,
                                       new_options);
}

Status GetColumnFamilyOptionsFromString(const ConfigOptions& config,
                                        const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* new_options) {
  return FromString(config, compassdb::FamilyOptionTable(), base, text, new_options);
}

Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* new_options) {
  return GetColumnFamilyOptionsFromString(LegacyConfig(false, false), base, text, new_options);
}

Status GetBlockBasedTableOptionsFromMap(const ConfigOptions& config,
                                        const BlockBasedTableOptions& base,
                                        const std::unordered_map<std::string, std::string>& map,
                                        BlockBasedTableOptions* new_options) {
  std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(base));
  const Status s = TableFromMap(config, factory.get(), base, map, new_options);
  // A factory makes its own where there is none.
  if (compassdb::HasCacheOfItsOwn(*factory)) new_options->block_cache = base.block_cache;
  return s;
}

Status GetBlockBasedTableOptionsFromMap(const BlockBasedTableOptions& base,
                                        const std::unordered_map<std::string, std::string>& map,
                                        BlockBasedTableOptions* new_options, bool escaped,
                                        bool ignore_unknown) {
  return GetBlockBasedTableOptionsFromMap(LegacyConfig(escaped, ignore_unknown), base, map,
                                          new_options);
}

Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config,
                                           const BlockBasedTableOptions& base,
                                           const std::string& text,
                                           BlockBasedTableOptions* new_options) {
  OptionMap map;
  const Status s = compassdb::ParseOptionString(text, &map);
  if (s.ok()) return AsInvalid(GetBlockBasedTableOptionsFromMap(config, base, map, new_options));
  *new_options = base;
  return s;
}

Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& base,
                                           const std::string& text,
                                           BlockBasedTableOptions* new_options) {
  return GetBlockBasedTableOptionsFromString(LegacyConfig(false, false), base, text, new_options);
}

// The options of plain tables can be read and written; a family that uses them is refused at open.
Status GetPlainTableOptionsFromMap(const ConfigOptions& config, const PlainTableOptions& base,
                                   const std::unordered_map<std::string, std::string>& map,
                                   PlainTableOptions* new_options) {
  const std::unique_ptr<TableFactory> factory(NewPlainTableFactory(base));
  return TableFromMap(config, factory.get(), base, map, new_options);
}

Status GetPlainTableOptionsFromMap(const PlainTableOptions& base,
                                   const std::unordered_map<std::string, std::string>& map,
                                   PlainTableOptions* new_options, bool escaped,
                                   bool ignore_unknown) {
  return GetPlainTableOptionsFromMap(LegacyConfig(escaped, ignore_unknown), base, map,
                                     new_options);
}

Status GetPlainTableOptionsFromString(const ConfigOptions& config, const PlainTableOptions& base,
                                      const std::string& text, PlainTableOptions* new_options) {
  OptionMap map;
  const Status s = compassdb::ParseOptionString(text, &map);
  if (s.ok()) return AsInvalid(GetPlainTableOptionsFromMap(config, base, map, new_options));
  *new_options = base;
  return s;
}

Status GetPlainTableOptionsFromString(const PlainTableOptions& base, const std::string& text,
                                      PlainTableOptions* new_options) {
  return GetPlainTableOptionsFromString(LegacyConfig(false, false), base, text, new_options);
}

// An option that the database does not know is the column family's; one that neither knows is an error.
Status GetOptionsFromString(const ConfigOptions& config, const Options& base,
                            const std::string& text, Options* new_options) {
  OptionMap map;
  OptionMap of_family;
  DBOptions db = base;
  ColumnFamilyOptions family = base;
  Status s = compassdb::ParseOptionString(text, &map);
  if (s.ok()) s = compassdb::ParseOptions(config, compassdb::DbOptionTable(), map, &db, &of_family);
  if (s.ok()) {
    s = compassdb::ParseOptions(config, compassdb::FamilyOptionTable(), of_family, &family);
  }
  *new_options = s.ok() ? Options(db, family) : base;
  return AsInvalid(s);
}

Status GetOptionsFromString(const Options& base, const std::string& text, Options* new_options) {
  return GetOptionsFromString(LegacyConfig(false, false), base, text, new_options);
}

Status GetStringFromDBOptions(const ConfigOptions& config, const DBOptions& options,
                              std::string* text) {
  *text = compassdb::JoinOptions(
      compassdb::ListOptions(config, compassdb::DbOptionTable(), options), config.delimiter);
  return Status::OK();
}

Status GetStringFromDBOptions(std::string* text, const DBOptions& options,
                              const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return GetStringFromDBOptions(config, options, text);
}

Status GetStringFromColumnFamilyOptions(const ConfigOptions& config,
                                        const ColumnFamilyOptions& options, std::string* text) {
  *text = compassdb::JoinOptions(
      compassdb::ListOptions(config, compassdb::FamilyOptionTable(), options), config.delimiter);
  return Status::OK();
}

Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return GetStringFromColumnFamilyOptions(config, options, text);
}

Status GetStringFromCompressionType(std::string* text, CompressionType type) {
  for (const auto& [name, value] : compassdb::NamesOf(CompressionType())) {
    if (value != type) continue;
    *text = name;
    return Status::OK();
  }
  text->clear();
  return Status::InvalidArgument("Invalid compression types");
}

std::vector<CompressionType> GetSupportedCompressions() {
  std::vector<CompressionType> supported;
  for (const auto& [name, type] : compassdb::NamesOf(CompressionType())) {
    if (type != kDisableCompressionOption && compassdb::CompressionTypeSupported(type)) {
      supported.push_back(type);
    }
  }
  return supported;
}

}  // namespace ROCKSDB_NAMESPACE
