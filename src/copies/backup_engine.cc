// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "copies/backup_engine_impl.h"
#include "copies/backup_env.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

bool ParseId(const std::string& name, BackupID* id) {
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *id);
  return error == std::errc() && end == name.data() + name.size() && *id > 0 &&
         std::to_string(*id) == name;
}

std::shared_ptr<rocksdb::RateLimiter> Limiter(const std::shared_ptr<rocksdb::RateLimiter>& given,
                                              uint64_t bytes_per_second) {
  if (given != nullptr || bytes_per_second == 0) return given;
  return std::shared_ptr<rocksdb::RateLimiter>(
      rocksdb::NewGenericRateLimiter(static_cast<int64_t>(std::min<uint64_t>(bytes_per_second, INT64_MAX))));
}

}  // namespace

BackupEngineImpl::BackupEngineImpl(const rocksdb::BackupEngineOptions& options,
                                   rocksdb::Env* db_env, bool read_only)
    : options_(options),
      read_only_(read_only),
      db_fs_(FileSystemOfEnv(db_env)),
      fs_(FileSystemOfEnv(options.backup_env != nullptr ? options.backup_env : db_env)),
      clock_(ClockOfEnv(db_env)),
      backup_env_(options.backup_env != nullptr ? options.backup_env : db_env),
      backup_limiter_(Limiter(options.backup_rate_limiter, options.backup_rate_limit)),
      restore_limiter_(Limiter(options.restore_rate_limiter, options.restore_rate_limit)) {}

void BackupEngineImpl::Log(const std::string& line) const {
  if (options_.info_log != nullptr) rocksdb::Info(options_.info_log, "backups: %s", line.c_str());
}

Status BackupEngineImpl::SyncIfWanted(const std::string& dir) const {
  return options_.sync ? fs_->SyncDir(dir) : Status::OK();
}

Status BackupEngineImpl::Open() {
  if (options_.backup_dir.empty()) return Status::InvalidArgument("backup_dir is empty");
  options_.Dump(options_.info_log);
  if (read_only_) {
    Status s = fs_->FileExists(MetaDir());
    if (IsMissing(s)) return Status::NotFound(MetaDir() + " is missing");
    if (!s.ok()) return s;
  } else {
    if (Status s = CreateDirDurably(fs_.get(), options_.backup_dir); !s.ok()) return s;
    for (const char* dir : {"/shared", "/shared_checksum", "/private", "/meta"}) {
      if (Status s = fs_->CreateDir(options_.backup_dir + dir); !s.ok()) return s;
    }
    if (Status s = SyncIfWanted(options_.backup_dir); !s.ok()) return s;
  }
  std::vector<std::string> names;
  if (Status s = fs_->GetChildren(MetaDir(), &names); !s.ok()) return s;
  std::vector<BackupID> ids;
  for (const std::string& name : names) {
    BackupID id = 0;
    if (ParseId(name, &id)) ids.push_back(id);
  }
  std::sort(ids.rbegin(), ids.rend());
  int good = 0;
  Status no_key;
  for (BackupID id : ids) {
    const int most = options_.max_valid_backups_to_open;  // none: all
    if (read_only_ && most > 0 && good >= most) break;
    Backup& backup = known_[id];
    backup.status = Load(id, &backup);
    if (backup.status.ok()) {
      ++good;
    } else {
      Log("backup " + std::to_string(id) + ": " + backup.status.ToString());
    }
    if (backup.status.IsInvalidArgument()) no_key = backup.status;
  }
  if (good == 0 && !no_key.ok()) return no_key;  // none of them is damaged
  if (!options_.destroy_old_data) {
    if (!ids.empty()) newest_id_ = ids.front();
    return Status::OK();
  }
  std::unique_lock<std::shared_mutex> alone(mu_);
  for (BackupID id : ids) {
    if (Status s = Delete(id); !s.ok()) return s;
  }
  return CollectGarbage();
}

