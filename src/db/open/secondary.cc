// SPDX-License-Identifier: Apache-2.0
#include "db/open/secondary.h"

#include <algorithm>

#include "batch/write_batch_internal.h"
#include "db/open/recovery_sink.h"
#include "db/report/info_log.h"
#include "env/create_dir.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "util/coding.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

// Rounds with a missing file, before the primary counts as too fast (or its files as lost).
constexpr int kMaxRounds = 100;
// Reads of data that seems damaged. In a recycled log, bytes may be read before they are written, and the bytes
// behind them afterwards.
constexpr int kReadsOfDamage = 3;
constexpr char kLinkDirPrefix[] = "files-";

}  // namespace

// --- The directory of links

bool LinkDir::Clear(FileSystem* fs, const std::string& path) {
  std::vector<std::string> names;
  if (!fs->GetChildren(path, &names).ok()) return false;
  for (const std::string& name : names) fs->DeleteFile(JoinPath(path, name)).PermitUncheckedError();
  return fs->DeleteDir(path).ok();
}

std::unique_ptr<LinkDir> LinkDir::Make(FileSystem* fs, const std::string& secondary_path,
                                       const std::string& primary, const std::string& session) {
  std::vector<std::string> names;
  if (fs->GetChildren(secondary_path, &names).ok()) {
    for (const std::string& name : names) {
      if (name.rfind(kLinkDirPrefix, 0) != 0) continue;
      const std::string path = JoinPath(secondary_path, name);
      std::unique_ptr<FileLock> lock;
      if (fs->LockFile(LockFileName(path), &lock).ok()) Clear(fs, path);
    }
  }
  const std::string path = JoinPath(secondary_path, kLinkDirPrefix + session);
  std::unique_ptr<FileLock> lock;
  if (!CreateDirDurably(fs, path).ok() || !fs->LockFile(LockFileName(path), &lock).ok()) {
    return nullptr;
  }
  std::unique_ptr<LinkDir> dir(new LinkDir(fs, path, std::move(lock)));
  // Tries it with a file that every database has. CURRENT is replaced, never written.
  const std::string probe = CurrentFileName(path);
  uint64_t count = 0;
  const bool works = fs->LinkFile(CurrentFileName(primary), probe).ok() &&
                     fs->GetLinkCount(probe, &count).ok() && count > 1;
  fs->DeleteFile(probe).PermitUncheckedError();
  return works ? std::move(dir) : nullptr;
}

LinkDir::~LinkDir() {
  Clear(fs_, path_);
  lock_.reset();
}

Secondary::Secondary(const DbConfig& config, const DatabaseFiles& files, ColumnFamilySet& families,
                     std::atomic<SequenceNumber>& shown_sequence, Mutex* db_mu, ReleaseListener& garbage,
                     const std::vector<std::string>& tables, std::unique_ptr<LinkDir> links,
                     std::set<std::string> names)
    : config_(config),
      files_(files),
      families_(families),
      shown_sequence_(shown_sequence),
      db_mu_(db_mu),
      garbage_(garbage),
      primary_(config.fs, tables.front()),
      links_(std::move(links)),
      names_(std::move(names)) {
  for (const std::string& dir : tables) primary_.Add(dir);
}

// --- The manifest, and the files that it names

Status Secondary::ReadManifest(bool* changed) {
  *changed = false;
  uint64_t number = 0;
  if (Status s = Manifest::ReadCurrent(config_.fs, config_.name, &number); !s.ok()) {
    return s;
  }
  if (number != manifest_) {
    state_ = RecoveredState();
    manifest_ = number;
    manifest_offset_ = 0;
    *changed = true;
  }
  const uint64_t before = manifest_offset_;
  Status s = Manifest::Follow(config_.fs, config_.name, number, &manifest_offset_,
                              [this](const EditRecord& edits)
                                  NO_THREAD_SAFETY_ANALYSIS { return state_.ApplyAll(edits); });
  if (!s.ok()) {
    manifest_ = 0;  // from the start, if it can be read later
    return s;
  }
  if (manifest_offset_ != before) *changed = true;
  return Status::OK();
}

