// SPDX-License-Identifier: Apache-2.0
#include "db/open/repair.h"

#include <algorithm>
#include <set>

#include "db/engine.h"
#include "db/open/log_contents.h"
#include "db/open/lost_current.h"
#include "db/open/lost_manifest.h"
#include "db/open/open.h"
#include "db/report/info_log.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "format/number_limits.h"
#include "manifest/foreign_directory.h"
#include "options/options_file.h"
#include "options/sanitize.h"
#include "store/salvage_report.h"
#include "table/piece/piece_salvage.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"

namespace compassdb {

Repairer::Repairer(const rocksdb::DBOptions& options, std::string name,
                   std::vector<rocksdb::ColumnFamilyDescriptor> families,
                   const rocksdb::ColumnFamilyOptions* unknown, RepairReport* report)
    : options_(SanitizeDbOptions(options)),
      name_(std::move(name)),
      families_(std::move(families)),
      unknown_(unknown),
      report_(report) {}

// Lines of stores already have the prefix.
void Repairer::Log(const std::string& line) {
  const std::string prefix = "repair: ";
  const bool prefixed = line.compare(0, prefix.size(), prefix) == 0;
  LogInfo(config_.info_log.get(), prefixed ? line : prefix + line);
  report_->log.push_back(prefixed ? line.substr(prefix.size()) : line);
}

Status Repairer::Run() {
  if (Status s = ProjectDbOptions(options_, name_, &config_); !s.ok()) return s;
  fs_ = config_.fs;
  Status s = fs_->GetChildren(name_, &children_);
  if (!s.ok() && !IsMissing(s)) return s;
  uint64_t current = 0;
  s = Manifest::ReadCurrent(fs_, name_, &current);
  // Another engine's database, whose LOG is not ours, either; or a missing key; or a part of a database, which would
  // look whole after a repair.
  if (s.IsInvalidArgument() || s.IsIncomplete()) return s;
  if (s.IsNotFound()) s = CheckNotForeign(fs_, name_);
  if (s.IsInvalidArgument()) return s;
  // Before a LOCK is made there.
  const bool any = std::any_of(children_.begin(), children_.end(), [](const std::string& name) {
    uint64_t number = 0;
    FileType type;
    return ParseFileName(name, &number, &type) && type != FileType::kInfoLog &&
           type != FileType::kLock && type != FileType::kTemp;
  });
  if (!any) return Status::Corruption(name_, "repair found no files");
  if (s = CheckNotSealed(fs_, name_); !s.ok()) return s;
  std::unique_ptr<FileLock> lock;
  if (s = fs_->LockFile(LockFileName(name_), &lock); !s.ok()) return s;
  if (s = CheckOwnership(); !s.ok()) return s;
  s = CheckReadable();
  if (s.ok()) s = FindState();
  if (s.ok()) OpenInfoLog();
  if (s.ok()) s = CheckLogs();
  if (s.ok()) s = ChooseFamilies();
  if (s.ok()) s = CheckMergeOperators();
  if (s.ok()) s = CheckTables();
  if (s.ok()) s = CheckAllIsHere();
  if (!s.ok()) RemoveNewFiles();
  if (s.ok()) s = KeepLogs();
  if (s.ok() && changed_) s = WriteManifest();
  lock.reset();
  if (s.ok()) s = OpenAndClose();
  LogInfo(config_.info_log.get(), "repair: " + s.ToString());
  return s;
}

// What is no database keeps its LOG.
void Repairer::OpenInfoLog() {
  if (config_.info_log != nullptr) return;
  rocksdb::CreateLoggerFromOptions(name_, config_.options, &config_.info_log)
      .PermitUncheckedError();
  for (const std::string& line : report_->log) LogInfo(config_.info_log.get(), "repair: " + line);
}

Status Repairer::CheckOwnership() {
  Ownership ownership(fs_, name_);
  Status s = ownership.Load();
  places_damage_ = s.IsCorruption() ? s : Status::OK();
  if (s.IsCorruption()) s = Status::OK();
  if (s.ok()) s = ownership.Check(config_.wal_dir, "wal_dir");
  if (s.ok()) s = ownership.CheckMounted(config_.wal_dir, "wal_dir");
  if (s.ok() && options_.wal_dir.empty()) s = ownership.CheckLogsExist(config_.wal_dir);
  for (const std::string& dir : Dirs()) {
    if (s.ok()) s = ownership.Check(dir, "path");
    if (s.ok()) s = ownership.CheckMounted(dir, "path");
  }
  std::set<std::string> known;
  std::string real;
  for (const std::string& dir : Dirs()) {
    if (fs_->GetRealPath(dir, &real).ok()) known.insert(real);
  }
  for (const TablePlace& place : ownership.places().tables) {
    std::vector<std::string> names;
    if (!s.ok()) break;
    s = ownership.Check(place.dir, "path");
    if (s.ok()) s = fs_->GetChildren(place.dir, &names);
    if (IsMissing(s)) {
      return Status::PathNotFound(
          place.dir, "holds tables of the database in " + name_ + " and is missing: mount it. If it is lost for good, "
                     "restore a backup; without one, see docs/operations/corruption.md");
    }
    if (s.ok()) s = ownership.CheckMounted(place.dir, "path");
    if (s.ok()) s = fs_->GetRealPath(place.dir, &real);
    if (s.ok() && known.insert(real).second) recorded_dirs_.push_back(place.dir);
  }
  const std::string& logs = ownership.places().wal_dir;
  if (s.ok() && !logs.empty() && logs != config_.wal_dir && ownership.IsOwn(logs)) {
    std::string used, recorded;
    if (!fs_->GetRealPath(logs, &recorded).ok() || !fs_->GetRealPath(config_.wal_dir, &used).ok() || used != recorded) {
      std::vector<uint64_t> numbers;
      if (ListWals(fs_, logs, 0, &numbers).ok() && !numbers.empty()) {
        return Status::InvalidArgument("wal_dir is " + config_.wal_dir + ", but logs of this database are in " + logs,
                                       "repair it with the wal_dir that has them");
      }
    }
  }
  return s;
}

// If PLACES is damaged, other directories are unknown. Missing files may be there.
Status Repairer::CheckAllIsHere() {
  if (places_damage_.ok()) return Status::OK();
  std::vector<uint64_t> logs;
  Status s = ListWals(fs_, config_.wal_dir, 0, &logs);
  if (!s.ok()) return s;
  if (report_->lost_tables > 0 || report_->lost_values > 0 || report_->lost_pages > 0 || logs.empty()) {
    return Status::Corruption(places_damage_.getState(),
                              "it says where logs and tables are, and some are not here: name their directories in "
                              "wal_dir, db_paths and cf_paths, or delete it if they are lost");
  }
  return MoveToLost(name_, "PLACES");
}

Status Repairer::ReadThrough(const std::string& path) const {
  constexpr size_t kRead = 1 << 20;
  std::unique_ptr<SequentialFile> file;
  Status s = fs_->NewSequentialFile(path, &file);
  std::string room(kRead, 0);
  Slice read;
  do {
    if (s.ok()) s = file->Read(kRead, &read, room.data());
  } while (s.ok() && read.size() == kRead);
  return s;
}

Status Repairer::CheckReadable() {
  for (const std::string& dir : Dirs()) {
    std::vector<std::string> names;
    Status s = fs_->GetChildren(dir, &names);
    // Logs are searched in one directory only. Without it they would all be lost.
    if (IsMissing(s) && dir != config_.wal_dir) continue;
    if (!s.ok()) return s;
  }
  FileList directories, files;
  if (Status s = Files(&files); !s.ok()) return s;
  for (const auto& [dir, name] : files) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type == FileType::kInfoLog || type == FileType::kLock ||
        type == FileType::kTemp) {
      continue;
    }
    std::vector<std::string> children;
    if (fs_->GetChildren(JoinPath(dir, name), &children).ok()) {
      directories.emplace_back(dir, name);
      continue;
    }
    if (type == FileType::kPieceFile || type == FileType::kPageFile) continue;  // CheckTables reads them
    Status s = ReadThrough(JoinPath(dir, name));
    if (!s.ok() && !IsDamage(s)) return s;
  }
  for (const auto& [dir, name] : directories) {
    Log(JoinPath(dir, name) + " is a directory, not a file");
    if (Status s = MoveToLost(dir, name); !s.ok()) return s;
  }
  return Status::OK();
}