Status BackupEngineImpl::Load(BackupID id, Backup* backup) const {
  std::string text;
  Status s = ReadFileToString(fs_.get(), MetaPath(id), &text);
  if (s.ok()) s = DecodeBackupMeta(MetaPath(id), text, &backup->meta);
  if (!s.ok()) {
    backup->meta = BackupMeta();  // nothing, not a part of it: SomeUnreadable
    return s;
  }
  for (const BackupFile& file : backup->meta.files) {
    uint64_t size = 0;
    s = fs_->GetFileSize(PathOf(file), &size);
    if (IsMissing(s)) return Status::Corruption(PathOf(file), "is missing");
    if (!s.ok()) return s;
    if (size != file.size) {
      return Status::Corruption(PathOf(file), "has " + std::to_string(size) +
                                                  " bytes, expected " + std::to_string(file.size));
    }
  }
  return Status::OK();
}

Status BackupEngineImpl::Find(BackupID id, const Backup** backup) const {
  const auto found = known_.find(id);
  if (found == known_.end()) return Status::NotFound("Backup not found");
  if (!found->second.status.ok()) return found->second.status;
  *backup = &found->second;
  return Status::OK();
}

BackupID BackupEngineImpl::LatestGood() const {
  for (auto it = known_.rbegin(); it != known_.rend(); ++it) {
    if (it->second.status.ok()) return it->first;
  }
  return 0;
}

void BackupEngineImpl::Describe(BackupID id, const Backup& backup, bool details,
                                BackupInfo* info) const {
  *info = BackupInfo(id, backup.meta.timestamp, backup.meta.TotalBytes(),
                     static_cast<uint32_t>(backup.meta.files.size()), backup.meta.app_metadata);
  if (!details) return;
  info->name_for_open = PrivateDir(id);
  {
    std::lock_guard<std::mutex> lock(env_mu_);
    if (backup.env == nullptr) {
      backup.env = NewEnvForFileSystem(
          NewBackupFileSystem(fs_, options_.backup_dir, PrivateDir(id), backup.meta.files),
          backup_env_);
    }
    info->env_for_open = backup.env;
  }
  for (const BackupFile& file : backup.meta.files) {
    rocksdb::BackupFileInfo& out = info->file_details.emplace_back();
    out.relative_filename = file.path;
    out.directory = options_.backup_dir;
    out.size = file.size;
  }
}

Status BackupEngineImpl::GetLatestBackupInfo(BackupInfo* info, bool details) const {
  if (process_.Inherited()) return InheritedStatus();
  std::shared_lock<std::shared_mutex> shared(mu_);
  const Backup* backup = nullptr;
  const BackupID id = LatestGood();
  Status s = Find(id, &backup);
  if (s.ok()) Describe(id, *backup, details, info);
  return s;
}

Status BackupEngineImpl::GetBackupInfo(BackupID id, BackupInfo* info, bool details) const {
  if (process_.Inherited()) return InheritedStatus();
  std::shared_lock<std::shared_mutex> shared(mu_);
  const Backup* backup = nullptr;
  Status s = Find(id, &backup);
  if (s.ok()) Describe(id, *backup, details, info);
  return s;
}

void BackupEngineImpl::GetBackupInfo(std::vector<BackupInfo>* infos, bool details) const {
  infos->clear();
  if (process_.Inherited()) return;
  std::shared_lock<std::shared_mutex> shared(mu_);
  for (const auto& [id, backup] : known_) {
    if (backup.status.ok()) Describe(id, backup, details, &infos->emplace_back());
  }
}

void BackupEngineImpl::GetCorruptedBackups(std::vector<BackupID>* ids) const {
  ids->clear();
  if (process_.Inherited()) return;
  std::shared_lock<std::shared_mutex> shared(mu_);
  for (const auto& [id, backup] : known_) {
    if (!backup.status.ok()) ids->push_back(id);
  }
}

