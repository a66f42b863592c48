// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/options_util.h"

#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "manifest/places.h"
#include "options/options_compare.h"
#include "options/options_file.h"
#include "options/table_factories.h"
#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using compassdb::NamedFamilyOptions;

ConfigOptions ConfigOf(Env* env, bool ignore_unknown_options) {
  ConfigOptions config;
  config.env = env;
  config.ignore_unknown_options = ignore_unknown_options;
  return config;
}

Status ReadStoredOptions(const ConfigOptions& config, const std::string& path, DBOptions* db,
                         std::vector<NamedFamilyOptions>* families,
                         compassdb::ObjectTexts* objects = nullptr) {
  constexpr uint64_t kMostBytes = 256 << 20;
  uint64_t size = 0;
  Status s = config.env->GetFileSize(path, &size);
  if (s.ok() && size > kMostBytes) s = Status::InvalidArgument(path, "is larger than " + std::to_string(kMostBytes) + " bytes");
  std::string text;
  if (s.ok()) s = ReadFileToString(config.env, path, &text);
  if (s.ok() && compassdb::IsSealed(text)) s = Status::InvalidArgument(path, compassdb::kSealedAdvice);
  if (s.ok()) s = compassdb::ParseOptionsFile(config, path, text, db, families);
  if (s.ok() && objects != nullptr) s = compassdb::StoredObjects(path, text, objects);
  if (s.ok()) db->env = config.env;
  return s;
}

// Every table of every family uses the given cache.
Status UseCache(const std::shared_ptr<Cache>& cache, ColumnFamilyOptions* options) {
  if (options->table_factory == nullptr ||
      options->table_factory->GetOptions<BlockBasedTableOptions>() == nullptr) {
    return Status::OK();
  }
  std::shared_ptr<TableFactory> copy;
  Status s = compassdb::CopyTableFactory(*options->table_factory, &copy);
  if (!s.ok()) return s;
  copy->GetOptions<BlockBasedTableOptions>()->block_cache = cache;
  options->table_factory = std::move(copy);
  return s;
}

// The OPTIONS file does not name the directories of tables, and names that of the logs as it was before a move or a copy.
Status UseRecordedPlaces(Env* env, const std::string& dbpath, DBOptions* db_options,
                         std::vector<ColumnFamilyDescriptor>* families) {
  compassdb::Places places;
  const Status s = compassdb::ReadPlaces(compassdb::FileSystemOfEnv(env).get(), dbpath, &places);
  if (!s.ok()) return compassdb::IsMissing(s) ? Status::OK() : s;
  db_options->wal_dir = places.wal_dir;
  for (const compassdb::TablePlace& place : places.tables) {
    if (place.family.empty()) {
      db_options->db_paths.emplace_back(place.dir, place.target_bytes);
      continue;
    }
    for (ColumnFamilyDescriptor& family : *families) {
      if (family.name == place.family) family.options.cf_paths.emplace_back(place.dir, place.target_bytes);
    }
  }
  return s;
}

}  // namespace

Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                std::string* options_file_name) {
  std::vector<std::string> names;
  Status s = env->GetChildren(dbpath, &names);
  if (!s.ok() && env->FileExists(dbpath).IsNotFound()) {
    return Status::NotFound(Status::kPathNotFound, "No options files found in the DB directory.", dbpath);
  }
  if (!s.ok()) return s;
  uint64_t latest = 0;
  bool found = false;
  for (const std::string& name : names) {
    uint64_t number = 0;
    compassdb::FileType type;
    if (!compassdb::ParseFileName(name, &number, &type) ||
        type != compassdb::FileType::kOptions || (found && number <= latest)) {
      continue;
    }
    found = true;
    latest = number;
    *options_file_name = name;
  }
  if (found) return s;
  return Status::NotFound(Status::kPathNotFound, "No options files found in the DB directory.", dbpath);
}

Status LoadOptionsFromFile(const ConfigOptions& config, const std::string& options_file_name,
                           DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache) {
  std::vector<NamedFamilyOptions> families;
  Status s = ReadStoredOptions(config, options_file_name, db_options, &families);
  cf_descs->clear();
  for (size_t i = 0; s.ok() && i < families.size(); ++i) {
    if (cache != nullptr && *cache != nullptr) s = UseCache(*cache, &families[i].options);
    cf_descs->emplace_back(families[i].name, families[i].options);
  }
  return s;
}

Status LoadOptionsFromFile(const std::string& options_file_name, Env* env, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           bool ignore_unknown_options, std::shared_ptr<Cache>* cache) {
  return LoadOptionsFromFile(ConfigOf(env, ignore_unknown_options), options_file_name, db_options,
                             cf_descs, cache);
}

Status LoadLatestOptions(const ConfigOptions& config, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache) {
  std::string name;
  Status s = GetLatestOptionsFileName(dbpath, config.env, &name);
  if (!s.ok()) return s;
  s = LoadOptionsFromFile(config, compassdb::JoinPath(dbpath, name), db_options, cf_descs, cache);
  return s.ok() ? UseRecordedPlaces(config.env, dbpath, db_options, cf_descs) : s;
}

Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                         std::vector<ColumnFamilyDescriptor>* cf_descs,
                         bool ignore_unknown_options, std::shared_ptr<Cache>* cache) {
  return LoadLatestOptions(ConfigOf(env, ignore_unknown_options), dbpath, db_options, cf_descs,
                           cache);
}

Status CheckOptionsCompatibility(const ConfigOptions& config, const std::string& dbpath,
                                 const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs) {
  std::string name;
  Status s = GetLatestOptionsFileName(dbpath, config.env, &name);
  DBOptions stored_db;
  std::vector<NamedFamilyOptions> stored;
  compassdb::ObjectTexts objects;
  if (s.ok()) {
    s = ReadStoredOptions(config, compassdb::JoinPath(dbpath, name), &stored_db, &stored, &objects);
  }
  if (!s.ok()) return s;
  const bool checks = config.sanity_level != ConfigOptions::kSanityLevelNone;
  if (stored.size() < cf_descs.size() || (checks && stored.size() != cf_descs.size())) {
    return Status::InvalidArgument(dbpath, "stored are " + std::to_string(stored.size()) +
                                               " column families, given " +
                                               std::to_string(cf_descs.size()));
  }
  if (checks) s = compassdb::CompareDbOptions(config, stored_db, db_options);
  for (size_t i = 0; s.ok() && i < cf_descs.size(); ++i) {
    if (stored[i].name != cf_descs[i].name) {
      return Status::InvalidArgument(dbpath, "column family " + cf_descs[i].name +
                                                 " is stored as " + stored[i].name);
    }
    if (!checks) continue;
    s = compassdb::CompareFamilyOptions(config, stored[i], objects[stored[i].name],
                                        cf_descs[i].options);
  }
  return s;
}

Status CheckOptionsCompatibility(const std::string& dbpath, Env* env, const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                 bool ignore_unknown_options) {
  ConfigOptions config = ConfigOf(env, ignore_unknown_options);
  config.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  return CheckOptionsCompatibility(config, dbpath, db_options, cf_descs);
}

}  // namespace ROCKSDB_NAMESPACE