std::set<uint64_t> Secondary::FilesNeeded() {
  std::set<uint64_t> files;
  for (const auto& [id, family] : state_.families) {
    if (names_.count(family.name) != 0) family.AddFiles(&files);
  }
  return files;
}

Status Secondary::TakeFile(uint64_t number) {
  if (links_ == nullptr) {
    std::shared_ptr<CompactionFile> file;
    return files_.tables.Get(number, &file);
  }
  const std::string path = primary_.PathOf(number);
  Status s = config_.fs->LinkFile(path, PieceFileName(links_->path(), number));
  if (s.ok() || IsMissing(s)) return s;
  if (!holds_open_.exchange(true)) {
    LogInfo(config_.info_log.get(), "files like " + path + " are held open: " + s.ToString());
  }
  files_.tables.dirs()->Put(number, primary_.DirOf(number));
  std::shared_ptr<CompactionFile> file;
  return files_.tables.Get(number, &file);
}

Status Secondary::Capture() {
  Status s;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    s = ReadManifest(&changed);
    if (IsMissing(s)) continue;  // replaced between CURRENT and its opening
    if (!s.ok()) return s;
    if (changed) installed_ = files_taken_ = false;
    if (files_taken_) return Status::OK();
    for (uint64_t number : FilesNeeded()) {
      if (taken_.count(number) != 0) continue;
      s = TakeFile(number);
      if (!s.ok()) break;
      taken_.insert(number);
    }
    files_taken_ = s.ok();
    if (!s.ok() && !IsMissing(s)) return s;
  }
  return s;
}

// Deletes the links, or closes the files, that neither the state nor a reader needs.
void Secondary::GiveFilesBack() {
  files_.ledger.TakeDeadFiles();
  const std::vector<uint64_t> live_list = files_.ledger.LiveFiles();
  std::set<uint64_t> keep = FilesNeeded();
  keep.insert(live_list.begin(), live_list.end());
  for (auto it = taken_.begin(); it != taken_.end();) {
    if (keep.count(*it) != 0) {
      ++it;
      continue;
    }
    files_.tables.Evict(*it);
    if (links_ != nullptr) {
      config_.fs->DeleteFile(PieceFileName(links_->path(), *it)).PermitUncheckedError();
    }
    files_.tables.dirs()->Forget(*it);
    primary_.Forget(*it);
    it = taken_.erase(it);
  }
}