IOStatus BackupEngineImpl::VerifyBackup(BackupID id, bool verify_with_checksum) const {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::shared_lock<std::shared_mutex> shared(mu_);
  const Backup* backup = nullptr;
  Status s = Find(id, &backup);
  if (!s.ok()) return status_to_io_status(std::move(s));
  Backup now;
  s = Load(id, &now);
  CopyControl control;
  for (const BackupFile& file : backup->meta.files) {
    if (!s.ok() || !verify_with_checksum) break;
    CopyResult found;
    s = ChecksumFile(fs_.get(), PathOf(file), control, &found);
    if (s.ok() && (found.crc32c != file.crc32c || found.size != file.size)) {
      s = Status::Corruption(PathOf(file), "does not have its checksum");
    }
  }
  return status_to_io_status(std::move(s));
}

// The description is deleted first: files without it are garbage.
Status BackupEngineImpl::Delete(BackupID id) {
  Status s = fs_->DeleteFile(MetaPath(id));
  // It may be deleted already, by another process or by an attempt that was not synced.
  if (s.ok() || IsMissing(s)) s = SyncIfWanted(MetaDir());
  if (s.ok()) known_.erase(id);
  return s;
}

IOStatus BackupEngineImpl::DeleteBackup(BackupID id) {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::unique_lock<std::shared_mutex> alone(mu_);
  Status s = known_.count(id) == 0 ? Status::NotFound("Backup not found") : Delete(id);
  if (s.ok()) {
    Log("deleted backup " + std::to_string(id));
    s = CollectGarbage();
  }
  return status_to_io_status(std::move(s));
}

IOStatus BackupEngineImpl::PurgeOldBackups(uint32_t keep) {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::unique_lock<std::shared_mutex> alone(mu_);
  std::vector<BackupID> good;
  for (const auto& [id, backup] : known_) {
    if (backup.status.ok()) good.push_back(id);
  }
  Status result;  // the first error; the other backups are deleted nevertheless
  for (size_t i = 0; i + keep < good.size(); ++i) {
    if (Status s = Delete(good[i]); result.ok()) result = s;
  }
  if (Status s = CollectGarbage(); result.ok()) result = s;
  return status_to_io_status(std::move(result));
}

IOStatus BackupEngineImpl::GarbageCollect() {
  if (process_.Inherited()) return status_to_io_status(InheritedStatus());
  std::unique_lock<std::shared_mutex> alone(mu_);
  return status_to_io_status(CollectGarbage());
}

// A backup with an unreadable description may name any shared file.
bool BackupEngineImpl::SomeUnreadable() const {
  return std::any_of(known_.begin(), known_.end(), [](const auto& backup) {
    return !backup.second.status.ok() && backup.second.meta.files.empty();
  });
}

Status BackupEngineImpl::CollectGarbage() {
  std::set<std::string> named;
  const bool all_known = !SomeUnreadable();
  for (const auto& [id, backup] : known_) {
    for (const BackupFile& file : backup.meta.files) named.insert(file.path);
  }
  Status result;
  const auto remove = [&](const std::string& path) {
    Status s = fs_->DeleteFile(path);
    Log("deleted " + path + ": " + s.ToString());
    if (result.ok() && !IsMissing(s)) result = s;
  };
  const auto children = [&](const std::string& dir) {
    std::vector<std::string> names;
    Status s = fs_->GetChildren(dir, &names);
    if (result.ok() && !IsMissing(s)) result = s;
    return names;
  };
  for (const char* folder : {"shared", "shared_checksum"}) {
    for (const std::string& name : children(options_.backup_dir + "/" + folder)) {
      const std::string path = std::string(folder) + "/" + name;
      if (all_known && named.count(path) == 0) remove(options_.backup_dir + "/" + path);
    }
  }
  for (const std::string& name : children(options_.backup_dir + "/private")) {
    BackupID id = 0;
    if (!ParseId(name, &id) || known_.count(id) != 0) continue;
    for (const std::string& file : children(PrivateDir(id))) remove(PrivateDir(id) + "/" + file);
    Status s = fs_->DeleteDir(PrivateDir(id));
    if (result.ok() && !IsMissing(s)) result = s;
  }
  for (const std::string& name : children(MetaDir())) {
    BackupID id = 0;
    if (name.ends_with(".tmp") && ParseId(name.substr(0, name.size() - 4), &id)) remove(MetaDir() + "/" + name);
  }
  return result;
}