void Repairer::RemoveNewFiles() const {
  FileList files;
  if (!files_before_ || !Files(&files).ok()) return;
  for (const auto& [dir, name] : files) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && files_before_->count({dir, name}) == 0 &&
        (type == FileType::kPieceFile || type == FileType::kPageFile)) {
      fs_->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();  // the next open tries again
    }
  }
}

Status Repairer::FindState() {
  uint64_t current = 0;
  Status s = Manifest::ReadCurrent(fs_, name_, &current);
  if (!s.ok() && !IsDamage(s)) return s;  // foreign, or unknown
  if (!s.ok()) {
    Log("CURRENT: " + s.ToString());
    current = 0;
  }
  std::set<uint64_t> found;
  for (const std::string& name : children_) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) &&
        (type == FileType::kManifest || type == FileType::kManifestMirror)) {
      found.insert(number);
    }
  }
  // The one that CURRENT names, if it can be read; else that of the newest state. (An abandoned manifest may have a
  // higher number than the one in use.)
  std::vector<uint64_t> manifests(found.rbegin(), found.rend());
  std::stable_partition(manifests.begin(), manifests.end(),
                        [current](uint64_t number) { return number == current; });
  for (uint64_t number : manifests) {
    RecoveredState state;
    uint64_t records = 0;
    bool whole = false;
    s = Manifest::Salvage(
        fs_, name_, number,
        [&](const EditRecord& edits) {
          RecoveredState next = state;
          Status a = next.ApplyAll(edits);
          if (a.ok()) state = std::move(next);
          return a;
        },
        &records, &whole);
    if (!s.ok() && !IsDamage(s)) return s;
    if (!s.ok()) Log(s.ToString());
    if (records == 0 || (manifest_ != 0 && state.next_number <= state_.next_number)) continue;
    Log("the state is that of " + ManifestFileName("", number) + ", " + std::to_string(records) +
        " records");
    changed_ = !whole || number != current;
    manifest_ = number;
    state_ = std::move(state);
    if (number == current) break;
  }
  all_families_up_to_ = state_.max_column_family;
  return manifest_ != 0 ? Status::OK() : StateOfFiles();
}

