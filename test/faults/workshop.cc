// SPDX-License-Identifier: Apache-2.0
// Maintenance of a database: it is repaired, ingests a table file, is copied, and one of its families is
// exported and imported. It is not opened before the repair.
#include <map>

#include "faults/scenario.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "support/small_options.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

using Contents = std::map<std::string, std::string>;

constexpr const char* kPath = "/db";
constexpr const char* kLogsOnly = "/logs";  // a database that wrote logs, and lost everything else
constexpr const char* kTableFile = "/given.sst";
constexpr const char* kCopy = "/copy";
constexpr const char* kBackups = "/backups";
constexpr const char* kExported = "/exported";
constexpr const char* kTwo = "two";
constexpr const char* kImported = "three";

class Workshop : public Scenario {
 public:
  Workshop(const std::string& layout, rocksdb::Env* env) : layout_(layout), options_(SmallOptions(layout)), env_(env) {
    options_.env = env;
    options_.min_blob_size = std::min<uint64_t>(options_.min_blob_size, 64);
    options_.max_bgerror_resume_count = 0;
    options_.info_log_level = rocksdb::FATAL_LEVEL;
    options_.avoid_flush_during_shutdown = true;
  }
  ~Workshop() override { Close().PermitUncheckedError(); }

  void Prepare() override;
  void Live(const std::function<bool()>&) override;
  std::optional<std::string> Check(bool) override;

 private:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

  void Must(const char* what, const Status& s) {
    if (!s.ok() && !wrong_) wrong_ = std::string(what) + ": " + s.ToString();
  }
  Status Create(const std::string& path);
  Status Open(const std::string& path);
  Status Close();
  Status Repair(const std::string& path);
  void PrepareLogs();
  void Damage();
  void SyncNames(const char* path);
  void OpenWithoutCurrent();
  void GiveFile();
  void CopyAll();
  void MoveFamily();
  // All families by name.
  Status Read(std::map<std::string, Contents>* all) const;
  Status ReadAndUse(const std::string& path, std::map<std::string, Contents>* found);
  std::optional<std::string> CheckLogs();
  std::optional<std::string> CheckOne(const char* what, const std::string& path);

  const std::string layout_;
  rocksdb::Options options_;
  rocksdb::Env* const env_;
  std::unique_ptr<rocksdb::DB> db_;
  Handles handles_;
  std::map<std::string, Contents> before_;  // as it was prepared
  Contents given_;
  Contents in_logs_;
  bool repaired_ = false, logs_repaired_ = false, given_taken_ = false, copied_ = false, backed_up_ = false, imported_ = false;
  std::optional<std::string> wrong_;
};

// The default family's handle is the database's.
Status Workshop::Create(const std::string& path) {
  rocksdb::Options options = options_;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  const Status s = rocksdb::DB::Open(options, path, &db);
  db_.reset(db);
  return s;
}

Status Workshop::Open(const std::string& path) {
  std::vector<std::string> names;
  Status s = rocksdb::DB::ListColumnFamilies(options_, path, &names);
  if (!s.ok()) return s;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options_);
  rocksdb::DB* db = nullptr;
  s = rocksdb::DB::Open(options_, path, families, &handles_, &db);
  if (!s.ok()) handles_.clear();
  db_.reset(db);
  return s;
}

Status Workshop::Close() { return CloseDb(&handles_, &db_); }

Status Workshop::Read(std::map<std::string, Contents>* all) const {
  for (auto* handle : handles_) {
    Contents& family = (*all)[handle->GetName()];
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) family[it->key().ToString()] = it->value().ToString();
    if (!it->status().ok()) return it->status();
  }
  return Status::OK();
}

void Workshop::Prepare() {
  Must("creating", Create(kPath));
  rocksdb::DB* const db = db_.get();
  handles_ = {db->DefaultColumnFamily(), nullptr};
  Must("a family", db->CreateColumnFamily(options_, kTwo, &handles_[1]));
  for (int i = 0; i < 60; ++i) {
    for (auto* handle : handles_) {
      const std::string value = std::to_string(i) + std::string(100 + i * 7, static_cast<char>('a' + i % 26));
      Must("a write", db->Put(rocksdb::WriteOptions(), handle, "key" + std::to_string(100 + i * 13 % 47), value));
    }
    if (i % 20 == 19) Must("a flush", db->Flush(rocksdb::FlushOptions(), handles_));
    if (i == 39) Must("a compaction", db->CompactRange(rocksdb::CompactRangeOptions(), handles_[1], nullptr, nullptr));
  }
  for (int i = 0; i < 5; ++i) Must("a write", db->Put(rocksdb::WriteOptions(), handles_[1], "tail" + std::to_string(i), "t"));
  Must("a sync", db->SyncWAL());
  Must("reading", Read(&before_));
  handles_.erase(handles_.begin());  // the default one is the database's
  Must("closing", Close());
  Damage();
  PrepareLogs();
}