namespace {

// Passes on only the calls that read.
class ReadOnlyEngine final : public rocksdb::BackupEngineReadOnly {
 public:
  explicit ReadOnlyEngine(std::unique_ptr<BackupEngineImpl> engine) : engine_(std::move(engine)) {}
  Status GetLatestBackupInfo(BackupInfo* info, bool details) const override {
    return engine_->GetLatestBackupInfo(info, details);
  }
  Status GetBackupInfo(BackupID id, BackupInfo* info, bool details) const override {
    return engine_->GetBackupInfo(id, info, details);
  }
  void GetBackupInfo(std::vector<BackupInfo>* infos, bool details) const override {
    engine_->GetBackupInfo(infos, details);
  }
  void GetCorruptedBackups(std::vector<BackupID>* ids) const override {
    engine_->GetCorruptedBackups(ids);
  }
  IOStatus RestoreDBFromBackup(const rocksdb::RestoreOptions& options, BackupID id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override {
    return engine_->RestoreDBFromBackup(options, id, db_dir, wal_dir);
  }
  IOStatus RestoreDBFromLatestBackup(const rocksdb::RestoreOptions& options,
                                     const std::string& db_dir,
                                     const std::string& wal_dir) const override {
    return engine_->RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }
  IOStatus VerifyBackup(BackupID id, bool verify_with_checksum) const override {
    return engine_->VerifyBackup(id, verify_with_checksum);
  }

 private:
  const std::unique_ptr<BackupEngineImpl> engine_;
};

}  // namespace
}  // namespace compassdb

namespace rocksdb {

IOStatus BackupEngine::Open(const BackupEngineOptions& options, Env* db_env,
                            BackupEngine** backup_engine_ptr) {
  auto engine = std::make_unique<compassdb::BackupEngineImpl>(options, db_env, false);
  Status s = engine->Open();
  *backup_engine_ptr = s.ok() ? engine.release() : nullptr;
  return status_to_io_status(std::move(s));
}

IOStatus BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* db_env,
                                    BackupEngineReadOnly** backup_engine_ptr) {
  *backup_engine_ptr = nullptr;
  if (options.destroy_old_data) {
    return IOStatus::InvalidArgument("Can't destroy old data with ReadOnly BackupEngine");
  }
  auto engine = std::make_unique<compassdb::BackupEngineImpl>(options, db_env, true);
  Status s = engine->Open();
  if (s.ok()) *backup_engine_ptr = new compassdb::ReadOnlyEngine(std::move(engine));
  return status_to_io_status(std::move(s));
}

void BackupEngineOptions::Dump(Logger* logger) const {
  if (logger == nullptr) return;
  Info(logger, "Options.backup_dir: %s", backup_dir.c_str());
  Info(logger, "Options.share_table_files: %d", share_table_files);
  Info(logger, "Options.share_files_with_checksum: %d", share_files_with_checksum);
  Info(logger, "Options.sync: %d", sync);
  Info(logger, "Options.destroy_old_data: %d", destroy_old_data);
  Info(logger, "Options.backup_log_files: %d", backup_log_files);
  Info(logger, "Options.backup_rate_limit: %llu",
       static_cast<unsigned long long>(backup_rate_limit));
  Info(logger, "Options.restore_rate_limit: %llu",
       static_cast<unsigned long long>(restore_rate_limit));
  Info(logger, "Options.max_background_operations: %d", max_background_operations);
}

void BackupStatistics::IncrementNumberSuccessBackup() { ++number_success_backup; }
void BackupStatistics::IncrementNumberFailBackup() { ++number_fail_backup; }
uint32_t BackupStatistics::GetNumberSuccessBackup() const { return number_success_backup; }
uint32_t BackupStatistics::GetNumberFailBackup() const { return number_fail_backup; }
std::string BackupStatistics::ToString() const {
  return "# success backup: " + std::to_string(number_success_backup) +
         ", # fail backup: " + std::to_string(number_fail_backup);
}

}  // namespace rocksdb