// The directories of the database, its logs and its compaction files.
std::set<std::string> Repairer::Dirs() const {
  std::set<std::string> dirs{name_, config_.wal_dir};
  dirs.insert(recorded_dirs_.begin(), recorded_dirs_.end());
  const auto add = [&dirs](const std::vector<TablePath>& paths) {
    for (const TablePath& path : paths) dirs.insert(path.dir);
  };
  add(config_.table_paths);
  for (const auto& family : families_) add(config_.PathsOf(family.options));
  if (unknown_ != nullptr) add(config_.PathsOf(*unknown_));
  return dirs;
}

// With their directories.
Status Repairer::Files(FileList* files) const {
  for (const std::string& dir : Dirs()) {
    std::vector<std::string> names;
    const Status s = fs_->GetChildren(dir, &names);
    if (!s.ok() && !IsMissing(s)) return s;  // if it cannot be listed, it is not empty
    for (const std::string& name : names) {
      uint64_t number = 0, bytes = 1;
      FileType type;
      if (ParseFileName(name, &number, &type) && type == FileType::kPieceFile) {
        // A file of unknown size counts as not empty.
        fs_->GetFileSize(JoinPath(dir, name), &bytes).PermitUncheckedError();
        if (bytes == 0) continue;  // a spare file; the next open deletes it
      }
      files->emplace_back(dir, name);
    }
  }
  return Status::OK();
}