Status Secondary::Prepare(std::vector<Change>* changes) {
  const auto families = families_.All();
  {
    MutexLock lock(db_mu_);
    for (const auto& family : families) {
      const auto found = state_.families.find(family->id());
      if (found == state_.families.end()) continue;  // dropped: it stays as it is
      MemTables& memtables = family->memtables();
      memtables.set_log_number(
          std::max({memtables.log_number(), found->second.log_number, state_.min_log_number}));
      if (installed_) continue;
      Change change;
      change.family = family;
      change.edit.column_family = family->id();
      VersionEdit now;
      family->store()->Snapshot(&now);
      std::map<uint64_t, int> present;
      for (const VersionEdit::Added& added : now.added) present[added.tph.tph_id] = added.level;
      for (const auto& [id, added] : found->second.tables) {
        const auto it = present.find(id);
        if (it != present.end() && it->second == added.level) {
          present.erase(it);
        } else {
          change.edit.added.push_back(added);
        }
      }
      for (const auto& [id, level] : present) change.edit.deleted.push_back({level, id});
      std::set<uint64_t> runs;
      for (const ValueRunMeta& meta : now.added_values) runs.insert(meta.run_id);
      for (const auto& [id, meta] : found->second.values) {
        if (runs.erase(id) == 0) change.edit.added_values.push_back(meta);
      }
      change.edit.deleted_values.assign(runs.begin(), runs.end());
      if (!change.edit.added.empty() || !change.edit.deleted.empty() ||
          !change.edit.added_values.empty() || !change.edit.deleted_values.empty()) {
        changes->push_back(std::move(change));
      }
    }
  }
  for (Change& change : *changes) {
    Status s = change.family->store()->Prepare(change.edit, &change.prepared);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// --- The logs

Status Secondary::ReadLogs() {
  std::vector<uint64_t> numbers;
  Status s = ListWals(config_.fs, config_.wal_dir, state_.min_log_number, &numbers);
  if (!s.ok()) return s;
  last_sequence_ = std::max(last_sequence_, state_.last_sequence);
  std::set<uint64_t> empty;
  for (uint64_t number : numbers) {
    if (number < log_) continue;
    Entry entry = Entry::kEntered;
    if (number != log_) s = EnterLog(number, empty, &entry);
    if (s.ok() && entry == Entry::kEntered) s = ReadLog();
    if (IsMissing(s)) return Status::TryAgain(WalFileName(config_.wal_dir, number), "is gone");
    if (!s.ok() || entry == Entry::kNotYet) return s;
    if (entry == Entry::kEmpty) empty.insert(number);
  }
  return Status::OK();
}

// TryAgain if the logs end before what the manifest says was synced.
Status Secondary::CheckSynced() const {
  const VersionEdit::Synced& synced = state_.synced_log;
  if (synced.number < state_.min_log_number || synced.bytes == 0 || log_ > synced.number) return Status::OK();
  if (log_ == synced.number && log_offset_ >= synced.bytes) return Status::OK();
  // A copy may have been made without its logs, and then has no identity yet.
  if (config_.fs->FileExists(IdentityFileName(config_.name)).IsNotFound()) return Status::OK();
  return Status::TryAgain(WalFileName(config_.wal_dir, synced.number),
                          "was synced up to offset " + std::to_string(synced.bytes) + ", but " +
                              (log_ == synced.number ? "ends at " + std::to_string(log_offset_) : "is missing"));
}

Status Secondary::EnterLog(uint64_t number, const std::set<uint64_t>& empty, Entry* entry) {
  *entry = Entry::kNotYet;
  std::unique_ptr<WalReader> reader;
  Status s = WalReader::Open(config_.fs, config_.wal_dir, number, &reader);
  if (!s.ok()) return s;
  const LogRead read = reader->ReadHeader();
  if (read == LogRead::kEnd && reader->EndOffset() == 0) *entry = Entry::kEmpty;
  if (read == LogRead::kEnd || read == LogRead::kTornTail) return Status::OK();
  if (read != LogRead::kRecord) return reader->status();
  const WalHeader& header = reader->header();
  const bool continues = log_ >= state_.min_log_number && log_ != 0;
  if (empty.count(header.predecessor) != 0) return Status::OK();  // begun since it was read
  if (header.predecessor >= state_.min_log_number && header.predecessor != 0 &&
      header.predecessor != log_) {
    return Status::TryAgain(reader->path(), "follows a log that is gone");
  }
  if (continues && header.predecessor == log_) {
    // It may have grown since it was read. It has a successor, so it does not grow now.
    if (log_offset_ < header.predecessor_bytes) s = ReadLog();
    if (!s.ok() || log_offset_ < header.predecessor_bytes) return s;
  } else if (continues && number > state_.min_log_number) {
    return Status::OK();  // a new session of the primary, whose manifest does not exist yet
  }
  log_ = number;
  log_offset_ = reader->EndOffset();
  *entry = Entry::kEntered;
  return Status::OK();
}

Status Secondary::ReadLog() {
  Status s = WalReader::OpenAt(config_.fs, config_.wal_dir, log_, log_offset_, &reader_);
  if (!s.ok()) return s;
  while (true) {
    Slice record;
    switch (reader_->ReadBatch(&record)) {
      case LogRead::kRecord:
        if (s = ApplyBatch(record); !s.ok()) return s;
        log_offset_ = reader_->EndOffset();
        break;
      case LogRead::kEnd:
      case LogRead::kTornTail:  // being written
        log_offset_ = reader_->EndOffset();  // a closed log ends behind a record without a batch
        return Status::OK();
      case LogRead::kCorruption:
      case LogRead::kError:
        return reader_->status();
    }
  }
}

Status Secondary::ApplyBatch(const Slice& record) {
  // At or below the manifest's last sequence: readers must not see half of it, nor empty memtables.
  const bool hide = !memtables_hidden_ && DecodeFixed64(record.data()) <= shown_sequence_.load();
  if (hide || memtables_log_ != log_) {
    memtables_log_ = log_;
    memtables_hidden_ |= hide;
    MutexLock lock(db_mu_);
    for (const auto& family : families_.All()) {
      MemTables& memtables = family->memtables();
      if (!memtables.active()->empty()) {
        memtables.Seal(family->NewMemTableOptions(), log_, /*earliest_sequence=*/0);
        continue;
      }
      if (hide) memtables.Replace(family->NewMemTableOptions());
      memtables.MoveToLog(log_);
    }
  }
  rocksdb::WriteBatch batch;
  if (Status s = RecoverySink::Decode(record, &batch); !s.ok()) return s;
  const LoggedBatch not_indexed;
  RecoverySink sink(&families_, db_mu_, log_, not_indexed, &prepared_);
  SequenceNumber next = 0;
  if (Status s = WriteBatchInternal::InsertInto(&batch, &sink, &next); !s.ok()) return s;
  if (next > 0) last_sequence_ = std::max(last_sequence_, next - 1);
  return Status::OK();
}

// --- Rounds

void Secondary::Install(std::vector<Change>* changes) {
  ReadStateGarbage garbage(&garbage_);
  MutexLock lock(db_mu_);
  // First the sequence: a reader pins its state before it loads the sequence, so it never reads a
  // new state at an old sequence.
  shown_sequence_.store(std::max(last_sequence_, shown_sequence_.load()));
  files_.commits.SetManifest(manifest_, manifest_offset_);
  for (const FileChecksum& checksum : state_.LiveChecksums()) files_.ledger.SetChecksum(checksum);
  for (Change& change : *changes) {
    change.family->store()->Install(change.edit, std::move(change.prepared));
  }
  for (const auto& family : families_.All()) {
    const auto recovered = state_.families.find(family->id());
    if (family->history() != nullptr && recovered != state_.families.end()) {
      family->history()->Set(recovered->second.history_low);
    }
    family->memtables().ForgetFlushed(family->NewMemTableOptions());
    family->InstallReadState(garbage.list());
  }
  memtables_hidden_ = false;
  installed_ = true;
}

Status Secondary::Open(RecoveredState* state) {
  MutexLock lock(&mu_);
  Status s = Capture();
  *state = state_;
  return s;
}

Status Secondary::CatchUp() {
  MutexLock lock(&mu_);
  Status s;
  int damaged = 0;
  std::pair<uint64_t, uint64_t> before;  // the manifest when something synced was missing
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<Change> changes;
    s = Capture();
    if (s.ok()) s = Prepare(&changes);
    if (s.ok()) s = ReadLogs();
    if (s.ok() && !(s = CheckSynced()).ok()) {
      // The primary deletes a log after the manifest has released it.
      const std::pair<uint64_t, uint64_t> now(manifest_, manifest_offset_);
      if (before == now) return Status::Corruption(s.ToString());
      before = now;
    }
    if (s.ok()) {
      Install(&changes);
      GiveFilesBack();
      return Status::OK();
    }
    if (s.IsCorruption() && ++damaged < kReadsOfDamage) continue;
    // A needed log was deleted: the manifest shows why.
    if (!s.IsTryAgain()) return s;
  }
  return s;
}

}  // namespace compassdb