void Workshop::PrepareLogs() {
  Must("creating", Create(kLogsOnly));
  for (int i = 0; i < 9; ++i) {
    const std::string key = "log" + std::to_string(i);
    in_logs_[key] = std::string(200, static_cast<char>('a' + i));
    Must("a write", db_->Put(rocksdb::WriteOptions(), key, in_logs_[key]));
  }
  Must("a sync", db_->SyncWAL());
  Must("closing", Close());
  std::vector<std::string> names;
  Must("a list", env_->GetChildren(kLogsOnly, &names));
  for (const std::string& name : names) {
    if (name == "CURRENT" || name.rfind("MANIFEST-", 0) == 0 || name.rfind("MIRROR-", 0) == 0) {
      Must("losing a file", env_->DeleteFile(std::string(kLogsOnly) + "/" + name));
    }
  }
  SyncNames(kLogsOnly);
}

// The data that a repair restores completely.
void Workshop::Damage() {
  std::vector<std::string> names;
  Must("a list", env_->GetChildren(kPath, &names));
  bool table = false;
  for (const std::string& name : names) {
    const bool manifest = name.rfind("MANIFEST-", 0) == 0;
    const bool mirror = name.rfind("MIRROR-", 0) == 0;  // is as it was, and durable, which it need not be so soon
    const bool first_table = !table && name.size() > 3 && name.substr(name.size() - 3) == ".ph" &&
                             layout_ != "tableless" && layout_ != "hash-kv";
    if (!manifest && !mirror && !first_table) continue;
    const std::string path = std::string(kPath) + "/" + name;
    std::string bytes;
    Must("reading a file", rocksdb::ReadFileToString(env_, path, &bytes));
    if (bytes.size() < 100) continue;
    if (!mirror) bytes[manifest ? bytes.size() / 2 : bytes.size() - 20] ^= 0x40;
    Must("damaging a file", rocksdb::WriteStringToFile(env_, bytes, path, /*should_sync=*/true));
    table |= first_table;
  }
  Must("without CURRENT", env_->DeleteFile(std::string(kPath) + "/CURRENT"));
  SyncNames(kPath);
}

// The state that a power cut leaves.
void Workshop::SyncNames(const char* path) {
  std::unique_ptr<rocksdb::Directory> directory;
  Must("the directory", env_->NewDirectory(path, &directory));
  if (directory != nullptr) Must("its names", directory->Fsync());
}

Status Workshop::Repair(const std::string& path) {
  return rocksdb::RepairDB(path, options_, {{"default", options_}, {kTwo, options_}});
}

// With any failure during the check: a directory that lost CURRENT is not empty, where a new database may be made.
void Workshop::OpenWithoutCurrent() {
  const auto refuses = [this](const char* call, const Status& s) {
    if (s.ok() && !wrong_) wrong_ = std::string(call) + " takes a database without CURRENT";
    if (s.ToString().find("injected") != std::string::npos) {
      Note(call, s);
    } else if (!s.IsCorruption() && !wrong_) {
      wrong_ = std::string(call) + " of a database without CURRENT: " + s.ToString();
    }
  };
  std::vector<std::string> names;
  refuses("ListColumnFamilies", rocksdb::DB::ListColumnFamilies(options_, kPath, &names));
  for (const char* path : {kPath, kLogsOnly}) {
    refuses("Open to create", Create(path));
    Close().PermitUncheckedError();
  }
  rocksdb::DB* db = nullptr;
  refuses("OpenForReadOnly", rocksdb::DB::OpenForReadOnly(options_, kPath, &db));
  db_.reset(db);
  Close().PermitUncheckedError();
}

void Workshop::Live(const std::function<bool()>&) {
  OpenWithoutCurrent();
  for (int i = 0; i < 2 && !logs_repaired_; ++i) logs_repaired_ = Note("RepairDB of logs", Repair(kLogsOnly));
  for (int i = 0; i < 2 && !repaired_; ++i) repaired_ = Note("RepairDB", Repair(kPath));
  if (!repaired_) return;
  if (!Note("Open", Open(kPath)) && !Note("Open", Open(kPath))) return;
  const bool tableless = layout_ == "tableless";
  if (!tableless) GiveFile();
  CopyAll();
  if (!tableless) MoveFamily();
  Note("Close", Close());
}

void Workshop::GiveFile() {
  Status s;
  {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    s = writer.Open(kTableFile);
    for (int i = 0; i < 40 && s.ok(); ++i) {
      const std::string key = "given" + std::to_string(100 + i);
      given_[key] = std::string(150, static_cast<char>('a' + i % 26));
      s = writer.Put(key, given_[key]);
    }
    if (s.ok()) s = writer.Finish();
  }
  if (!Note("SstFileWriter", s)) return;
  rocksdb::IngestExternalFileOptions options;
  options.verify_checksums_before_ingest = true;
  for (auto* handle : handles_) {
    if (handle->GetName() == kTwo) given_taken_ = Note("IngestExternalFile", db_->IngestExternalFile(handle, {kTableFile}, options));
  }
}