// A log is deleted when all families have flushed it, and not before an older one. So logs before the first one were
// not needed. The first one stays, as it may have prepared transactions.
Status Repairer::ForgetFlushedLogs() {
  std::vector<uint64_t> logs;
  Status s = ListWals(fs_, config_.wal_dir, 0, &logs);
  if (!s.ok() || logs.empty()) return s;
  state_.min_log_number = std::max(state_.min_log_number, logs.front());
  std::unique_ptr<WalReader> log;
  s = WalReader::Open(fs_, config_.wal_dir, logs.front(), &log);
  if (!s.ok() || log->ReadHeader() != LogRead::kRecord) return IsDamage(s) ? Status::OK() : s;  // the replay reports it
  const uint64_t before = log->header().predecessor;
  if (before == 0) return Status::OK();
  for (const auto& [id, family] : state_.families) {
    if (family.log_number > before || family.log_number == 0) continue;  // 0: no file names it
    Log("uncertain: that column family [" + family.name + "] had flushed the records of " + WalFileName("", before) +
        ", which is missing");
  }
  return Status::OK();
}

// Without a manifest: the state by the compaction files, or an empty database of the same identity with nothing before
// its logs.
Status Repairer::StateOfFiles() {
  LostManifest found([this](const std::string& line) { Log(line); });
  FileList files;
  if (Status s = Files(&files); !s.ok()) return s;
  for (const auto& [dir, name] : files) {
    uint64_t number = 0;
    FileType type;
    if (IsRocksDBTableName(name)) {
      return Status::InvalidArgument(name_, "no manifest can be read, and " + JoinPath(dir, name) +
                                                " is RocksDB's or LevelDB's: what they left is theirs to repair");
    }
    if (!ParseFileName(name, &number, &type)) continue;
    if (type == FileType::kPageFile) {
      return Status::Corruption(JoinPath(dir, name), "no manifest or mirror can be read, and without one a repair brings "
                                                     "back no table-less column family");
    }
    if (type == FileType::kPieceFile) {
      if (Status s = found.Add(fs_, JoinPath(dir, name), number); !s.ok()) return s;
    }
  }
  if (Status s = found.Find(&state_); !s.ok()) return s;
  all_families_up_to_ = found.all_families_up_to();
  if (Status s = FindDatabaseId(fs_, name_, config_.wal_dir, found.Ids(), &state_.db_id); !s.ok()) return s;
  if (!state_.families.empty()) {
    changed_ = true;
    return ForgetFlushedLogs();
  }
  return StateOfLogs();
}

// The comparator of the default family in the newest readable OPTIONS file; empty if there is none.
std::string Repairer::StoredComparator() const {
  std::map<uint64_t, std::string> files;
  for (const std::string& name : children_) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kOptions) files[number] = JoinPath(name_, name);
  }
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    std::string text;
    ObjectTexts objects;
    if (!ReadFileToString(fs_, file->second, &text).ok() || !StoredObjects(file->second, text, &objects).ok()) continue;
    if (const std::string& name = objects[rocksdb::kDefaultColumnFamilyName]["comparator"]; !name.empty()) return name;
  }
  return "";
}

// The logs do not have the order of keys. In another order the user's program could not open the result.
Status Repairer::StateOfLogs() {
  SequenceNumber before = 0;
  if (Status s = CheckLogsAreAll(fs_, name_, config_.wal_dir, &before); !s.ok()) return s;
  state_.hash_seed = NewHashSeed();
  RecoveredFamily& family = state_.families[0];
  family.name = rocksdb::kDefaultColumnFamilyName;
  const rocksdb::Comparator* comparator = unknown_ != nullptr ? unknown_->comparator : nullptr;
  for (const rocksdb::ColumnFamilyDescriptor& given : families_) {
    if (given.name == family.name && given.options.comparator != nullptr) comparator = given.options.comparator;
  }
  if (comparator == nullptr) comparator = rocksdb::BytewiseComparator();
  family.comparator = comparator->Name();
  const std::string stored = StoredComparator();
  if (!stored.empty() && stored != EscapeObjectText(family.comparator)) {
    return Status::InvalidArgument("the OPTIONS file in " + name_ + " names the comparator " + stored + ", and the repair was given " +
                                       family.comparator,
                                   "without a manifest only a program that has the comparator can repair it, with RepairDB");
  }
  Log("no manifest: the default family is rebuilt from the logs");
  if (before != 0) {
    Log("uncertain: the data up to sequence " + std::to_string(before) +
        " is missing: it was deleted, or tables were lost");
    keep_all_logs_ = true;
  }
  if (stored.empty()) {
    Log("uncertain: the comparator, which no file names, is taken for " + family.comparator);
    keep_all_logs_ = true;
  }
  changed_ = true;
  return ForgetFlushedLogs();
}

