// SPDX-License-Identifier: Apache-2.0
#include "database.h"

#include <compassdb/preset.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cstdarg>
#include <filesystem>
#include <optional>

#include "codec.h"
#include "exit_codes.h"
#include "other_writer.h"

namespace compassdb_cli {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::Status;

Status ReadOptionsFile(const Globals& globals, rocksdb::DBOptions* db_options,
                       std::vector<ColumnFamilyDescriptor>* families) {
  rocksdb::ConfigOptions config;
  config.env = globals.DbOptions().env;
  config.ignore_unknown_options = true;
  return rocksdb::LoadLatestOptions(config, globals.db, db_options, families);
}

Status ChooseWalDir(const Globals& globals, rocksdb::DBOptions* db_options) {
  if (!globals.wal_dir.empty()) {
    db_options->wal_dir = globals.wal_dir;
    return Status::OK();
  }
  // A database that recorded no places was made by an earlier release. A copy of it has the same OPTIONS.
  namespace fs = std::filesystem;
  std::error_code ec;
  if (db_options->wal_dir.empty() || fs::exists(fs::path(globals.db) / "PLACES", ec)) return Status::OK();
  const fs::path within = fs::weakly_canonical(db_options->wal_dir, ec).lexically_relative(fs::weakly_canonical(globals.db, ec));
  if (!within.empty() && *within.begin() != "..") return Status::OK();
  return Status::InvalidArgument(
      globals.db + " does not say where its logs are: its OPTIONS name " + db_options->wal_dir +
          ", which is the original's if this is a copy",
      "say --wal-dir " + db_options->wal_dir + ", or --wal-dir " + globals.db + " if they are in it");
}

Status UsePreset(const Globals& globals, std::vector<ColumnFamilyDescriptor>* families) {
  if (globals.preset.empty()) return Status::OK();
  compassdb::Preset preset;
  Status s = compassdb::PresetFromName(globals.preset, &preset);
  for (ColumnFamilyDescriptor& family : *families) {
    if (!s.ok()) break;
    if (!globals.cf.empty() && globals.cf != family.name) continue;
    s = compassdb::ApplyPreset(preset, &family.options);
  }
  return s;
}

namespace {

// The column families that the database has, with the options of the OPTIONS file. That is written after the
// manifest: a crash may leave it without the newest family, or with a dropped one. A family without options there, or
// a database without an OPTIONS file, opens with default ones.
Status StoredOptions(const Globals& globals, rocksdb::DBOptions* db_options,
                     std::vector<ColumnFamilyDescriptor>* families) {
  std::vector<std::string> names;
  Status s = rocksdb::DB::ListColumnFamilies(*db_options, globals.db, &names);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyDescriptor> stored;
  s = ReadOptionsFile(globals, db_options, &stored);
  if (s.IsNotFound()) {
    *db_options = globals.DbOptions();
    stored.clear();
  } else if (s.IsInvalidArgument()) {
    return Status::Corruption(s.getState());  // only the engine writes the file
  } else if (!s.ok()) {
    return s;
  }
  if (s = ChooseWalDir(globals, db_options); !s.ok()) return s;
  for (const std::string& name : names) {
    const auto known = std::find_if(stored.begin(), stored.end(), [&](const auto& family) { return family.name == name; });
    families->push_back(known != stored.end() ? *known : ColumnFamilyDescriptor(name, rocksdb::ColumnFamilyOptions()));
  }
  return Status::OK();
}

class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

int Database::Open(const std::string& command, const Globals& globals, OpenMode mode,
                   std::unique_ptr<Database>* result) {
  std::error_code ec;
  const bool exists = std::filesystem::exists(std::filesystem::path(globals.db) / "CURRENT", ec);
  rocksdb::DBOptions options = globals.DbOptions();
  std::vector<ColumnFamilyDescriptor> descriptors;
  if (exists) {
    Status s = StoredOptions(globals, &options, &descriptors);
    if (!s.ok()) return Fail(command, s);
  } else if (mode == OpenMode::kCreate) {
    if (!globals.wal_dir.empty()) {
      return Fail(kUsage, command, "--wal-dir is of an existing database; in " + globals.db + " one would be made");
    }
    descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  } else {
    // The engine can distinguish a database that has lost its CURRENT from an empty directory.
    std::vector<std::string> names;
    const Status s = rocksdb::DB::ListColumnFamilies(options, globals.db, &names);
    if (s.IsNotFound() || s.IsPathNotFound()) return Fail(kFailed, command, "no database in " + globals.db);
    return Fail(command, s);
  }
  if (!globals.preset.empty() && mode == OpenMode::kRead) {
    return Fail(kUsage, command, "--preset is for commands that write, not for " + command);
  }
  if (Status s = UsePreset(globals, &descriptors); !s.ok()) return Fail(kUsage, command, s.ToString());
  options.create_if_missing = mode == OpenMode::kCreate;
  options.error_if_exists = false;  // that was for the program which made it
  if (globals.memory_mb > 0) options.memory_limit = globals.memory_mb << 20;
  auto database = std::unique_ptr<Database>(new Database());
  rocksdb::DB* db = nullptr;
  std::string path = globals.db;
  const bool make = !exists && mode == OpenMode::kCreate;
  if (make && Unfinished::IsVacant(path, /*foreign=*/true)) {
    database->made_ = std::make_unique<Unfinished>();
    if (Status s = database->made_->Begin(command, path); !s.ok()) return Fail(command, s);
    path = database->made_->directory();
  } else if (make) {
    options.error_if_exists = true;
    options.info_log = std::make_shared<NoLog>();  // a LOG that is there keeps its name
  }
  if (mode == OpenMode::kRead) WatchForWriter(globals.db);
  std::unique_ptr<MadeInPlace> in_place;
  if (make && database->made_ == nullptr) in_place = std::make_unique<MadeInPlace>(path);
  Status s = mode == OpenMode::kRead
                 ? rocksdb::DB::OpenForReadOnly(options, path, descriptors,
                                                &database->families_, &db)
                 : rocksdb::DB::Open(options, path, descriptors, &database->families_, &db);
  if (!s.ok()) return Fail(command, s);
  database->db_.reset(db);
  database->made_in_place_ = std::move(in_place);
  std::string damage;
  if (db->GetProperty("compassdb.wal-damage", &damage) && !damage.empty()) {
    while (damage.back() == '\n') damage.pop_back();
    fprintf(stderr, "compassdb: %s: the write-ahead log is damaged, above what is known to have been synced:\n%s\n", command.c_str(), damage.c_str());
  }
  *result = std::move(database);
  return kOk;
}

Database::~Database() { Abandon(); }

Status Database::Close(bool keep) {
  Status s = CloseFiles();
  if ((s.ok() || keep) && made_ != nullptr) {
    const Status published = made_->Publish();
    if (s.ok()) s = published;
  }
  made_.reset();
  made_in_place_.reset();
  return s;
}

void Database::Abandon() {
  CloseFiles().PermitUncheckedError();
  made_.reset();
  if (made_in_place_ != nullptr) made_in_place_->Remove();
  made_in_place_.reset();
}

Status Database::CloseFiles() {
  if (db_ == nullptr) return Status::OK();
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  families_.clear();
  Status s = db_->Close();
  db_.reset();
  return s;
}

rocksdb::ColumnFamilyHandle* Database::Family(const std::string& command, const Globals& globals) {
  const std::string wanted = globals.cf.empty() ? rocksdb::kDefaultColumnFamilyName : globals.cf;
  std::string names;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family->GetName() == wanted) return family;
    names += " " + family->GetName();
  }
  Fail(kFailed, command,
       "no column family '" + wanted + "' in " + globals.db + "; it has:" + names);
  return nullptr;
}

Status Database::CreateFamily(const Globals& globals) {
  const std::string& name = globals.cf;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family->GetName() == name) return Status::OK();
  }
  std::vector<ColumnFamilyDescriptor> descriptor{{name, rocksdb::ColumnFamilyOptions()}};
  Status s = UsePreset(globals, &descriptor);
  if (!s.ok()) return s;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  s = db_->CreateColumnFamily(descriptor[0].options, name, &family);
  if (s.ok()) families_.push_back(family);
  return s;
}

bool DecodeArgument(const std::string& command, const char* what, bool hex, std::string* argument) {
  if (!hex) return true;
  std::optional<std::string> bytes = FromHex(*argument);
  if (!bytes) {
    Fail(kUsage, command, std::string(what) + " must be 0x and pairs of hex digits: " + *argument);
    return false;
  }
  *argument = std::move(*bytes);
  return true;
}

}  // namespace compassdb_cli