void Workshop::CopyAll() {
  rocksdb::Checkpoint* made = nullptr;
  Status s = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (s.ok()) s = checkpoint->CreateCheckpoint(kCopy);
  copied_ = Note("CreateCheckpoint", s);
  rocksdb::BackupEngine* opened = nullptr;
  s = rocksdb::BackupEngine::Open(env_, rocksdb::BackupEngineOptions(kBackups), &opened);
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  if (s.ok()) s = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  backed_up_ = Note("CreateNewBackup", s);
}

void Workshop::MoveFamily() {
  rocksdb::Checkpoint* made = nullptr;
  Status s = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* files = nullptr;
  for (auto* handle : handles_) {
    if (s.ok() && handle->GetName() == kTwo) s = checkpoint->ExportColumnFamily(handle, kExported, &files);
  }
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> exported(files);
  if (!Note("ExportColumnFamily", s)) return;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  imported_ = Note("CreateColumnFamilyWithImport", db_->CreateColumnFamilyWithImport(
                                                       options_, kImported, rocksdb::ImportColumnFamilyOptions(), *exported, &handle));
  if (handle != nullptr) handles_.push_back(handle);
}

// Its contents as they are before it is written to.
Status Workshop::ReadAndUse(const std::string& path, std::map<std::string, Contents>* found) {
  Status s = Open(path);
  if (s.ok()) s = Read(found);
  if (s.ok()) s = db_->VerifyChecksum();
  if (s.ok()) s = db_->Put(rocksdb::WriteOptions(), "again", "x");
  if (s.ok()) s = Close();
  return s;
}

std::optional<std::string> Workshop::CheckOne(const char* what, const std::string& path) {
  std::map<std::string, Contents> found;
  const Status s = ReadAndUse(path, &found);
  if (!s.ok()) return std::string(what) + ": " + s.ToString();
  std::map<std::string, Contents> expected = before_;
  // All of the file, or, of one whose ingestion failed, perhaps nothing.
  const bool given = given_taken_ || (!given_.empty() && found[kTwo].count(given_.begin()->first) != 0);
  if (given) expected[kTwo].insert(given_.begin(), given_.end());
  // The family as a whole, or, where the import failed, and so did giving it up, as it was made; a copy was made before.
  if (path == kPath && (imported_ || found.count(kImported) != 0)) expected[kImported] = expected[kTwo];
  if (path == kPath && !imported_ && found[kImported].empty()) found.erase(kImported), expected.erase(kImported);
  for (const auto& [name, contents] : expected) {
    if (found[name] == contents) continue;
    for (const auto& [key, value] : contents) {
      if (found[name][key] != value) return std::string(what) + ": family " + name + ": " + key + " is lost or another";
    }
    return std::string(what) + ": family " + name + " has a key too many";
  }
  if (found.size() != expected.size()) return std::string(what) + " has other families";
  return std::nullopt;
}

std::optional<std::string> Workshop::CheckLogs() {
  std::map<std::string, Contents> found;
  const Status s = ReadAndUse(kLogsOnly, &found);
  if (!s.ok()) return "the database of logs: " + s.ToString();
  if (found["default"] != in_logs_) return "the database of logs has other records";
  return std::nullopt;
}

std::optional<std::string> Workshop::Check(bool /*synced_only: all of it was*/) {
  Close().PermitUncheckedError();
  if (wrong_) return wrong_;
  if (!repaired_) Must("repairing again", Repair(kPath));
  if (!logs_repaired_) Must("repairing logs again", Repair(kLogsOnly));
  if (wrong_) return wrong_;
  if (auto wrong = CheckLogs()) return wrong;
  if (auto wrong = CheckOne("the database", kPath)) return wrong;
  if (copied_) {
    if (auto wrong = CheckOne("the checkpoint", kCopy)) return wrong;
  }
  if (!backed_up_) return std::nullopt;
  rocksdb::BackupEngine* opened = nullptr;
  Must("opening the backups", rocksdb::BackupEngine::Open(env_, rocksdb::BackupEngineOptions(kBackups), &opened));
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  if (engine != nullptr) Must("restoring", engine->RestoreDBFromLatestBackup("/restored", "/restored"));
  return wrong_ ? wrong_ : CheckOne("the restored backup", "/restored");
}

}  // namespace

std::unique_ptr<Scenario> MakeWorkshop(const std::string& layout, rocksdb::Env* env) { return std::make_unique<Workshop>(layout, env); }

}  // namespace compassdb_test