// A log names families by number. A family above all known ones was created later, and its name is unknown.
Status Repairer::CheckLogs() {
  std::vector<uint64_t> logs;
  if (Status s = ListWals(fs_, config_.wal_dir, state_.min_log_number, &logs); !s.ok()) return s;
  uint64_t lost = 0;
  std::set<uint32_t> unknown;
  for (const uint64_t number : logs) {
    LogContents contents;
    if (Status s = ReadLogContents(fs_, config_.wal_dir, number, &contents); !s.ok()) return s;
    bool keep = keep_all_logs_;
    for (const auto& [id, records] : contents.records) {
      const auto family = state_.families.find(id);
      if (family != state_.families.end() && number >= family->second.log_number && contents.merged.count(id) != 0) {
        merged_.insert(id);
      }
      if (id <= all_families_up_to_ || family != state_.families.end()) continue;
      lost += records;
      unknown.insert(id);
      keep = true;
    }
    if (keep) kept_logs_.push_back(number);
  }
  if (unknown.empty()) return Status::OK();
  std::string ids;
  for (const uint32_t id : unknown) ids += (ids.empty() ? "" : ", ") + std::to_string(id);
  Log("lost: " + std::to_string(lost) + " records in the logs, of column families whose names no file has (numbers " + ids +
      ")");
  report_->lost_records += lost;
  return Status::OK();
}

// The replay deletes them at its end.
Status Repairer::KeepLogs() {
  if (kept_logs_.empty()) return Status::OK();
  const std::string lost = JoinPath(config_.wal_dir, "lost");
  Status s = CreateDirDurably(fs_, lost);
  for (const uint64_t number : kept_logs_) {
    const std::string from = WalFileName(config_.wal_dir, number), to = WalFileName(lost, number);
    if (s.ok() && fs_->FileExists(to).ok()) s = fs_->DeleteFile(to);  // of an interrupted repair
    if (s.ok()) s = fs_->LinkFile(from, to);
    if (s.IsNotSupported()) {
      std::string bytes;
      s = ReadFileToString(fs_, from, &bytes);
      if (s.ok()) s = WriteFileAtomically(fs_, to, bytes);
    }
    if (!s.ok()) return s;
    Log(from + " is kept as " + to);
    report_->moved.push_back(to);
  }
  return s.ok() ? fs_->SyncDir(lost) : s;
}

Status Repairer::ChooseFamilies() {
  for (auto it = state_.families.begin(); it != state_.families.end();) {
    const std::string& name = it->second.name;
    const auto known = std::find_if(families_.begin(), families_.end(),
                                    [&](const auto& family) { return family.name == name; });
    if (known == families_.end() && unknown_ == nullptr && it->first != 0) {
      Log("column family [" + name + "] was not asked for and is dropped");
      changed_ = true;
      it = state_.families.erase(it);
      continue;
    }
    if (known == families_.end()) {
      families_.emplace_back(name, unknown_ != nullptr ? *unknown_ : rocksdb::ColumnFamilyOptions());
    }
    ++it;
  }
  // No new families are created.
  std::erase_if(families_, [this](const auto& family) {
    return std::none_of(state_.families.begin(), state_.families.end(),
                        [&](const auto& entry) { return entry.second.name == family.name; });
  });
  return Status::OK();
}

// Without one the flush after the replay fails, when the new state is written already.
Status Repairer::CheckMergeOperators() const {
  for (const auto& [id, family] : state_.families) {
    const auto given = std::find_if(families_.begin(), families_.end(),
                                    [&name = family.name](const auto& descriptor) { return descriptor.name == name; });
    if (merged_.count(id) == 0 || given->options.merge_operator != nullptr) continue;
    return Status::InvalidArgument("column family [" + family.name + "] has merge operands in the logs, and no merge operator is given",
                                   "repair it with RepairDB from a program that has it");
  }
  return Status::OK();
}

// Above the manifest's numbers and those of all files.
uint64_t Repairer::NumberBehindAll(const FileList& files) const {
  uint64_t next = std::max(state_.next_number, manifest_ + 1);
  for (const auto& [dir, name] : files) next = std::max(next, NumberBehind(name));
  return next;
}

Status Repairer::CheckTables() {
  DbConfig config = config_;
  config.access = Access::kReadOnly;
  Engine engine(std::move(config));
  DatabaseState& db = engine.state;
  db.stores.hasher = KeyHasher(state_.hash_seed);
  db.stores.log_info = [this](const std::string& line) { Log(line); };
  db.stores.describe_job = [&](JobRecord* record) {
    record->order = db.commits.NewNumber();
    record->state = StateEdits();
    for (const auto& [id, table] : state_.families.at(record->job.column_family).tables) {
      record->live.push_back({table.level, id});
    }
    return true;
  };
  FileList files;
  if (Status s = Files(&files); !s.ok()) return s;
  db.commits.RaiseNextNumber(NumberBehindAll(files));
  for (const std::string& dir : recorded_dirs_) db.tables->dirs()->Add(dir);
  files_before_.emplace(files.begin(), files.end());
  SalvageReport found;
  for (auto& [id, family] : state_.families) {
    const std::string& name = family.name;
    const auto descriptor = std::find_if(families_.begin(), families_.end(),
                                         [&name](const auto& d) { return d.name == name; });
    if (descriptor->options.comparator == nullptr ||
        family.comparator != descriptor->options.comparator->Name()) {
      return Status::InvalidArgument("column family " + family.name,
                                     "was written with the comparator " + family.comparator);
    }
    std::shared_ptr<ColumnFamily> opened;
    const rocksdb::ColumnFamilyOptions sanitized =
        SanitizeFamilyOptions(options_, descriptor->options);
    Status s = engine.family_factory.Make(id, family.name, sanitized, &opened);
    if (s.ok()) s = opened->store()->Open();
    if (!s.ok()) return s;
    VersionEdit edit;
    bool changed = false;
    edit.column_family = id;
    s = opened->store()->Salvage(family.AllTables(id), &edit, &changed, &found);
    if (s.ok() && changed) s = state_.Apply(std::move(edit));
    if (!s.ok()) return s;
    changed_ = changed_ || changed;
  }
  state_.next_number = std::max(state_.next_number, db.commits.next_number());
  report_->kept_tables = found.tables;
  report_->rewritten_tables = found.rewritten_tables;
  report_->lost_tables = found.lost_tables;
  report_->lost_records += found.lost_records;
  report_->lost_bytes = found.lost_bytes;
  report_->lost_range_deletions = found.lost_range_deletions;
  report_->lost_values = found.lost_values;
  report_->lost_pages = found.lost_pages;
  Log("tables: " + std::to_string(found.tables) + " are whole, " + std::to_string(found.rewritten_tables) +
      " rewritten, " + std::to_string(found.lost_tables) + " lost; lost of them: " +
      std::to_string(found.lost_records) + " records, " + std::to_string(found.lost_range_deletions) +
      " range deletions, " + std::to_string(found.lost_bytes) + " bytes of data blocks; " +
      std::to_string(found.lost_values) + " separated values, " + std::to_string(found.lost_pages) + " pages");
  return Status::OK();
}

Status Repairer::MoveToLost(const std::string& dir, const std::string& name) {
  const std::string lost = JoinPath(dir, "lost");
  Status s = CreateDirDurably(fs_, lost);
  if (s.ok()) s = fs_->RenameFile(JoinPath(dir, name), JoinPath(lost, name));
  if (!s.ok()) return s;
  Log(name + " is moved to " + lost);
  report_->moved.push_back(JoinPath(lost, name));
  return s;
}

// The database and its families, without tables.
std::vector<VersionEdit> Repairer::StateEdits() const {
  std::vector<VersionEdit> edits(1);
  edits.front().db_id = state_.db_id;
  edits.front().hash_seed = state_.hash_seed;
  edits.front().max_column_family = state_.max_column_family;
  edits.front().last_sequence = state_.last_sequence;
  for (const auto& [id, family] : state_.families) {
    VersionEdit& edit = edits.emplace_back();
    edit.column_family = id;
    edit.add_column_family = family.name;
    edit.comparator = family.comparator;
    edit.log_number = family.log_number;
    if (!family.history_low.empty()) edit.history_low = family.history_low;
  }
  return edits;
}

Status Repairer::WriteManifest() {
  std::set<uint64_t> needed;
  for (const auto& [id, family] : state_.families) {
    family.AddFiles(&needed);
    for (const auto& [section, meta] : family.page_sections) needed.insert(meta.file_number);
    state_.max_column_family = std::max(state_.max_column_family, id);
  }
  FileList files, unused;
  if (Status s = Files(&files); !s.ok()) return s;
  state_.next_number = NumberBehindAll(files);
  for (const auto& [dir, name] : files) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type == FileType::kInfoLog) continue;
    if (type == FileType::kManifest || type == FileType::kManifestMirror ||
        ((type == FileType::kPieceFile || type == FileType::kPageFile) && needed.count(number) == 0)) {
      unused.emplace_back(dir, name);
    }
  }
  const uint64_t number = state_.next_number++;
  std::vector<VersionEdit> edits = StateEdits();
  edits.front().next_number = state_.next_number;
  edits.front().min_log_number = state_.min_log_number;
  edits.front().file_checksums = state_.LiveChecksums();
  for (const auto& [id, family] : state_.families) edits.push_back(family.AllTables(id));
  std::unique_ptr<Manifest> manifest;
  Status s = Manifest::Create(fs_, name_, number, edits, &manifest);
  if (s.ok()) s = manifest->Close();
  std::set<std::string> changed;
  for (const auto& [dir, name] : unused) {
    if (s.ok()) s = MoveToLost(dir, name);
    changed.insert(dir);
  }
  // Or the next open finds them in their old place, and deletes them.
  for (const std::string& dir : changed) {
    if (s.ok()) s = fs_->SyncDir(JoinPath(dir, "lost"));
    if (s.ok()) s = fs_->SyncDir(dir);
  }
  return s;
}

Status Repairer::OpenAndClose() {
  DbOpener::Request request;
  request.options = options_;
  request.options.info_log = config_.info_log;
  request.options.create_if_missing = false;
  request.options.error_if_exists = false;
  request.options.avoid_flush_during_recovery = false;
  request.name = name_;
  request.families = families_;
  request.more_table_dirs = recorded_dirs_;
  request.logs_are_own = manifest_ == 0;
  request.wal_recovery_mode = WalRecoveryMode::kSkipAnyCorruptedRecords;
  WalRecoveryReport logs;
  request.log_report = &logs;
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  Status s = DbOpener(std::move(request)).Open(&handles, &db);
  report_->damaged_logs = logs.problems.size();
  for (const std::string& problem : logs.problems) Log("write-ahead log: " + problem);
  if (!s.ok()) return s;
  for (ColumnFamilyHandle* handle : handles) delete handle;
  s = db->Close();
  delete db;
  return s;
}

Status RepairDB(const std::string& dbname, const rocksdb::DBOptions& options,
                const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                const rocksdb::ColumnFamilyOptions* unknown, RepairReport* report) {
  *report = RepairReport();
  return Repairer(options, dbname, families, unknown, report).Run();
}

}  // namespace compassdb

namespace rocksdb {

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families) {
  compassdb::RepairReport report;
  return compassdb::RepairDB(dbname, db_options, column_families, nullptr, &report);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts) {
  compassdb::RepairReport report;
  return compassdb::RepairDB(dbname, db_options, column_families, &unknown_cf_opts, &report);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  const ColumnFamilyOptions family(options);
  compassdb::RepairReport report;
  return compassdb::RepairDB(dbname, DBOptions(options), {}, &family, &report);
}

}  // namespace rocksdb
